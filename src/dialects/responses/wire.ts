import { isDeepStrictEqual } from "node:util";
import { type AttemptError, type Call, invalidRequest, isJson, type Json, type Usage } from "../../kit/index.ts";
import { reportedError } from "../canonical/errors.ts";
import { objects, parseJson, stringOf } from "../canonical/json.ts";
import type { ReasoningDetail } from "../canonical/message.ts";
import type { SourceMappedCall } from "../canonical/source-map.ts";
import { readUsage } from "../canonical/usage.ts";

/*
 * The vocabulary of what a Responses upstream answers: the items of an answer and what they are in the canonical form.
 * Shapes: `openai` resources/responses/responses.d.ts.
 *
 * For a client that speaks the format itself, what has no canonical place travels beside it: in streams `delta.native` is
 * `{dialect: "responses", event}`, an upstream event in its place; a complete answer has `native: {dialect: "responses",
 * output, message}` beside its choices: the upstream's items, and the canonical message that they were read as.
 */
const DIALECT = "responses";

/** How the answer to one request is read. */
export interface ReadAs {
  /** The client speaks the format itself. */
  readonly native: boolean;
  /** Names of the tools that take free text, where the client's request is of chat completions and has such. */
  readonly custom: ReadonlySet<string>;
  /** Whose reasoning it is: `ReasoningDetail.format`. */
  readonly format: string;
  /** The client's name of a function by the one that was sent. */
  readonly nameOf: (sent: string) => string;
}

/** Whether the client speaks the format itself. */
export function ofResponses(call: Call): boolean {
  return call.dialect === DIALECT;
}

export function nativeEvent(event: Json): Json {
  return { native: { dialect: DIALECT, event } };
}

/** An upstream event that travelled with a delta; null for a delta without. */
export function eventOf({ native }: Json): Json | null {
  return isJson(native) && native["dialect"] === DIALECT && isJson(native["event"]) ? native["event"] : null;
}

export function nativeOutput(output: readonly Json[], message: Json): Json {
  return { native: { dialect: DIALECT, output, message } };
}

/** The upstream's own items of a complete answer, while its message is still what they say; null for any other. */
export function outputOf({ native }: Json, message: unknown): readonly Json[] | null {
  if (!isJson(native) || native["dialect"] !== DIALECT) return null;
  const same = native["message"] === message || isDeepStrictEqual(native["message"], message);
  return same ? objects(native["output"]) : null;
}

/** What a call of a tool is: its id, the name, and the text that it is called with. */
export interface ReadCall {
  readonly id: string;
  readonly name: string;
  readonly said: string;
  /** `said` is free text; null for a function, whose arguments are JSON. */
  readonly free: "custom" | "wrapped" | null;
}

/** A call item; null for any other. `wrapped`: as a function of one text, the form in which such tools are canonical. */
export function readCall(item: Json, { custom, nameOf }: ReadAs): ReadCall | null {
  const { type, id, call_id, namespace } = item;
  if (type !== "function_call" && type !== "custom_tool_call") return null;
  const bare = stringOf(item["name"]);
  const name = nameOf(stringOf(namespace) === "" ? bare : `${stringOf(namespace)}__${bare}`);
  const known = { id: stringOf(call_id) || stringOf(id), name };
  if (type === "function_call") return { ...known, said: stringOf(item["arguments"]), free: null };
  return { ...known, said: stringOf(item["input"]), free: custom.has(name) ? "custom" : "wrapped" };
}

/** A call under the client's own name of its tool; the very same item where that is what was sent. */
export function withOwnName(item: Json, { nameOf }: Pick<ReadAs, "nameOf">): Json {
  const { type, name, namespace } = item;
  if ((type !== "function_call" && type !== "custom_tool_call") || typeof name !== "string") return item;
  const own = stringOf(namespace) === "" ? nameOf(name) : name;
  return own === name ? item : { ...item, name: own };
}

