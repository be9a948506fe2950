import { isJson, type Json } from "../../../kit/index.ts";
import { nativePart } from "../../anthropic/native.ts";
import { given, leftover } from "./fields.ts";

const IMAGE_TYPE = /^image\/[a-z\d.+-]+$/;
const PDF_TYPE = /^application\/pdf$/;
const WEB = /^https?:\/\//i;

/** The canonical part of a content block; one that has no other place travels whole, as a native part. */
export function readPart(block: Json): Json {
  switch (block["type"]) {
    case "text":
      return readText(block) ?? nativePart(block);
    case "image":
      return readImage(block) ?? nativePart(block);
    case "document":
      return readDocument(block) ?? nativePart(block);
    default:
      return nativePart(block);
  }
}

/** A lone text without further fields is written as a string: the form that every upstream takes. */
export function readContent(blocks: readonly Json[]): string | readonly Json[] {
  const parts = blocks.map(readPart);
  const [only] = parts;
  if (parts.length !== 1 || only === undefined || Object.keys(only).length !== 2) return parts;
  return typeof only["text"] === "string" ? only["text"] : parts;
}

function readText({ type, text, cache_control, ...rest }: Json): Json | null {
  if (typeof text !== "string") return null;
  return { ...leftover(rest), type, text, ...given("cache_control", cache_control) };
}

function readImage({ type: _type, source, cache_control, ...rest }: Json): Json | null {
  if (!isJson(source)) return null;
  const url = source["type"] === "url" ? webUrl(source) : dataUrl(source, IMAGE_TYPE);
  if (url === null) return null;
  return { ...leftover(rest), type: "image_url", image_url: { url }, ...given("cache_control", cache_control) };
}

function readDocument({ type: _type, source, title, context, citations, cache_control, ...rest }: Json): Json | null {
  if (!isJson(source)) return null;
  const place = documentPlace(source);
  if (place === null) return null;
  const file = {
    ...place,
    ...given("filename", title),
    ...given("context", context),
    ...given("citations", citations),
  };
  return { ...leftover(rest), type: "file", file, ...given("cache_control", cache_control) };
}

function documentPlace(source: Json): Json | null {
  const { type, file_id, data, media_type } = source;
  const file_url = type === "url" ? webUrl(source) : null;
  if (file_url !== null) return { file_url };
  if (type === "file") return typeof file_id === "string" ? { file_id } : null;
  if (type === "text" && media_type === "text/plain" && typeof data === "string") {
    return { file_data: `data:text/plain;base64,${Buffer.from(data, "utf8").toString("base64")}` };
  }
  const file_data = dataUrl(source, PDF_TYPE);
  return file_data === null ? null : { file_data };
}

function webUrl({ url }: Json): string | null {
  return typeof url === "string" && WEB.test(url) ? url : null;
}

function dataUrl({ type, media_type, data }: Json, types: RegExp): string | null {
  if (type !== "base64" || typeof data !== "string") return null;
  if (typeof media_type !== "string" || !types.test(media_type)) return null;
  return `data:${media_type};base64,${data}`;
}
