import type { Size } from "../../kit/index.ts";

/*
 * The size of an image by the head of its file. What is looked at is bounded by the bytes that are given, and nothing is
 * thrown: they may be anything.
 */

/** Larger than any image that a provider takes: what says more is broken or forged. */
const MAX_SIDE_PIXELS = 100_000;

/** @param head the first bytes of a file. @returns null for another format, or where the size is not among the bytes. */
export function imageSize(head: Uint8Array): Size | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  for (const read of [pngSize, gifSize, webpSize, jpegSize]) {
    const size = read(view);
    if (size !== null) return isPlausible(size) ? size : null;
  }
  return null;
}

function isPlausible({ width, height }: Size): boolean {
  return width >= 1 && height >= 1 && width <= MAX_SIDE_PIXELS && height <= MAX_SIDE_PIXELS;
}

/** Whether the characters stand at a place. */
function has(view: DataView, at: number, characters: string): boolean {
  if (at + characters.length > view.byteLength) return false;
  for (let index = 0; index < characters.length; index++) {
    if (view.getUint8(at + index) !== characters.charCodeAt(index)) return false;
  }
  return true;
}

/** https://www.w3.org/TR/png-3/#11IHDR */
function pngSize(view: DataView): Size | null {
  if (!has(view, 0, "\u0089PNG\r\n\u001A\n") || !has(view, 12, "IHDR") || view.byteLength < 24) return null;
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

/** https://www.w3.org/Graphics/GIF/spec-gif89a.txt, 18 */
function gifSize(view: DataView): Size | null {
  if (!(has(view, 0, "GIF87a") || has(view, 0, "GIF89a")) || view.byteLength < 10) return null;
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

/** https://developers.google.com/speed/webp/docs/riff_container, and RFC 6386 9.1 for VP8. */
function webpSize(view: DataView): Size | null {
  if (!has(view, 0, "RIFF") || !has(view, 8, "WEBP") || view.byteLength < 30) return null;
  if (has(view, 12, "VP8X")) return { width: 1 + uint24(view, 24), height: 1 + uint24(view, 27) };
  if (has(view, 12, "VP8L")) {
    const bits = view.getUint32(21, true);
    return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
  }
  if (!has(view, 12, "VP8 ") || !has(view, 23, "\u009D\u0001*")) return null;
  return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) + view.getUint8(at + 2) * 0x1_00_00;
}

/** Markers without a segment of their own: TEM, and RST0 to RST7 with SOI. */
function standsAlone(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
}

/** Frames of any coding: SOF0 to SOF15 but for DHT, JPG and DAC (ITU-T T.81, table B.1). */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

/** Reads segment by segment up to the first frame header, which always comes before the first scan. */
function jpegSize(view: DataView): Size | null {
  if (!has(view, 0, "\u00FF\u00D8")) return null;
  for (let at = 2; at + 4 <= view.byteLength;) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff || standsAlone(marker)) {
      // Fill bytes may stand before a marker.
      at += marker === 0xff ? 1 : 2;
      continue;
    }
    if (marker === START_OF_SCAN || marker === END_OF_IMAGE) return null;
    if (isFrame(marker)) {
      return at + 9 <= view.byteLength ? { width: view.getUint16(at + 7), height: view.getUint16(at + 5) } : null;
    }
    // A segment's length counts itself.
    at += 2 + Math.max(2, view.getUint16(at + 2));
  }
  return null;
}
