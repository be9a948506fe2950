import {
  AttemptError,
  type AttemptResult,
  type AttemptSpan,
  type Call,
  type Cancellation,
  type Exchange,
  type FailureClass,
  GatewayError,
  type Guarded,
  newSpanId,
  type Observer,
  type Open,
  type Reply,
  type Sink,
  type SinkEnding,
  type Source,
  type Target,
} from "../kit/index.ts";
import type { BoundHooks } from "./build.ts";
import { added, internalError, passOver } from "./hooks.ts";

/**
 * Makes one attempt at an upstream. @throws AttemptError
 * @param onSent called, perhaps often, once the request is on its way to the upstream. @param onQueued after each wait
 * @param spanId of the attempt, for the upstream; null where nobody records spans.
 */
export type Send = (
  target: Target,
  call: Call,
  exchange: Exchange,
  onSent: () => void,
  spanId: string | null,
  onQueued: (waited: number) => void,
) => Promise<Reply>;

/** What attempts are measured by, and told to. */
interface AttemptRecorder {
  /** Milliseconds from the request's arrival. */
  elapsed(): number;
  tried(target: Target): void;
}

const SERVED: AttemptResult = { ok: true };

/**
 * The attempts of one exchange, each with every guard around it. Streams end with the exchange's signal until the caller
 * takes one of them over.
 */
export class Attempts {
  /** Attempts that were made, connected or not. */
  count = 0;
  /** Whether an upstream has been sent the request. */
  sent = false;
  /** Whether an upstream has answered one. */
  answered = false;
  /** Milliseconds that it waited in queues of upstreams; null: in none. */
  queued: number | null = null;
  /** All that were begun, those that a guard skipped included. */
  spans: readonly AttemptSpan[] = [];
  readonly #hooks: BoundHooks;
  /** null once a reply was handed over, or the exchange is through. */
  #call: Call | null;
  readonly #exchange: Exchange;
  readonly #send: Send;
  readonly #observer: Observer;
  readonly #recorder: AttemptRecorder;
  #streams: readonly AttemptStream[] = [];
  #handedOver = false;
  /** For the signal. */
  #listens = false;
  #released = false;

  constructor(
    hooks: BoundHooks,
    call: Call,
    exchange: Exchange,
    send: Send,
    observer: Observer,
    recorder: AttemptRecorder,
  ) {
    this.#hooks = hooks;
    this.#call = call;
    this.#exchange = exchange;
    this.#send = send;
    this.#observer = observer;
    this.#recorder = recorder;
  }

