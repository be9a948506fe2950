import type { StreamReader } from "../../dialects/dialect.ts";
import { type AttemptError, isJson, type Log, type StreamEvent } from "../../kit/index.ts";
import { protocolError } from "./classify.ts";
import type { Answer, Reader, ReaderOwner } from "./reader.ts";
import { Relay } from "./relay.ts";

const MAX_HELD_BYTES = 64 * 1024;
/** Bytes before the first event with content; a longer prelude begins the stream all the same. */
const MAX_PRELUDE_BYTES = 64 * 1024;
/**
 * Of one stream, decompressed. It bounds memory: decoders, and the writers of clients' formats, keep something of every
 * event until the stream ends (calls, ids, annotations, whole texts).
 */
const MAX_STREAM_BYTES = 256 * 1024 * 1024;
const EMPTY_MESSAGE = "upstream ended its answer before the first event";

/**
 * Reads an answer streamed as events: decodes what arrives, one batch for each read. The stream begins with the first
 * event that has content; those before it are held back, because an error that follows them must still fail over.
 */
export class EventStream implements Reader {
  readonly #owner: ReaderOwner<Answer>;
  readonly #decoder: StreamReader;
  readonly #relay: Relay<readonly StreamEvent[]>;
  #prelude: readonly StreamEvent[] = [];
  #preludeBytes = 0;
  #bytes = 0;

  constructor(owner: ReaderOwner<Answer>, decoder: StreamReader, log: Log) {
    this.#owner = owner;
    this.#decoder = decoder;
    this.#relay = new Relay({
      owner,
      log,
      maxHeldBytes: MAX_HELD_BYTES,
      join: (batches) => batches.flat(),
      answer: (source) => ({ type: "events", source }),
    });
  }

  data(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_STREAM_BYTES) return this.#owner.fail(protocolError("upstream sent too large an answer"));
    this.#accept(this.#decoder.feed(chunk), chunk.length);
    const { fault, done } = this.#decoder;
    if (fault) this.#owner.fail(fault);
    else if (done) this.#done();
  }

  end(): void {
    this.#accept(this.#decoder.finish(), 0);
    const { fault, complete } = this.#decoder;
    if (fault) this.fail(fault);
    else if (complete && this.#began()) this.#relay.complete();
    else
      this.fail(
        protocolError(
          this.#relay.begun || this.#prelude.length > 0 ? "upstream ended its answer half-way" : EMPTY_MESSAGE,
        ),
      );
  }

  fail(error: AttemptError): void {
    this.#relay.fail(error);
  }

  #done(): void {
    if (!this.#began()) return this.#owner.fail(protocolError(EMPTY_MESSAGE));
    this.#owner.drain();
    this.#relay.complete();
  }

  #accept(events: readonly StreamEvent[], bytes: number): void {
    if (this.#relay.begun) {
      if (events.length > 0) this.#relay.push(events, bytes);
      return;
    }
    if (events.length > 0) this.#prelude = this.#prelude.length > 0 ? [...this.#prelude, ...events] : events;
    this.#preludeBytes += bytes;
    if (events.some(hasContent) || this.#preludeBytes > MAX_PRELUDE_BYTES) this.#began();
  }

  /** Passes on what was held back. @returns whether the stream has begun. */
  #began(): boolean {
    if (!this.#relay.begun && this.#prelude.length > 0) {
      const prelude = this.#prelude;
      this.#prelude = [];
      this.#relay.push(prelude, this.#preludeBytes);
    }
    return this.#relay.begun;
  }
}

/** Whether an event carries text, reasoning, a tool call or a finish; a role or a count alone does not. */
function hasContent({ data, text }: StreamEvent): boolean {
  if (text !== "") return true;
  const { choices } = data;
  if (!Array.isArray(choices)) return false;
  return choices.some((choice) => {
    if (!isJson(choice)) return false;
    if ((choice["finish_reason"] ?? null) !== null) return true;
    const { delta } = choice;
    return isJson(delta) && Object.entries(delta).some(([name, value]) => name !== "role" && !isEmptyDelta(value));
  });
}

/** Nothing yet, or what only announces something in the client's own format (`{native: {dialect, event}}`). */
function isEmptyDelta(value: unknown): boolean {
  if (!isJson(value))
    return value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
  const { dialect, event } = value;
  return isJson(event) && (dialect === "responses" || event["type"] === "message_start");
}
