import {
  type AnswerExtras,
  type AnswerFormat,
  type Bill,
  type Call,
  ERROR_KINDS,
  type GatewayError,
  isJson,
  type Json,
  jsonError,
  type StandIn,
  type StreamEvent,
  type StreamFormat,
  type Usage,
} from "../../../kit/index.ts";
import { objects } from "../../canonical/json.ts";
import { readUsage } from "../../canonical/usage.ts";
import { chatFormat } from "../../chat/client.ts";
import { outputOf, requestOf, seal } from "../native.ts";
import type { ItemStatus } from "./item.ts";
import { Output } from "./output.ts";
import { readTools, writtenTools, type ToolName } from "./tools.ts";

/** Answers to a Responses client: `model` is the route, usage is always sent. */
export function responsesFormat(call: Call, standIn?: StandIn): AnswerFormat & { readonly stream: StreamFormat } {
  const request = requestOf(call);
  const { reasoning } = request;
  const wish = isJson(reasoning) ? (reasoning["summary"] ?? reasoning["generate_summary"]) : null;
  const shape = { names: readTools(request).names, summary: typeof wish === "string" };
  const asked = askedOf(call);
  const chat = chatFormat(call);
  return {
    contentType: chat.contentType,
    answer: (body, extras) => answer(asked, shape, body, extras),
    promptText: () => chat.promptText(),
    producedText: (body) => chat.producedText(body),
    stream: new ResponsesStream(asked, shape, standIn?.created ?? 0),
  };
}

interface Shape {
  readonly names: ReadonlyMap<string, ToolName>;
  readonly summary: boolean;
}

function answer(asked: Json, shape: Shape, body: Json, extras: AnswerExtras): string {
  const { id: upstream, created, choices, service_tier: serviceTier } = body;
  const id = bareId(typeof upstream === "string" && upstream !== "" ? upstream : extras.id);
  const choice = firstOf(choices);
  const incomplete = incompleteBy(choice["finish_reason"]);
  const status = incomplete === null ? "completed" : "incomplete";
  return JSON.stringify(
    responseObject(asked, {
      id,
      created: seconds(created) ?? extras.created,
      status,
      incomplete,
      output: sameOutput(body, choice) ?? writtenOutput(shape, id, choice, status),
      usage: readUsage(body) ?? extras.bill.usage,
      serviceTier,
    }),
  );
}

function writtenOutput(shape: Shape, id: string, { message, logprobs }: Json, status: ItemStatus): readonly Json[] {
  const output = new Output({ ...shape, id, emit: () => {} });
  if (isJson(message)) output.add(message, logprobs);
  return output.close(status);
}

/** The items of an upstream of the same format, their encrypted reasoning marked as its own; null where there are none. */
function sameOutput(body: Json, { message }: Json): readonly Json[] | null {
  const details = isJson(message) ? objects(message["reasoning_details"]) : [];
  return (
    outputOf(body, message)?.map((item) => {
      if (item["type"] !== "reasoning" || typeof item["encrypted_content"] !== "string") return item;
      const own = details.filter(({ id }) => id === item["id"]);
      return { ...item, encrypted_content: seal(own) ?? item["encrypted_content"] };
    }) ?? null
  );
}

class ResponsesStream implements StreamFormat {
  readonly heartbeat = ": keep-alive\n\n";
  readonly #asked: Json;
  readonly #shape: Shape;
  /** Unix seconds; stands in for a time that the upstream left out. */
  readonly #created: number;
  #begun: { readonly id: string; readonly created: number; readonly output: Output } | null = null;
  #text = "";
  #number = 0;
  #finish: unknown = null;
  #usage: Usage | undefined;
  #serviceTier: unknown;

  constructor(asked: Json, shape: Shape, created: number) {
    this.#asked = asked;
    this.#shape = shape;
    this.#created = created;
  }

  event({ data, usage, partial }: StreamEvent): string {
    // One of a part of the answer would be less than what is charged.
    if (partial !== true) this.#usage = usage ?? this.#usage;
    this.#serviceTier = data["service_tier"] ?? this.#serviceTier;
    const { output } = this.#begin(data);
    const choice = firstOf(data["choices"]);
    if (isJson(choice["delta"])) output.add(choice["delta"], choice["logprobs"]);
    this.#finish = choice["finish_reason"] ?? this.#finish;
    return this.#take();
  }

