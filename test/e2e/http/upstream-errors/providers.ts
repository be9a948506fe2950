import type { Json } from "../../../../src/kit/index.ts";
import { eventFrame, exceptionFrame } from "../../../dialects/bedrock/support.ts";

export const PROVIDERS = ["openai", "responses", "anthropic", "gemini", "bedrock", "cohere"] as const;
export type Provider = (typeof PROVIDERS)[number];

/** An answer without content. */
export interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Json;
}

/** What a provider says, in its own form. */
export interface Words {
  /** A rate limit of 9.4 seconds, or, of a provider that does not say how long it lasts, of none that is known. */
  readonly limited: Refusal;
  readonly overloaded: Refusal;
  readonly tooLong: Refusal;
  /** What `max_tokens` may be at most is less than was asked for. */
  readonly tooMuch: Refusal;
  readonly locked: Refusal;
}

const openai = (message: string, more: Json): Json => ({
  error: { message, type: null, param: null, code: null, ...more },
});
const anthropic = (type: string, message: string): Json => ({ type: "error", error: { type, message } });
const google = (code: number, status: string, message: string, details?: readonly Json[]): Json => {
  return { error: { code, message, status, ...(details && { details }) } };
};
const amazon = (type: string): Readonly<Record<string, string>> => ({ "x-amzn-errortype": `${type}:http://internal` });
const invalid = { type: "invalid_request_error" };

const OPENAI: Words = {
  limited: {
    status: 429,
    headers: { "retry-after-ms": "9400" },
    body: openai("Rate limit reached for up.", { type: "requests", code: "rate_limit_exceeded" }),
  },
  overloaded: {
    status: 503,
    body: openai("The engine is currently overloaded, please try again later", { code: "server_is_overloaded" }),
  },
  tooLong: {
    status: 400,
    body: openai(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens. Please reduce the length of the messages.",
      { ...invalid, param: "messages", code: "context_length_exceeded" },
    ),
  },
  tooMuch: {
    status: 400,
    body: openai(
      "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.",
      { ...invalid, param: "max_tokens" },
    ),
  },
  locked: {
    status: 401,
    body: openai("Incorrect API key provided: upst****-key.", { ...invalid, code: "invalid_api_key" }),
  },
};

export const WORDS: Readonly<Record<Provider, Words>> = {
  openai: OPENAI,
  responses: {
    ...OPENAI,
    tooMuch: {
      status: 400,
      body: openai("Invalid 'max_output_tokens': this model supports at most 16384 completion tokens.", {
        ...invalid,
        param: "max_output_tokens",
      }),
    },
  },
  anthropic: {
    limited: {
      status: 429,
      headers: { "retry-after": "10" },
      body: anthropic("rate_limit_error", "This request would exceed the rate limit of 50 requests per minute"),
    },
    overloaded: { status: 529, body: anthropic("overloaded_error", "Overloaded") },
    tooLong: {
      status: 400,
      body: anthropic("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
    },
    tooMuch: {
      status: 400,
      body: anthropic(
        "invalid_request_error",
        "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for up",
      ),
    },
    locked: { status: 401, body: anthropic("authentication_error", "invalid x-api-key") },
  },
  gemini: {
    limited: {
      status: 429,
      body: google(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", [
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "9.4s" },
      ]),
    },
    overloaded: { status: 503, body: google(503, "UNAVAILABLE", "The model is overloaded. Please try again later.") },
    tooLong: {
      status: 400,
      body: google(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      ),
    },
    tooMuch: {
      status: 400,
      body: google(400, "INVALID_ARGUMENT", "maxOutputTokens is 32000, but the supported range is from 1 to 8193."),
    },
    locked: { status: 403, body: google(403, "PERMISSION_DENIED", "The caller does not have permission") },
  },
  bedrock: {
    limited: { status: 429, headers: amazon("ThrottlingException"), body: { message: "Too many requests" } },
    overloaded: { status: 503, headers: amazon("ServiceUnavailableException"), body: { message: "Try again" } },
    tooLong: {
      status: 400,
      headers: amazon("ValidationException"),
      body: { message: "Input is too long for requested model." },
    },
    tooMuch: {
      status: 400,
      headers: amazon("ValidationException"),
      body: {
        message:
          "The maximum tokens you requested exceeds the model limit of 8192. Try again with a lower maximum tokens.",
      },
    },
    locked: {
      status: 403,
      headers: amazon("UnrecognizedClientException"),
      body: { message: "The security token included in the request is invalid." },
    },
  },
  cohere: {
    limited: {
      status: 429,
      headers: { "retry-after": "10" },
      body: { message: "You are past the per minute request limit, please wait and try again later." },
    },
    overloaded: { status: 503, body: { message: "service unavailable" } },
    tooLong: {
      status: 400,
      body: { message: "too many tokens: size limit exceeded by 211 tokens. Try using shorter or fewer inputs." },
    },
    tooMuch: { status: 400, body: { message: "max_tokens must be less than or equal to 4096, got 32000" } },
    locked: { status: 401, body: { message: "invalid api token" } },
  },
};

