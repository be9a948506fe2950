import { type Call, isJson, type Json, type Usage } from "../../../kit/index.ts";
import { shownTools } from "./tools.ts";

/** Why an answer is not whole, in the API's words; null when it is. */
export type Incomplete = "max_output_tokens" | "content_filter";

export interface State {
  /** Without its prefix. */
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly status: "in_progress" | "completed" | "incomplete";
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

/** The request that a call was read from; empty for one that another format made. */
export function requestOf(call: Call): Json {
  return "request" in call && isJson(call.request) ? call.request : {};
}

/** What every response object repeats of its request: `model` is the route. */
export function askedOf(call: Call): Json {
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
    tools: shownTools(request["tools"]),
    top_p: request["top_p"] ?? null,
    metadata: isJson(metadata) ? metadata : {},
    ...repeated(request),
  };
}

/** The response object: what was asked for is repeated, nothing is ever stored. */
export function responseObject(asked: Json, state: State): Json {
  const { id, created, status, incomplete, output, usage, serviceTier } = state;
  return {
    id: `resp_${id}`,
    object: "response",
    created_at: created,
    status,
    background: false,
    error: null,
    incomplete_details: incomplete ? { reason: incomplete } : null,
    output,
    previous_response_id: null,
    store: false,
    truncation: "disabled",
    ...asked,
    ...(SERVICE_TIERS.has(serviceTier) && { service_tier: serviceTier }),
    ...(usage !== undefined && { usage: shownUsage(usage) }),
  };
}

/** Fields that an answer has only when the request had them. */
function repeated(request: Json): Json {
  const names = ["user", "prompt_cache_key", "safety_identifier", "top_logprobs"];
  return Object.fromEntries(
    names.map((name) => [name, request[name]] as const).filter(([, value]) => value !== undefined && value !== null),
  );
}

function shownUsage(usage: Usage): Json {
  return {
    input_tokens: usage.prompt,
    input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.cacheWrite ?? 0 },
    output_tokens: usage.completion,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.prompt + usage.completion,
  };
}

/** @param finish the canonical finish reason. */
export function incompleteBy(finish: unknown): Incomplete | null {
  if (finish === "length") return "max_output_tokens";
  return finish === "content_filter" ? "content_filter" : null;
}

/** An upstream's id as the part of ours behind the prefix; made when there is none. */
export function bareId(id: unknown): string {
  const known =
    typeof id === "string" ? id.replace(/^(?:chatcmpl|gen|msg|resp)[-_]/, "").replaceAll(/[^\w-]/g, "") : "";
  return known === "" ? crypto.randomUUID().replaceAll("-", "") : known.slice(0, 64);
}
