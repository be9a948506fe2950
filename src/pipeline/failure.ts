import { type AbortReason, AttemptError, type Exchange, GatewayError, type OutcomeKind } from "../kit/index.ts";
import type { Attempts } from "./attempts.ts";
import { internalError } from "./hooks.ts";

export interface Failure {
  readonly kind: OutcomeKind;
  /** What the client is told. */
  readonly error: GatewayError;
}

/** What an error makes of an exchange. @param begun an upstream's reply had been taken. */
export function failureOf(error: unknown, exchange: Exchange, begun: boolean, attempts: Attempts | null): Failure {
  const { signal } = exchange;
  const kind = signal.aborted ? (signal.reason as AbortReason) : kindOf(error, begun, attempts);
  if (kind === "shutdown") {
    return { kind, error: new GatewayError("SHUTTING_DOWN", "Server is shutting down", { retryAfter: 1 }) };
  }
  return { kind, error: error instanceof GatewayError ? error : internalError(error) };
}

function kindOf(error: unknown, begun: boolean, attempts: Attempts | null): OutcomeKind {
  const known = error instanceof GatewayError ? error : null;
  if (known?.cause instanceof AttemptError && known.cause.failure === "client_fault") return "client_fault";
  const isOurs = known === null || known.code === "INTERNAL";
  if (isOurs && attempts?.answered) return "gateway_error";
  // A plugin's answer to what the upstream said.
  if (begun) return "refused";
  return attempts !== null && attempts.count > 0 ? "failed" : "refused";
}
