import type { Json } from "../../kit/index.ts";
import { isDataUrl, readDataUrl } from "../data-url.ts";

/** Media types by what a file's name or an audio format ends with. */
const TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
  heic: "image/heic",
  heif: "image/heif",
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  html: "text/html",
  csv: "text/csv",
  json: "application/json",
  xml: "text/xml",
  mp3: "audio/mp3",
  wav: "audio/wav",
  ogg: "audio/ogg",
  flac: "audio/flac",
  aac: "audio/aac",
  aiff: "audio/aiff",
  mp4: "video/mp4",
  mov: "video/mov",
  webm: "video/webm",
};

export function audioType(format: string): string {
  return TYPES[format.toLowerCase()] ?? `audio/${format.toLowerCase()}`;
}

/** The media type that a name or URL ends with; null for an unknown one. */
export function typeOfName(name: string): string | null {
  const path = name.slice(0, 2048).replace(/[?#].*$/s, "");
  return TYPES[path.slice(path.lastIndexOf(".") + 1).toLowerCase()] ?? null;
}

/** The part for a URL of any kind; null when it is none. */
export function mediaPart(url: string): Json | null {
  if (isDataUrl(url)) {
    const data = readDataUrl(url);
    return data && { inlineData: { mimeType: data.type, data: data.base64 } };
  }
  if (!/^[a-z][a-z\d+.-]*:\/\/./i.test(url)) return null;
  const mimeType = typeOfName(url);
  return { fileData: mimeType === null ? { fileUri: url } : { mimeType, fileUri: url } };
}
