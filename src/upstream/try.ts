import type { Readable } from "node:stream";
import type { Dispatcher, Pool } from "undici";
import type { UpstreamRequest } from "../dialects/dialect.ts";
import { AttemptError, type Timeouts } from "../kit/index.ts";
import { type Head, protocol, unreadable, wireFailure } from "./classify.ts";
import { Deadlines } from "./deadlines.ts";
import { outgoing } from "./outgoing.ts";
import type { Reader, ReaderOwner } from "./reader.ts";
import type { Watched, Wheel } from "./wheel.ts";

const MAXIMUM_INFORMATIONAL = 10;
/** What is left of a body nobody wants is read this long and far, so that its connection can serve the next request. */
const DRAIN_TIME = 1_000;
const DRAIN_BYTES = 64 * 1024;

export interface TryOptions<Result> {
  /** Chooses what reads the body; null when nothing of it is wanted. */
  readonly read: (head: Head, owner: ReaderOwner<Result>) => Reader | null;
  /** A streamed answer that had begun broke off. */
  readonly onCut?: (error: AttemptError) => void;
  readonly timeouts: Timeouts;
  /** Whether the answer is to come as a stream. */
  readonly stream: boolean;
  /** Unix milliseconds by which the answer must have begun (a stream) or ended (any other). */
  readonly deadline: number;
  readonly signal: AbortSignal;
  /** Called once the head of the request is written to a connection, and with every piece behind it. */
  readonly onSent?: () => void;
  readonly wheel: Wheel;
  readonly now: () => number;
}

/** As much of a pool as one request needs. */
export type TryPool = Pick<Pool, "dispatch" | "stats">;

/** One request to an upstream: undici's handler, the wheel's entry and the abort listener in one object. */
export class Try<Result> implements Dispatcher.DispatchHandler, Watched, ReaderOwner<Result> {
  due = 0;
  slot = -1;
  /** Milliseconds from the start, or from the end of a streamed request, to the first byte of the answer's body. */
  firstByte: number | null = null;
  readonly #options: TryOptions<Result>;
  readonly #settled = Promise.withResolvers<Result>();
  readonly #deadlines: Deadlines;
  /** Unix milliseconds. */
  #measuredFrom: number;
  #controller: Dispatcher.DispatchController | null = null;
  #phase: "connect" | "head" | "body" | "drain" | "over" = "connect";
  #reader: Reader | null = null;
  /** A streamed body that is not sent yet. */
  #sending: Readable | null = null;
  /** The request in the queue of its pool, which it entered because no connection was free. */
  #queued: { readonly pool: TryPool; readonly request: Dispatcher.DispatchOptions } | null = null;
  #held = false;
  #informational = 0;
  #drained = 0;

  constructor(options: TryOptions<Result>) {
    this.#options = options;
    this.#measuredFrom = options.now();
    this.#deadlines = new Deadlines(options.timeouts, options.stream, options.deadline, this.#measuredFrom);
    this.due = this.#deadlines.due;
  }

  /**
   * Sends the request and waits for its answer, or for the beginning of a streamed one.
   * @throws AttemptError; what the request's own body threw
   */
  run(pool: TryPool, request: UpstreamRequest): Promise<Result> {
    const { signal, wheel } = this.#options;
    const { startedAt } = this.#deadlines;
    signal.addEventListener("abort", this);
    wheel.watch(this);
    if (signal.aborted) this.handleEvent();
    else if (this.due <= startedAt) this.expire(startedAt);
    else this.#dispatch(pool, this.#written(request));
    return this.#settled.promise;
  }

  handleEvent(): void {
    this.fail(new AttemptError("aborted", "the request was given up"));
  }