/** Free text inside the arguments of the function that stands for its tool: what is before, the text, what is after. */
export const WRAPPED = {
  begin: '{"input":"',
  text: (text: string): string => JSON.stringify(text).slice(1, -1),
  end: '"}',
} as const;

/** The canonical call of a complete answer. @returns null for one without a name. */
export function writeCall({ id, name, said, free }: ReadCall): Json | null {
  if (name === "") return null;
  if (free === "custom") return { id, type: "custom", custom: { name, input: said } };
  const args = free === "wrapped" ? WRAPPED.begin + WRAPPED.text(said) + WRAPPED.end : said || "{}";
  return { id, type: "function", function: { name, arguments: args } };
}

/** The parts of a reasoning item that can be read, in their order, and what is encrypted of it. */
export function reasoningDetails(item: Json, { format }: ReadAs): readonly ReasoningDetail[] {
  const id = stringOf(item["id"]);
  const encrypted = stringOf(item["encrypted_content"]);
  return [
    ...objects(item["content"]).map(({ text }) => ({ type: "reasoning.text", text: stringOf(text) }) as const),
    ...objects(item["summary"]).map(
      ({ text }) => ({ type: "reasoning.summary", summary: stringOf(text), id, format }) as const,
    ),
    ...(encrypted === "" ? [] : [{ type: "reasoning.encrypted", data: encrypted, id, format } as const]),
  ];
}

/** The one kind of annotation that chat completions have; null for any other. */
export function citation({ type, url, title, start_index, end_index }: Json): Json | null {
  if (type !== "url_citation" || typeof url !== "string") return null;
  return { type, url_citation: { url, title: stringOf(title), start_index, end_index } };
}

/** As a choice has them; null without any. */
export function logprobsOf(list: unknown): Json | null {
  const content = objects(list);
  return content.length > 0 ? { content, refusal: null } : null;
}

/** Why an answer ended. @param called whether it calls a tool of the client's. */
export function finishOf(response: Json, called: boolean): string {
  const { status, incomplete_details: details } = response;
  const reason = isJson(details) ? details["reason"] : null;
  if (reason === "content_filter") return "content_filter";
  if (reason === "max_output_tokens" || (status === "incomplete" && typeof reason !== "string")) return "length";
  return called ? "tool_calls" : "stop";
}

/** null without a count, or with one that is not to be believed. */
export function usageOf({ usage }: Json): Usage | null {
  if (!isJson(usage)) return null;
  const { input_tokens, output_tokens, input_tokens_details, output_tokens_details, total_tokens } = usage;
  return readUsage({
    usage: {
      prompt_tokens: input_tokens,
      completion_tokens: output_tokens,
      total_tokens,
      prompt_tokens_details: input_tokens_details,
      completion_tokens_details: output_tokens_details,
    },
  });
}

/** Codes of mistakes in a request, which name no type (SDK openai responses.d.ts ResponseError.code). */
const CLIENT_FAULTS = /^(?:(?:invalid|empty|unsupported)_.*(?:prompt|image)|image_|failed_to_download_image)/;

/** What a failure inside a 200 amounts to. @param error the `error` of a response, or an error event. */
export function failureOf(error: unknown): AttemptError {
  const fault = isJson(error) && CLIENT_FAULTS.test(stringOf(error["code"]));
  return reportedError(fault ? { ...error, type: "invalid_request_error" } : error);
}

/**
 * What begins an `encrypted_content` of this gateway's making: reasoning details as JSON in base64url. Signatures have no
 * other field that every client brings back.
 */
const SEAL = "rgr1.";

interface Reasoning {
  readonly text: string;
  readonly details: readonly ReasoningDetail[];
  /** A pointer to what each detail was read from. */
  readonly places: readonly string[];
}

/** The `encrypted_content` that brings `details` back; null when they say no more than their text. */
export function seal(details: readonly (ReasoningDetail | Json)[]): string | null {
  const opaque = details.some((detail) => detail["type"] === "reasoning.encrypted" || "signature" in detail);
  return opaque ? SEAL + Buffer.from(JSON.stringify(details)).toString("base64url") : null;
}

