import { hash } from "node:crypto";

/** What load and mock upstream agree on: requests, answers of 1 KB, events of 200 bytes, in the formats of two providers. */

export const REQUEST_BYTES = 2048;
export const ANSWER_BYTES = 1024;
export const EVENT_BYTES = 200;
export const NONCE_BYTES = "nonce-0000000000".length;
/** Events of content a second in each stream, unless the upstream is told otherwise. */
export const RATE = 100;
export const MODEL = "route/bench";
/** Of the upstream that speaks Anthropic's format. */
export const ANTHROPIC_MODEL = "route/bench-anthropic";

export const FORMATS = ["openai", "anthropic"] as const;
export type Format = (typeof FORMATS)[number];

export const PATHS: Readonly<Record<Format, string>> = { openai: "/v1/chat/completions", anthropic: "/v1/messages" };
/** What stands before the time stamp in each event of content, and nowhere else. */
export const CONTENT_MARKS: Readonly<Record<Format, string>> = { openai: '"content":"e', anthropic: '"text":"e' };
/** How a whole stream ends. */
export const STREAM_ENDS: Readonly<Record<Format, string>> = { openai: "[DONE]\n\n", anthropic: '"message_stop"}\n\n' };
/** Digits of a time stamp: microseconds of the machine's monotonic clock, which its processes share. */
export const STAMP_BYTES = 14;

const CREATED = 1_767_225_600;
const CHUNK = { id: "chatcmpl-bench", created: CREATED, model: "bench-1", object: "chat.completion.chunk" };
const USAGE = { prompt_tokens: 400, completion_tokens: 150, total_tokens: 550 };

/** Marks a request; the upstream puts it into the answer, so that no answer passes for another request's. */
export function nonceOf(count: number): string {
  return `nonce-${String(count).padStart(10, "0")}`;
}

/** The secret of one of many keys; all are of one length. */
export function benchKey(number: number): string {
  return `rk_${hash("sha256", `bench ${number}`)}`;
}

/** The name of one of many models; all are of one length. */
export function benchModel(number: number): string {
  return `${MODEL}-${String(number).padStart(7, "0")}`;
}

export function stampNow(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

export function stampOf(microseconds: number): string {
  return String(microseconds).padStart(STAMP_BYTES, "0");
}

export interface HeadParts {
  readonly format?: Format;
  /** Besides the usual ones. */
  readonly headers?: Readonly<Record<string, string>>;
}

export function requestHead(authority: string, key: string, bodyLength: number, parts: HeadParts = {}): string {
  const lines = [
    `POST ${PATHS[parts.format ?? "openai"]} HTTP/1.1`,
    `host: ${authority}`,
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    "accept: application/json",
    "user-agent: bench",
    ...Object.entries(parts.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${bodyLength}`,
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

export interface BodyParts {
  readonly model?: string;
  readonly bytes?: number;
}

/** A body that both formats take; with `events` it asks for a stream of so many events of content. */
export function requestBody(events: number | null, { model = MODEL, bytes = REQUEST_BYTES }: BodyParts = {}): string {
  const streaming = events === null ? {} : { stream: true };
  return pad((filler) => {
    const messages = [{ role: "user", content: `${nonceOf(0)} ${filler}` }];
    return JSON.stringify({ model, ...streaming, max_tokens: events ?? 256, temperature: 0.7, messages });
  }, bytes);
}

export function answerBody(): string {
  return pad(writeAnswer, ANSWER_BYTES);
}

function writeAnswer(filler: string): string {
  const message = { role: "assistant", content: `${nonceOf(0)} ${filler}` };
  return JSON.stringify({
    id: CHUNK.id,
    created: CREATED,
    model: CHUNK.model,
    object: "chat.completion",
    choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
    usage: USAGE,
  });
}

export interface StreamParts {
  /** With the nonce. */
  readonly first: string;
  /** With a time stamp of zeros. */
  readonly content: string;
  readonly last: string;
}

/** The events of a stream. */
export function events(format: Format = "openai"): StreamParts {
  return format === "openai" ? openaiEvents() : anthropicEvents();
}

function openaiEvents(): StreamParts {
  const delta = (of: object, reason: string | null = null) =>
    chunkEvent([{ index: 0, delta: of, finish_reason: reason }]);
  return {
    first: delta({ role: "assistant", content: nonceOf(0) }),
    content: pad((filler) => delta({ content: `e${stampOf(0)}${filler}` }), EVENT_BYTES),
    last: `${delta({}, "stop")}${chunkEvent([], { usage: USAGE })}data: ${STREAM_ENDS.openai}`,
  };
}

function anthropicEvents(): StreamParts {
  const delta = (text: string) => namedEvent("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
  const begun = { stop_reason: null, stop_sequence: null, usage: { input_tokens: 400, output_tokens: 1 } };
  const message = { id: "msg_bench", type: "message", role: "assistant", model: "bench-1", content: [], ...begun };
  const ended = { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 150 } };
  return {
    first: [
      namedEvent("message_start", { message }),
      namedEvent("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      delta(nonceOf(0)),
    ].join(""),
    content: pad((filler) => delta(`e${stampOf(0)}${filler}`), EVENT_BYTES),
    last: `${namedEvent("content_block_stop", { index: 0 })}${namedEvent("message_delta", ended)}${namedEvent("message_stop")}`,
  };
}

function chunkEvent(choices: readonly object[], more: object = {}): string {
  return `data: ${JSON.stringify({ ...CHUNK, choices, usage: null, ...more })}\n\n`;
}

function namedEvent(type: string, more: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
}

/** Fills up to exactly `bytes` of ASCII. */
function pad(write: (filler: string) => string, bytes: number): string {
  return write(" lorem ipsum".repeat(bytes / 12 + 1).slice(0, bytes - write("").length));
}
