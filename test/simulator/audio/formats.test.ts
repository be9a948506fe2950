import { crc32 } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { crc } from "../../../src/simulator/audio/crc.ts";
import { flacFrame, flacHead } from "../../../src/simulator/audio/flac.ts";
import { AUDIO } from "../../../src/simulator/audio/formats.ts";
import type { AudioFormat } from "../../../src/simulator/audio/formats.ts";
import { wavHead, wavMilliseconds } from "../../../src/simulator/audio/wav.ts";

const SEED = 0xc0ffee;
const all = (format: AudioFormat, frames: number): Buffer => {
  const pieces = Array.from({ length: frames }, (_, index) => format.frame(index, frames, SEED));
  return Buffer.concat([format.head(frames, SEED), ...pieces]);
};

/** The 32 bits of a number from the last to the first. */
function turned(value: number): number {
  return Number.parseInt(value.toString(2).padStart(32, "0").split("").toReversed().join(""), 2);
}

function chunk(name: string, body: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, 0, "latin1");
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

function wav(...chunks: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from("RIFF\0\0\0\0WAVE", "latin1"), ...chunks]);
}

describe.each(Object.entries<AudioFormat>(AUDIO))("%s", (_, format) => {
  test("has frames of the promised size that tell their place", () => {
    const frames = Array.from({ length: 3 }, (_, index) => Buffer.from(format.frame(index, 9, SEED)));
    expect(frames.every((frame) => frame.length >= format.bytes)).toBe(true);
    expect(new Set(frames.map((frame) => frame.toString("hex"))).size).toBe(3);
    expect(Buffer.from(format.frame(0, 9, SEED + 1)).equals(frames[0] ?? Buffer.alloc(0))).toBe(false);
  });
});

test("MP3: every frame begins where the one before it ends", () => {
  const file = all(AUDIO.mp3, 50);
  // 24 kHz and 32 kbit/s of MPEG-2 layer III: 72 * 32000 / 24000 bytes.
  expect(file.length).toBe(50 * 96);
  for (let at = 0; at < file.length; at += 96) expect(file.readUInt32BE(at)).toBe(0xfff344c4);
});

test("AAC: every ADTS header gives the length to the next", () => {
  const file = all(AUDIO.aac, 40);
  let frames = 0;
  for (let at = 0; at < file.length; frames++) {
    expect(file.readUInt16BE(at)).toBe(0xfff1);
    at += ((file.readUInt8(at + 3) & 3) << 11) | (file.readUInt8(at + 4) << 3) | (file.readUInt8(at + 5) >> 5);
  }
  expect(frames).toBe(40);
});

test("Opus: pages are numbered, checked and add up", () => {
  const file = all(AUDIO.opus, 30);
  const pages = [];
  for (let at = 0; at < file.length;) {
    expect(file.toString("latin1", at, at + 4)).toBe("OggS");
    const page = Buffer.from(file.subarray(at, at + 28 + file.readUInt8(at + 27)));
    const sum = page.readUInt32LE(22);
    page.writeUInt32LE(0, 22);
    expect(crc(page, 32, 0x04c11db7)).toBe(sum);
    pages.push({
      flags: page.readUInt8(5),
      position: Number(page.readBigUInt64LE(6)),
      serial: page.readUInt32LE(14),
      sequence: page.readUInt32LE(18),
      body: page.subarray(28),
    });
    at += page.length;
  }
  expect(pages.map(({ sequence }) => sequence)).toEqual(pages.map((_, index) => index));
  expect(new Set(pages.map(({ serial }) => serial))).toEqual(new Set([SEED]));
  expect(pages.map(({ flags }) => flags)).toEqual([2, ...Array.from({ length: 30 }, () => 0), 4]);
  expect(pages.at(-1)?.position).toBe(30 * 960);
  expect(pages.slice(0, 2).map(({ body }) => body.toString("latin1", 0, 8))).toEqual(["OpusHead", "OpusTags"]);
});

