import { createParser, type EventSourceMessage } from "eventsource-parser";
import { AttemptError, type Call, isJson, type StreamEvent } from "../../kit/index.ts";
import type { StreamDecoder } from "../dialect.ts";
import { parseJson } from "../json.ts";
import { ChunkWriter } from "./chunks.ts";

/** The longest event accepted from an upstream, in characters. */
const MAX_EVENT = 1024 * 1024;
/** What the parser may hold besides an event's data: field names and a line that has only begun. */
const FRAMING = 1024;
const TOO_LARGE = "upstream sent an event that is too large";

/** Reads the server-sent events of one Messages stream. */
export class MessagesDecoder implements StreamDecoder {
  fault: AttemptError | null = null;
  readonly #chunks: ChunkWriter;
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

  constructor(call: Call) {
    this.#chunks = new ChunkWriter(call);
  }

  get done(): boolean {
    return this.#chunks.ended;
  }

  get complete(): boolean {
    return this.#chunks.ended || this.#chunks.finished;
  }

  feed(chunk: Uint8Array): readonly StreamEvent[] {
    if (this.fault === null && !this.done) this.#parser.feed(this.#text.decode(chunk, { stream: true }));
    return this.#take();
  }

  finish(): readonly StreamEvent[] {
    // An event without its empty line at the end of the body is dropped by the SSE rules; some upstreams end that way.
    const first = !this.#ended;
    this.#ended = true;
    if (first && this.fault === null && !this.done) {
      this.#parser.feed(`${this.#text.decode()}\n\n`);
      if (this.fault === null && !this.done && this.complete) this.#events.push(...this.#chunks.end());
    }
    return this.#take();
  }

  #take(): readonly StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #event({ event, data: raw }: EventSourceMessage): void {
    // The ending of other dialects, which some upstreams add to this one's.
    if (this.fault !== null || this.done || raw === "[DONE]") return;
    // The parser measures only what it must hold: without this an event's fate would hang on how its reads were split.
    if (raw.length > MAX_EVENT) return this.#fail(TOO_LARGE);
    const data = parseJson(raw);
    if (!isJson(data)) return this.#fail("upstream sent an event that is not JSON");
    try {
      this.#events.push(...this.#chunks.read(event === "error" ? { ...data, type: event } : data));
    } catch (error) {
      if (!(error instanceof AttemptError)) throw error;
      this.fault = error;
    }
  }

  #fail(message: string): void {
    // The whole answer had come: an ending cut off behind it must not turn it into a failure.
    if (this.#ended && this.complete) return;
    this.fault = new AttemptError("protocol", message);
  }
}
