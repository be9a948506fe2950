import { createParser, type EventSourceMessage } from "eventsource-parser";
import { AttemptError, isJson, type StreamEvent } from "../../kit/index.ts";
import type { StreamDecoder } from "../dialect.ts";
import { parseJson } from "../json.ts";
import { EventReader } from "./events.ts";

/** The longest event accepted from an upstream, in characters. */
const MAX_EVENT = 1024 * 1024;
/** What the parser may hold besides an event's data: field names and a line that has only begun. */
const FRAMING = 1024;
const TOO_LARGE = "upstream sent an event that is too large";

/** Reads the server-sent events of one stream of chat; `message-end` is its ending. */
export class CohereDecoder implements StreamDecoder {
  fault: AttemptError | null = null;
  #events: StreamEvent[] = [];
  readonly #reader = new EventReader();
  readonly #text = new TextDecoder();
  readonly #parser = createParser({
    maxBufferSize: MAX_EVENT + FRAMING,
    onEvent: (message) => this.#event(message),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") this.#fail(TOO_LARGE);
    },
  });

  get done(): boolean {
    return this.#reader.ended;
  }

  get complete(): boolean {
    return this.#reader.ended;
  }

  feed(chunk: Uint8Array): readonly StreamEvent[] {
    if (this.fault === null && !this.done) this.#parser.feed(this.#text.decode(chunk, { stream: true }));
    return this.#take();
  }

  finish(): readonly StreamEvent[] {
    // An event without its empty line at the end of the body is dropped by the SSE rules; some upstreams end that way.
    if (this.fault === null && !this.done) this.#parser.feed(`${this.#text.decode()}\n\n`);
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
      for (const read of this.#reader.read(event === "error" ? { ...data, type: event } : data))
        this.#events.push(read);
    } catch (error) {
      if (!(error instanceof AttemptError)) throw error;
      this.fault = error;
    }
  }

  #fail(message: string): void {
    this.fault = new AttemptError("protocol", message);
  }
}
