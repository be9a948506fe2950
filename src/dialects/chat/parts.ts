import { isJson, type Json } from "../../kit/index.ts";
import { cleanDataUrl, readDataUrl, textOf } from "../canonical/data-url.ts";
import { droppedUnknown } from "../canonical/report.ts";

export interface Written {
  readonly content: string | readonly Json[];
  /** Canonical pointers. */
  readonly dropped: readonly string[];
}

/** `cache_control` marks what OpenAI caches unasked. */
const KNOWN: ReadonlySet<string> = new Set(["type", "text", "image_url", "input_audio", "file", "cache_control"]);
const KNOWN_FILE: ReadonlySet<string> = new Set(["file_data", "filename", "file_id"]);
const PDF = "document.pdf";

export interface Allowed {
  /** Ids of files are OpenAI's. */
  readonly fileIds: boolean;
  /** Other parts than text. */
  readonly media: boolean;
  /** Files that are elsewhere: the Responses API fetches them, chat completions do not. */
  readonly fileUrls?: boolean;
  /** Left out: true. */
  readonly audio?: boolean;
}

/** Canonical content in the form of OpenAI's API. @param at its canonical pointer. */
export function writeParts(content: unknown, at: string, allowed: Allowed): Written {
  if (typeof content === "string") return { content, dropped: [] };
  const parts: Json[] = [];
  const dropped: string[] = [];
  for (const [index, part] of (Array.isArray(content) ? (content as readonly unknown[]) : []).entries()) {
    const place = `${at}/${index}`;
    const written = isJson(part) ? writePart(part, place, { ...allowed, dropped }) : null;
    if (written === null) dropped.push(place);
    else parts.push(written);
  }
  // Strict upstreams refuse an empty list.
  return { content: parts.length === 0 ? "" : parts, dropped };
}

/** The text of what was written. */
export function joinedText(content: string | readonly Json[], between: string): string {
  if (typeof content === "string") return content;
  return content.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join(between);
}

interface Context extends Allowed {
  readonly dropped: string[];
}

/** @returns null for a part without a form here. */
function writePart(part: Json, at: string, context: Context): Json | null {
  const written = writeKind(part, at, context);
  if (written === null || (!context.media && written["type"] !== "text")) return null;
  context.dropped.push(...droppedUnknown(part, KNOWN, at));
  return written;
}

function writeKind(part: Json, at: string, context: Context): Json | null {
  const { type, text, image_url, input_audio, file } = part;
  switch (type) {
    case "text":
      return typeof text === "string" ? { type, text } : null;
    case "image_url":
      return isJson(image_url) ? { type, image_url: cleanImage(image_url) } : null;
    case "input_audio":
      return isJson(input_audio) && context.audio !== false ? { type, input_audio } : null;
    case "file":
      return isJson(file) ? writeFile(file, `${at}/file`, context) : null;
    default:
      return null;
  }
}

/** Only PDF documents are files to OpenAI; one of text is a text. */
function writeFile(file: Json, at: string, { fileIds, fileUrls, media, dropped }: Context): Json | null {
  const { file_data: data, file_url: url, file_id, filename } = file;
  if (typeof data === "string") {
    const inlined = readDataUrl(data);
    const text = inlined && textOf(inlined);
    if (text === null && !media) return null;
    dropped.push(...droppedUnknown(file, KNOWN_FILE, at));
    const name = typeof filename === "string" && filename !== "" ? filename : null;
    if (text !== null) return { type: "text", text: name === null ? text : `${name}\n\n${text}` };
    return { type: "file", file: { filename: name ?? PDF, file_data: cleanDataUrl(data) ?? data } };
  }
  if (typeof url === "string" && fileUrls === true && media) {
    dropped.push(...droppedUnknown({ ...file, file_url: undefined }, KNOWN_FILE, at));
    return { type: "file", file: { file_url: url } };
  }
  if (typeof file_id !== "string" || !fileIds) return null;
  dropped.push(...droppedUnknown(file, KNOWN_FILE, at));
  return { type: "file", file: { file_id } };
}

function cleanImage(image: Json): Json {
  const { url } = image;
  const clean = typeof url === "string" ? cleanDataUrl(url) : null;
  return clean === null || clean === url ? image : { ...image, url: clean };
}
