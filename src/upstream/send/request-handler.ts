import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { bytesBody } from "../../dialects/canonical/body-text.ts";
import type { UpstreamRequest } from "../../dialects/dialect.ts";
import { AttemptError, type Cancellation, type Timeouts } from "../../kit/index.ts";
import { type Head, protocolError, readFailure, connectionFailure } from "./classify.ts";
import { Deadlines, type SweptEntry, type Sweeper } from "./deadlines.ts";
import { BodyChunks, isUnwritten, sentBody } from "./request.ts";
import type { RequestPool } from "./pools.ts";
import type { Reader, ReaderOwner } from "./relay.ts";

const MAX_INFORMATIONAL_COUNT = 10;
/**
 * The rest of an unwanted body is read for this long and this far, so that its connection can serve the next request.
 */
const DRAIN_MS = 1_000;
const DRAIN_BYTES = 64 * 1024;
/** A whole answer that has begun to come is read on for so long after its client has left: it is made, and billed. */
const READ_ON_MS = 2_000;

/** For whom a request is made, and how. */
export interface RequestHandlerOptions<Result> {
  /** Chooses the reader of the body; null when the body is not wanted. */
  read(head: Head, owner: ReaderOwner<Result>): Reader | null;
  /** The answer, or the beginning of a streamed one. Either this or `reject` is called, once. */
  resolve(result: Result): void;
  /** @param error AttemptError; what the request's own body threw */
  reject(error: unknown): void;
  /** A streamed answer broke off after it had begun. @returns the failure as clients may be told of it. */
  onCut?(error: AttemptError): AttemptError;
  /** Called once: the upstream has nothing more to do with this request. @param elapsed milliseconds since its start */
  onOver?(elapsed: number): void;
  readonly timeouts: Timeouts;
  /** Whether the answer is to come as a stream. */
  readonly stream: boolean;
  /** Unix milliseconds by which the answer must have begun (a stream) or ended (any other). */
  readonly deadline: number;
  readonly signal: Cancellation;
  /** Called when the head of the request is written to a connection, and with every part of its body. */
  readonly onSent?: (() => void) | undefined;
  readonly sweeper: Sweeper;
  readonly now: () => number;
}

/**
 * One HTTP request to an upstream. It is undici's handler, the sweeper's entry and the abort listener in one object:
 * three would be three allocations for each request.
 */
export class RequestHandler<Result> implements Dispatcher.DispatchHandler, SweptEntry, ReaderOwner<Result> {
  due = 0;
  index = -1;
  /** Milliseconds from the start, or from the end of a streamed request, to the first byte of the answer's body. */
  firstByte: number | null = null;
  readonly #options: RequestHandlerOptions<Result>;
  readonly #deadlines: Deadlines;
  /** Unix milliseconds. */
  #measuredFrom: number;
  /** Unix milliseconds of the last bytes of the answer's body, or of the end of a pause. */
  #receivedAt: number;
  #controller: Dispatcher.DispatchController | null = null;
  #phase: "connect" | "head" | "body" | "drain" | "over" = "connect";
  #reader: Reader | null = null;
  /** A body in parts that is not sent yet. */
  #sending: Readable | BodyChunks | null = null;
  /** The request while it is in its pool's queue because no connection is free. */
  #queued: { readonly pool: RequestPool; readonly request: Dispatcher.DispatchOptions } | null = null;
  #held = false;
  /** Unix milliseconds until which it is read although nobody waits for it. */
  #readUntil = Infinity;
  /** Whether it was resolved or rejected. */
  #isSettled = false;
  #informational = 0;
  #drained = 0;

  /** @param now Unix milliseconds */
  constructor(options: RequestHandlerOptions<Result>, now: number) {
    this.#options = options;
    this.#measuredFrom = now;
    this.#receivedAt = now;
    this.#deadlines = new Deadlines(options.timeouts, options.stream, options.deadline, this.#measuredFrom);
    this.due = this.#deadlines.due;
  }

  /** Sends the request. */
  run(pool: RequestPool, request: UpstreamRequest): void {
    const { signal, sweeper } = this.#options;
    const { startedAt } = this.#deadlines;
    signal.addEventListener("abort", this);
    sweeper.watch(this);
    if (signal.aborted) this.handleEvent();
    else if (this.due <= startedAt) this.expire(startedAt);
    else this.#dispatch(pool, this.#written(request));
  }

  /** The exchange was aborted. */
  handleEvent(): void {
    const { signal, stream, now } = this.#options;
    if (this.#phase === "body" && !stream && signal.reason === "client_gone") {
      this.#readUntil = now() + READ_ON_MS;
      this.due = Math.min(this.due, this.#readUntil);
    } else this.#giveUp();
  }

  #giveUp(): void {
    this.fail(new AttemptError("aborted", "the request was given up"));
  }

