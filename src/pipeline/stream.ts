import {
  type AbortReason,
  type AttemptError,
  type Bill,
  type Host,
  type Observer,
  type Sink,
  type SinkEnding,
  type Source,
  streamBroken,
  type StreamEvent,
  type StreamFormat,
  shuttingDown,
} from "../kit/index.ts";
import { EventChanges } from "./event-changes.ts";
import type { BoundHooks } from "./build.ts";
import type { ExchangeState } from "./exchange.ts";

/** An upstream that still owes its count is read on for so long after the client has left. */
const USAGE_WAIT_MS = 2_000;
export const EVENT_STREAM = "text/event-stream; charset=utf-8";

export type StreamEnd =
  | { readonly kind: "served" }
  | { readonly kind: "upstream_cut"; readonly message: string; readonly error: AttemptError | undefined }
  | { readonly kind: AbortReason };

/**
 * Relays one stream from its source to its client, with back-pressure. A client that leaves, or kills the stream, ends
 * the upstream request at once, unless the upstream owes a count of what it has made: then it is read on for
 * `USAGE_WAIT_MS`.
 */
export abstract class StreamRelay<Item> implements Sink<Item> {
  protected readonly state: ExchangeState;
  protected readonly host: Host;
  readonly #end = Promise.withResolvers<StreamEnd>();
  /** null before `run`, and once the stream is over. */
  #source: Source<Item> | null = null;
  /** The client's buffer is full. */
  #isPaused = false;
  /** Why nobody waits any more. */
  #abortReason: AbortReason | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(state: ExchangeState, host: Host) {
    this.state = state;
    this.host = host;
  }

  /** Counts what is charged of a read, whether or not the client gets it. */
  protected abstract count(item: Item): void;
  /** Passes to `send` what the client gets of a read. What it throws ends the stream. */
  protected abstract pass(item: Item): void;
  /** The upstream has made what only its count can tell: its answer is whole, or its model has thought in silence. */
  protected abstract owesCount(left: AbortReason): boolean;
  /** The client has left, and the upstream is read on. */
  protected abstract readOn(left: AbortReason): void;

  /**
   * Called once. Resolves when the stream has ended, for whatever reason.
   * @throws what a hook or the client's format threw; the source still runs then.
   */
  run(source: Source<Item>): Promise<StreamEnd> {
    const { cancellation } = this.state;
    this.#source = source;
    cancellation.addEventListener("abort", this);
    if (cancellation.aborted) {
      this.#abortReason = cancellation.reason as AbortReason;
      this.#stop();
    } else source.open(this);
    return this.#end.promise;
  }

  next(item: Item): void {
    if (this.#source === null) return;
    try {
      this.count(item);
      if (this.#abortReason === null) return this.pass(item);
    } catch (error) {
      this.#close();
      return this.#end.reject(error);
    }
    // A stream that this very read ends is left to end by itself: its connection can then serve the next request.
    if (!this.owesCount(this.#abortReason)) queueMicrotask(this.#stop);
  }

  end(ending: SinkEnding): void {
    if (this.#abortReason !== null) this.#finish({ kind: this.#abortReason });
    else if (ending.complete) this.#finish({ kind: "served" });
    else this.#finish({ kind: "upstream_cut", message: ending.message, error: ending.error });
  }

  /** The exchange was aborted. */
  handleEvent(): void {
    const { client } = this.state.request;
    const reason = this.state.cancellation.reason as AbortReason;
    this.#abortReason = reason;
    // What waits behind a slow client was produced as well, and may hold the count.
    if (this.#isPaused) this.#source?.resume();
    if (this.#source === null) return;
    if (reason === "shutdown" || !this.owesCount(reason)) return this.#stop();
    client.onShutdown(this.#stop);
    this.readOn(reason);
    this.#cancelTimer = this.host.schedule(this.host.now() + USAGE_WAIT_MS, this.#stop);
  }

  protected send(chunk: string | Uint8Array, events: number): void {
    this.state.written = true;
    const { client } = this.state.request;
    // Ignoring a full buffer here would let one slow client hold the whole stream in memory.
    if (client.write(chunk, events) || this.#isPaused || this.#abortReason !== null) return;
    this.#isPaused = true;
    this.#source?.pause();
    client.onDrain(this.#resume);
  }

  readonly #resume = (): void => {
    if (!this.#isPaused || this.#abortReason !== null) return;
    this.#isPaused = false;
    this.#source?.resume();
  };

  readonly #stop = (): void => {
    const source = this.#source;
    if (source === null || this.#abortReason === null) return;
    this.#finish({ kind: this.#abortReason });
    source.cancel();
  };

  #finish(end: StreamEnd): void {
    this.#close();
    this.#end.resolve(end);
  }

  #close(): void {
    this.#source = null;
    this.#cancelTimer?.();
    this.state.cancellation.removeEventListener("abort", this);
  }
}

/** A body that is relayed as it is, such as audio. */
export class ByteRelay extends StreamRelay<Uint8Array> {
  protected count(): void {}

  protected pass(chunk: Uint8Array): void {
    this.send(chunk, 0);
  }

  protected owesCount(): boolean {
    return false;
  }

  protected readOn(): void {}
}

/**
 * The events of an answer: counted as the upstream sent them, written in the client's format as the hooks changed them.
 * From its making on, also while no upstream has answered, the client gets a comment whenever nothing else was written
 * for the heartbeat's time.
 */
export class EventRelay extends StreamRelay<readonly StreamEvent[]> {
  readonly #format: StreamFormat;
  readonly #changes: EventChanges;
  readonly #heartbeatMs: number;
  #lastWriteAt: number;
  #cancelHeartbeat: () => void;

  /** Called when the client has left and the upstream is read on. */
  readonly #onReadOn: (left: AbortReason) => void;

  constructor(
    state: ExchangeState,
    hooks: BoundHooks,
    observer: Observer,
    host: Host,
    onReadOn: (left: AbortReason) => void,
  ) {
    super(state, host);
    this.#onReadOn = onReadOn;
    this.#format = state.streamFormat;
    this.#changes = new EventChanges(hooks, state.exchange, observer);
    this.#heartbeatMs = host.snapshot.server.heartbeat;
    this.#lastWriteAt = host.now();
    this.#cancelHeartbeat = host.schedule(this.#lastWriteAt + this.#heartbeatMs, this.#beat);
  }

  /** Sends the head. */
  start(): void {
    this.state.start(EVENT_STREAM);
  }

  stopHeartbeat(): void {
    this.#cancelHeartbeat();
  }

  /** What the client reads last, by how the stream ended. */
  lastText(end: StreamEnd, bill: Bill): string {
    switch (end.kind) {
      case "served":
        return this.#format.done(bill);
      case "killed":
        return this.#format.killed(bill);
      case "upstream_cut":
        return this.#format.failure(streamBroken(end.message, end.error));
      case "shutdown":
        return this.#format.failure(shuttingDown());
      case "client_gone":
        return "";
    }
  }

  protected owesCount(left: AbortReason): boolean {
    const { owesCount, hidesThoughts } = this.state.meter;
    if (owesCount) return true;
    const { outcomes } = this.host.snapshot.billing;
    // Nobody would be charged for what is then counted.
    const isFree = left === "shutdown" || outcomes[left] === "free";
    return hidesThoughts && !isFree;
  }

  protected readOn(left: AbortReason): void {
    this.stopHeartbeat();
    this.#onReadOn(left);
  }

  protected count(batch: readonly StreamEvent[]): void {
    const { meter } = this.state;
    for (const event of batch) meter.addEvent(event);
  }

  protected pass(batch: readonly StreamEvent[]): void {
    let text = "";
    try {
      if (this.#changes.isOneToOne) for (const event of batch) text += this.#format.event(this.#changes.one(event));
      else for (const event of batch) text += this.#write(this.#changes.all(event));
    } finally {
      // Also what came before a failure: what a client gets must not depend on how the upstream's reads grouped it.
      this.#send(text, batch.length);
    }
  }

  /** Sends what hooks still hold back of a stream that has ended. @throws what a hook throws. */
  flush(end: StreamEnd): void {
    if (end.kind === "served" || end.kind === "upstream_cut") this.#send(this.#write(this.#changes.end()), 0);
  }

  #write(events: readonly StreamEvent[]): string {
    let text = "";
    for (const event of events) text += this.#format.event(event);
    return text;
  }

  #send(text: string, events: number): void {
    if (text === "") return;
    this.#lastWriteAt = this.host.now();
    this.send(text, events);
  }

  readonly #beat = (): void => {
    if (this.host.now() - this.#lastWriteAt >= this.#heartbeatMs) {
      this.#lastWriteAt = this.host.now();
      this.start();
      this.state.request.client.write(this.#format.heartbeat);
    }
    this.#cancelHeartbeat = this.host.schedule(this.#lastWriteAt + this.#heartbeatMs, this.#beat);
  };
}
