import { invalidRequest, isJson, type Json } from "../../../kit/index.ts";
import type { Part } from "../../canonical/message.ts";

type Content = string | readonly Part[];

/** The content of a message or tool output. */
interface ReadContent {
  readonly parts: readonly Part[];
  /** A pointer to each part. */
  readonly places: readonly string[];
  /** What an assistant refused, which stands apart. */
  readonly refusal: string;
}

/** The canonical content: a single text without a cache mark is a string, which every upstream takes. */
export function folded(parts: readonly Part[]): Content {
  const [only] = parts;
  if (only === undefined) return "";
  return parts.length === 1 && only.type === "text" && only.cache_control === undefined ? only.text : parts;
}

/** @throws GatewayError for content that cannot be read. */
export function readContent(content: unknown, pointer: string): ReadContent {
  if (typeof content === "string") return { parts: [{ type: "text", text: content }], places: [pointer], refusal: "" };
  if (!Array.isArray(content)) throw invalidRequest(pointer, "must be a string or an array");
  let refusal = "";
  const parts: Part[] = [];
  const places: string[] = [];
  for (const [index, part] of content.entries()) {
    const at = `${pointer}/${index}`;
    if (!isJson(part)) throw invalidRequest(at, "must be an object");
    if (part["type"] === "refusal") refusal += text(part, "refusal", at);
    else {
      parts.push(readPart(part, at));
      places.push(at);
    }
  }
  return { parts, places, refusal };
}

const READERS: ReadonlyMap<unknown, (part: Json, pointer: string) => Part> = new Map([
  ["input_text", readText],
  ["output_text", readText],
  ["text", readText],
  ["input_image", readImage],
  ["input_file", readFile],
  ["input_audio", readAudio],
]);

function readPart(part: Json, pointer: string): Part {
  const read = READERS.get(part["type"]);
  if (read === undefined) {
    throw invalidRequest(`${pointer}/type`, "must be input_text, input_image, input_file, output_text or refusal");
  }
  const canonical = read(part, pointer);
  // The breakpoint ends a prefix to cache, as Anthropic's mark does.
  if (!isJson(part["prompt_cache_breakpoint"]) || canonical.type === "input_audio" || canonical.type === "native") {
    return canonical;
  }
  return { ...canonical, cache_control: { type: "ephemeral" } };
}

function readText(part: Json, pointer: string): Part {
  return { type: "text", text: text(part, "text", pointer) };
}

function readImage(part: Json, pointer: string): Part {
  const { image_url, file_id, detail } = part;
  if (typeof image_url !== "string") {
    // Whether a stored file may be named is decided in one place for all formats (`../../references`).
    if (typeof file_id === "string") return { type: "file", file: { file_id } };
    throw invalidRequest(`${pointer}/image_url`, "must be a string");
  }
  return { type: "image_url", image_url: { url: image_url, ...(typeof detail === "string" && { detail }) } };
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  html: "text/html",
  json: "application/json",
};

function readFile(part: Json, pointer: string): Part {
  const { filename, file_data, file_url, file_id } = part;
  if (![file_data, file_url, file_id].some((source) => typeof source === "string")) {
    throw invalidRequest(`${pointer}/file_data`, "must be a string, unless there is a file_url or file_id");
  }
  return {
    type: "file",
    file: {
      ...(typeof file_data === "string" && { file_data: dataUrl(file_data, filename) }),
      ...(typeof file_url === "string" && { file_url }),
      ...(typeof file_id === "string" && { file_id }),
      ...(typeof filename === "string" && { filename }),
    },
  };
}

/** Clients send a `data:` URL or its base64 alone. */
function dataUrl(data: string, filename: unknown): string {
  if (data.startsWith("data:")) return data;
  const [, extension = ""] = /\.([a-z]+)$/i.exec(typeof filename === "string" ? filename : "") ?? [];
  const name = extension.toLowerCase();
  const type = Object.hasOwn(MEDIA_TYPES, name) ? MEDIA_TYPES[name] : "application/octet-stream";
  return `data:${type};base64,${data}`;
}

function readAudio(part: Json, pointer: string): Part {
  const { input_audio: audio } = part;
  if (!isJson(audio)) throw invalidRequest(`${pointer}/input_audio`, "must be an object");
  const at = `${pointer}/input_audio`;
  return { type: "input_audio", input_audio: { data: text(audio, "data", at), format: text(audio, "format", at) } };
}

function text(part: Json, key: string, pointer: string): string {
  const value = part[key];
  if (typeof value !== "string") throw invalidRequest(`${pointer}/${key}`, "must be a string");
  return value;
}