  expire(now: number): void {
    const phase = this.#phase;
    if (phase === "drain" || phase === "over") return this.cancel();
    if (now >= this.#readUntil) return this.#giveUp();
    if (phase === "body" && !this.#held) {
      // Moved here rather than by every read: reads are many, and this is seldom due.
      this.#moveDeadline();
      if (this.due > now) return;
    }
    // Queued with nothing running, every connection is still being made: the upstream is slow, not our pool too small.
    const saturated = phase === "connect" && this.#queued !== null && this.#queued.pool.stats.running > 0;
    this.fail(this.#deadlines.timeoutAt(phase === "head" && this.#sending ? "send" : phase, saturated, now));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Given up while it waited for a connection. Aborting here would close a connection that others can use.
    if (this.#phase === "over") throw new Error("given up before it was sent");
    this.#controller = controller;
    this.#phase = "head";
    this.#sent();
  }

  // The head is written with the first part of the body: when the request starts, a streamed body may have none yet.
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

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Head["headers"]): void {
    // undici would keep them until the end of the answer, and with them all bytes of the read that they came in.
    controller.rawHeaders = null;
    if (this.#phase !== "head") return;
    if (status < 200) {
      this.#informational += 1;
      if (this.#informational > MAX_INFORMATIONAL_COUNT)
        this.fail(protocolError("upstream keeps announcing an answer"));
      return;
    }
    if (this.#options.stream || status !== 200) this.#received();
    try {
      this.#reader = this.#options.read({ status, headers }, this);
    } catch (error) {
      this.fail(readFailure(error));
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#phase === "drain") {
      this.#drained += chunk.length;
      if (this.#drained > DRAIN_BYTES) this.cancel();
      return;
    }
    if (this.#phase === "over") return;
    this.#receivedAt = this.#options.now();
    if (this.#phase === "head") {
      this.#phase = "body";
      this.firstByte = this.#receivedAt - this.#measuredFrom;
      this.#moveDeadline();
    }
    try {
      this.#reader?.data(chunk);
    } catch (error) {
      this.fail(readFailure(error));
    }
  }

  onResponseEnd(): void {
    const isReading = this.#phase !== "drain" && this.#phase !== "over";
    this.#stop();
    if (!isReading) return;
    try {
      this.#reader?.end();
    } catch (error) {
      this.#reader?.fail(readFailure(error));
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.fail(connectionFailure(error, this.#phase !== "connect"));
  }

  resolve(result: Result): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#options.resolve(result);
  }

  reject(error: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#options.reject(error);
  }

  fail(error: AttemptError): void {
    if (this.#phase === "over") return;
    const isReading = this.#phase !== "drain";
    this.cancel();
    if (!isReading) return;
    if (this.#reader) this.#reader.fail(error);
    else this.reject(error);
  }

  begin(): void {
    this.#options.signal.removeEventListener("abort", this);
    this.#deadlines.answerBegun();
    this.due = this.#deadlines.due;
  }

  cut(error: AttemptError): AttemptError {
    return this.#options.onCut?.(error) ?? error;
  }

  drain(): void {
    if (this.#phase === "over") return;
    // A connection on which a request was not sent to its end cannot be used again.
    if (this.#sending) return this.cancel();
    this.#phase = "drain";
    this.#options.signal.removeEventListener("abort", this);
    this.due = this.#options.now() + DRAIN_MS;
    this.flow();
  }

  hold(): void {
    if (this.#held || this.#phase !== "body") return;
    this.#held = true;
    this.#controller?.pause();
    this.#deadlines.paused();
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
    const streaming = this.#sending instanceof Readable;
    this.#stop();
    // Over HTTP/2 an abort in the middle of a stream can write empty frames for ever; destroying the stream ends it.
    if (!streaming) this.#controller?.abort(new Error("given up"));
  }

  #written({ method, path, headers, body }: UpstreamRequest): Dispatcher.DispatchOptions {
    if (body === null || (typeof body === "string" && !this.#options.stream)) return { method, path, headers, body };
    if (isUnwritten(body)) throw new TypeError("a body is written before it is sent");
    const written = typeof body === "string" ? bytesBody([Buffer.from(body)]) : body;
    const sent = sentBody(written, (error) => this.#unsent(error));
    const isWhole = sent instanceof Uint8Array;
    if (isWhole && !this.#options.stream) return { method, path, headers, body: sent };
    if (!isWhole) this.#sending = sent;
    // undici keeps the body until the end of the answer, which of a stream is far off: all that it keeps of this one is
    // an iterator that is through. It takes anything that can be iterated, which its types leave out.
    const parts = (isWhole ? new BodyChunks(bytesBody([sent])) : sent) as Readable;
    return { method, path, headers: { ...headers, "content-length": `${written.length}` }, body: parts };
  }

  #dispatch(pool: RequestPool, request: Dispatcher.DispatchOptions): void {
    // False: the pool is full from now on, and this request took its last connection or a place in its queue.
    if (!pool.dispatch(request, this) && pool.stats.queued > 0) this.#queued = { pool, request };
  }

  /** The iterator of the request's own body failed: not the upstream's fault. */
  #unsent(cause: unknown): void {
    if (this.#phase === "over") return;
    const message = "the request's body could not be read";
    this.reject(cause instanceof Error ? cause : new Error(message, { cause }));
    this.fail(new AttemptError("reset", message, { notUpstreamFault: true, cause }));
  }

  #sent(): void {
    const now = this.#options.now();
    if (this.#sending === null) this.#deadlines.requestSent(now);
    else this.#deadlines.partSent(now);
    this.due = this.#deadlines.due;
  }

  #received(): void {
    this.#receivedAt = this.#options.now();
    this.#moveDeadline();
  }

  #moveDeadline(): void {
    this.#deadlines.received(this.#receivedAt);
    this.due = Math.min(this.#deadlines.due, this.#readUntil);
  }

  #stop(): void {
    // undici keeps the request queued until a connection is free: without its body it takes no memory to speak of.
    if (this.#phase === "connect" && this.#queued) this.#queued.request.body = null;
    const wasOver = this.#phase === "over";
    this.#phase = "over";
    this.#options.sweeper.unwatch(this);
    this.#options.signal.removeEventListener("abort", this);
    this.#sending?.destroy();
    this.#sending = null;
    if (!wasOver) this.#options.onOver?.(Math.max(0, this.#options.now() - this.#deadlines.startedAt));
  }
}
