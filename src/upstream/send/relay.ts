import type {
  AnswerReply,
  AttemptError,
  ByteReply,
  Call,
  EventReply,
  Log,
  Sink,
  SinkEnding,
  Source,
} from "../../kit/index.ts";
import { protocolError } from "./classify.ts";

/** The result of one upstream request. */
export type Answer = Omit<AnswerReply, "target"> | Omit<EventReply, "target"> | Omit<ByteReply, "target">;

/** Reads the body of one response. */
export interface Reader {
  /** @throws what the dialect throws */
  data(chunk: Buffer): void;
  /** The body is complete. @throws what the dialect throws */
  end(): void;
  /** The body will not be complete. Called at most once, and nothing is called after it. */
  fail(error: AttemptError): void;
}

/** What a reader may ask of the request whose answer it reads. */
export interface ReaderOwner<Result> {
  resolve(result: Result): void;
  reject(error: AttemptError): void;
  /** Ends the request and calls the reader's `fail`. */
  fail(error: AttemptError): void;
  /** A stream has begun: from now on its consumer ends it, not the chain's deadline or the exchange's signal. */
  begin(): void;
  /** A stream that had begun will not be complete. @returns the failure as clients may be told of it. */
  cut(error: AttemptError): AttemptError;
  /** The rest of the body is not wanted; it is read and thrown away. */
  drain(): void;
  /** Stops and starts reading from the upstream. */
  hold(): void;
  flow(): void;
  /** Ends the request; nothing of the reader is called any more. */
  cancel(): void;
}

export function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only ? only : Buffer.concat(chunks);
}

/** How a kind of body is relayed. */
export interface RelayKind<Item> {
  /** Bytes that may wait for a slow sink before reading from the upstream stops. */
  readonly maxHeldBytes: number;
  /** Joins the items that waited into one. */
  readonly join: (items: readonly Item[]) => Item;
  /** The result of the request, once the first item is there. */
  readonly answer: (source: Source<Item>) => Answer;
}

/** Passes a streamed body on to its sink, one item for each read, and stops reading while the sink is slow. */
export class Relay<Item> implements Source<Item> {
  readonly #owner: ReaderOwner<Answer>;
  readonly #log: Log;
  readonly #kind: RelayKind<Item>;
  #sink: Sink<Item> | null = null;
  #paused = false;
  #begun = false;
  /** null: nothing. */
  #held: Item[] | null = null;
  #heldBytes = 0;
  #ending: SinkEnding | null = null;

  constructor(owner: ReaderOwner<Answer>, log: Log, kind: RelayKind<Item>) {
    this.#owner = owner;
    this.#log = log;
    this.#kind = kind;
  }

  get begun(): boolean {
    return this.#begun;
  }

  /** @param bytes that the item was read from. */
  push(item: Item, bytes: number): void {
    if (this.#flowing) return this.#deliver(item);
    const { answer, maxHeldBytes } = this.#kind;
    if (!this.#begun) {
      this.#begun = true;
      this.#owner.begin();
      this.#owner.resolve(answer(this));
    }
    if (this.#held === null) this.#held = [item];
    else this.#held.push(item);
    this.#heldBytes += bytes;
    if (this.#heldBytes >= maxHeldBytes) this.#owner.hold();
  }

  complete(): void {
    this.#close({ complete: true });
  }

  fail(error: AttemptError): void {
    if (!this.#begun) return this.#owner.reject(error);
    if (error.failure === "aborted") return this.#detach();
    const told = this.#owner.cut(error);
    this.#close({ complete: false, message: told.message, error: told });
  }

  open(sink: Sink<Item>): void {
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
    this.#detach();
    this.#owner.cancel();
  }

  get #flowing(): boolean {
    return this.#sink !== null && !this.#paused;
  }

  #close(ending: SinkEnding): void {
    this.#ending = ending;
    this.#flush();
  }

  /** Passes on what is held, then the ending; the sink may pause or cancel at any point in between. */
  #flush(): void {
    if (this.#flowing && this.#held !== null) {
      const held = this.#held;
      this.#held = null;
      this.#heldBytes = 0;
      this.#deliver(this.#kind.join(held));
    }
    if (!this.#flowing) return;
    if (this.#ending === null) return this.#owner.flow();
    const sink = this.#sink;
    const ending = this.#ending;
    this.#detach();
    try {
      sink?.end(ending);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #deliver(item: Item): void {
    try {
      this.#sink?.next(item);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  /** Of a sink that threw: thrown into undici's callbacks the error would end the process. */
  #giveUp(error: unknown): void {
    this.#log.error({ err: error }, "upstream stream reader failed; stream ended");
    this.cancel();
  }

  #detach(): void {
    this.#sink = null;
    this.#held = null;
    this.#ending = null;
  }
}

/** Relays a body as it is; holds no more than one read for a slow sink. */
export class ByteStream implements Reader {
  readonly #relay: Relay<Uint8Array>;

  /** @param contentType for the client. */
  constructor(owner: ReaderOwner<Answer>, contentType: string, { units }: Call, log: Log) {
    const usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0, ...units };
    this.#relay = new Relay<Uint8Array>(owner, log, {
      maxHeldBytes: 0,
      join: joinChunks,
      answer: (source) => ({ type: "bytes", contentType, source, usage }),
    });
  }

  data(chunk: Buffer): void {
    this.#relay.push(chunk, chunk.length);
  }

  end(): void {
    if (this.#relay.begun) this.#relay.complete();
    else this.fail(protocolError("upstream sent an empty body"));
  }

  fail(error: AttemptError): void {
    this.#relay.fail(error);
  }
}
