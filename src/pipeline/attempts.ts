import {
  AttemptError,
  type AttemptResult,
  type Call,
  type EventSink,
  type EventSource,
  type Exchange,
  GatewayError,
  type Guarded,
  type Observer,
  type Open,
  type Reply,
  type Target,
} from "../kit/index.ts";
import type { Plan } from "./build.ts";
import { passOver } from "./hooks.ts";

/** One try at an upstream, as the upstream layer offers it. @throws AttemptError */
export type Send = (target: Target, call: Call, exchange: Exchange) => Promise<Reply>;

export interface Attempts {
  readonly open: Open;
  /** Attempts that reached an upstream. */
  readonly count: () => number;
}

/** Every guard around each attempt: told once how it ended, at the end of the stream when there is one. */
export function guardAttempts(plan: Plan, call: Call, exchange: Exchange, send: Send, observer: Observer): Attempts {
  let count = 0;
  return {
    count: () => count,
    async open(target) {
      const guards = enter(plan, target, exchange, observer);
      const settle = (result: AttemptResult): void => {
        for (const guard of guards.toReversed()) guard.settle(result);
        observer.attempt(exchange, target, result);
      };
      count += 1;
      let reply: Reply;
      try {
        reply = await send(target, call, exchange);
      } catch (error) {
        settle({ ok: false, error: error instanceof AttemptError ? error : neutral(error) });
        throw error;
      }
      if (!reply.stream) {
        settle({ ok: true });
        return reply;
      }
      for (const guard of guards) guard.answered?.();
      return { ...reply, source: reportEnd(reply.source, settle) };
    },
  };
}

/** Asks the guards in order; a refusal releases those that had said yes. */
function enter(plan: Plan, target: Target, exchange: Exchange, observer: Observer): readonly Guarded[] {
  const guards: Guarded[] = [];
  const skipped = new AttemptError("skipped", "skipped");
  for (const hook of plan.attempt) {
    try {
      const answer = hook.call(target, exchange);
      if (answer === false) throw skipped;
      if (answer) guards.push(answer);
    } catch (error) {
      const verdict = error === skipped ? skipped : guardFailure(hook, error, observer);
      if (verdict === null) continue;
      for (const guard of guards.toReversed()) guard.settle({ ok: false, error: skipped });
      throw verdict;
    }
  }
  return guards;
}

function guardFailure(hook: Plan["attempt"][number], error: unknown, observer: Observer): unknown {
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

function reportEnd(source: EventSource, settle: (result: AttemptResult) => void): EventSource {
  let open = true;
  const once = (result: AttemptResult): void => {
    if (!open) return;
    open = false;
    settle(result);
  };
  return {
    open: (sink: EventSink) =>
      source.open({
        events: (batch) => sink.events(batch),
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
