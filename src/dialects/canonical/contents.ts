import { dataText, isJson, type Json, readDataUrl, registeredType } from "../../kit/index.ts";
import { changed, isText } from "./json.ts";
import { marksOf } from "./marks.ts";
import type { Report } from "./report.ts";

/*
 * What the contents of messages may hold, by target. A part that the target does not take becomes a text that says what was
 * there, and is told: a message or a result that lost all it had would say that there was nothing.
 */

/** A kind of part beside text. */
export type PartKind = "image" | "file" | "audio" | "video";

const KINDS: Readonly<Record<string, PartKind>> = {
  image_url: "image",
  file: "file",
  input_audio: "audio",
  video_url: "video",
};
const NAMES: Readonly<Record<PartKind, string>> = { image: "images", file: "files", audio: "audio", video: "video" };

/** What contents may hold at one target. */
export interface PartRules {
  /** What messages of the user may hold beside text; null: nobody knows, so that every part travels. */
  readonly parts: ReadonlySet<PartKind> | null;
  /** Media types of inlined images, and of audio as `audio/` and its format; null: nobody knows. */
  readonly mediaTypes: ReadonlySet<string> | null;
  /** Images may be named by their address; else they come inlined only. */
  readonly imageUrls: boolean;
  /** Files may be named by their address. */
  readonly fileUrls: boolean;
  /** What a file is called in a content. */
  readonly fileForm: "file" | "document_url" | "file_url";
}

const NO_PARTS: ReadonlySet<PartKind> = new Set();

/** `image`, `file`, … of a canonical part; null for text, and for parts that nobody here knows. */
export function kindOfPart({ type }: Json): PartKind | null {
  return typeof type === "string" && Object.hasOwn(KINDS, type) ? KINDS[type]! : null;
}

/**
 * The text in place of a part that a target does not take.
 * @param taken what it takes there beside text; by default: such a part is taken elsewhere, or nobody knows.
 */
export function omittedText(kind: string, taken?: ReadonlySet<PartKind>): string {
  if (taken === undefined) return `[${kind} omitted: it cannot be passed on to this model]`;
  const names = ["text", ...[...taken].map((one) => NAMES[one])];
  const last = names.pop();
  const list = names.length === 0 ? last : `${names.join(", ")} and ${last}`;
  return `[${kind} omitted: this model takes ${list} only]`;
}

/** The text of a file that is nothing but text, under its name; null for any other. */
export function textOfFile({ file_data: data, filename }: Json): string | null {
  const inlined = typeof data === "string" ? readDataUrl(data) : null;
  const text = inlined && dataText(inlined);
  return text === null || !isText(filename) ? text : `${filename}\n\n${text}`;
}

/**
 * A message's content as the target takes it; the very same where it takes all of it. Media belong to the user and to the
 * results of tools: whoever else has some keeps a text that says so.
 * @param at pointer to the message.
 */
export function fittedContent({ role, content }: Json, at: string, rules: PartRules, report: Report): unknown {
  const { parts } = rules;
  if (parts === null) return content;
  const holds = role === "user" || role === "tool" || role === "function" || parts.size === 0;
  const taken = holds ? parts : NO_PARTS;
  return changed(content, (part, index) => {
    const kind = kindOfPart(part);
    if (kind === null) return part;
    const text = kind === "file" && isJson(part["file"]) ? textOfFile(part["file"]) : null;
    if (text !== null) return withText(part, text);
    const type = mediaTypeOf(part);
    const isOther = type !== null && rules.mediaTypes?.has(type) === false;
    if (taken.has(kind) && addressTaken(part, rules) && !isOther) return withRegisteredType(part);
    report.drop(`${at}/content/${index}`);
    if (taken.has(kind) && isOther) return withText(part, omittedType(kind, type));
    return withText(part, taken.has(kind) ? omittedAddress(kind) : omittedText(kind, holds ? taken : undefined));
  });
}

/** A mark of a prefix to cache stays where it was. */
function withText(part: Json, text: string): Json {
  return { type: "text", text, ...marksOf(part) };
}

/** The same for one that a target takes by its content only. */
export function omittedAddress(kind: PartKind): string {
  return `[${kind} omitted: this model takes ${NAMES[kind]} by their content, not by their address]`;
}

/** The same for one of a media type that a target does not take. */
export function omittedType(kind: PartKind, type: string): string {
  return `[${kind} omitted: this model does not take ${type}]`;
}

/** The media type of an image that is inlined, or of audio; null for any other part. */
function mediaTypeOf({ image_url: image, input_audio: audio }: Json): string | null {
  if (isJson(audio)) return typeof audio["format"] === "string" ? `audio/${audio["format"].toLowerCase()}` : null;
  const url = isJson(image) ? image["url"] : image;
  const [, type] = typeof url === "string" ? (/^data:([^,;]{0,100})/i.exec(url) ?? []) : [];
  return type === undefined ? null : registeredType(type);
}

/** An image under the registered name of its type; the very same where it has that. */
function withRegisteredType(part: Json): Json {
  const { image_url: image } = part;
  const url = isJson(image) ? image["url"] : image;
  const [, head, type] = typeof url === "string" ? (/^(data:([^,;]{0,100}))/i.exec(url) ?? []) : [];
  if (typeof url !== "string" || head === undefined || type === undefined || type === registeredType(type)) return part;
  const named = `data:${registeredType(type)}${url.slice(head.length)}`;
  return { ...part, image_url: isJson(image) ? { ...image, url: named } : named };
}

function addressTaken({ image_url: image, file }: Json, { imageUrls, fileUrls }: PartRules): boolean {
  if (isJson(file)) return fileUrls || typeof file["file_url"] !== "string" || typeof file["file_data"] === "string";
  const url = isJson(image) ? image["url"] : image;
  return imageUrls || typeof url !== "string" || /^data:/i.test(url);
}

/** A message with its files as the target calls them; the very same without any. */
export function withWrittenFiles(message: Json, { fileForm, fileUrls }: PartRules): Json {
  if (fileForm === "file" && !fileUrls) return message;
  const { content } = message;
  const written = changed(content, (part) => {
    const { file, ...rest } = part;
    const { file_data: data, file_url: url, filename } = isJson(file) ? file : {};
    const source = isText(data) ? data : url;
    if (!isJson(file) || !isText(source)) return part;
    const name = isText(filename) ? filename : null;
    switch (fileForm) {
      case "document_url":
        return { type: fileForm, document_url: source, ...(name !== null && { document_name: name }) };
      case "file_url":
        // The base64 alone: https://docs.perplexity.ai/guides/file-attachments
        return {
          type: fileForm,
          file_url: { url: source.replace(/^data:[^,]*,/, "") },
          ...(name !== null && { file_name: name }),
        };
      case "file":
        if (url === undefined) return part;
        return { ...rest, file: { ...(name !== null && { filename: name }), file_data: source } };
    }
  });
  return written === content ? message : { ...message, content: written };
}