/** @throws GatewayError for an item that is damaged. */
export function readReasoningItem(item: Json, pointer: string): Reasoning {
  const { encrypted_content: encrypted, id } = item;
  const summary = texts(item["summary"], `${pointer}/summary`);
  const content = texts(item["content"], `${pointer}/content`);
  const shown = [...content, ...summary].join("\n\n");
  if (typeof encrypted === "string" && encrypted.startsWith(SEAL)) {
    const details = unsealed(encrypted);
    if (details === null) throw invalidRequest(`${pointer}/encrypted_content`, "must come back as it was sent");
    const places = details.map(() => `${pointer}/encrypted_content`);
    return { text: details.map(textOf).join("") || shown, details, places };
  }
  // With an id encrypted reasoning is known as OpenAI's: without one another provider would take it for its own.
  const named = { id: typeof id === "string" ? id : "" };
  const details: ReasoningDetail[] = [
    ...content.map((text) => ({ type: "reasoning.text", text }) as const),
    ...summary.map((summary) => ({ type: "reasoning.summary", summary, ...named }) as const),
  ];
  if (typeof encrypted === "string" && encrypted !== "") {
    details.push({ type: "reasoning.encrypted", data: encrypted, ...named });
  }
  const places = [
    ...content.map((_, index) => `${pointer}/content/${index}`),
    ...summary.map((_, index) => `${pointer}/summary/${index}`),
    `${pointer}/encrypted_content`,
  ];
  return { text: shown, details, places: places.slice(0, details.length) };
}

/** The details that an `encrypted_content` of this gateway's making brings back; null for any other, or a damaged one. */
export function unsealed(encrypted: unknown): readonly ReasoningDetail[] | null {
  if (typeof encrypted !== "string" || !encrypted.startsWith(SEAL)) return null;
  const details = parseJson(Buffer.from(encrypted.slice(SEAL.length), "base64url"));
  return Array.isArray(details) && details.every(isDetail) ? details : null;
}

/** A client may send anything in a seal: what is no detail must not get past it. */
function isDetail(value: unknown): value is ReasoningDetail {
  if (!isJson(value)) return false;
  const optional = (name: string): boolean => value[name] === undefined || typeof value[name] === "string";
  switch (value["type"]) {
    case "reasoning.text":
      return typeof value["text"] === "string" && optional("signature");
    case "reasoning.encrypted":
      return typeof value["data"] === "string" && optional("id") && optional("format");
    case "reasoning.summary":
      return typeof value["summary"] === "string" && optional("id") && optional("format");
    default:
      return false;
  }
}

/** What of a detail can be read. */
function textOf(detail: ReasoningDetail): string {
  if (detail.type === "reasoning.text") return detail.text;
  return detail.type === "reasoning.summary" ? detail.summary : "";
}

function texts(parts: unknown, pointer: string): readonly string[] {
  if (parts === undefined || parts === null) return [];
  if (!Array.isArray(parts)) throw invalidRequest(pointer, "must be an array");
  return parts.map((part: unknown, index) => {
    const text = isJson(part) ? part["text"] : undefined;
    if (typeof text !== "string") throw invalidRequest(`${pointer}/${index}/text`, "must be a string");
    return text;
  });
}

/** A call that remembers the body it was read from: answers repeat it, and an upstream of the same format gets it. */
export interface ResponsesCall extends SourceMappedCall {
  readonly request: Json;
  /** The canonical body as it was read: what a plugin has changed is no longer in it. */
  readonly canonical: Json;
  /** By message: places in the input of the items that it was read from. */
  readonly sources: readonly (readonly number[])[];
}

/** The request that a call was read from; empty for one that another format made. */
export function requestOf(call: Call): Json {
  return "request" in call && isJson(call.request) ? call.request : {};
}

/** Whether a call came in this very format. */
export function isResponsesCall(call: Call): call is ResponsesCall {
  return call.dialect === "responses" && "request" in call && "sources" in call;
}
