import type { AttemptError, Exchange, FailureClass, Log, Target, Upstream } from "../../kit/index.ts";
import type { Latencies } from "../state/balance.ts";
import type { PooledKey } from "../state/key-pool.ts";
import { explained } from "./causes.ts";
import { withoutSecrets } from "./classify.ts";
import type { Address } from "./request.ts";

/** The log line for a failure that the operator can fix; empty: the failure's own message. */
const WARNINGS: Readonly<Partial<Record<FailureClass, string>>> = {
  credentials: "",
  quota: "the account behind an upstream's key has nothing left; the key rests",
  declined: "",
  parameter: "upstream refused a field or value that the gateway sent: a gap in the table of what it accepts",
};

/** The request that failed. */
interface Failed {
  readonly upstream: Upstream;
  readonly target: Target;
  readonly exchange: Exchange;
  readonly log: Log;
}

/**
 * What happened, fit for clients by its message and for operators by the rest. Providers quote the key they refuse; no
 * secret of the configuration is in any of it.
 */
export function told(
  error: AttemptError,
  { name, baseUrl, headers }: Upstream,
  { host }: Pick<Address, "host">,
  key: string,
): AttemptError {
  return explained(withoutSecrets(error, key, { headers }), { name, host, secure: baseUrl.startsWith("https:") });
}

/** @param elapsed milliseconds since the request was sent */
export function noteFailure(
  error: AttemptError,
  { upstream, target, exchange, log }: Failed,
  latencies: Latencies,
  elapsed: number,
): void {
  const { failure, status, causeCode: code } = error;
  // Without this an upstream that only times out would have no latency, and those without are tried first. A timeout
  // by the request's own deadline says nothing about the upstream.
  const ownTimeout = Math.min(target.timeouts.connect, target.timeouts.firstByte);
  if (failure === "timeout" && elapsed >= ownTimeout) latencies.record(target, Math.max(elapsed, latencies.of(target)));
  const fields = { upstream: upstream.name, model: target.model, requestId: exchange.requestId };
  log.debug({ ...fields, failure, status, ...(code && { code }) }, "an attempt failed");
}

/**
 * Warns of what an operator can fix. Of the upstream's own text only identifiers: the rest may quote what a client
 * sent.
 */
export function warn(error: AttemptError, { upstream, target, exchange, log }: Failed, key: PooledKey): void {
  const { failure, status, reason, message } = error;
  const notice = WARNINGS[failure];
  if (notice === undefined) return;
  const fields = { upstream: upstream.name, model: target.model, requestId: exchange.requestId, status };
  const ofKey = failure === "credentials" || failure === "quota" ? { key: key.position } : {};
  log.warn({ ...fields, ...ofKey, ...(reason && { reason }) }, notice || message);
}

/** Pointers that a refusal names: of a hundred thousand the rest says nothing new. */
const MAX_LISTED_COUNT = 20;

export function listed(dropped: readonly string[]): string {
  const more = dropped.length > MAX_LISTED_COUNT ? ` and ${dropped.length - MAX_LISTED_COUNT} more` : "";
  return dropped.slice(0, MAX_LISTED_COUNT).join(", ") + more;
}
