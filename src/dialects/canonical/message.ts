import { isJson, type Json } from "../../kit/index.ts";
import { MARKS } from "./marks.ts";

/*
 * The canonical middle of chat: OpenAI's chat completions with the extensions that providers and gateways already use for
 * what it cannot say. Client formats read into it and write from it, upstream codecs write it out and read answers back:
 * n + m translations, never n × m. A chat client's own body is canonical as it comes, so nothing here may be trusted to
 * have its type; what is no part of it travels on to OpenAI-style upstreams only.
 */

/** `ephemeral` marks the end of a prefix to cache; on a part, a message's last part, or a tool. */
interface CacheControl {
  readonly type: "ephemeral";
  readonly ttl?: string;
}

interface Cacheable {
  readonly cache_control?: CacheControl;
}

/** Fields that only the client's own dialect has, as they came: for upstreams of the same dialect. */
interface Extended {
  readonly native?: Json;
}

export type Part =
  | ({ readonly type: "text"; readonly text: string } & Cacheable)
  /** `url` may be a `data:` URL. */
  | ({ readonly type: "image_url"; readonly image_url: { readonly url: string; readonly detail?: string } } & Cacheable)
  | { readonly type: "input_audio"; readonly input_audio: { readonly data: string; readonly format: string } }
  /** A document: PDF or text. */
  | ({ readonly type: "file"; readonly file: FilePart } & Cacheable)
  /** A block of one client dialect that has no other place, as it came; for upstreams of the same dialect. */
  | { readonly type: "native"; readonly dialect: string; readonly block: Json };

interface FilePart {
  /** A `data:` URL. */
  readonly file_data?: string;
  readonly file_url?: string;
  readonly file_id?: string;
  readonly filename?: string;
  readonly context?: string;
  readonly citations?: Json;
}

/** Of an item of the Responses API: its id, and who can read it (`openai-responses-v1`); such go to no one else. */
interface OfItem {
  readonly id?: string;
  readonly format?: string;
}

/** What the provider that made it needs back unchanged, in the order in which it came. */
export type ReasoningDetail =
  | { readonly type: "reasoning.text"; readonly text: string; readonly signature?: string }
  | ({ readonly type: "reasoning.encrypted"; readonly data: string } & OfItem)
  | ({ readonly type: "reasoning.summary"; readonly summary: string } & OfItem);

export interface ToolCall extends Cacheable, Extended {
  readonly id: string;
  readonly type: "function";
  /** `arguments` is JSON text; no arguments is `{}`. */
  readonly function: { readonly name: string; readonly arguments: string };
  readonly extra_content?: { readonly google?: { readonly thought_signature?: string } };
}

export type Message =
  | {
      readonly role: "system" | "developer" | "user";
      readonly content: string | readonly Part[];
      readonly name?: string;
    }
  | {
      readonly role: "assistant";
      readonly content?: string | readonly Part[] | null;
      readonly reasoning_content?: string | null;
      readonly reasoning_details?: readonly ReasoningDetail[];
      readonly tool_calls?: readonly ToolCall[];
      readonly refusal?: string | null;
      /**
       * Which of its lists the next block stands in, where that is not reasoning, then content, then tool calls. Shown to
       * clients of the Messages format alone.
       */
      readonly block_order?: readonly ("reasoning" | "content" | "tool_call")[];
    }
  | {
      readonly role: "tool";
      readonly tool_call_id: string;
      readonly content: string | readonly Part[];
      readonly is_error?: boolean;
    };

export interface Tool extends Cacheable, Extended {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: Json;
    readonly strict?: boolean | null;
  };
}

/**
 * Beside OpenAI's own fields a request may carry `top_k`, and `thinking` in Anthropic's form. In answers a choice may say
 * the provider's own word for its end as `native_finish_reason`, and `stop_sequence`; `usage.prompt_tokens_details` has
 * `cache_write_tokens` beside `cached_tokens`. In streams `delta.reasoning_details` brings the deltas of one detail under
 * its `index`, its signature last. `annotations` of answers are OpenAI's `url_citation`, and `file_citation` with what the
 * provider says of the file, which only some clients' formats have a place for.
 */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** Which list of a canonical assistant message a block is in. */
export type BlockPlace = "reasoning" | "content" | "tool_call";

const USUAL: readonly BlockPlace[] = ["reasoning", "content", "tool_call"];

export function isUsual(order: readonly BlockPlace[]): boolean {
  return order.every((place, index) => index === 0 || USUAL.indexOf(order[index - 1]!) <= USUAL.indexOf(place));
}

