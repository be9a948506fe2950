import { isJson, isTextType, type Json, readDataUrl } from "../../kit/index.ts";
import { IMAGE_PART_FIELDS } from "../canonical/message.ts";
import type { Report } from "../canonical/report.ts";

/**
 * Names as Converse takes them: letters, digits, single spaces, hyphens, brackets; at most 200 characters, each once. An
 * ending is not part of it: it is the document's format.
 */
export function documentNames(): (title: string) => string {
  const taken = new Set<string>();
  /** By name, the number that the next document of that name may have: from the first on they would all be tried again. */
  const numbers = new Map<string, number>();
  return (title) => {
    const plain = title
      .slice(0, 200)
      .replace(/\.\w{1,5}$/, "")
      .replaceAll(/[^A-Za-z0-9 ()[\]-]+/g, " ")
      .replaceAll(/ {2,}/g, " ")
      .trim();
    const base = plain === "" ? "document" : plain;
    const stem = base.slice(0, 190);
    let number = numbers.get(stem) ?? 2;
    let name = base;
    for (; taken.has(name); number++) name = `${stem} ${number}`;
    numbers.set(stem, number);
    taken.add(name);
    return name;
  };
}

/** Some clients write the URL itself where the object belongs. */
export function imageOf(part: Json, at: string, report: Report): Json | null {
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
export function documentBlock(file: Json, name: (title: string) => string, at: string, report: Report): Json | null {
  const { file_data, filename, title, context, citations } = file;
  const data = typeof file_data === "string" ? readDataUrl(file_data) : null;
  const format = data && (DOCUMENTS[data.type] ?? (isTextType(data.type) ? "txt" : null));
  if (!data || !format) return null;
  report.dropUnknown(file, DOCUMENT_FIELDS, at);
  const documentTitle =
    typeof title === "string" && title !== "" ? title : typeof filename === "string" ? filename : "";
  return {
    document: {
      format,
      name: name(documentTitle),
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
