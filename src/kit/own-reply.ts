import type { Usage } from "./money.ts";
import type { Json } from "./json.ts";
import type {
  AnswerReply,
  ByteReply,
  ByteSource,
  EventReply,
  EventSource,
  Sink,
  Source,
  StreamEvent,
} from "./reply.ts";
import type { Awaitable, PluginHeaders } from "./request.ts";
import type { Target } from "./snapshot.ts";

/** What of an answer is charged, when a plugin gives it in an upstream's stead. */
interface AnyOwnReply {
  /** Charged at the model's price, whatever the answer itself counts; null: nothing, not even a price per request. */
  readonly usage: Usage | null;
  /** As of an upstream's reply. */
  readonly dropped?: readonly string[];
  readonly headers?: PluginHeaders;
}

/**
 * A plugin's answer to a call. It is of the type and in the canonical shape of an upstream's: the client's format writes
 * it, and `event`, `stream` and `response` hooks see it.
 */
export type OwnReply =
  | (AnyOwnReply & Pick<AnswerReply, "type" | "body">)
  | (AnyOwnReply & Pick<EventReply, "type" | "source">)
  | (AnyOwnReply & Pick<ByteReply, "type" | "contentType" | "source">);

/** An upstream's answer as it came, before any hook changed it. */
export type WholeAnswer = {
  readonly target: Target;
  readonly dropped: readonly string[];
  /** What was charged; units left out: 0. */
  readonly usage: Usage;
} & (
  | { readonly type: "answer"; readonly body: Json }
  | { readonly type: "events"; readonly events: readonly StreamEvent[] }
  | { readonly type: "bytes"; readonly contentType: string; readonly bytes: Uint8Array }
);

/** A plugin's wish to be given the answer that an upstream is about to make. */
export interface KeepWish {
  readonly type: "keep";
  /** A larger answer is not kept. So much may be held for as long as the stream runs. */
  readonly maxBytes: number;
  /** Of the upstream's answer. */
  readonly headers?: PluginHeaders;
  /** Called once the client has the whole answer and it is settled, so never of one that broke off or was refused. */
  keep(answer: WholeAnswer): Awaitable<void>;
}

/** What is passed on with one call: events, and bytes. */
const EVENTS_PER_CALL = 64;
const BYTES_PER_CALL = 65_536;

/** A source of events that are there already, such as a kept answer's. */
export function replay(events: readonly StreamEvent[]): EventSource {
  return new Replay(events, EVENTS_PER_CALL);
}

/** A source of bytes that are there already. */
export function replayBytes(bytes: Uint8Array): ByteSource {
  return new Replay(bytes, BYTES_PER_CALL);
}

interface Sliced<Whole> {
  readonly length: number;
  slice(from: number, to: number): Whole;
}

class Replay<Whole extends Sliced<Whole>> implements Source<Whole> {
  readonly #whole: Whole;
  readonly #perCall: number;
  #at = 0;
  /** null before `open`, and once it has ended. */
  #sink: Sink<Whole> | null = null;
  #isPaused = false;

  constructor(whole: Whole, perCall: number) {
    this.#whole = whole;
    this.#perCall = perCall;
  }

  open(sink: Sink<Whole>): void {
    this.#sink = sink;
    this.#flush();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#flush();
  }

  cancel(): void {
    this.#sink = null;
  }

  /** The sink may pause or cancel in each call. */
  #flush(): void {
    while (this.#sink !== null && !this.#isPaused) {
      const batch = this.#whole.slice(this.#at, this.#at + this.#perCall);
      this.#at += batch.length;
      if (batch.length > 0) {
        this.#sink.next(batch);
        continue;
      }
      const sink = this.#sink;
      this.#sink = null;
      sink.end({ complete: true });
    }
  }
}
