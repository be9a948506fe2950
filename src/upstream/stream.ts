import type { StreamDecoder } from "../dialects/dialect.ts";
import type { AttemptError, EventSink, EventSource, Log, StreamEvent } from "../kit/index.ts";
import { protocol } from "./classify.ts";
import type { ReaderOwner, Reader } from "./reader.ts";

/** Bytes of events that wait for a slow client before the upstream is no longer read. */
const MAXIMUM_HELD = 64 * 1024;
const EMPTY = "upstream ended its answer before the first event";

type Ending = Parameters<EventSink["end"]>[0];

/** A streamed answer: decodes what arrives and hands it on, one batch a read, at the pace of its sink. */
export class EventStream implements EventSource, Reader {
  readonly #owner: ReaderOwner;
  readonly #decoder: StreamDecoder;
  readonly #log: Log;
  #sink: EventSink | null = null;
  #paused = false;
  #begun = false;
  #held: StreamEvent[] = [];
  #heldBytes = 0;
  #ending: Ending | null = null;

  constructor(owner: ReaderOwner, decoder: StreamDecoder, log: Log) {
    this.#owner = owner;
    this.#decoder = decoder;
    this.#log = log;
  }

  data(chunk: Buffer): void {
    this.#accept(this.#decoder.feed(chunk), chunk.length);
    const { fault, done } = this.#decoder;
    if (fault) this.#owner.fail(fault);
    else if (done && !this.#begun) this.#owner.fail(protocol(EMPTY));
    else if (done) {
      this.#owner.drain();
      this.#close({ complete: true });
    }
  }

  end(): void {
    this.#accept(this.#decoder.finish(), 0);
    const { fault, complete } = this.#decoder;
    if (fault) this.fail(fault);
    else if (!this.#begun) this.fail(protocol(EMPTY));
    else if (complete) this.#close({ complete: true });
    else this.fail(protocol("upstream ended its answer half-way"));
  }

  fail(error: AttemptError): void {
    if (!this.#begun) this.#owner.reject(error);
    else if (error.failure === "aborted") this.#silence();
    else this.#close({ complete: false, message: error.message });
  }

  open(sink: EventSink): void {
    this.#sink = sink;
    this.#flush();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#flush();
  }

  cancel(): void {
    this.#silence();
    this.#owner.cancel();
  }

  get #flowing(): boolean {
    return this.#sink !== null && !this.#paused;
  }

  #accept(events: readonly StreamEvent[], bytes: number): void {
    if (events.length === 0) return;
    if (!this.#begun) {
      this.#begun = true;
      this.#owner.begin();
      this.#owner.resolve({ stream: true, source: this });
    }
    if (this.#flowing) return this.#deliver(events);
    this.#held.push(...events);
    this.#heldBytes += bytes;
    if (this.#heldBytes >= MAXIMUM_HELD) this.#owner.hold();
  }

  #close(ending: Ending): void {
    this.#ending = ending;
    this.#flush();
  }

  /** Hands on what is held, then the ending; the sink may pause or cancel at any point of it. */
  #flush(): void {
    if (this.#flowing && this.#held.length > 0) {
      const held = this.#held;
      this.#held = [];
      this.#heldBytes = 0;
      this.#deliver(held);
    }
    if (!this.#flowing) return;
    if (this.#ending === null) return this.#owner.flow();
    const sink = this.#sink;
    const ending = this.#ending;
    this.#silence();
    this.#guarded(() => sink?.end(ending));
  }

  #deliver(events: readonly StreamEvent[]): void {
    this.#guarded(() => this.#sink?.events(events));
  }

  /** A sink that throws loses its stream; thrown into undici's callbacks the error would end the process. */
  #guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#log.error({ err: error }, "the reader of an upstream stream threw; the stream is given up");
      this.cancel();
    }
  }

  #silence(): void {
    this.#sink = null;
    this.#held = [];
    this.#ending = null;
  }
}