/** A stream, piece by piece. */
interface Stream {
  readonly type: string;
  /** Up to the text `Hi`. */
  readonly begin: readonly Uint8Array[];
  /** The finish reason and the count, without the dialect's ending. */
  readonly finish: readonly Uint8Array[];
  /** An error that says that the provider is overloaded, and one of a rate limit; null: it has no such events. */
  readonly overloaded: Uint8Array | null;
  readonly limited: Uint8Array | null;
}

const SSE = "text/event-stream";
const event = (data: Json, name?: string): Uint8Array =>
  Buffer.from(`${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`);
const chunk = (more: Json): Uint8Array =>
  event({ id: "c1", object: "chat.completion.chunk", created: 1, model: "up", ...more });
const named = (data: Json): Uint8Array => event(data, String(data["type"]));
const ITEM = { id: "msg_1", type: "message", role: "assistant", status: "in_progress", content: [] };

export const STREAMS: Readonly<Record<Provider, Stream>> = {
  openai: {
    type: SSE,
    begin: [chunk({ choices: [{ index: 0, delta: { role: "assistant", content: "Hi" }, finish_reason: null }] })],
    finish: [
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
      chunk({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } }),
    ],
    overloaded: event({ error: { message: "Overloaded", type: "server_error", code: "server_is_overloaded" } }),
    limited: event({ error: { message: "Slow", type: "requests", code: "rate_limit_exceeded" } }),
  },
  responses: {
    type: SSE,
    begin: [
      named({ type: "response.created", response: { id: "resp_1", created_at: 1, status: "in_progress", output: [] } }),
      named({ type: "response.output_item.added", output_index: 0, item: ITEM }),
      named({ type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "msg_1", delta: "Hi" }),
    ],
    finish: [
      named({
        type: "response.completed",
        response: {
          id: "resp_1",
          created_at: 1,
          status: "completed",
          output: [{ ...ITEM, status: "completed", content: [{ type: "output_text", text: "Hi", annotations: [] }] }],
          usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
        },
      }),
    ],
    overloaded: named({ type: "error", code: "server_is_overloaded", message: "Overloaded", param: null }),
    limited: named({
      type: "response.failed",
      response: { id: "resp_1", status: "failed", error: { code: "rate_limit_exceeded", message: "Slow" } },
    }),
  },
  anthropic: {
    type: SSE,
    begin: [
      named({
        type: "message_start",
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "up",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 3, output_tokens: 1 },
        },
      }),
      named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
      named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } }),
    ],
    finish: [
      named({ type: "content_block_stop", index: 0 }),
      named({
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: 1 },
      }),
    ],
    overloaded: event(anthropic("overloaded_error", "Overloaded"), "error"),
    limited: event(anthropic("rate_limit_error", "Slow"), "error"),
  },
  gemini: {
    type: SSE,
    begin: [event({ candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Hi" }] } }] })],
    finish: [
      event({
        candidates: [{ index: 0, content: { role: "model", parts: [{ text: "" }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
      }),
    ],
    overloaded: event(google(503, "UNAVAILABLE", "Overloaded")),
    limited: event(google(429, "RESOURCE_EXHAUSTED", "Slow")),
  },
  bedrock: {
    type: "application/vnd.amazon.eventstream",
    begin: [
      eventFrame({ messageStart: { role: "assistant" } }),
      eventFrame({ contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Hi" } } }),
    ],
    finish: [
      eventFrame({ contentBlockStop: { contentBlockIndex: 0 } }),
      eventFrame({ messageStop: { stopReason: "end_turn" } }),
      eventFrame({
        metadata: { usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4 }, metrics: { latencyMs: 1 } },
      }),
    ],
    overloaded: exceptionFrame("serviceUnavailableException", "Overloaded"),
    limited: exceptionFrame("throttlingException", "Slow"),
  },
  cohere: {
    type: SSE,
    begin: [
      named({ type: "message-start", id: "m1", delta: { message: { role: "assistant", content: [] } } }),
      named({ type: "content-start", index: 0, delta: { message: { content: { type: "text", text: "" } } } }),
      named({ type: "content-delta", index: 0, delta: { message: { content: { text: "Hi" } } } }),
    ],
    finish: [
      named({ type: "content-end", index: 0 }),
      named({
        type: "message-end",
        delta: { finish_reason: "COMPLETE", usage: { tokens: { input_tokens: 3, output_tokens: 1 } } },
      }),
    ],
    overloaded: null,
    limited: null,
  },
};
