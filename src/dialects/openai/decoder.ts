import { createParser, type EventSourceMessage } from "eventsource-parser";
import { AttemptError, isJson, type StreamEvent } from "../../kit/index.ts";
import type { StreamDecoder } from "../dialect.ts";
import { reportedError } from "../errors.ts";
import { parseJson } from "../json.ts";
import { ChunkReader } from "./chunks.ts";

/** The longest event accepted from an upstream, in characters. */
const MAX_EVENT = 1024 * 1024;
/** What the parser may hold besides an event's data: field names and a line that has only begun. */
const FRAMING = 1024;
const TOO_LARGE = "upstream sent an event that is too large";

/** Reads the events of one stream of chat completions. */
export class ChatDecoder implements StreamDecoder {
  fault: AttemptError | null = null;
  done = false;
  #ended = false;
  #events: StreamEvent[] = [];
  readonly #chunks = new ChunkReader();
  readonly #text = new TextDecoder();
  readonly #parser = createParser({
    maxBufferSize: MAX_EVENT + FRAMING,
    onEvent: (message) => this.#event(message),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") this.#fail(TOO_LARGE);
    },
  });

  get complete(): boolean {
    return this.done || this.#chunks.finished;
  }

  feed(chunk: Uint8Array): readonly StreamEvent[] {
    if (this.fault === null && !this.done) this.#parser.feed(this.#text.decode(chunk, { stream: true }));
    return this.#take();
  }

  finish(): readonly StreamEvent[] {
    // An event without its empty line at the end of the body is dropped by the SSE rules; some upstreams end that way.
    this.#ended = true;
    if (this.fault === null && !this.done) this.#parser.feed(`${this.#text.decode()}\n\n`);
    this.#end(false);
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
      this.#end(true);
      this.done = true;
      return;
    }
    // The parser measures only what it must hold: without this an event's fate would hang on how its reads were split.
    if (raw.length > MAX_EVENT) return this.#fail(TOO_LARGE);
    const data = parseJson(raw);
    if (!isJson(data)) return this.#fail("upstream sent an event that is not JSON");
    if ((data["error"] !== undefined && data["error"] !== null) || message.event === "error") {
      return this.#stop(reportedError(data["error"] ?? data["message"]));
    }
    try {
      const event = this.#chunks.read(data, raw);
      if (event !== null) this.#events.push(event);
    } catch (error) {
      if (!(error instanceof AttemptError)) throw error;
      this.#stop(error);
    }
  }

  /** @param whole whether the upstream said so. */
  #end(whole: boolean): void {
    for (const event of this.#chunks.end(whole)) this.#events.push(event);
  }

  #fail(message: string): void {
    // The whole answer had come: a count or a `[DONE]` cut off behind it must not turn it into a failure.
    if (this.#ended && this.#chunks.finished) return;
    this.#stop(new AttemptError("protocol", message));
  }

  #stop(fault: AttemptError): void {
    this.#end(false);
    this.fault = fault;
  }
}