/** The blocks of an assistant turn in the order in which they were. */
export function inOrder(lists: Readonly<Record<BlockPlace, readonly Json[]>>, order: unknown): readonly Json[] {
  const left = new Map<unknown, Json[]>(USUAL.map((place) => [place, [...lists[place]]]));
  const listed: readonly unknown[] = Array.isArray(order) ? order : [];
  const ordered = listed.map((place) => left.get(place)?.shift()).filter((block) => block !== undefined);
  return [...ordered, ...USUAL.flatMap((place) => left.get(place) ?? [])];
}

/** What a dialect reads of a message; it caches prefixes as it is asked, or by itself. */
export const MESSAGE_FIELDS: ReadonlySet<string> = new Set(["role", "content", ...MARKS]);

/** What is read of the parts of a content. */
export const TEXT_PART_FIELDS: ReadonlySet<string> = new Set(["text", "refusal", ...MARKS, "annotations"]);
export const IMAGE_PART_FIELDS: ReadonlySet<string> = new Set(["image_url", ...MARKS]);
export const FILE_PART_FIELDS: ReadonlySet<string> = new Set(["file", ...MARKS]);

/** What a dialect reads of an assistant message, and what only says something of the answer it once was. */
export const ASSISTANT_FIELDS: ReadonlySet<string> = new Set([
  "role",
  "content",
  "reasoning_content",
  "reasoning",
  "reasoning_details",
  "refusal",
  "tool_calls",
  "annotations",
  "block_order",
  ...MARKS,
]);

/** How a dialect marks what only its provider can read, such as `gemini1.`. */
export const MARKED = /^[a-z]+\d+\./;

/** The text of a tool result without any, for providers that want a content in each. */
export const NO_OUTPUT = "(no output)";
/** The text of a question that is nothing but documents, for providers that want a text beside them. */
export const SEE_DOCUMENTS = "(see documents)";

/** Where in the answer's text, in UTF-16 units. */
interface TextPlace {
  readonly start_index?: number;
  readonly end_index?: number;
}

/**
 * What a provider says of a source as an annotation of the answer: OpenAI's form for a page on the web, else what is known
 * of the file.
 */
export function annotationOf(page: Json, file: Json, place: TextPlace): Json {
  const { url, title } = page;
  if (typeof url === "string") {
    return { type: "url_citation", url_citation: { url, title: typeof title === "string" ? title : url, ...place } };
  }
  const known = Object.entries(file).filter(([, value]) => typeof value === "string" || typeof value === "number");
  return { type: "file_citation", file_citation: { ...Object.fromEntries(known), ...place } };
}

/**
 * Those annotations that the schema of chat completions has, whole: clients check it, and refuse an answer with any other
 * (`@ai-sdk/openai`, the schema of its chat model). The very same list where nothing is to be changed.
 */
export function pageCitations(annotations: readonly unknown[]): readonly Json[] {
  const kept = annotations
    .map((annotation) => (isJson(annotation) ? wholeCitation(annotation) : null))
    .filter((one) => one !== null);
  const same = kept.length === annotations.length && kept.every((one, index) => one === annotations[index]);
  return same ? (annotations as readonly Json[]) : kept;
}

function wholeCitation(annotation: Json): Json | null {
  const { type, url_citation: citation } = annotation;
  if (type !== "url_citation" || !isJson(citation)) return null;
  const { url, title, start_index, end_index } = citation;
  if (typeof url !== "string") return null;
  if (typeof title === "string" && typeof start_index === "number" && typeof end_index === "number") return annotation;
  return {
    ...annotation,
    url_citation: {
      ...citation,
      title: typeof title === "string" ? title : url,
      start_index: typeof start_index === "number" ? start_index : 0,
      end_index: typeof end_index === "number" ? end_index : 0,
    },
  };
}

/** What marks a citation of the gateway's making: only Anthropic's own have an index to go back with. */
const NO_INDEX = "";

/**
 * The annotations as citations of a Messages text block (`CitationsWebSearchResultLocation` of @anthropic-ai/sdk): pages
 * only, the other kinds point into documents of the request.
 */
export function webCitations(annotations: readonly unknown[]): readonly Json[] {
  return pageCitations(annotations).map(({ url_citation: citation }) => {
    const { url, title, content } = isJson(citation) ? citation : {};
    const cited_text = typeof content === "string" ? content : "";
    return { type: "web_search_result_location", url, title, cited_text, encrypted_index: NO_INDEX };
  });
}

/** Whether a citation is one of `webCitations`: no provider takes it back. */
export function isMadeCitation(citation: unknown): boolean {
  if (!isJson(citation)) return false;
  return citation["type"] === "web_search_result_location" && citation["encrypted_index"] === NO_INDEX;
}
