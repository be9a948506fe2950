import { isJson, isTextType, type Json, readDataUrl } from "../../kit/index.ts";
import {
  ASSISTANT_FIELDS,
  FILE_PART_FIELDS,
  IMAGE_PART_FIELDS,
  inOrder,
  MESSAGE_FIELDS,
  NO_OUTPUT,
  SEE_DOCUMENTS,
  TEXT_PART_FIELDS,
} from "../canonical/message.ts";
import type { Report } from "../canonical/report.ts";
import { argumentsObject, writtenCalls } from "../canonical/tools.ts";
import { claudeReasoning } from "../messages/models.ts";
import { cachePoint, readsReasoning, readsStatus, type Translation } from "./models.ts";
import { append } from "../canonical/json.ts";

const TOOL_RESULT_FIELDS: ReadonlySet<string> = new Set([...MESSAGE_FIELDS, "tool_call_id", "is_error"]);

interface Conversation {
  /** Left out: none. */
  readonly system?: readonly Json[];
  readonly messages: readonly Json[];
}

interface Turn extends Json {
  readonly role: "user" | "assistant";
  readonly content: Json[];
}

/**
 * `system` and `messages` of a conversation. System messages amid it join the first ones, turns of the same role become
 * one, tool results are parts of a user turn.
 * @throws GatewayError for a message that cannot be written down, AttemptError for one of which nothing would be left.
 */
export function conversationOf(messages: unknown, translation: Translation): Conversation {
  const { report } = translation;
  if (!Array.isArray(messages)) throw report.refusal("/messages", "must be a list");
  const system: Json[] = [];
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    const at = `/messages/${index}`;
    if (!isJson(message)) throw report.refusal(at, "must be an object");
    switch (message["role"]) {
      case "system":
      case "developer":
        report.dropUnknown(message, MESSAGE_FIELDS, at);
        append(system, marked(textContent(message["content"], `${at}/content`, translation), message, at, translation));
        break;
      case "user":
        add(turns, "user", userBlocks(message, at, translation));
        break;
      case "assistant":
        add(turns, "assistant", assistantBlocks(message, at, translation));
        break;
      case "tool":
        add(turns, "user", toolResult(message, at, translation));
        break;
      default:
        throw report.refusal(`${at}/role`, "must be system, developer, user, assistant or tool");
    }
  }
  if (translation.family === "anthropic") withoutTrailingBlank(turns);
  // Converse demands a turn: instructions alone are what is asked.
  if (turns.length === 0 && system.length > 0) return { messages: [{ role: "user", content: system }] };
  if (turns.length === 0) throw report.refusal("/messages", "must have a message with content");
  for (const { role, content } of turns) if (role === "user") explainDocuments(content);
  return { ...(system.length > 0 ? { system } : {}), messages: turns };
}

/** Claude refuses to go on from white space ("final assistant content cannot end with trailing whitespace",
 * https://github.com/langchain-ai/langchain-aws/pull/599). */
function withoutTrailingBlank(turns: readonly Turn[]): void {
  const { role, content = [] } = turns.at(-1) ?? {};
  const block = content.at(-1);
  if (role === "assistant" && typeof block?.["text"] === "string") {
    content.splice(-1, 1, { ...block, text: block["text"].trimEnd() });
  }
}

/** Converse: "A text block must be included when a document is provided." */
function explainDocuments(content: Json[]): void {
  const documents = content.some((block) => "document" in block);
  if (documents && !content.some((block) => "text" in block)) content.push({ text: SEE_DOCUMENTS });
}

function add(turns: Turn[], role: Turn["role"], blocks: readonly Json[]): void {
  if (blocks.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === role) append(last.content, blocks);
  else turns.push({ role, content: [...blocks] });
}

function userBlocks(message: Json, at: string, translation: Translation): readonly Json[] {
  const { report } = translation;
  const before = report.count;
  const blocks = contentBlocks(message["content"], `${at}/content`, translation);
  // A question without the image it is about is another question.
  if (blocks.length === 0 && report.count > before) throw report.unsupported(`${at}/content`);
  report.dropUnknown(message, MESSAGE_FIELDS, at);
  return marked(blocks, message, at, translation);
}

