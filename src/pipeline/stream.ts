import type { AbortReason, Bill, Client, Exchange, Host, Observer } from "../kit/index.ts";
import type { Sink, Source, StreamEvent, StreamFormat } from "../kit/index.ts";
import type { Plan } from "./build.ts";
import type { Heartbeat } from "./heartbeat.ts";
import { passOver } from "./hooks.ts";
import type { Metered } from "./metered.ts";
import { checkedEvent } from "./returned.ts";

/** Milliseconds for which an upstream that owes its count is read on when nobody waits for its stream any more. */
const READ_ON_MS = 2_000;

export type StreamEnd =
  | { readonly kind: "served" }
  | { readonly kind: "upstream_cut"; readonly message: string }
  | { readonly kind: AbortReason };

/** What is made of a stream, read by read. */
export interface StreamContent<Item> {
  /** Notes what is charged of a read, whether or not anybody gets to see it. */
  count(item: Item): void;
  /** Writes what the client is to see of it; what it throws ends the stream. */
  write(item: Item, write: (chunk: string | Uint8Array) => void): void;
  /** The answer is whole and the upstream's count is still to come. */
  readonly owesCount: boolean;
}

/**
 * Takes one stream from its source to its client under back-pressure. A client that leaves, or kills the stream, ends
 * the upstream request at once, unless that owes nothing but its count: then it is read on for at most READ_ON_MS.
 */
export class StreamRelay<Item> implements Sink<Item> {
  /** Whether anything was written. */
  written = false;
  readonly #client: Client;
  readonly #host: Pick<Host, "now" | "schedule">;
  readonly #content: StreamContent<Item>;
  readonly #end = Promise.withResolvers<StreamEnd>();
  /** null once the stream is over. */
  #source: Source<Item> | null = null;
  #isFull = false;
  /** Why nobody waits any more. */
  #left: AbortReason | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(client: Client, host: Pick<Host, "now" | "schedule">, content: StreamContent<Item>) {
    this.#client = client;
    this.#host = host;
    this.#content = content;
  }

  /** Called once. Resolves when the stream has ended, for whatever reason. @throws what its content throws; the source still runs then */
  run(source: Source<Item>): Promise<StreamEnd> {
    const { signal } = this.#client;
    this.#source = source;
    signal.addEventListener("abort", this);
    if (signal.aborted) {
      this.#left = signal.reason as AbortReason;
      this.#stop();
    } else source.open(this);
    return this.#end.promise;
  }

  next(item: Item): void {
    if (this.#source === null) return;
    try {
      this.#content.count(item);
      if (this.#left === null) return this.#content.write(item, this.#write);
    } catch (error) {
      this.#close();
      return this.#end.reject(error);
    }
    // What this very read may have ended is let end by itself: its connection can then serve the next request.
    if (!this.#content.owesCount) queueMicrotask(this.#stop);
  }

  end(ending: Parameters<Sink<Item>["end"]>[0]): void {
    if (this.#left !== null) this.#finish({ kind: this.#left });
    else this.#finish(ending.complete ? { kind: "served" } : { kind: "upstream_cut", message: ending.message });
  }

  /** Nobody waits any more. */
  handleEvent(): void {
    const reason = this.#client.signal.reason as AbortReason;
    this.#left = reason;
    // What waits behind a slow client was produced as well, and may hold the count.
    if (this.#isFull) this.#source?.resume();
    if (this.#source === null) return;
    if (reason === "shutdown" || !this.#content.owesCount) return this.#stop();
    this.#client.onShutdown(this.#stop);
    this.#cancelTimer = this.#host.schedule(this.#host.now() + READ_ON_MS, this.#stop);
  }

  readonly #write = (chunk: string | Uint8Array): void => {
    this.written = true;
    // Ignoring a full buffer here would let one slow client hold the whole stream in memory.
    if (this.#client.write(chunk) || this.#isFull || this.#left !== null) return;
    this.#isFull = true;
    this.#source?.pause();
    this.#client.onDrain(this.#resume);
  };

  readonly #resume = (): void => {
    if (!this.#isFull || this.#left !== null) return;
    this.#isFull = false;
    this.#source?.resume();
  };

  readonly #stop = (): void => {
    const source = this.#source;
    if (source === null || this.#left === null) return;
    this.#finish({ kind: this.#left });
    source.cancel();
  };

  #finish(end: StreamEnd): void {
    this.#close();
    this.#end.resolve(end);
  }

  #close(): void {
    this.#source = null;
    this.#cancelTimer?.();
    this.#client.signal.removeEventListener("abort", this);
  }
}

export interface EventContentParts {
  readonly exchange: Exchange;
  readonly format: StreamFormat;
  readonly hooks: Plan["event"];
  readonly observer: Observer;
  readonly metered: Metered;
  readonly heartbeat: Heartbeat | null;
}

/** Events in the client's format: counted as the upstream sent them, shown as the hooks made them. */
export class EventContent implements StreamContent<readonly StreamEvent[]> {
  readonly #parts: EventContentParts;

  constructor(parts: EventContentParts) {
    this.#parts = parts;
  }

  get owesCount(): boolean {
    return this.#parts.metered.owesCount;
  }

  count(batch: readonly StreamEvent[]): void {
    const { metered } = this.#parts;
    for (const event of batch) metered.event(event);
  }

  write(batch: readonly StreamEvent[], write: (text: string) => void): void {
    const { format, heartbeat } = this.#parts;
    let text = "";
    try {
      for (const event of batch) text += format.event(this.#shown(event));
    } finally {
      // Also what came before a failure: it must not hang on how the upstream's reads happened to group it.
      if (text !== "") {
        heartbeat?.touch();
        write(text);
      }
    }
  }

  #shown(event: StreamEvent): StreamEvent {
    const { hooks, exchange, observer } = this.#parts;
    let current = event;
    for (const hook of hooks) {
      try {
        current = checkedEvent(hook.call(current, exchange));
      } catch (error) {
        passOver(hook, error, observer);
      }
    }
    return current;
  }
}

/** What a stream ends with for its client. */
export function lastWords(format: StreamFormat, end: StreamEnd, bill: Bill): string {
  switch (end.kind) {
    case "served":
      return format.done(bill);
    case "killed":
      return format.killed(bill);
    case "upstream_cut":
      return format.failure(end.message);
    case "shutdown":
      return format.failure("Server is shutting down");
    case "client_gone":
      return "";
  }
}