  expire(now: number): void {
    const phase = this.#phase;
    if (phase === "drain" || phase === "over") return this.cancel();
    // In the queue of a pool that carries nothing every connection is still being made: that is the upstream's doing.
    const saturated = phase === "connect" && this.#queued !== null && this.#queued.pool.stats.running > 0;
    this.fail(this.#deadlines.overdue(phase === "head" && this.#sending ? "send" : phase, saturated, now));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Given up while it waited for a connection; an abort here would close the connection, which others can use.
    if (this.#phase === "over") throw new Error("given up before it was sent");
    this.#controller = controller;
    this.#phase = "head";
    this.#sent();
  }

  // The head goes out with the body's first piece: when the request starts, a streamed body may have none to send yet.
  onBodySent(): void {
    this.#options.onSent?.();
    if (this.#sending && this.#phase === "head") this.#sent();
  }

  onRequestSent(): void {
    this.#options.onSent?.();
    if (this.#sending === null) return;
    this.#sending = null;
    if (this.#phase === "head") this.#sent();
    this.#measuredFrom = this.#options.now();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Head["headers"]): void {
    if (this.#phase !== "head") return;
    if (status < 200) {
      this.#informational += 1;
      if (this.#informational > MAXIMUM_INFORMATIONAL) this.fail(protocol("upstream keeps announcing an answer"));
      return;
    }
    if (this.#options.stream || status !== 200) this.#received();
    try {
      this.#reader = this.#options.read({ status, headers }, this);
    } catch (error) {
      this.fail(unreadable(error));
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#phase === "drain") {
      this.#drained += chunk.length;
      if (this.#drained > DRAIN_BYTES) this.cancel();
      return;
    }
    if (this.#phase === "over") return;
    if (this.#phase === "head") {
      this.#phase = "body";
      this.firstByte = this.#options.now() - this.#measuredFrom;
    }
    this.#received();
    try {
      this.#reader?.data(chunk);
    } catch (error) {
      this.fail(unreadable(error));
    }
  }

  onResponseEnd(): void {
    const wanted = this.#phase !== "drain" && this.#phase !== "over";
    this.#stop();
    if (!wanted) return;
    try {
      this.#reader?.end();
    } catch (error) {
      this.#reader?.fail(unreadable(error));
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.fail(wireFailure(error, this.#phase !== "connect"));
  }

  resolve(result: Result): void {
    this.#settled.resolve(result);
  }

  reject(error: Error): void {
    this.#settled.reject(error);
  }

  fail(error: AttemptError): void {
    if (this.#phase === "over") return;
    const wanted = this.#phase !== "drain";
    this.cancel();
    if (!wanted) return;
    if (this.#reader) this.#reader.fail(error);
    else this.reject(error);
  }

  begin(): void {
    this.#options.signal.removeEventListener("abort", this);
    this.#deadlines.begun();
    this.due = this.#deadlines.due;
  }

  cut(error: AttemptError): void {
    this.#options.onCut?.(error);
  }

  drain(): void {
    if (this.#phase === "over") return;
    // A request that is not sent to its end leaves its connection useless.
    if (this.#sending) return this.cancel();
    this.#phase = "drain";
    this.#options.signal.removeEventListener("abort", this);
    this.due = this.#options.now() + DRAIN_TIME;
    this.flow();
  }

  hold(): void {
    if (this.#held || this.#phase !== "body") return;
    this.#held = true;
    this.#controller?.pause();
    this.#deadlines.held();
    this.due = this.#deadlines.due;
  }

  flow(): void {
    if (!this.#held) return;
    this.#held = false;
    if (this.#phase === "body") this.#received();
    // Resuming reads at once, and undici's parser asserts that it is not entered from another response's callback.
    queueMicrotask(() => {
      if (!this.#held && this.#phase !== "over") this.#controller?.resume();
    });
  }

  cancel(): void {
    if (this.#phase === "over") return;
    const sending = this.#sending !== null;
    this.#stop();
    // An abort amid a body can make Node's HTTP/2 write empty frames for ever: a body that breaks off ends the request too.
    if (!sending) this.#controller?.abort(new Error("given up"));
  }

  #written({ method, path, headers, body }: UpstreamRequest): Dispatcher.DispatchOptions {
    if (typeof body === "string" || body === null) return { method, path, headers, body };
    this.#sending = outgoing(body, (error) => this.#unsent(error));
    return { method, path, headers: { ...headers, "content-length": `${body.length}` }, body: this.#sending };
  }

  #dispatch(pool: TryPool, request: Dispatcher.DispatchOptions): void {
    // False says that the pool is full from now on: with this request on its last connection, or in its queue.
    if (!pool.dispatch(request, this) && pool.stats.queued > 0) this.#queued = { pool, request };
  }

  /** Our own fault: the body's iterator failed, and nothing of it is the upstream's doing. */
  #unsent(cause: unknown): void {
    if (this.#phase === "over") return;
    const message = "the request's body could not be read";
    this.reject(cause instanceof Error ? cause : new Error(message, { cause }));
    this.fail(new AttemptError("reset", message, { neutral: true, cause }));
  }

  #sent(): void {
    const now = this.#options.now();
    if (this.#sending === null) this.#deadlines.asked(now);
    else this.#deadlines.sent(now);
    this.due = this.#deadlines.due;
  }

  #received(): void {
    this.#deadlines.received(this.#options.now());
    this.due = this.#deadlines.due;
  }

  #stop(): void {
    // It stays in the queue until a connection is free, which may be long: its body would fill the memory.
    if (this.#phase === "connect" && this.#queued) this.#queued.request.body = null;
    this.#phase = "over";
    this.#options.wheel.unwatch(this);
    this.#options.signal.removeEventListener("abort", this);
    this.#sending?.destroy();
    this.#sending = null;
  }
}
