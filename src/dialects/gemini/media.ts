import type { Json } from "../../kit/index.ts";

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
/** A `data:` URL's head is searched this far: what follows may be megabytes. */
const MAX_HEAD = 256;

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
  if (/^data:/i.test(url)) return inlinePart(url);
  if (!/^[a-z][a-z\d+.-]*:\/\/./i.test(url)) return null;
  const mimeType = typeOfName(url);
  return { fileData: mimeType === null ? { fileUri: url } : { mimeType, fileUri: url } };
}

/** `{inlineData}` of a `data:` URL (RFC 2397); null when it is none. */
function inlinePart(url: string): Json | null {
  const comma = url.slice(0, MAX_HEAD).indexOf(",");
  if (comma < 0) return null;
  const [type, ...parameters] = url.slice("data:".length, comma).split(";");
  const data = url.slice(comma + 1);
  const encoded = parameters.some((one) => one.trim().toLowerCase() === "base64") ? data : base64Of(data);
  if (encoded === null || encoded === "") return null;
  return { inlineData: { mimeType: type?.trim().toLowerCase() || "text/plain", data: encoded } };
}

function base64Of(percentEncoded: string): string | null {
  try {
    return Buffer.from(decodeURIComponent(percentEncoded)).toString("base64");
  } catch {
    return null;
  }
}
