import { type AttemptError, isJson, type Json, type Usage } from "../../kit/index.ts";
import { malformed, reportedError } from "../canonical/errors.ts";
import { objects, parseJson, stringOf } from "../canonical/json.ts";
import type { ReasoningDetail } from "../canonical/message.ts";
import { readUsage, writtenUsage } from "../canonical/usage.ts";
import type { Decoded } from "../dialect.ts";
import { nativeOutput } from "./native.ts";

/*
 * What a Responses upstream answers: the items of an answer and what they are in the canonical form. Shapes: `openai`
 * resources/responses/responses.d.ts.
 */

/** A complete answer in the canonical form. @throws AttemptError for one that failed, or is none. */
export function readAnswer(bytes: Uint8Array, as: ReadAs): Decoded {
  const response = parseJson(bytes);
  if (!isJson(response)) throw malformed("a body that is not JSON");
  const { error, status, id, created_at: created, service_tier: serviceTier } = response;
  if ((error !== undefined && error !== null) || status === "failed") throw failureOf(error);
  const { output: listed } = response;
  if (!Array.isArray(listed)) throw malformed("an answer without output");
  // `in_progress`, `queued`, `cancelled`: nothing is asked for that could still be under way.
  if (status !== undefined && status !== "completed" && status !== "incomplete")
    throw malformed("an unfinished answer");
  const output = objects(listed).map((item) => withOwnName(item, as));
  const { message, logprobs } = readOutput(output, as);
  const finish_reason = finishOf(response, message["tool_calls"] !== undefined);
  const usage = usageOf(response);
  return {
    body: {
      id,
      object: "chat.completion",
      created,
      choices: [{ index: 0, message, ...(logprobs && { logprobs }), finish_reason }],
      ...(typeof serviceTier === "string" && { service_tier: serviceTier }),
      ...(usage && { usage: writtenUsage(usage) }),
      ...(as.native && nativeOutput(output, message)),
    },
    usage,
  };
}

/** The canonical message that the items of an answer come to. */
function readOutput(output: readonly Json[], as: ReadAs): { readonly message: Json; readonly logprobs: Json | null } {
  const details = output.flatMap((item) => (item["type"] === "reasoning" ? reasoningDetails(item, as) : []));
  const thoughts = details.map((detail) =>
    detail.type === "reasoning.text" ? detail.text : detail.type === "reasoning.summary" ? detail.summary : "",
  );
  const reasoning = thoughts.filter((text) => text !== "").join("\n\n");
  const parts = output.filter(({ type }) => type === "message").map(({ content }) => objects(content));
  const texts = parts.map((content) => content.map(({ text }) => stringOf(text)).join(""));
  const refusal = parts
    .flat()
    .map((part) => stringOf(part["refusal"]))
    .join("");
  const annotations = parts
    .flat()
    .flatMap((part) => objects(part["annotations"]).flatMap((one) => citation(one) ?? []));
  const images = output.flatMap((item) => imageOf(item) ?? []);
  const calls = output.flatMap((item) => {
    const call = readCall(item, as);
    return (call && writeCall(call)) ?? [];
  });
  const text = texts.filter((one) => one !== "").join("\n\n");
  return {
    message: {
      role: "assistant",
      content: text === "" && (calls.length > 0 || refusal !== "") ? null : text,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(details.length > 0 && { reasoning_details: details }),
      ...(refusal !== "" && { refusal }),
      ...(annotations.length > 0 && { annotations }),
      ...(images.length > 0 && { images }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    logprobs: logprobsOf(parts.flat().flatMap((part) => objects(part["logprobs"]))),
  };
}

/** An image that the model made; null for any other item. */
export function imageOf({ type, result, output_format: format }: Json): Json | null {
  if (type !== "image_generation_call" || typeof result !== "string" || result === "") return null;
  const url = `data:image/${typeof format === "string" ? format : "png"};base64,${result}`;
  return { type: "image_url", image_url: { url } };
}

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

/** What a call of a tool is: its id, the name, and the text that it is called with. */
export interface ReadCall {
  readonly id: string;
  readonly name: string;
  readonly argument: string;
  /** `argument` is free text; null for a function, whose arguments are JSON. */
  readonly free: "custom" | "wrapped" | null;
}

/** A call item; null for any other. `wrapped`: as a function of one text, the form in which such tools are canonical. */
export function readCall(item: Json, { custom, nameOf }: ReadAs): ReadCall | null {
  const { type, id, call_id, namespace } = item;
  if (type !== "function_call" && type !== "custom_tool_call") return null;
  const bare = stringOf(item["name"]);
  const name = nameOf(stringOf(namespace) === "" ? bare : `${stringOf(namespace)}__${bare}`);
  const known = { id: stringOf(call_id) || stringOf(id), name };
  if (type === "function_call") return { ...known, argument: stringOf(item["arguments"]), free: null };
  return { ...known, argument: stringOf(item["input"]), free: custom.has(name) ? "custom" : "wrapped" };
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
function writeCall({ id, name, argument, free }: ReadCall): Json | null {
  if (name === "") return null;
  if (free === "custom") return { id, type: "custom", custom: { name, input: argument } };
  const args = free === "wrapped" ? WRAPPED.begin + WRAPPED.text(argument) + WRAPPED.end : argument || "{}";
  return { id, type: "function", function: { name, arguments: args } };
}

/** The parts of a reasoning item that can be read, in their order, and what is encrypted of it. */
function reasoningDetails(item: Json, { format }: ReadAs): readonly ReasoningDetail[] {
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
