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
import type { Bound, Plan } from "./build.ts";
import { internalError, passOver } from "./hooks.ts";

/**
 * One try at an upstream, as the upstream layer offers it. @throws AttemptError
 * @param onSent called, perhaps often, once the request is on its way to the upstream.
 */
export type Send = (target: Target, call: Call, exchange: Exchange, onSent: () => void) => Promise<Reply>;

const SERVED: AttemptResult = { ok: true };

/**
 * The attempts of one exchange, each with every guard around it; a guard is told once how its attempt ended, at the end
 * of the stream when there is one. Streams end with the exchange's signal until they are handed over.
 */
export class Attempts {
  /** Attempts that were made, connected or not. */
  count = 0;
  /** Whether an upstream has been sent the request. */
  sent = false;
  /** Whether an upstream has answered one. */
  answered = false;
  readonly #plan: Plan;
  /** null once a reply was handed over, or the exchange is through. */
  #call: Call | null;
  readonly #exchange: Exchange;
  readonly #send: Send;
  readonly #observer: Observer;
  readonly #streams = new Set<{ cancel(result?: AttemptResult): void }>();
  #handedOver = false;
  #released = false;

  constructor(plan: Plan, call: Call, exchange: Exchange, send: Send, observer: Observer) {
    this.#plan = plan;
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
    const guards = enter(this.#plan, target, exchange, this.#observer);
    const settle = (result: AttemptResult): void => {
      for (const guard of guards.toReversed()) guard.settle(result);
      this.#observer.attempt(exchange, target, result);
    };
    let reply: Reply;
    try {
      reply = await this.#send(target, call, exchange, this.#onSent);
    } catch (error) {
      if (wasMade(error)) this.count += 1;
      settle({ ok: false, error: error instanceof AttemptError ? error : neutral(error) });
      throw error instanceof AttemptError || error instanceof GatewayError ? error : internalError(error);
    }
    this.count += 1;
    this.answered = true;
    if (reply.type === "answer") {
      settle(SERVED);
      return reply;
    }
    for (const guard of guards) guard.answered();
    return reply.type === "events"
      ? { ...reply, source: this.#watch(reply.source, settle) }
      : { ...reply, source: this.#watch(reply.source, settle) };
  };

  /** From now on the caller ends the stream that it took; the signal ends none any more. */
  handOver(): void {
    this.#handedOver = true;
    this.#call = null;
    this.#exchange.signal.removeEventListener("abort", this);
  }

  /** The exchange was given up. */
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
    for (const stream of this.#streams) stream.cancel(served ? SERVED : givenUp());
  }

  #watch<Item>(source: Source<Item>, settle: (result: AttemptResult) => void): Source<Item> {
    const { signal } = this.#exchange;
    const watched: GuardedSource<Item> = new GuardedSource(source, (result) => {
      this.#streams.delete(watched);
      settle(result);
    });
    if (!this.#handedOver && this.#streams.size === 0) signal.addEventListener("abort", this);
    this.#streams.add(watched);
    if (this.#released || signal.aborted) watched.cancel();
    return watched;
  }
}

/** A stream whose end is told once. */
class GuardedSource<Item> implements Source<Item>, Sink<Item> {
  readonly #source: Source<Item>;
  #settle: ((result: AttemptResult) => void) | null;
  #sink: Sink<Item> | null = null;

  constructor(source: Source<Item>, settle: (result: AttemptResult) => void) {
    this.#source = source;
    this.#settle = settle;
  }

  open(sink: Sink<Item>): void {
    this.#sink = sink;
    this.#source.open(this);
  }

  next(item: Item): void {
    this.#sink?.next(item);
  }

  end(ending: Parameters<Sink<Item>["end"]>[0]): void {
    this.#ended(ending.complete ? SERVED : { ok: false, error: new AttemptError("reset", ending.message) });
    this.#sink?.end(ending);
  }

  pause(): void {
    this.#source.pause();
  }

  resume(): void {
    this.#source.resume();
  }

  cancel(result: AttemptResult = givenUp()): void {
    this.#source.cancel();
    this.#ended(result);
  }

  #ended(result: AttemptResult): void {
    const settle = this.#settle;
    this.#settle = null;
    settle?.(result);
  }
}

function givenUp(): AttemptResult {
  return { ok: false, error: new AttemptError("aborted", "cancelled") };
}

/** A GatewayError says that the call could not be written down, "unsupported" that it would have lost something. */
function wasMade(error: unknown): boolean {
  if (error instanceof AttemptError) return error.failure !== "unsupported" && error.failure !== "resting";
  return !(error instanceof GatewayError);
}

/** Asks the guards in order; a refusal releases those that had said yes. */
function enter(plan: Plan, target: Target, exchange: Exchange, observer: Observer): readonly Required<Guarded>[] {
  const guards: Required<Guarded>[] = [];
  for (const hook of plan.attempt) {
    let refusal: unknown = null;
    try {
      const answer = hook.call(target, exchange);
      if (answer === false) refusal = new AttemptError("skipped", "skipped");
      else if (answer) guards.push(shielded(hook, answer, observer));
    } catch (error) {
      refusal = guardFailure(hook, error, observer);
    }
    if (refusal === null) continue;
    const error = new AttemptError("skipped", "skipped");
    for (const guard of guards.toReversed()) guard.settle({ ok: false, error });
    throw refusal;
  }
  return guards;
}

/** A guard that throws is named and no more: the other guards' permits, and the stream's end, hang on this call. */
function shielded(hook: Bound<"attempt">, guard: Guarded, observer: Observer): Required<Guarded> {
  const shield = (call: () => void): void => {
    try {
      call();
    } catch (error) {
      observer.pluginFailed(hook.plugin, error);
    }
  };
  return {
    answered: () => shield(() => guard.answered?.()),
    settle: (result) => shield(() => guard.settle(result)),
  };
}

function guardFailure(hook: Bound<"attempt">, error: unknown, observer: Observer): unknown {
  try {
    passOver(hook, error, observer);
    return null;
  } catch (failure) {
    return failure;
  }
}

/** A fault of ours, not of the upstream: it must not count against its breaker, and must release its probe. */
function neutral(cause: unknown): AttemptError {
  return new AttemptError(cause instanceof GatewayError ? "client_fault" : "aborted", "not sent", { cause });
}
