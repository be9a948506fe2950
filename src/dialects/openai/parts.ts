import { isJson, type Json } from "../../kit/index.ts";
import { droppedBeside } from "../pointers.ts";

export interface Written {
  readonly content: string | readonly Json[];
  /** Canonical pointers. */
  readonly dropped: readonly string[];
}

/** `cache_control` marks what OpenAI caches unasked. */
const KNOWN: ReadonlySet<string> = new Set(["type", "text", "image_url", "input_audio", "file", "cache_control"]);
const KNOWN_FILE: ReadonlySet<string> = new Set(["file_data", "filename", "file_id"]);
const TEXT_FILE = /^data:text\/[^,]{0,200},/i;
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
  context.dropped.push(...droppedBeside(part, KNOWN, at));
  return written;
}

function writeKind(part: Json, at: string, context: Context): Json | null {
  const { type, text, image_url, input_audio, file } = part;
  switch (type) {
    case "text":
      return typeof text === "string" ? { type, text } : null;
    case "image_url":
      return isJson(image_url) ? { type, image_url } : null;
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
    const text = TEXT_FILE.test(data) ? textOf(data) : null;
    if (text === null && !media) return null;
    dropped.push(...droppedBeside(file, KNOWN_FILE, at));
    const name = typeof filename === "string" && filename !== "" ? filename : null;
    if (text !== null) return { type: "text", text: name === null ? text : `${name}\n\n${text}` };
    return { type: "file", file: { filename: name ?? PDF, file_data: data } };
  }
  if (typeof url === "string" && fileUrls === true && media) {
    dropped.push(...droppedBeside({ ...file, file_url: undefined }, KNOWN_FILE, at));
    return { type: "file", file: { file_url: url } };
  }
  if (typeof file_id !== "string" || !fileIds) return null;
  dropped.push(...droppedBeside(file, KNOWN_FILE, at));
  return { type: "file", file: { file_id } };
}

/** What a `data:` URL of text holds; null when it cannot be read. */
function textOf(url: string): string | null {
  const comma = url.indexOf(",");
  const data = url.slice(comma + 1);
  if (/;base64$/i.test(url.slice(0, comma))) return Buffer.from(data, "base64").toString("utf8");
  try {
    return decodeURIComponent(data);
  } catch {
    return null;
  }
}
