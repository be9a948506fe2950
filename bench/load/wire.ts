/** What load and mock upstream agree on: 2 KB requests, 1 KB answers, events of 200 bytes. */

export const REQUEST_BYTES = 2048;
export const ANSWER_BYTES = 1024;
export const EVENT_BYTES = 200;
export const NONCE_BYTES = "nonce-0000000000".length;
/** Events of content a second in each stream. */
export const RATE = 100;
export const MODEL = "route/bench";
/** Every event of content has it, once. */
export const CONTENT_EVENT = '"content":"e';

const BASE = { id: "chatcmpl-bench", created: 1_767_225_600, model: "bench-1" };
const USAGE = { prompt_tokens: 400, completion_tokens: 150, total_tokens: 550 };

/** Marks a request; the upstream puts it into the answer, so that no answer passes for another request's. */
export function nonceOf(count: number): string {
  return `nonce-${String(count).padStart(10, "0")}`;
}

export function requestHead(authority: string, key: string, bodyLength: number): string {
  const lines = [
    "POST /v1/chat/completions HTTP/1.1",
    `host: ${authority}`,
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    "accept: application/json",
    "user-agent: bench",
    `content-length: ${bodyLength}`,
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** A body of REQUEST_BYTES; with `events` it asks for a stream of so many events of content. */
export function requestBody(events: number | null): string {
  const streaming = events === null ? {} : { stream: true };
  return pad((filler) => {
    const messages = [
      { role: "system", content: "You are a helpful assistant." },
      { role: "user", content: `${nonceOf(0)} ${filler}` },
    ];
    return JSON.stringify({ model: MODEL, messages, temperature: 0.7, max_tokens: events ?? 256, ...streaming });
  }, REQUEST_BYTES);
}

export function answerBody(): string {
  return pad(writeAnswer, ANSWER_BYTES);
}

function writeAnswer(filler: string): string {
  const message = { role: "assistant", content: `${nonceOf(0)} ${filler}` };
  return JSON.stringify({
    ...BASE,
    object: "chat.completion",
    choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
    usage: USAGE,
  });
}

/** The events of a stream but for its content: role with the nonce, finish, usage, ending. */
export function events(): { readonly first: string; readonly content: string; readonly last: string } {
  const base = { ...BASE, object: "chat.completion.chunk" };
  const event = (choices: readonly object[], more: object = {}) =>
    `data: ${JSON.stringify({ ...base, choices, usage: null, ...more })}\n\n`;
  const delta = (of: object, reason: string | null = null) => event([{ index: 0, delta: of, finish_reason: reason }]);
  return {
    first: delta({ role: "assistant", content: nonceOf(0) }),
    content: pad((filler) => delta({ content: `e${filler}` }), EVENT_BYTES),
    last: `${delta({}, "stop")}${event([], { usage: USAGE })}data: [DONE]\n\n`,
  };
}

/** Fills up to exactly `bytes` of ASCII. */
function pad(write: (filler: string) => string, bytes: number): string {
  return write(" lorem ipsum".repeat(bytes / 12).slice(0, bytes - write("").length));
}
