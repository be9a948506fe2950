import { createParser, type EventSourceMessage } from "eventsource-parser";
import { AttemptError, isJson, type Json, type StreamEvent, type Usage } from "../../kit/index.ts";
import type { AnswerCodec, StreamDecoder } from "../dialect.ts";
import { parseJson } from "../json.ts";
import { parseAnswer, postJson } from "../requests.ts";
import { reportedError } from "../errors.ts";
import { readUsage } from "./usage.ts";

/** The longest event accepted from an upstream, in characters. */
const MAX_EVENT = 1024 * 1024;
/** What the parser may hold besides an event's data: field names and a line that has only begun. */
const FRAMING = 1024;
const TOO_LARGE = "upstream sent an event that is too large";

/** Chat completions, the upstream half; the canonical shape is the same, so nothing is translated. */
export const chat = {
  type: "answer",

  request(call, target, apiKey) {
    const body: Record<string, unknown> = { ...call.body, model: target.model };
    if (!call.stream) return postJson("/chat/completions", apiKey, body);
    const options = isJson(body["stream_options"]) ? body["stream_options"] : {};
    body["stream_options"] = { ...options, include_usage: true };
    return postJson("/chat/completions", apiKey, body, "text/event-stream");
  },

  answer(bytes) {
    const body = parseAnswer(bytes);
    const { choices } = body;
    if (!Array.isArray(choices) || !choices.every((choice) => isJson(choice) && isJson(choice["message"]))) {
      throw new AttemptError("protocol", "upstream sent an answer without choices");
    }
    return { body, usage: readUsage(body) };
  },

  decoder: () => new ChatDecoder(),
} satisfies AnswerCodec;

class ChatDecoder implements StreamDecoder {
  fault: AttemptError | null = null;
  done = false;
  #finished = false;
  #ended = false;
  #events: StreamEvent[] = [];
  readonly #text = new TextDecoder();
  readonly #parser = createParser({
    maxBufferSize: MAX_EVENT + FRAMING,
    onEvent: (message) => this.#event(message),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") this.#fail(TOO_LARGE);
    },
  });

  get complete(): boolean {
    return this.done || this.#finished;
  }

  feed(chunk: Uint8Array): readonly StreamEvent[] {
    if (this.fault === null && !this.done) this.#parser.feed(this.#text.decode(chunk, { stream: true }));
    return this.#take();
  }

  finish(): readonly StreamEvent[] {
    // An event without its empty line at the end of the body is dropped by the SSE rules; some upstreams end that way.
    this.#ended = true;
    if (this.fault === null && !this.done) this.#parser.feed(`${this.#text.decode()}\n\n`);
    return this.#take();
  }

  #take(): readonly StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #event(message: EventSourceMessage): void {
    if (this.fault !== null || this.done) return;
    const raw = message.data;
    if (raw === "[DONE]") {
      this.done = true;
      return;
    }
    // The parser measures only what it must hold: without this an event's fate would hang on how its reads were split.
    if (raw.length > MAX_EVENT) return this.#fail(TOO_LARGE);
    const data = parseJson(raw);
    if (!isJson(data)) return this.#fail("upstream sent an event that is not JSON");
    if ((data["error"] !== undefined && data["error"] !== null) || message.event === "error") {
      this.fault = reportedError(data["error"] ?? data["message"]);
      return;
    }
    const usage: Usage | null = readUsage(data);
    const { choices } = data;
    // Neither choices nor a count: padding of some upstreams; it must not count as the beginning of an answer.
    if (!Array.isArray(choices) && usage === null) return;
    const text = Array.isArray(choices) ? this.#readChoices(choices) : "";
    this.#events.push(usage === null ? { data, raw, text } : { data, raw, text, usage });
  }

  /** Notes a finish reason and returns the text that the choices produced. */
  #readChoices(choices: readonly unknown[]): string {
    let text = "";
    for (const choice of choices) {
      if (!isJson(choice)) continue;
      if (choice["finish_reason"] !== undefined && choice["finish_reason"] !== null) this.#finished = true;
      if (isJson(choice["delta"])) text += producedText(choice["delta"]);
    }
    return text;
  }

  #fail(message: string): void {
    // The whole answer had come: a count or a `[DONE]` cut off behind it must not turn it into a failure.
    if (this.#ended && this.#finished) return;
    this.fault = new AttemptError("protocol", message);
  }
}

/** Everything in a delta or message that the model produced and that costs tokens. */
export function producedText(part: Json): string {
  let text = "";
  for (const key of ["content", "reasoning_content", "reasoning", "refusal"]) {
    const value = part[key];
    if (typeof value === "string") text += value;
  }
  const calls = part["tool_calls"];
  if (Array.isArray(calls)) {
    for (const call of calls) {
      if (!isJson(call) || !isJson(call["function"])) continue;
      const { name, arguments: args } = call["function"];
      if (typeof name === "string") text += name;
      if (typeof args === "string") text += args;
    }
  }
  return text;
}
