import { isJson, type Json } from "../../kit/index.ts";
import { cleanBase64, isDataUrl, readDataUrl } from "../canonical/data-url.ts";
import type { Report } from "../canonical/report.ts";

/*
 * Not reported, because nothing of the answer changes: `cache_control` (Gemini caches prefixes by itself), a file's name,
 * `detail: "auto"`.
 */

/** A message's content in Gemini's parts; empty texts are left out. @throws GatewayError for a part that holds nothing. */
export function partsOf(content: unknown, at: string, report: Report): Json[] {
  if (typeof content === "string") return content === "" ? [] : [{ text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown, index) => partOf(part, `${at}/${index}`, report));
}

/** The texts of a content; other parts are reported. */
export function textsOf(content: unknown, at: string, report: Report): string[] {
  if (!Array.isArray(content)) return typeof content === "string" && content !== "" ? [content] : [];
  return content.flatMap((part: unknown, index) => {
    const place = `${at}/${index}`;
    return partOf(part, place, report).flatMap(({ text }) => {
      if (typeof text === "string") return [text];
      report.drop(place);
      return [];
    });
  });
}

const PART_FIELDS: ReadonlySet<string> = new Set(
  "type text refusal image_url input_audio file cache_control".split(" "),
);

const FILE_FIELDS: ReadonlySet<string> = new Set(["file_data", "file_url", "file_id", "filename"]);

function partOf(part: unknown, at: string, report: Report): Json[] {
  if (!isJson(part)) throw report.refusal(at, "must be an object");
  const parts = knownParts(part, at, report);
  if (parts === null) report.drop(at);
  else report.dropUnknown(part, PART_FIELDS, at);
  return parts ?? [];
}

/** null for a part without a form here. */
function knownParts(part: Json, at: string, report: Report): Json[] | null {
  const { type } = part;
  if (type === "text" || type === "refusal") {
    const text = part[type];
    if (typeof text !== "string") throw report.refusal(`${at}/${type}`, "must be a string");
    return text === "" ? [] : [{ text }];
  }
  if (type === "image_url") return [imagePart(part["image_url"], at, report)];
  if (type === "input_audio") return [audioPart(part["input_audio"], at, report)];
  return type === "file" ? filePart(part["file"], at, report) : null;
}

/** Some clients write the URL itself where the object belongs. */
function imagePart(image: unknown, at: string, report: Report): Json {
  const { url, detail } = isJson(image) ? image : { url: image };
  const part = typeof url === "string" ? mediaPart(url) : null;
  if (part === null) throw report.refusal(`${at}/image_url/url`, "must be a URL, or a data: URL in base64");
  if (detail !== undefined && detail !== null && detail !== "auto") report.drop(`${at}/image_url/detail`);
  return part;
}

function audioPart(audio: unknown, at: string, report: Report): Json {
  const { data, format } = isJson(audio) ? audio : {};
  const base64 = typeof data === "string" ? cleanBase64(data) : null;
  if (base64 === null) throw report.refusal(`${at}/input_audio/data`, "must be base64");
  if (typeof format !== "string" || format === "") throw report.refusal(`${at}/input_audio/format`, "must be a format");
  return { inlineData: { mimeType: audioType(format), data: base64 } };
}

function filePart(file: unknown, at: string, report: Report): Json[] {
  if (!isJson(file)) throw report.refusal(`${at}/file`, "must be an object");
  report.dropUnknown(file, FILE_FIELDS, `${at}/file`);
  const { file_data: data, file_url: url, file_id: id, filename } = file;
  if (typeof data === "string" && data !== "") {
    const part = mediaPart(data) ?? bareFile(data, filename);
    if (part === null) throw report.refusal(`${at}/file/file_data`, "must be a data: URL in base64");
    return [part];
  }
  const part = typeof url === "string" ? mediaPart(url) : null;
  if (part !== null) return [part];
  // Files are uploaded to one provider: another's id means nothing here.
  if (typeof id === "string" && id !== "") report.drop(`${at}/file/file_id`);
  else throw report.refusal(`${at}/file/file_data`, "must be a data: URL in base64");
  return [];
}

/** Base64 without the head of a `data:` URL: its name says what it is. */
function bareFile(data: string, filename: unknown): Json | null {
  const base64 = cleanBase64(data);
  if (base64 === null) return null;
  const mimeType = (typeof filename === "string" ? typeOfName(filename) : null) ?? "application/pdf";
  return { inlineData: { mimeType, data: base64 } };
}

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

function audioType(format: string): string {
  return TYPES[format.toLowerCase()] ?? `audio/${format.toLowerCase()}`;
}

/** The media type that a name or URL ends with; null for an unknown one. */
function typeOfName(name: string): string | null {
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