  readonly #onSent = (): void => {
    this.sent = true;
  };
  readonly #onQueued = (waited: number): void => {
    this.queued = (this.queued ?? 0) + waited;
  };

  // Functions that wait would be a frame more for every request: its answer passes through in promises that are there.

  readonly open: Open = (target) => {
    const exchange = this.#exchange;
    const call = this.#call;
    if (call === null) return Promise.reject(new AttemptError("aborted", "the answer was handed over before"));
    const attempt = new Attempt(target, exchange, this.#observer, this.#recorder);
    this.spans = added(this.spans, attempt);
    const refusal = attempt.enter(this.#hooks.attempt);
    if (refusal !== null) return Promise.reject(refusal);
    this.#recorder.tried(target);
    try {
      return this.#send(target, call, exchange, this.#onSent, attempt.spanId, this.#onQueued).then(
        (reply) => this.#answered(reply, attempt),
        (error: unknown) => {
          throw this.#failed(error, attempt);
        },
      );
    } catch (error) {
      return Promise.reject(this.#failed(error, attempt));
    }
  };

  #answered(reply: Reply, attempt: Attempt): Reply {
    this.count += 1;
    this.answered = true;
    if (reply.type === "answer") {
      attempt.settle(SERVED);
      return reply;
    }
    attempt.begun();
    return reply.type === "events"
      ? { ...reply, source: this.#watch(reply.source, attempt) }
      : { ...reply, source: this.#watch(reply.source, attempt) };
  }

  /** @returns what is thrown in its stead */
  #failed(error: unknown, attempt: Attempt): unknown {
    if (reachedUpstream(error)) this.count += 1;
    attempt.settle({ ok: false, error: error instanceof AttemptError ? error : notUpstreamFault(error) });
    return error instanceof AttemptError || error instanceof GatewayError ? error : internalError(error);
  }

  /** From now on the caller ends the stream that it took, and the signal ends none. */
  handOver(): void {
    if (this.#handedOver) return;
    this.#handedOver = true;
    this.#call = null;
    if (this.#listens) this.#cancellation.removeEventListener("abort", this);
  }

  /** The exchange was aborted. */
  handleEvent(): void {
    this.release();
  }

  /**
   * The exchange is through: ends the streams that still run, those to come included.
   * @param served whether they were well until the gateway itself failed.
   */
  release(served = false): void {
    this.#released = true;
    this.handOver();
    for (const stream of this.#streams) stream.cancel(served ? SERVED : cancelled());
  }

  get #cancellation(): Cancellation {
    return this.#exchange.cancellation ?? this.#exchange.signal;
  }

  ended(stream: AttemptStream): void {
    this.#streams = this.#streams.filter((one) => one !== stream);
  }

  #watch<Item>(source: Source<Item>, attempt: Attempt): Source<Item> {
    const cancellation = this.#cancellation;
    const stream = new AttemptSource(source, attempt, this);
    if (!this.#handedOver && this.#streams.length === 0) {
      this.#listens = true;
      cancellation.addEventListener("abort", this);
    }
    this.#streams = added(this.#streams, stream);
    if (this.#released || cancellation.aborted) stream.cancel();
    return stream;
  }
}

/** One attempt with its guards: each that let it through is told once how it ended. */
class Attempt implements AttemptSpan {
  readonly target: Target;
  readonly start: number;
  readonly spanId: string | null;
  answered: number | null = null;
  end: number | null = null;
  result: "ok" | FailureClass | null = null;
  status = 0;
  detail = "";
  readonly #exchange: Exchange;
  readonly #observer: Observer;
  readonly #recorder: AttemptRecorder;
  #guards: readonly { readonly plugin: string; readonly guard: Guarded }[] = [];

  constructor(target: Target, exchange: Exchange, observer: Observer, recorder: AttemptRecorder) {
    this.target = target;
    this.spanId = exchange.trace?.spanId == null ? null : newSpanId();
    this.#exchange = exchange;
    this.#observer = observer;
    this.#recorder = recorder;
    this.start = recorder.elapsed();
  }

  /**
   * Asks the guards in order; a refusal releases those that had let it through.
   * @returns the refusal, AttemptError "skipped" or a guard's own failure; null: none.
   */
  enter(hooks: BoundHooks["attempt"]): unknown {
    for (const hook of hooks) {
      let refusal: unknown = null;
      try {
        const answer = hook.call(this.target, this.#exchange);
        if (answer === false) refusal = new AttemptError("skipped", "skipped");
        else if (answer) this.#guards = added(this.#guards, { plugin: hook.plugin, guard: answer });
      } catch (error) {
        refusal = this.#refusalOf(hook, error);
      }
      if (refusal === null) continue;
      this.#ended("skipped");
      this.#settleGuards({ ok: false, error: new AttemptError("skipped", "skipped") });
      return refusal;
    }
    return null;
  }

  begun(): void {
    this.answered = this.#recorder.elapsed();
    for (const { plugin, guard } of this.#guards) {
      try {
        guard.answered?.();
      } catch (error) {
        this.#observer.pluginFailed(plugin, error);
      }
    }
  }

  settle(result: AttemptResult): void {
    this.#ended(result.ok ? "ok" : result.error.failure);
    if (result.ok) this.answered ??= this.end;
    else ({ status: this.status, detail: this.detail } = result.error);
    this.#settleGuards(result);
    this.#observer.attempt(this.#exchange, this.target, result);
  }

  #ended(result: "ok" | FailureClass): void {
    this.end = this.#recorder.elapsed();
    this.result = result;
  }

  /** What a guard's failure is thrown as; null for one that may fail. */
  #refusalOf(hook: BoundHooks["attempt"][number], error: unknown): unknown {
    try {
      passOver(hook, error, this.#observer);
      return null;
    } catch (refusal) {
      return refusal;
    }
  }

  /** A guard that throws is reported and no more: the other guards' permits depend on this call. */
  #settleGuards(result: AttemptResult): void {
    for (let index = this.#guards.length - 1; index >= 0; index -= 1) {
      const { plugin, guard } = this.#guards[index]!;
      try {
        guard.settle(result);
      } catch (error) {
        this.#observer.pluginFailed(plugin, error);
      }
    }
  }
}

interface AttemptStream {
  cancel(result?: AttemptResult): void;
}

/**
 * The source of an attempt's stream, which settles the attempt when the stream ends. It stands between the upstream and
 * whoever opens it because a relay plugin may open it itself, put a source of its own around it, or cancel it.
 */
class AttemptSource<Item> implements Source<Item>, Sink<Item>, AttemptStream {
  readonly #source: Source<Item>;
  readonly #attempts: Attempts;
  /** null once it is settled. */
  #attempt: Attempt | null;
  #sink: Sink<Item> | null = null;

  constructor(source: Source<Item>, attempt: Attempt, attempts: Attempts) {
    this.#source = source;
    this.#attempt = attempt;
    this.#attempts = attempts;
  }

  open(sink: Sink<Item>): void {
    this.#sink = sink;
    this.#source.open(this);
  }

  next(item: Item): void {
    this.#sink?.next(item);
  }

  end(ending: SinkEnding): void {
    this.#settle(ending.complete ? SERVED : { ok: false, error: new AttemptError("reset", ending.message) });
    this.#sink?.end(ending);
  }

  pause(): void {
    this.#source.pause();
  }

  resume(): void {
    this.#source.resume();
  }

  cancel(result: AttemptResult = cancelled()): void {
    this.#source.cancel();
    this.#settle(result);
  }

  #settle(result: AttemptResult): void {
    const attempt = this.#attempt;
    this.#attempt = null;
    if (attempt === null) return;
    this.#attempts.ended(this);
    attempt.settle(result);
  }
}

function cancelled(): AttemptResult {
  return { ok: false, error: new AttemptError("aborted", "cancelled") };
}

/** Failures before anything was sent; with "unsupported" it would have lost something. */
const NOT_SENT: ReadonlySet<FailureClass> = new Set(["unsupported", "resting", "skipped", "saturated"]);

/** A GatewayError says that the call could not be written down. */
function reachedUpstream(error: unknown): boolean {
  if (error instanceof AttemptError) return !NOT_SENT.has(error.failure);
  return !(error instanceof GatewayError);
}

/** A fault of ours, not of the upstream: it must not count against its breaker, and must release its probe. */
function notUpstreamFault(cause: unknown): AttemptError {
  return new AttemptError(cause instanceof GatewayError ? "client_fault" : "aborted", "not sent", { cause });
}
