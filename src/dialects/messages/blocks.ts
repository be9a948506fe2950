import { dataText, isJson, type Json, readDataUrl } from "../../kit/index.ts";
import { standInFor } from "../canonical/left-out.ts";
import { inOrder } from "../canonical/message.ts";
import type { Report } from "../canonical/report.ts";
import { argumentsObject } from "../canonical/tools.ts";
import { cacheControl, type Origins } from "./cache.ts";
import { nativeBlock, nativeFields } from "./native.ts";
import { claudeReasoning } from "./thinking.ts";

/** What the translation of one request's messages shares. */
export interface Translation {
  readonly report: Report;
  /** The client speaks this dialect: what only it has travels on. */
  readonly sameFormat: boolean;
  readonly origins: Origins;
  /** Images and documents at an address, or uploaded before, are reported: the place takes none. */
  readonly inlineMedia: boolean;
  /** An id as the API takes it; the same for a call and its result. */
  readonly toolId: (id: string) => string;
  /** Images and documents are reported: only users bring them. */
  readonly textOnly?: boolean;
  /** What a tool gave: a part that stays behind leaves a text. */
  readonly isResult?: boolean;
}

/**
 * The blocks of a message's content.
 * @param at pointer to it.
 * @throws GatewayError for content that is none.
 */
export function contentBlocks(content: unknown, at: string, translation: Translation): Json[] {
  const { report } = translation;
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return textBlocks({ text: content }, at, translation);
  if (!Array.isArray(content)) throw report.refusal(at, "must be a string or a list of parts");
  return content.flatMap((part: unknown, index) => partBlocks(part, `${at}/${index}`, translation));
}

function partBlocks(part: unknown, at: string, translation: Translation): readonly Json[] {
  if (!isJson(part)) throw translation.report.refusal(at, "must be an object");
  switch (part["type"]) {
    case "text":
      return textBlocks(part, at, translation);
    case "refusal":
      return textBlocks({ text: part["refusal"] }, at, translation, "refusal");
    default: {
      const block = mediaBlock(part, at, translation) ?? ownBlock(part, at, translation);
      return block === null ? withoutForm(part, at, translation) : [block];
    }
  }
}

/** A part that the API has no block for. */
function withoutForm(part: Json, at: string, { report, isResult = false }: Translation): readonly Json[] {
  const { text, isWhole } = standInFor(part);
  if (!isResult || !isWhole) report.drop(at);
  return isResult ? [{ type: "text", text }] : [];
}

/** A block that only this dialect has, as its client wrote it. */
function ownBlock(part: Json, at: string, { sameFormat, inlineMedia, origins }: Translation): Json | null {
  const block = sameFormat ? nativeBlock(part) : null;
  const source = isJson(block?.["source"]) ? block["source"]["type"] : null;
  if (block === null || (inlineMedia && (source === "url" || source === "file"))) return null;
  return { ...block, ...cacheControl(block, at, origins) };
}

function mediaBlock(part: Json, at: string, translation: Translation): Json | null {
  const { type } = part;
  if (translation.textOnly === true) return null;
  const block =
    type === "image_url"
      ? imageBlock(part, at, translation)
      : type === "file"
        ? documentBlock(part, translation)
        : null;
  if (block === null) return null;
  return {
    ...nativeFields(part, translation.sameFormat),
    ...block,
    ...cacheControl(part, at, translation.origins),
  };
}

/** @param field where the text stands in the part. */
function textBlocks(part: Json, at: string, { report, sameFormat, origins }: Translation, field = "text"): Json[] {
  const { text } = part;
  if (typeof text !== "string") throw report.refusal(`${at}/${field}`, "must be a string");
  // The API refuses text without a visible character; it says nothing.
  if (text.trim() === "") return [];
  return [{ ...nativeFields(part, sameFormat), type: "text", text, ...cacheControl(part, at, origins) }];
}

/** The blocks of a message, the last that may be marked with the message's own `cache_control`. */
export function marked(blocks: readonly Json[], message: Json, at: string, origins: Origins): readonly Json[] {
  const mark = cacheControl(message, at, origins);
  const last = blocks.findLastIndex(({ type }) => type !== "thinking" && type !== "redacted_thinking");
  return mark["cache_control"] === undefined
    ? blocks
    : blocks.map((block, index) => (index === last ? { ...mark, ...block } : block));
}

/**
 * The blocks of an assistant message: what it thought, what it said, what it called.
 * @throws GatewayError for a message that is none.
 */
export function assistantBlocks(message: Json, at: string, translation: Translation): readonly Json[] {
  const lists = {
    reasoning: thinkingBlocks(message, at, translation),
    content: [
      ...contentBlocks(message["content"], `${at}/content`, { ...translation, textOnly: !translation.sameFormat }),
      ...contentBlocks(message["refusal"], `${at}/refusal`, translation),
    ],
    tool_call: toolUses(message["tool_calls"], `${at}/tool_calls`, translation),
  };
  return inOrder(lists, translation.sameFormat ? message["block_order"] : null);
}

