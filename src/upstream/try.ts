import type { Dispatcher, Pool } from "undici";
import type { UpstreamDialect } from "../dialects/dialect.ts";
import { AttemptError, type Log, type Timeouts } from "../kit/index.ts";
import { headFailure, protocol, statusFailure, wireFailure } from "./classify.ts";
import { type Answer, AnswerReader, type Reader, type ReaderOwner, RefusalReader } from "./reader.ts";
import { EventStream } from "./stream.ts";
import type { Watched, Wheel } from "./wheel.ts";

const MAXIMUM_INFORMATIONAL = 10;
/** What is left of a body nobody wants is read this long and far, so that its connection can serve the next request. */
const DRAIN_TIME = 1_000;
const DRAIN_BYTES = 64 * 1024;

export interface TryOptions {
  readonly dialect: UpstreamDialect;
  readonly stream: boolean;
  readonly timeouts: Timeouts;
  /** Unix milliseconds by which the answer must have begun (a stream) or ended (any other). */
  readonly deadline: number;
  readonly signal: AbortSignal;
  readonly wheel: Wheel;
  readonly now: () => number;
  readonly log: Log;
}

/** As much of a pool as one request needs. */
export type TryPool = Pick<Pool, "dispatch" | "stats">;

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>[2];

/** One request to an upstream: undici's handler, the wheel's entry and the abort listener in one object. */
export class Try implements Dispatcher.DispatchHandler, Watched, ReaderOwner {
  due = 0;
  slot = -1;
  /** Milliseconds from the start to the first byte of the body; null while there is none. */
  firstByte: number | null = null;
  readonly #options: TryOptions;
  readonly #settled = Promise.withResolvers<Answer>();
  readonly #startedAt: number;
  #controller: Dispatcher.DispatchController | null = null;
  #phase: "connect" | "head" | "body" | "drain" | "over" = "connect";
  #reader: Reader | null = null;
  /** When the phase times out: Unix milliseconds. */
  #phaseDue: number;
  /** Until when the upstream may take to be connected, and then to begin: Unix milliseconds. */
  #answerDue: number;
  /** The request in the queue of its pool, which it entered because no connection was free. */
  #queued: { readonly pool: TryPool; readonly request: Dispatcher.DispatchOptions } | null = null;
  #begun = false;
  #held = false;
  #informational = 0;
  #drained = 0;

  constructor(options: TryOptions) {
    this.#options = options;
    this.#startedAt = options.now();
    this.#answerDue = this.#startedAt + options.timeouts.connect;
    this.#phaseDue = this.#answerDue;
  }

  /** Sends the request and waits for its answer, or for the first event of a streamed one. @throws AttemptError */
  run(pool: TryPool, request: Dispatcher.DispatchOptions): Promise<Answer> {
    const { signal, wheel } = this.#options;
    signal.addEventListener("abort", this);
    wheel.watch(this);
    this.#rearm();
    if (signal.aborted) this.handleEvent();
    else if (this.due <= this.#startedAt) this.expire(this.#startedAt);
    // False says that the pool is full from now on: with this request on its last connection, or in its queue.
    else if (!pool.dispatch(request, this) && pool.stats.queued > 0) this.#queued = { pool, request };
    return this.#settled.promise;
  }

  handleEvent(): void {
    this.fail(new AttemptError("aborted", "the request was given up"));
  }

  expire(now: number): void {
    if (this.#phase === "drain") return this.cancel();
    this.fail(this.#overdue(now));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Given up while it waited for a connection; an abort here would close the connection, which others can use.
    if (this.#phase === "over") throw new Error("given up before it was sent");
    this.#controller = controller;
    this.#phase = "head";
    this.#await(this.#options.timeouts.firstByte);
    this.#answerDue = this.#phaseDue;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (this.#phase !== "head") return;
    if (status < 200) {
      this.#informational += 1;
      if (this.#informational > MAXIMUM_INFORMATIONAL) this.fail(protocol("upstream keeps announcing an answer"));
      return;
    }
    const { dialect, stream, log, now } = this.#options;
    if (status !== 200) return this.#refused(statusFailure(status, headers, now()), headers);
    const wrong = headFailure(headers, stream ? "text/event-stream" : "application/json");
    if (wrong) return this.fail(wrong);
    this.#reader = stream ? new EventStream(this, dialect.decoder(), log) : new AnswerReader(this, dialect);
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
      this.firstByte = this.#options.now() - this.#startedAt;
    }
    this.#await(this.#options.timeouts.idle);
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

  resolve(answer: Answer): void {
    this.#settled.resolve(answer);
  }

  reject(error: AttemptError): void {
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
    this.#begun = true;
    this.#rearm();
  }

  drain(): void {
    if (this.#phase === "over") return;
    this.#phase = "drain";
    this.#options.signal.removeEventListener("abort", this);
    this.due = this.#options.now() + DRAIN_TIME;
    this.flow();
  }

  hold(): void {
    if (this.#held || this.#phase !== "body") return;
    this.#held = true;
    this.#controller?.pause();
    // An upstream that is not read cannot be blamed for its silence.
    this.#await(Infinity);
  }

  flow(): void {
    if (!this.#held) return;
    this.#held = false;
    if (this.#phase === "body") this.#await(this.#options.timeouts.idle);
    // Resuming reads at once, and undici's parser asserts that it is not entered from another response's callback.
    queueMicrotask(() => {
      if (!this.#held && this.#phase !== "over") this.#controller?.resume();
    });
  }

  cancel(): void {
    if (this.#phase === "over") return;
    this.#stop();
    this.#controller?.abort(new Error("given up"));
  }

  #refused(error: AttemptError, headers: Headers): void {
    if (error.failure === "client_fault" && headers["content-encoding"] === undefined) {
      this.#reader = new RefusalReader(this, this.#options.dialect, error);
      return;
    }
    this.reject(error);
    this.drain();
  }

  #await(timeout: number): void {
    this.#phaseDue = this.#options.now() + timeout;
    this.#rearm();
  }

  #rearm(): void {
    const total = this.#startedAt + this.#options.timeouts.total;
    this.due = Math.min(this.#phaseDue, total, this.#begun ? Infinity : this.#options.deadline);
  }

  #overdue(now: number): AttemptError {
    // In the queue of a pool that carries nothing every connection is still being made: that is the upstream's doing.
    const saturated = this.#phase === "connect" && this.#queued !== null && this.#queued.pool.stats.running > 0;
    if (!this.#begun && this.#options.deadline <= now) {
      const neutral = saturated || now < this.#answerDue;
      return new AttemptError("timeout", "the request's deadline passed before the answer", { neutral });
    }
    if (saturated) return new AttemptError("saturated", "every connection to the upstream is in use");
    return new AttemptError("timeout", this.#late(now));
  }

  #late(now: number): string {
    if (this.#startedAt + this.#options.timeouts.total <= now) return "upstream timed out before the end of its answer";
    if (this.#phase === "connect") return "upstream timed out while connecting";
    if (this.#phase === "head") return "upstream timed out waiting for the first byte";
    return "upstream timed out in the middle of its answer";
  }

  #stop(): void {
    // It stays in the queue until a connection is free, which may be long: its body would fill the memory.
    if (this.#phase === "connect" && this.#queued) this.#queued.request.body = null;
    this.#phase = "over";
    this.#options.wheel.unwatch(this);
    this.#options.signal.removeEventListener("abort", this);
  }
}

function unreadable(error: unknown): AttemptError {
  return error instanceof AttemptError ? error : protocol("upstream sent an answer that cannot be read", error);
}
