import { type AbortReason, AttemptError, type Exchange, GatewayError, type OutcomeKind } from "../kit/index.ts";
import { internalError } from "./hooks.ts";

export interface Failure {
  readonly kind: OutcomeKind;
  /** What the client is told. */
  readonly error: GatewayError;
}

/** What an error makes of an exchange. @param begun an upstream had begun to answer; @param attempts upstreams tried. */
export function failureOf(error: unknown, exchange: Exchange, begun: boolean, attempts: number): Failure {
  const { signal } = exchange;
  const kind = signal.aborted ? (signal.reason as AbortReason) : kindOf(error, begun, attempts);
  if (kind === "shutdown") {
    return { kind, error: new GatewayError("SHUTTING_DOWN", "Server is shutting down", { retryAfter: 1 }) };
  }
  return { kind, error: error instanceof GatewayError ? error : internalError(error) };
}

function kindOf(error: unknown, begun: boolean, attempts: number): OutcomeKind {
  const cause = error instanceof GatewayError ? error.cause : null;
  if (cause instanceof AttemptError && cause.failure === "client_fault") return "client_fault";
  if (begun) return "upstream_cut";
  return attempts > 0 ? "failed" : "refused";
}