/** The API wants its own thinking back word for word, and refuses any that it has not signed. */
function thinkingBlocks(message: Json, at: string, { report, sameFormat, origins }: Translation): Json[] {
  const details = message["reasoning_details"] ?? [];
  if (!Array.isArray(details)) throw report.refusal(`${at}/reasoning_details`, "must be a list");
  const blocks: Json[] = [];
  details.forEach((detail: unknown, index) => {
    const block = isJson(detail) ? thinkingBlock(detail, sameFormat) : null;
    const place = `${at}/reasoning_details/${index}`;
    if (block === null) return report.drop(place);
    const marked = { ...block, ...cacheControl(block, place, origins) };
    origins.set(marked, { at: place });
    blocks.push(marked);
  });
  // The same text as in the details, for clients that show it; without them it is all there is, and unsigned.
  for (const name of details.length > 0 ? [] : ["reasoning_content", "reasoning"]) {
    if (typeof message[name] === "string" && message[name] !== "") report.drop(`${at}/${name}`);
  }
  return blocks;
}

function thinkingBlock(detail: Json, sameFormat: boolean): Json | null {
  const own = claudeReasoning(detail);
  if (own === null) return null;
  const fields = nativeFields(detail, sameFormat);
  if ("data" in own) return { ...fields, type: "redacted_thinking", data: own.data };
  return { ...fields, type: "thinking", thinking: own.text, signature: own.signature };
}

function toolUses(calls: unknown, at: string, translation: Translation): Json[] {
  if (calls === null || calls === undefined) return [];
  if (!Array.isArray(calls)) throw translation.report.refusal(at, "must be a list");
  return calls.flatMap((call: unknown, index) => toolUse(call, `${at}/${index}`, translation));
}

function toolUse(call: unknown, at: string, { report, toolId, sameFormat, origins }: Translation): readonly Json[] {
  if (!isJson(call)) throw report.refusal(at, "must be an object");
  const called = call["function"];
  if (!isJson(called)) {
    report.drop(at);
    return [];
  }
  const { id } = call;
  const { name } = called;
  if (typeof id !== "string" || id === "") throw report.refusal(`${at}/id`, "must be a string that is not empty");
  if (typeof name !== "string") throw report.refusal(`${at}/function/name`, "must be a string");
  const input = argumentsObject(called["arguments"]);
  const block = { type: "tool_use", id: toolId(id), name, input, ...cacheControl(call, at, origins) };
  return [{ ...nativeFields(call, sameFormat), ...block }];
}

/** The API refuses others (`Base64ImageSource.media_type` of @anthropic-ai/sdk). */
const IMAGES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
const WEB = /^https?:\/\//i;
const ADDRESS = /^[a-z][a-z\d+.-]*:\/\//i;

/** The API fetches from the web alone; what its own clients write travels as it came. */
function isFetched(url: string, sameFormat: boolean): boolean {
  return (sameFormat ? ADDRESS : WEB).test(url);
}

/** null for what is neither inlined nor an address. */
function imageBlock(part: Json, at: string, { report, sameFormat, inlineMedia }: Translation): Json | null {
  const image = part["image_url"];
  const url = isJson(image) ? image["url"] : image;
  if (typeof url !== "string") return null;
  const data = readDataUrl(url);
  if (data ? !sameFormat && !IMAGES.has(data.type) : inlineMedia || !isFetched(url, sameFormat)) return null;
  const detail = isJson(image) ? image["detail"] : undefined;
  if (typeof detail === "string" && detail !== "auto") report.drop(`${at}/image_url/detail`);
  const source = data ? { type: "base64", media_type: data.type, data: data.base64 } : { type: "url", url };
  return { type: "image", source };
}

/** null for a file the API cannot read: neither PDF nor text, or kept by another provider. */
function documentBlock(part: Json, translation: Translation): Json | null {
  const { file } = part;
  if (!isJson(file)) return null;
  const source = documentSource(file, translation);
  if (source === null) return null;
  const { context, citations } = file;
  const title = file["title"] ?? file["filename"];
  return {
    type: "document",
    source,
    ...(typeof title === "string" && title !== "" ? { title } : {}),
    ...(typeof context === "string" ? { context } : {}),
    ...(isJson(citations) ? { citations } : {}),
  };
}

function documentSource(file: Json, { sameFormat, inlineMedia }: Translation): Json | null {
  const { file_data, file_url, file_id } = file;
  if (typeof file_data === "string") return inlined(file_data);
  if (inlineMedia) return null;
  if (typeof file_url === "string") return isFetched(file_url, sameFormat) ? { type: "url", url: file_url } : null;
  // The API's own ids begin so, OpenAI's with "file-".
  if (typeof file_id !== "string" || !(sameFormat || file_id.startsWith("file_"))) return null;
  return { type: "file", file_id };
}

function inlined(url: string): Json | null {
  const data = readDataUrl(url);
  if (data === null) return null;
  const { type, base64 } = data;
  if (type === "application/pdf") return { type: "base64", media_type: type, data: base64 };
  const text = dataText(data);
  return text === null ? null : { type: "text", media_type: "text/plain", data: text };
}
