import { isDataUrl, isTextType, type Medium, registeredType } from "../../kit/index.ts";
import { wavMilliseconds } from "../speech/transcript.ts";
import { imageSize } from "./image-size.ts";

/*
 * What an inlined file is, by its first and last bytes: how large an image, how many pages, how long a recording. A file is
 * never decoded whole.
 */

/** A text, of which parts can be had without the rest. */
export interface LongText {
  /** UTF-8 bytes. */
  readonly bytes: number;
  slice(from: number, to: number): string;
}

/** Something in a prompt that is no text of its own, as it is written there. */
export interface FoundMedium {
  readonly kind: Medium["kind"];
  /** An address, the name of a stored file, or what it holds. */
  readonly as: "url" | "id" | "data";
  readonly value: LongText;
  /** The media type that the client wrote beside it. Absent if only a `data:` URL can say it. */
  readonly type?: string;
  readonly detail?: string;
}

/** A file that is nothing but text is read as text: so many bytes of it. */
interface TextFile {
  readonly kind: "text";
  readonly bytes: number;
}

/** The head of a `data:` URL is looked for so far. */
const MAX_HEAD_CHARACTERS = 1_024;
/** How far an image's size is looked for, step by step: most formats have it at once, a photo behind what its camera wrote. */
const IMAGE_HEAD_CHARACTERS = [64, 4_096, 262_144] as const;
/** The same of pages and recordings, in characters of base64. */
const FILE_HEAD_CHARACTERS = 65_536;

/** Assumed for a recording of unknown length: 32 kbit/s, so an hour is 14 MB. */
const BYTES_PER_SECOND = 4_000;
/** Assumed size of a page, for a PDF file whose number of pages is unknown. */
const BYTES_PER_PAGE = 100_000;
/** Most that are assumed then: a file of that size is photos rather than pages. */
const MAX_ASSUMED_PAGES = 100;

export function readMedium({ kind, as, value, type, detail }: FoundMedium): Medium | TextFile {
  if (as === "id") return ofKind(kind);
  const inlined = inlinedIn(value, as === "data", type);
  if (inlined === null) return ofKind(kind);
  const bytes = Math.ceil(((value.bytes - inlined.start) * (inlined.isBase64 ? 3 : 4)) / 4);
  if (inlined.type !== undefined && isTextFile(inlined.type)) return { kind: "text", bytes };
  switch (kindOf(inlined.type) ?? kind) {
    case "image": {
      const size = inlined.isBase64 ? sizeOf(value, inlined.start) : null;
      return { kind: "image", ...(size !== null && { size }), ...(detail !== undefined && { detail }) };
    }
    case "document":
      return { kind: "document", pages: pagesOf(value, inlined.start, bytes) };
    case "audio": {
      const milliseconds = wavMilliseconds(bytesOf(value, inlined.start, FILE_HEAD_CHARACTERS), bytes);
      return { kind: "audio", seconds: milliseconds === null ? bytes / BYTES_PER_SECOND : milliseconds / 1_000 };
    }
    case "video":
      return { kind: "video" };
  }
}

/** Whether a file of a media type is nothing but text. An image that is written as one is an image. */
export function isTextFile(type: string): boolean {
  return kindOf(type) === undefined && isTextType(type);
}

function ofKind(kind: Medium["kind"]): Medium {
  return { kind };
}

function kindOf(type: string | undefined): Medium["kind"] | undefined {
  const [, kind] = /^(image|audio|video)\//.exec(type ?? "") ?? [];
  return kind === "image" || kind === "audio" || kind === "video" ? kind : undefined;
}

interface Inlined {
  readonly type: string | undefined;
  /** Where what it holds begins. */
  readonly start: number;
  readonly isBase64: boolean;
}

/** @param isBare base64 without a head is taken, too. @returns null for an address. */
function inlinedIn(value: LongText, isBare: boolean, type: string | undefined): Inlined | null {
  const head = value.slice(0, MAX_HEAD_CHARACTERS);
  if (!isDataUrl(head)) return isBare ? { type, start: 0, isBase64: true } : null;
  const comma = head.indexOf(",");
  if (comma < 0) return { type, start: 0, isBase64: false };
  const [own = "", ...parameters] = head.slice("data:".length, comma).split(";");
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === "base64");
  return { type: registeredType(own), start: comma + 1, isBase64 };
}

/** The bytes that so many characters of base64 stand for; clients break its lines, or escape its signs. */
function bytesOf(value: LongText, from: number, characters: number): Uint8Array {
  return Buffer.from(value.slice(from, from + characters).replaceAll(/%[\dA-Fa-f]{2}|\s+/g, plain), "base64");
}

/** `%2B`, `%2F` and `%3D` are signs of base64; anything else is white space. */
function plain(escaped: string): string {
  const sign = escaped.startsWith("%") ? String.fromCharCode(Number.parseInt(escaped.slice(1), 16)) : "";
  return sign.trim();
}

function sizeOf(value: LongText, start: number): ReturnType<typeof imageSize> {
  for (const characters of IMAGE_HEAD_CHARACTERS) {
    const size = imageSize(bytesOf(value, start, characters));
    if (size !== null || start + characters >= value.bytes) return size;
  }
  return null;
}

/** The root of the pages says how many they are (ISO 32000-1, 7.7.3.2); its fields stand in any order. */
const PAGE_TREES = [
  /\/Type\s{0,8}\/Pages\b[^>]{0,400}?\/Count\s{1,8}(\d{1,6})/g,
  /\/Count\s{1,8}(\d{1,6})[^>]{0,400}?\/Type\s{0,8}\/Pages\b/g,
];
const PAGE = /\/Type\s{0,8}\/Page\b/g;

/** Counts the pages of a PDF file. Their tree is at the beginning or the end, unless it is compressed. */
function pagesOf(value: LongText, start: number, bytes: number): number {
  const head = Buffer.from(bytesOf(value, start, FILE_HEAD_CHARACTERS)).toString("latin1");
  // Base64 can be read from every fourth of its characters.
  const tailAt = Math.max(0, Math.floor((value.bytes - start - FILE_HEAD_CHARACTERS) / 4) * 4);
  const tail =
    tailAt === 0 ? "" : Buffer.from(bytesOf(value, start + tailAt, FILE_HEAD_CHARACTERS + 4)).toString("latin1");
  const trees = [head, tail].flatMap((text) => PAGE_TREES.flatMap((tree) => [...text.matchAll(tree)]));
  const counted = Math.max(0, ...trees.map(([, count]) => Number(count)));
  const seen = [head, tail].reduce((sum, text) => sum + [...text.matchAll(PAGE)].length, 0);
  const known = Math.max(counted, seen);
  return known > 0 ? known : Math.min(MAX_ASSUMED_PAGES, Math.max(1, Math.ceil(bytes / BYTES_PER_PAGE)));
}
