import { isJson, type Json } from "../../kit/index.ts";
import { isTextType, readDataUrl } from "../canonical/data-url.ts";
import { FILE_PART_FIELDS, IMAGE_PART_FIELDS, TEXT_PART_FIELDS } from "../canonical/message.ts";
import type { Report } from "../canonical/report.ts";
import { cachePoint, type Translation } from "./translation.ts";

/**
 * The blocks of a message's content; texts without a visible character, which Converse refuses, are left out.
 * @param at pointer to it.
 * @throws GatewayError for content that is none.
 */
export function contentBlocks(content: unknown, at: string, translation: Translation): Json[] {
  return contentGroups(content, at, translation).flat();
}

/** The same, part by part. */
export function contentGroups(content: unknown, at: string, translation: Translation): (readonly Json[])[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return [textBlocks(content)];
  if (!Array.isArray(content)) throw translation.report.refusal(at, "must be a string or a list of parts");
  return content.map((part: unknown, index) => partBlocks(part, `${at}/${index}`, translation));
}

/** As `contentBlocks`; blocks other than texts and cache points are reported. */
export function textContent(content: unknown, at: string, translation: Translation): Json[] {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  const blocks = parts.flatMap((part, index) => {
    const place = `${at}/${index}`;
    if (!isJson(part) || part["type"] === "text" || part["type"] === "refusal")
      return partBlocks(part, place, translation);
    translation.report.drop(place);
    return [];
  });
  return Array.isArray(content) ? blocks : contentBlocks(content, at, translation);
}

function partBlocks(part: unknown, at: string, translation: Translation): readonly Json[] {
  const { report } = translation;
  if (!isJson(part)) throw report.refusal(at, "must be an object");
  const blocks = knownBlocks(part, at, translation);
  if (blocks === null) report.drop(at);
  return blocks === null || blocks.length === 0 ? [] : [...blocks, ...cachePoint(part, at, translation)];
}

/** null for a part without a form in Converse. */
function knownBlocks(part: Json, at: string, { report, documentName }: Translation): readonly Json[] | null {
  switch (part["type"]) {
    case "text":
      return textPart(part, "text", at, report);
    case "refusal":
      return textPart(part, "refusal", at, report);
    case "image_url":
      return listed(imageOf(part, at, report));
    case "file": {
      const { file } = part;
      const document = isJson(file) ? documentBlock(file, documentName, `${at}/file`, report) : null;
      if (document !== null) report.dropUnknown(part, FILE_PART_FIELDS, at);
      return listed(document);
    }
    default:
      return null;
  }
}

function textPart(part: Json, name: "text" | "refusal", at: string, report: Report): readonly Json[] {
  const text = part[name];
  if (typeof text !== "string") throw report.refusal(`${at}/${name}`, "must be a string");
  report.dropUnknown(part, TEXT_PART_FIELDS, at);
  return textBlocks(text);
}

function listed(block: Json | null): readonly Json[] | null {
  return block === null ? null : [block];
}

function textBlocks(text: string): Json[] {
  return text.trim() === "" ? [] : [{ text }];
}

/** Some clients write the URL itself where the object belongs. */
function imageOf(part: Json, at: string, report: Report): Json | null {
  const { image_url: image } = part;
  const { url, detail } = isJson(image) ? image : { url: image };
  if (typeof url !== "string") throw report.refusal(`${at}/image_url/url`, "must be a string");
  const block = imageBlock(url);
  if (block === null) return null;
  if (typeof detail === "string" && detail !== "auto") report.drop(`${at}/image_url/detail`);
  report.dropUnknown(part, IMAGE_PART_FIELDS, at);
  return block;
}

const IMAGES: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
};
const DOCUMENTS: Readonly<Record<string, string>> = {
  "application/pdf": "pdf",
  "text/csv": "csv",
  "application/msword": "doc",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/vnd.ms-excel": "xls",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "text/html": "html",
  "text/plain": "txt",
  "text/markdown": "md",
};
const S3 = /^s3:\/\/./;

/** The block for an image; null for an address on the web, which Converse does not fetch, and for other formats. */
function imageBlock(url: string): Json | null {
  if (S3.test(url)) {
    const format = Object.values(IMAGES).find((ending) =>
      url
        .toLowerCase()
        .replace(/\.jpg$/, ".jpeg")
        .endsWith(`.${ending}`),
    );
    return format === undefined ? null : { image: { format, source: { s3Location: { uri: url } } } };
  }
  const data = readDataUrl(url);
  const format = data && IMAGES[data.type];
  return data && format ? { image: { format, source: { bytes: data.base64 } } } : null;
}

/**
 * The block for a file; null for one of another type, or that is elsewhere.
 * @param name makes the document's name, which no other document of the request may have.
 */
function documentBlock(file: Json, name: (wanted: string) => string, at: string, report: Report): Json | null {
  const { file_data, filename, title, context, citations } = file;
  const data = typeof file_data === "string" ? readDataUrl(file_data) : null;
  const format = data && (DOCUMENTS[data.type] ?? (isTextType(data.type) ? "txt" : null));
  if (!data || !format) return null;
  report.dropUnknown(file, DOCUMENT_FIELDS, at);
  const wanted = typeof title === "string" && title !== "" ? title : typeof filename === "string" ? filename : "";
  return {
    document: {
      format,
      name: name(wanted),
      source: { bytes: data.base64 },
      ...(typeof context === "string" && context !== "" ? { context } : {}),
      ...(isEnabled(citations) ? { citations: { enabled: true } } : {}),
    },
  };
}

const DOCUMENT_FIELDS: ReadonlySet<string> = new Set(["file_data", "filename", "title", "context", "citations"]);

function isEnabled(citations: unknown): boolean {
  return typeof citations === "object" && citations !== null && "enabled" in citations && citations.enabled === true;
}