describe("FLAC", () => {
  test("the head says how much there is", () => {
    const head = flacHead(7);
    expect(head.toString("latin1", 0, 4)).toBe("fLaC");
    expect(head.readUInt32BE(4)).toBe(0x80000022);
    const packed = head.readBigUInt64BE(18);
    expect([packed >> 44n, (packed >> 36n) & 31n, packed & 0xfffffffffn]).toEqual([24_000n, 15n, 7n * 576n]);
  });

  test.each([0, 127, 128, 2_047, 2_048, 55_296, 57_343, 65_535, 65_536, 2_097_151])(
    "frame %d has a number and both check sums",
    (index) => {
      const frame = flacFrame(index, 5);
      const lead = frame.readUInt8(4);
      const length = lead < 0x80 ? 1 : Math.clz32(~(lead << 24));
      const bits = length === 1 ? lead : lead & (0x7f >> length);
      const number = frame.subarray(5, 4 + length).reduce((sum, byte) => (sum << 6) | (byte & 0x3f), bits);
      expect(number).toBe(index);
      const end = 4 + length;
      expect(frame.readUInt8(end)).toBe(crc(frame.subarray(0, end), 8, 0x07));
      expect(frame.readUInt16BE(frame.length - 2)).toBe(crc(frame.subarray(0, -2), 16, 0x8005));
    },
  );
});

test.each([
  // Check values of the catalogue of parametrised CRC algorithms: SMBUS, UMTS.
  [8, 0x07, 0xf4],
  [16, 0x8005, 0xfee8],
] as const)("crc of %d bits", (width, polynomial, expected) => {
  expect(crc(Buffer.from("123456789"), width, polynomial)).toBe(expected);
});

test("crc of 32 bits is zlib's, with its bits turned and nothing inverted", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 4 }), (bytes) => {
      // zlib begins with ones: turning the first four bytes over takes them away again.
      const mirrored = bytes.map((byte) => turned(byte) >>> 24);
      const begun = mirrored.map((byte, index) => (index < 4 ? byte ^ 0xff : byte));
      expect(crc(bytes, 32, 0x04c11db7)).toBe(turned(~crc32(begun) >>> 0));
    }),
  );
});

describe("the length of a WAV", () => {
  const fmt = chunk("fmt ", wavHead(0, 8_000).subarray(20, 36));

  test("is exact, whatever stands between the chunks", () => {
    const between = fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 4 });
    fc.assert(
      fc.property(between, between, fc.nat(100_000), (before, after, samples) => {
        const extra = (list: readonly Uint8Array[]) => list.map((body) => chunk("LIST", body));
        const file = wav(...extra(before), fmt, ...extra(after), chunk("data", Buffer.alloc(samples * 2)));
        expect(wavMilliseconds(file)).toBe(Math.round(samples / 8));
      }),
    );
  });

  test("counts the samples that are there when more are promised", () => {
    const file = Buffer.concat([wavHead(0xffff_ffff, 8_000), Buffer.alloc(16_000)]);
    expect(wavMilliseconds(file)).toBe(1_000);
    expect(wavMilliseconds(Buffer.concat([wavHead(50_000, 8_000), Buffer.alloc(8_000)]))).toBe(500);
  });

  test.each([
    ["nothing", Buffer.alloc(0)],
    ["another file", Buffer.from("ID3 and so on, long enough")],
    ["no data", wav(fmt)],
    ["no format", wav(chunk("data", Buffer.alloc(10)))],
    ["a format of no speed", wav(chunk("fmt ", Buffer.alloc(16)), chunk("data", Buffer.alloc(10)))],
    ["a format cut off", wav(fmt.subarray(0, 12))],
  ])("%s has none", (_, file) => {
    expect(wavMilliseconds(file)).toBeNull();
  });

  test("never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const file = Buffer.concat([Buffer.from("RIFF\0\0\0\0WAVE", "latin1"), fmt, bytes]);
        expect(wavMilliseconds(file) ?? 0).toBeGreaterThanOrEqual(0);
        expect(wavMilliseconds(Buffer.from(bytes)) ?? 0).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
