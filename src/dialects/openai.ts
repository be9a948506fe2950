import { createParser, type EventSourceMessage } from "eventsource-parser";
import {
  AttemptError,
  type Call,
  invalidRequest,
  isJson,
  type Json,
  type StreamEvent,
  type Target,
  type Usage,
} from "../kit/index.ts";
import type { Decoded, StreamDecoder, UpstreamDialect, UpstreamRequest } from "./dialect.ts";
import { parseJson, publicMessage } from "./json.ts";
import { readUsage } from "./openai-usage.ts";

/** The longest event accepted from an upstream, in characters. */
const MAX_EVENT = 1024 * 1024;
/** What the parser may hold besides an event's data: field names and a line that has only begun. */
const FRAMING = 1024;
const TOO_LARGE = "upstream sent an event that is too large";

/** OpenAI chat completions, the upstream half; the canonical shape is the same, so nothing is translated. */
export const openai: UpstreamDialect = {
  name: "openai",

  request(call: Call, target: Target, apiKey: string): UpstreamRequest {
    const body: Record<string, unknown> = { ...call.body, model: target.model };
    if (call.stream) {
      const options = isJson(body["stream_options"]) ? body["stream_options"] : {};
      body["stream_options"] = { ...options, include_usage: true };
    }
    return {
      path: "/chat/completions",
      headers: {
        ...(apiKey !== "" && { authorization: `Bearer ${apiKey}` }),
        "content-type": "application/json",
        accept: call.stream ? "text/event-stream" : "application/json",
      },
      body: write(body),
    };
  },

  answer(bytes: Uint8Array): Decoded {
    const body = parseJson(bytes);
    if (!isJson(body)) throw new AttemptError("protocol", "upstream sent a body that is not JSON");
    if (body["error"] !== undefined && body["error"] !== null) throw reportedError(body["error"]);
    const { choices } = body;
    if (!Array.isArray(choices) || !choices.every((choice) => isJson(choice) && isJson(choice["message"]))) {
      throw new AttemptError("protocol", "upstream sent an answer without choices");
    }
    return { body, usage: readUsage(body) };
  },

  decoder(): StreamDecoder {
    return new ChatDecoder();
  },

  errorMessage(bytes: Uint8Array): string {
    const body = parseJson(bytes);
    if (!isJson(body)) return "";
    const error = body["error"];
    const message = isJson(error) ? error["message"] : (error ?? body["message"]);
    return typeof message === "string" ? publicMessage(message) : "";
  },
};

/** `JSON.parse` accepts deeper nesting than `JSON.stringify` can write: that is the client's fault, not a 500. */
function write(body: Json): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    if (error instanceof RangeError) throw invalidRequest("/", "is nested too deeply");
    throw error;
  }
}

function reportedError(error: unknown): AttemptError {
  const message = isJson(error) ? error["message"] : error;
  const said = typeof message === "string" ? publicMessage(message) : "";
  return new AttemptError("status", said ? `upstream reported an error: ${said}` : "upstream reported an error");
}

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
