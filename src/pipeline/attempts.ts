import {
  AttemptError,
  type AttemptResult,
  type Call,
  type Exchange,
  GatewayError,
  type Guarded,
  type Observer,
  type Open,
  type Reply,
  type Sink,
  type Source,
  type Target,
} from "../kit/index.ts";
import type { BoundHooks } from "./build.ts";
import { internalError, passOver } from "./hooks.ts";

/**
 * Makes one attempt at an upstream. @throws AttemptError
 * @param onSent called, perhaps often, once the request is on its way to the upstream.
 */
export type Send = (target: Target, call: Call, exchange: Exchange, onSent: () => void) => Promise<Reply>;

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
  readonly #hooks: BoundHooks;
  /** null once a reply was handed over, or the exchange is through. */
  #call: Call | null;
  readonly #exchange: Exchange;
  readonly #send: Send;
  readonly #observer: Observer;
  readonly #streams = new Set<AttemptStream>();
  #handedOver = false;
  #released = false;

  constructor(hooks: BoundHooks, call: Call, exchange: Exchange, send: Send, observer: Observer) {
    this.#hooks = hooks;
    this.#call = call;
    this.#exchange = exchange;
    this.#send = send;
    this.#observer = observer;
  }

  readonly #onSent = (): void => {
    this.sent = true;
  };

  readonly open: Open = async (target) => {
    const exchange = this.#exchange;
    const call = this.#call;
    if (call === null) throw new AttemptError("aborted", "the answer was handed over before");
    const attempt = new Attempt(target, exchange, this.#observer);
    attempt.enter(this.#hooks.attempt);
    let reply: Reply;
    try {
      reply = await this.#send(target, call, exchange, this.#onSent);
    } catch (error) {
      if (reachedUpstream(error)) this.count += 1;
      attempt.settle({ ok: false, error: error instanceof AttemptError ? error : notUpstreamFault(error) });
      throw error instanceof AttemptError || error instanceof GatewayError ? error : internalError(error);
    }
    this.count += 1;
    this.answered = true;
    if (reply.type === "answer") {
      attempt.settle(SERVED);
      return reply;
    }
    attempt.answered();
    return reply.type === "events"
      ? { ...reply, source: this.#watch(reply.source, attempt) }
      : { ...reply, source: this.#watch(reply.source, attempt) };
  };

  /** From now on the caller ends the stream that it took, and the signal ends none. */
  handOver(): void {
    this.#handedOver = true;
    this.#call = null;
    this.#exchange.signal.removeEventListener("abort", this);
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

  #watch<Item>(source: Source<Item>, attempt: Attempt): Source<Item> {
    const { signal } = this.#exchange;
    const stream = new AttemptSource(source, attempt, this.#streams);
    if (!this.#handedOver && this.#streams.size === 0) signal.addEventListener("abort", this);
    this.#streams.add(stream);
    if (this.#released || signal.aborted) stream.cancel();
    return stream;
  }
}

/** The guards of one attempt: each that let it through is told once how it ended. */
class Attempt {
  readonly #target: Target;
  readonly #exchange: Exchange;
  readonly #observer: Observer;
  readonly #guards: { readonly plugin: string; readonly guard: Guarded }[] = [];

  constructor(target: Target, exchange: Exchange, observer: Observer) {
    this.#target = target;
    this.#exchange = exchange;
    this.#observer = observer;
  }

  /** Asks the guards in order; a refusal releases those that had let it through. @throws AttemptError "skipped" */
  enter(hooks: BoundHooks["attempt"]): void {
    for (const hook of hooks) {
      let refusal: unknown = null;
      try {
        const answer = hook.call(this.#target, this.#exchange);
        if (answer === false) refusal = new AttemptError("skipped", "skipped");
        else if (answer) this.#guards.push({ plugin: hook.plugin, guard: answer });
      } catch (error) {
        refusal = this.#refusalOf(hook, error);
      }
      if (refusal === null) continue;
      this.#settleGuards({ ok: false, error: new AttemptError("skipped", "skipped") });
      throw refusal;
    }
  }

  answered(): void {
    for (const { plugin, guard } of this.#guards) {
      try {
        guard.answered?.();
      } catch (error) {
        this.#observer.pluginFailed(plugin, error);
      }
    }
  }

  settle(result: AttemptResult): void {
    this.#settleGuards(result);
    this.#observer.attempt(this.#exchange, this.#target, result);
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
    for (const { plugin, guard } of this.#guards.toReversed()) {
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
  readonly #running: Set<AttemptStream>;
  /** null once it is settled. */
  #attempt: Attempt | null;
  #sink: Sink<Item> | null = null;

  constructor(source: Source<Item>, attempt: Attempt, running: Set<AttemptStream>) {
    this.#source = source;
    this.#attempt = attempt;
    this.#running = running;
  }

  open(sink: Sink<Item>): void {
    this.#sink = sink;
    this.#source.open(this);
  }

  next(item: Item): void {
    this.#sink?.next(item);
  }

  end(ending: Parameters<Sink<Item>["end"]>[0]): void {
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
    this.#running.delete(this);
    attempt.settle(result);
  }
}

function cancelled(): AttemptResult {
  return { ok: false, error: new AttemptError("aborted", "cancelled") };
}

/** A GatewayError says that the call could not be written down, "unsupported" that it would have lost something. */
function reachedUpstream(error: unknown): boolean {
  if (error instanceof AttemptError) return error.failure !== "unsupported" && error.failure !== "resting";
  return !(error instanceof GatewayError);
}

/** A fault of ours, not of the upstream: it must not count against its breaker, and must release its probe. */
function notUpstreamFault(cause: unknown): AttemptError {
  return new AttemptError(cause instanceof GatewayError ? "client_fault" : "aborted", "not sent", { cause });
}
