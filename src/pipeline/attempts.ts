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
  type Source,
  type Target,
} from "../kit/index.ts";
import type { Bound, Plan } from "./build.ts";
import { internalError, passOver } from "./hooks.ts";

/** One try at an upstream, as the upstream layer offers it. @throws AttemptError */
export type Send = (target: Target, call: Call, exchange: Exchange) => Promise<Reply>;

export interface Attempts {
  readonly open: Open;
  /** Attempts that reached an upstream. */
  readonly count: () => number;
  /** The exchange is through: ends the streams that nobody took over, those still to come included. */
  readonly release: () => void;
}

/** Every guard around each attempt: told once how it ended, at the end of the stream when there is one. */
export function guardAttempts(plan: Plan, call: Call, exchange: Exchange, send: Send, observer: Observer): Attempts {
  const running = new Set<{ cancel(): void }>();
  let count = 0;
  let released = false;
  return {
    count: () => count,
    release() {
      released = true;
      for (const source of running) source.cancel();
    },
    async open(target) {
      const guards = enter(plan, target, exchange, observer);
      const settle = (result: AttemptResult): void => {
        for (const guard of guards.toReversed()) guard.settle(result);
        observer.attempt(exchange, target, result);
      };
      let reply: Reply;
      try {
        reply = await send(target, call, exchange);
      } catch (error) {
        if (wasSent(error)) count += 1;
        settle({ ok: false, error: error instanceof AttemptError ? error : neutral(error) });
        throw error instanceof AttemptError || error instanceof GatewayError ? error : internalError(error);
      }
      count += 1;
      if (reply.type === "answer") {
        settle({ ok: true });
        return reply;
      }
      for (const guard of guards) guard.answered();
      const watch = <Item>(source: Source<Item>): Source<Item> => {
        const watched = reportEnd(source, (result) => {
          running.delete(watched);
          settle(result);
        });
        running.add(watched);
        if (released) watched.cancel();
        return watched;
      };
      return reply.type === "events"
        ? { ...reply, source: watch(reply.source) }
        : { ...reply, source: watch(reply.source) };
    },
  };
}

/** A GatewayError says that the call could not be written down, "unsupported" that it would have lost something. */
function wasSent(error: unknown): boolean {
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

function reportEnd<Item>(source: Source<Item>, settle: (result: AttemptResult) => void): Source<Item> {
  let open = true;
  const once = (result: AttemptResult): void => {
    if (!open) return;
    open = false;
    settle(result);
  };
  return {
    open: (sink) =>
      source.open({
        next: (item) => sink.next(item),
        end(ending) {
          once(ending.complete ? { ok: true } : { ok: false, error: new AttemptError("reset", ending.message) });
          sink.end(ending);
        },
      }),
    pause: () => source.pause(),
    resume: () => source.resume(),
    cancel() {
      source.cancel();
      once({ ok: false, error: new AttemptError("aborted", "cancelled") });
    },
  };
}
