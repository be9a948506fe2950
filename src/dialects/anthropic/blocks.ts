import { invalidRequest, isJson, type Json } from "../../kit/index.ts";
import { imageBlock, documentBlock } from "./media.ts";
import { nativeBlock, nativeFields } from "./native.ts";

/** What the translation of one request's messages shares. */
export interface Translation {
  /** Reports a canonical pointer that the dialect cannot express. */
  readonly lose: (pointer: string) => void;
  /** The client speaks this dialect: nothing is tidied up, the API judges. */
  readonly verbatim: boolean;
  /** An id as the API takes it; the same for a call and its result. */
  readonly toolId: (id: string) => string;
  /** Images and documents are reported: only users bring them. */
  readonly textOnly?: boolean;
}

/**
 * The blocks of a message's content.
 * @param at pointer to it.
 * @throws GatewayError for content that is none.
 */
export function contentBlocks(content: unknown, at: string, translation: Translation): Json[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return textBlocks({ text: content }, at, translation);
  if (!Array.isArray(content)) throw invalidRequest(at, "must be a string or a list of parts");
  return content.flatMap((part: unknown, index) => partBlocks(part, `${at}/${index}`, translation));
}

function partBlocks(part: unknown, at: string, translation: Translation): readonly Json[] {
  if (!isJson(part)) throw invalidRequest(at, "must be an object");
  switch (part["type"]) {
    case "text":
      return textBlocks(part, `${at}/text`, translation);
    case "refusal":
      return textBlocks({ text: part["refusal"] }, `${at}/refusal`, translation);
    default: {
      const block = mediaBlock(part, at, translation) ?? (translation.verbatim ? nativeBlock(part) : null);
      if (block === null) translation.lose(at);
      return block === null ? [] : [block];
    }
  }
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
  return block && { ...nativeFields(part, translation.verbatim), ...block, ...cacheControl(part) };
}

function textBlocks(part: Json, at: string, { verbatim }: Translation): Json[] {
  const { text } = part;
  if (typeof text !== "string") throw invalidRequest(at, "must be a string");
  // The API refuses text without a visible character; it says nothing.
  if (!verbatim && text.trim() === "") return [];
  return [{ ...nativeFields(part, verbatim), type: "text", text, ...cacheControl(part) }];
}

export function cacheControl(item: Json): Json {
  return isJson(item["cache_control"]) ? { cache_control: item["cache_control"] } : {};
}

/** The blocks of a message, the last that may be marked with the message's own `cache_control`. */
export function marked(blocks: readonly Json[], message: Json): readonly Json[] {
  const mark = cacheControl(message);
  const last = blocks.findLastIndex(({ type }) => type !== "thinking" && type !== "redacted_thinking");
  return mark["cache_control"] === undefined
    ? blocks
    : blocks.map((block, index) => (index === last ? { ...mark, ...block } : block));
}
