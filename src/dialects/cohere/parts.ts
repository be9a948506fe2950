import { isJson, type Json } from "../../kit/index.ts";
import { cleanDataUrl, readDataUrl, textOf } from "../data-url.ts";
import type { Report } from "../report.ts";

const TEXT: ReadonlySet<string> = new Set(["text", "refusal", "cache_control", "annotations"]);
const IMAGE: ReadonlySet<string> = new Set(["image_url", "cache_control"]);
const FILE: ReadonlySet<string> = new Set(["file", "cache_control"]);
/** A document is always cited. */
const FILE_FIELDS: ReadonlySet<string> = new Set(["file_data", "filename", "title", "citations"]);

export interface Place {
  readonly report: Report;
  /** Takes the text files. */
  readonly documents: Json[];
  /** Whether images may stand there. */
  readonly images: boolean;
}

/**
 * A message's content in Cohere's parts; empty texts are left out.
 * @param at pointer to it.
 * @throws GatewayError for content that is none.
 */
export function partsOf(content: unknown, at: string, place: Place): readonly Json[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return textPart(content);
  if (!Array.isArray(content)) throw place.report.refusal(at, "must be a string or a list of parts");
  return content.flatMap((part: unknown, index) => partOf(part, `${at}/${index}`, place));
}

function partOf(part: unknown, at: string, place: Place): readonly Json[] {
  const { report } = place;
  if (!isJson(part)) throw report.refusal(at, "must be an object");
  const { type } = part;
  if (type === "text" || type === "refusal") {
    const text = part[type];
    if (typeof text !== "string") throw report.refusal(`${at}/${type}`, "must be a string");
    report.dropBeside(part, TEXT, at);
    return textPart(text);
  }
  if (type === "image_url" && place.images) return [imagePart(part, at, report)];
  const document = type === "file" && isJson(part["file"]) ? documentOf(part["file"], `${at}/file`, report) : null;
  if (document === null) report.drop(at);
  else {
    report.dropBeside(part, FILE, at);
    place.documents.push(document);
  }
  return [];
}

function textPart(text: string): readonly Json[] {
  return text === "" ? [] : [{ type: "text", text }];
}

/** Some clients write the URL itself where the object belongs. */
function imagePart(part: Json, at: string, report: Report): Json {
  const { image_url: image } = part;
  const { url, detail } = isJson(image) ? image : { url: image };
  if (typeof url !== "string") throw report.refusal(`${at}/image_url/url`, "must be a string");
  report.dropBeside(part, IMAGE, at);
  const clean = cleanDataUrl(url) ?? url;
  return { type: "image_url", image_url: { url: clean, ...(typeof detail === "string" ? { detail } : {}) } };
}

/** A text file as a document; null for any other. */
function documentOf(file: Json, at: string, report: Report): Json | null {
  const { file_data: url, title, filename } = file;
  const inlined = typeof url === "string" ? readDataUrl(url) : null;
  const text = inlined && textOf(inlined);
  if (text === null) return null;
  report.dropBeside(file, FILE_FIELDS, at);
  const name = [title, filename].find((one) => typeof one === "string" && one !== "");
  return { data: { ...(name === undefined ? {} : { title: name }), text } };
}