function toolResult(message: Json, at: string, translation: Translation): readonly Json[] {
  const { family, report, toolId } = translation;
  const { tool_call_id: id, is_error: failed } = message;
  if (typeof id !== "string" || id === "")
    throw report.refusal(`${at}/tool_call_id`, "must be a string that is not empty");
  report.dropUnknown(message, TOOL_RESULT_FIELDS, at);
  const blocks = contentBlocks(message["content"], `${at}/content`, translation);
  // A result holds no cache points: one within it follows it.
  const content = blocks.filter((block) => !("cachePoint" in block));
  const points = blocks.filter((block) => "cachePoint" in block).slice(-1);
  if (failed === true && !readsStatus(family)) report.drop(`${at}/is_error`);
  const status = failed === true && readsStatus(family) ? { status: "error" } : {};
  const result = { toolUseId: toolId(id), content: content.length > 0 ? content : [{ text: NO_OUTPUT }], ...status };
  return [{ toolResult: result }, ...(points.length > 0 ? points : cachePoint(message, at, translation))];
}

function marked(blocks: readonly Json[], message: Json, at: string, translation: Translation): readonly Json[] {
  return blocks.length === 0 ? [] : [...blocks, ...cachePoint(message, at, translation)];
}

/** The blocks of an assistant turn. @throws GatewayError for a message that cannot be written down. */
function assistantBlocks(message: Json, at: string, translation: Translation): readonly Json[] {
  const { report } = translation;
  report.dropUnknown(message, ASSISTANT_FIELDS, at);
  const { content, refusal } = message;
  const contents = contentGroups(content, `${at}/content`, translation);
  if (typeof refusal === "string" && refusal.trim() !== "") contents.push([{ text: refusal }]);
  const lists = {
    reasoning: reasoningBlocks(message, at, translation),
    content: contents.map(group),
    tool_call: toolUses(message["tool_calls"], `${at}/tool_calls`, translation).map(group),
  };
  const blocks = inOrder(lists, message["block_order"]).flatMap(({ blocks }) => blocks as readonly Json[]);
  return blocks.length === 0 ? [] : [...blocks, ...cachePoint(message, at, translation)];
}

/** What one item of the message became, so that the order of the items is known. */
function group(blocks: readonly Json[]): { readonly blocks: readonly Json[] } {
  return { blocks };
}

/** Models take back only what they signed: other reasoning is reported. */
function reasoningBlocks(message: Json, at: string, { family, report }: Translation): Json[] {
  const details: readonly unknown[] = Array.isArray(message["reasoning_details"]) ? message["reasoning_details"] : [];
  const blocks = details.map((detail, index) => {
    const block = isJson(detail) && readsReasoning(family) ? reasoningBlock(detail) : null;
    if (block === null) report.drop(`${at}/reasoning_details/${index}`);
    return group(block === null ? [] : [block]);
  });
  // The same thoughts as the details, in their own form.
  for (const name of details.length > 0 ? [] : ["reasoning_content", "reasoning"]) {
    if (typeof message[name] === "string" && message[name] !== "") report.drop(`${at}/${name}`);
  }
  return blocks;
}

function reasoningBlock(detail: Json): Json | null {
  const own = claudeReasoning(detail);
  if (own === null) return null;
  return { reasoningContent: "data" in own ? { redactedContent: own.data } : { reasoningText: own } };
}

function toolUses(calls: unknown, at: string, translation: Translation): readonly (readonly Json[])[] {
  const { report, toolId } = translation;
  return writtenCalls(calls, at, report, ({ call, at, id, name, written }) => {
    const toolUse = { toolUseId: toolId(id), name, input: argumentsObject(written) };
    return [{ toolUse }, ...cachePoint(call, at, translation)];
  });
}

/**
 * The blocks of a message's content; texts without a visible character, which Converse refuses, are left out.
 * @param at pointer to it.
 * @throws GatewayError for content that is none.
 */
function contentBlocks(content: unknown, at: string, translation: Translation): Json[] {
  return contentGroups(content, at, translation).flat();
}

/** The same, part by part. */
function contentGroups(content: unknown, at: string, translation: Translation): (readonly Json[])[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return [textBlocks(content)];
  if (!Array.isArray(content)) throw translation.report.refusal(at, "must be a string or a list of parts");
  return content.map((part: unknown, index) => partBlocks(part, `${at}/${index}`, translation));
}

/** As `contentBlocks`; blocks other than texts and cache points are reported. */
function textContent(content: unknown, at: string, translation: Translation): Json[] {
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
function documentBlock(file: Json, name: (title: string) => string, at: string, report: Report): Json | null {
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