  /**
   * An error event, which the SDKs read, then the failed response, which Codex reads:
   * https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/sse/responses.rs
   * The fields of the event stand in `error` as well: older SDKs look for a failure only there, and end without one.
   */
  failure(failed: GatewayError): string {
    const { param, message: words } = jsonError(failed);
    const { openai, responses } = ERROR_KINDS[failed.kind];
    const code = failed.details.standardCode ?? responses;
    const type = responses === "server_error" ? responses : openai;
    const message = words + waitIn(failed);
    const begun = this.#begin({});
    const error = { code, message, param };
    this.#emit("error", { ...error, error: { type, ...error } });
    const response = responseObject(this.#asked, {
      ...begun,
      status: "failed",
      error: { code, message },
      output: begun.output.whole,
      usage: this.#usage,
      serviceTier: this.#serviceTier,
    });
    this.#emit("response.failed", { response });
    return this.#take();
  }

  /** OpenAI tells a stream's client of a prompt that is too long in the stream, and Codex looks for it nowhere else. */
  tellsAsEvent({ kind }: GatewayError): boolean {
    return kind === "context_overflow";
  }

  done({ usage }: Bill): string {
    const incomplete = incompleteBy(this.#finish);
    return this.#end(incomplete === null ? "completed" : "incomplete", this.#usage ?? usage);
  }

  killed({ usage }: Bill): string {
    return this.#end("incomplete", usage);
  }

  keptBytes(): number {
    return JSON.stringify(this.#asked).length;
  }

  #begin(data: Json) {
    if (this.#begun !== null) return this.#begun;
    const id = bareId(data["id"]);
    const output = new Output({ ...this.#shape, id, emit: (type, fields) => this.#emit(type, fields) });
    this.#begun = { id, created: seconds(data["created"]) ?? this.#created, output };
    const response = responseObject(this.#asked, { ...this.#begun, status: "in_progress", output: [] });
    this.#emit("response.created", { response });
    this.#emit("response.in_progress", { response });
    return this.#begun;
  }

  #end(status: "completed" | "incomplete", usage: Usage | undefined): string {
    const begun = this.#begin({});
    const response = responseObject(this.#asked, {
      ...begun,
      status,
      incomplete: incompleteBy(this.#finish),
      output: begun.output.close(status),
      usage,
      serviceTier: this.#serviceTier,
    });
    this.#emit(`response.${status}`, { response });
    return this.#take();
  }

  #emit(type: string, fields: Json): void {
    const data = { type, sequence_number: this.#number, ...fields };
    this.#number += 1;
    this.#text += `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  }

  #take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}

/** When to try again, in the words that clients of the format look for in a stream, which has no headers any longer. */
function waitIn({ kind, details: { retryAfter } }: GatewayError): string {
  if (kind !== "rate_limited" || retryAfter === undefined) return "";
  return `. Please try again in ${Math.max(1, Math.ceil(retryAfter))}s.`;
}

/** The API has one answer a request. */
function firstOf(choices: unknown): Json {
  if (!Array.isArray(choices)) return {};
  const found: unknown = choices.find((choice) => isJson(choice) && (choice["index"] ?? 0) === 0);
  return isJson(found) ? found : {};
}

function seconds(created: unknown): number | null {
  return typeof created === "number" && Number.isSafeInteger(created) && created > 0 ? created : null;
}

/** Why an answer is not whole, in the API's words; null when it is. */
type Incomplete = "max_output_tokens" | "content_filter";

interface State {
  /** Without its prefix. */
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  /** The error of a failed response. */
  readonly error?: { readonly code: string; readonly message: string };
  readonly incomplete?: Incomplete | null;
  readonly output: readonly Json[];
  /** Left out: not known yet. */
  readonly usage?: Usage | undefined;
  /** What the upstream said it used. */
  readonly serviceTier?: unknown;
}

/** Others are an upstream's own, and no part of this API. */
const SERVICE_TIERS: ReadonlySet<unknown> = new Set([
  "auto",
  "default",
  "flex",
  "scale",
  "priority",
  "fast",
  "ultrafast",
]);

/** What every response object repeats of its request: `model` is the route. */
function askedOf(call: Call): Json {
  const request = requestOf(call);
  const { text, reasoning, metadata, instructions } = request;
  return {
    instructions: typeof instructions === "string" ? instructions : null,
    max_output_tokens: request["max_output_tokens"] ?? null,
    model: call.model,
    parallel_tool_calls: request["parallel_tool_calls"] ?? true,
    reasoning: { effort: null, summary: null, ...(isJson(reasoning) && reasoning) },
    temperature: request["temperature"] ?? null,
    text: { format: { type: "text" }, ...(isJson(text) && text) },
    tool_choice: request["tool_choice"] ?? "auto",
    tools: writtenTools(request["tools"]),
    top_p: request["top_p"] ?? null,
    metadata: isJson(metadata) ? metadata : {},
    ...repeated(request),
  };
}

/** The response object: what was asked for is repeated, nothing is ever stored. */
function responseObject(asked: Json, state: State): Json {
  const { id, created, status, error = null, incomplete, output, usage, serviceTier } = state;
  return {
    id: `resp_${id}`,
    object: "response",
    created_at: created,
    status,
    background: false,
    error,
    incomplete_details: incomplete ? { reason: incomplete } : null,
    output,
    previous_response_id: null,
    store: false,
    truncation: "disabled",
    ...asked,
    ...(SERVICE_TIERS.has(serviceTier) && { service_tier: serviceTier }),
    ...(usage !== undefined && { usage: responsesUsage(usage) }),
  };
}

/** Fields that an answer has only when the request had them. */
function repeated(request: Json): Json {
  const names = ["user", "prompt_cache_key", "safety_identifier", "top_logprobs"];
  return Object.fromEntries(
    names.map((name) => [name, request[name]] as const).filter(([, value]) => value !== undefined && value !== null),
  );
}

function responsesUsage(usage: Usage): Json {
  return {
    input_tokens: usage.prompt,
    input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.cacheWrite ?? 0 },
    output_tokens: usage.completion,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.prompt + usage.completion,
  };
}

/** @param finish the canonical finish reason. */
function incompleteBy(finish: unknown): Incomplete | null {
  if (finish === "length") return "max_output_tokens";
  return finish === "content_filter" ? "content_filter" : null;
}

/** An upstream's id as the part of ours behind the prefix; made when there is none. */
function bareId(id: unknown): string {
  const known =
    typeof id === "string" ? id.replace(/^(?:chatcmpl|gen|msg|resp)[-_]/, "").replaceAll(/[^\w-]/g, "") : "";
  return known === "" ? crypto.randomUUID().replaceAll("-", "") : known.slice(0, 64);
}
