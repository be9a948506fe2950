import {
  AttemptError,
  type ErrorKind,
  type Exchange,
  type FailureClass,
  GatewayError,
  isFiltered,
  isPassing,
  type Open,
  type Reply,
  type Target,
} from "#kit";
import type { StreamRelayOptions } from "#schema";
import { type BuiltinHost, defineBuiltin } from "../src/kit/builtin.ts";

type Host = BuiltinHost<"relay">;

/** One target that did not serve. */
interface Failed {
  readonly target: Target;
  readonly error: AttemptError;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Walks the model's chain until one upstream serves. When none does, it tells the client why. */
export default defineBuiltin<StreamRelayOptions, "relay">({
  name: "stream-relay",
  stage: "relay",
  schema: new URL("../schemas/plugins/stream-relay.schema.json", import.meta.url),
  setup(_options, host) {
    return {
      relay: (exchange, open) => walk(exchange, open, host),
    };
  },
});

/** Tries the targets of the chain, step by step. @throws GatewayError when none serves. */
async function walk(exchange: Exchange, open: Open, host: Host): Promise<Reply> {
  const { model, readAt } = exchange;
  const failures: Failed[] = [];
  /** The largest window that the prompt did not fit into. */
  let outgrown = -1;
  for (const step of model.chain) {
    for (const target of host.order(step, exchange)) {
      if (outgrown >= 0 && (target.contextWindow ?? 0) <= outgrown) continue;
      if (failures.length > 0 && host.now() >= readAt + model.deadline) throw verdict(failures, host);
      try {
        return await open(target);
      } catch (error) {
        // Nobody waits any longer, or the failure is the gateway's own: another target would not help.
        if (!(error instanceof AttemptError) || exchange.signal.aborted) throw error;
        if (isFinal(error, target)) throw clientFault(error);
        // After a target with an unknown window no other one is known to be larger.
        if (error.failure === "context_overflow") outgrown = Math.max(outgrown, target.contextWindow ?? Infinity);
        failures.push({ target, error, at: host.now() });
      }
    }
  }
  throw verdict(failures, host);
}

/** The client's own mistake fails everywhere, unless the operator lets another target try what a filter refused. */
function isFinal({ failure, filtered }: AttemptError, { failOverOn }: Target): boolean {
  const mayFailOver = filtered && failOverOn?.includes("content_filter");
  return failure === "client_fault" && !mayFailOver;
}

function clientFault(error: AttemptError): GatewayError {
  const { code, param } = error;
  const cause = error.failure === "context_overflow" ? error.as({ failure: "client_fault" }) : error;
  const kind = error.failure === "unsupported" ? "invalid_request" : error.kind;
  return new GatewayError("INVALID_REQUEST", `Invalid request: ${error.message}`, {
    cause,
    kind,
    ...(code !== "" && { standardCode: code }),
    ...(param !== "" && { param }),
  });
}

/** Failures before anything was sent: the breaker is open, or every key of the upstream is paused. */
const NOT_TRIED: ReadonlySet<FailureClass> = new Set(["skipped", "resting"]);

/** The error of a request that no target served. */
function verdict(failures: readonly Failed[], host: Host): GatewayError {
  const busy = failures.filter(({ error }) => error.failure === "saturated");
  if (busy.length > 0) return overloaded(busy);
  const own = clientsOwn(failures);
  if (own !== null) return clientFault(own);
  const made = failures.map(({ error }) => error).filter(({ failure }) => !NOT_TRIED.has(failure));
  // Content filters were all that answered: the request is the client's to change.
  const refusal = made.findLast(({ filtered }) => filtered);
  if (refusal && made.every(({ failure, filtered }) => filtered || failure === "context_overflow"))
    return clientFault(refusal);
  const causes = made.filter(({ failure, filtered }) => failure !== "context_overflow" && !filtered);
  if (causes.length === 0) {
    const soonest = Math.min(...failures.map((failed) => waitOf(failed, host)));
    const isSkipped = failures.some(({ error }) => error.failure === "skipped");
    const text = isSkipped ? "Circuit breaker open for an upstream" : "Every upstream is cooling down";
    return new GatewayError("CIRCUIT_BREAKER_OPEN", text, {
      retryAfter: Math.max(1, Math.ceil(soonest / 1000)),
    });
  }
  const unsupported = causes.find((error) => error.failure === "unsupported");
  // Nothing was sent to anybody: only a request that says less, or another model, can be served.
  if (unsupported && causes.every((error) => error.failure === "unsupported")) return clientFault(unsupported);
  const messages = [...new Set(causes.map((error) => error.message))].join("; ");
  const details = { cause: causes.at(-1), ...told(causes), ...retryOf(failures, host) };
  return causes.every((error) => error.failure === "timeout")
    ? new GatewayError("PROVIDER_TIMEOUT", `Every upstream timed out: ${messages}`, details)
    : new GatewayError("PROVIDER_ERROR", `Every upstream failed: ${messages}`, details);
}

/** A target had no room. The others failed, but this one may serve soon: the client should come back. */
function overloaded(busy: readonly Failed[]): GatewayError {
  const soonest = Math.min(...busy.map(({ error }) => error.retryAfter ?? 0));
  return new GatewayError("OVERLOADED", "Every upstream is busy", {
    retryAfter: Math.max(1, Math.ceil(soonest / 1000)),
    cause: busy.at(-1)?.error,
  });
}

/**
 * The refusal that the client alone can cure, once no target is left: a prompt beyond every window, or a field that it wrote
 * itself. While a target may be tried again the client waits for that instead, unless the last one has refused so.
 */
function clientsOwn(failures: readonly Failed[]): AttemptError | null {
  const errors = failures.map(({ error }) => error);
  const candidates = errors.some(isPassing) ? errors.slice(-1) : errors.toReversed();
  const found = candidates.find(({ failure, ownWords }) => failure === "context_overflow" || ownWords !== "");
  if (found === undefined || found.ownWords === "") return found ?? null;
  return found.as({ failure: "client_fault", message: found.ownWords });
}

/** What clients' formats call the failure of a chain: what its targets have in common, as far as trying again can help. */
function told(causes: readonly AttemptError[]): { readonly kind?: ErrorKind; readonly standardCode?: string } {
  const passing = causes.filter(isPassing);
  const kinds = new Set(passing.map(({ kind }) => kind));
  const isBusy = kinds.size > 0 && [...kinds].every((kind) => kind === "rate_limited" || kind === "overloaded");
  const kind = kinds.size === 1 ? [...kinds][0]! : isBusy ? "overloaded" : "server";
  // Among permanent failures only a content filter's is told: the others are about what the gateway sent.
  const code =
    passing.length > 0
      ? passing.findLast((error) => error.kind === kind)?.code
      : causes.findLast((error) => isFiltered(error.code))?.code;
  return { kind, ...(code && { standardCode: code }) };
}

/** When to come back: at the soonest moment at which a target may be tried; never, where no target's failure can pass. */
function retryOf(
  failures: readonly Failed[],
  host: Host,
): { readonly retryAfter: number } | { readonly permanent: true } {
  const passing = failures.filter(({ error }) => isPassing(error));
  if (passing.length === 0) return { permanent: true };
  const soonest = Math.min(...passing.map((failed) => waitOf(failed, host)));
  return { retryAfter: Math.max(1, Math.ceil(soonest / 1000)) };
}

/** Milliseconds until a target may be tried. */
function waitOf({ target, error, at }: Failed, host: Host): number {
  if (error.failure === "resting") return error.retryAfter ?? 0;
  const breaker = host.breaker(target.upstream, target.model);
  const opens = error.failure === "skipped" || breaker.state === "open" ? breaker.retryAt - host.now() : 0;
  return Math.max(opens, (error.retryAfter ?? 0) - (host.now() - at));
}
