import type { StreamDecoder } from "../dialects/dialect.ts";
import type { AttemptError, Log, StreamEvent } from "../kit/index.ts";
import { protocol } from "./classify.ts";
import type { Answer, Reader, ReaderOwner } from "./reader.ts";
import { Relay } from "./relay.ts";

const MAXIMUM_HELD = 64 * 1024;
const EMPTY = "upstream ended its answer before the first event";

/** An answer streamed as events: decodes what arrives, one batch a read. */
export class EventStream implements Reader {
  readonly #owner: ReaderOwner<Answer>;
  readonly #decoder: StreamDecoder;
  readonly #relay: Relay<readonly StreamEvent[]>;

  constructor(owner: ReaderOwner<Answer>, decoder: StreamDecoder, log: Log) {
    this.#owner = owner;
    this.#decoder = decoder;
    this.#relay = new Relay({
      owner,
      log,
      maximumHeld: MAXIMUM_HELD,
      join: (batches) => batches.flat(),
      answer: (source) => ({ type: "events", source }),
    });
  }

  data(chunk: Buffer): void {
    this.#accept(this.#decoder.feed(chunk), chunk.length);
    const { fault, done } = this.#decoder;
    if (fault) this.#owner.fail(fault);
    else if (done && !this.#relay.begun) this.#owner.fail(protocol(EMPTY));
    else if (done) {
      this.#owner.drain();
      this.#relay.complete();
    }
  }

  end(): void {
    this.#accept(this.#decoder.finish(), 0);
    const { fault, complete } = this.#decoder;
    if (fault) this.fail(fault);
    else if (!this.#relay.begun) this.fail(protocol(EMPTY));
    else if (complete) this.#relay.complete();
    else this.fail(protocol("upstream ended its answer half-way"));
  }

  fail(error: AttemptError): void {
    this.#relay.fail(error);
  }

  #accept(events: readonly StreamEvent[], bytes: number): void {
    if (events.length > 0) this.#relay.push(events, bytes);
  }
}
