import { isDeepStrictEqual } from "node:util";
import { type AttemptError, type Call, isJson, type Json, type Usage } from "../../kit/index.ts";
import type { ReasoningDetail } from "../canonical/message.ts";
import { readUsage } from "../canonical/usage.ts";
import { reportedError } from "../canonical/refusals.ts";

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

export function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}

export function words(value: unknown): string {
  return typeof value === "string" ? value : "";
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
  const bare = words(item["name"]);
  const name = nameOf(words(namespace) === "" ? bare : `${words(namespace)}__${bare}`);
  const known = { id: words(call_id) || words(id), name };
  if (type === "function_call") return { ...known, said: words(item["arguments"]), free: null };
  return { ...known, said: words(item["input"]), free: custom.has(name) ? "custom" : "wrapped" };
}

/** A call under the client's own name of its tool; the very same item where that is what was sent. */
export function withOwnName(item: Json, { nameOf }: Pick<ReadAs, "nameOf">): Json {
  const { type, name, namespace } = item;
  if ((type !== "function_call" && type !== "custom_tool_call") || typeof name !== "string") return item;
  const own = words(namespace) === "" ? nameOf(name) : name;
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
export function readReasoning(item: Json, { format }: ReadAs): readonly ReasoningDetail[] {
  const id = words(item["id"]);
  const encrypted = words(item["encrypted_content"]);
  return [
    ...objects(item["content"]).map(({ text }) => ({ type: "reasoning.text", text: words(text) }) as const),
    ...objects(item["summary"]).map(
      ({ text }) => ({ type: "reasoning.summary", summary: words(text), id, format }) as const,
    ),
    ...(encrypted === "" ? [] : [{ type: "reasoning.encrypted", data: encrypted, id, format } as const]),
  ];
}

/** The one kind of annotation that chat completions have; null for any other. */
export function citation({ type, url, title, start_index, end_index }: Json): Json | null {
  if (type !== "url_citation" || typeof url !== "string") return null;
  return { type, url_citation: { url, title: words(title), start_index, end_index } };
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
  const fault = isJson(error) && CLIENT_FAULTS.test(words(error["code"]));
  return reportedError(fault ? { ...error, type: "invalid_request_error" } : error);
}
