import type { FailureClass } from "./reply.ts";
import type { Target } from "./snapshot.ts";

/** When what happened to a request: milliseconds, with fractions, from its arrival. */
export interface Timeline {
  /** For which its body, or what comes before it, was waited for: the client's time. */
  readonly waited: number;
  readonly firstEvent: number | null;
  readonly end: number;
  /** In the order of their beginnings; those that a guard skipped are among them. */
  readonly attempts: readonly AttemptSpan[];
}

/** One attempt of an exchange. */
export interface AttemptSpan {
  readonly target: Target;
  readonly start: number;
  /** When the upstream began a stream, or had answered; null when it did neither. */
  readonly answered: number | null;
  /** null while it runs. */
  readonly end: number | null;
  /** null while it runs. */
  readonly result: "ok" | FailureClass | null;
  /** The upstream's, of a failure; 0 without one. */
  readonly status: number;
  /** What the system or the provider said about the cause of a failure, for operators; no content of requests. */
  readonly detail: string;
  /** null where nobody records spans. */
  readonly spanId: string | null;
}

/** Milliseconds that upstreams took of a request's time, attempts at the same time counted once. @param now as `Timeline` counts */
export function upstreamTime(attempts: readonly AttemptSpan[], now: number): number {
  let sum = 0;
  let until = 0;
  for (const { start, end } of attempts) {
    const last = Math.min(end ?? now, now);
    if (last > until) sum += last - Math.max(start, until);
    until = Math.max(until, last);
  }
  return Math.max(0, sum);
}
