import {
  AttemptError,
  definePlugin,
  type Exchange,
  type FailureClass,
  GatewayError,
  type Host,
  type Open,
  type Reply,
  type Target,
} from "#kit";
import type { StreamRelayOptions } from "#schema";

/** Nothing was sent: the breaker is open, or every key of the upstream rests. */
const NOT_TRIED: ReadonlySet<FailureClass> = new Set(["skipped", "resting"]);

const NO_TARGETS: readonly Target[] = [];
const NO_FAILURES: readonly Failed[] = [];

interface Failed {
  readonly target: Target;
  readonly error: AttemptError;
}

/** Walks the model's chain until one upstream serves; says what happened when none does. */
export default definePlugin<StreamRelayOptions>({
  name: "stream-relay",
  stage: "relay",
  schema: new URL("../schemas/plugins/stream-relay.schema.json", import.meta.url),
  setup(_options, host) {
    return {
      relay: (exchange, open) => new ChainWalk(exchange, open, host).next(),
    };
  },
});

/**
 * The way of one request along the chain of its model. An object and no function that waits: nearly every request is
 * served by its first target, and what waits for it waits in the one promise of that.
 */
class ChainWalk {
  readonly #exchange: Exchange;
  readonly #open: Open;
  readonly #host: Host;
  #step = 0;
  /** Of the step before `#step`, in the order in which to try them. */
  #targets: readonly Target[] = NO_TARGETS;
  #target = 0;
  #failures: readonly Failed[] = NO_FAILURES;
  /** Tokens that a prompt did not fit into: only a larger window is worth a try from then on. */
  #outgrown = -1;

  constructor(exchange: Exchange, open: Open, host: Host) {
    this.#exchange = exchange;
    this.#open = open;
    this.#host = host;
  }

  /** Tries the targets that are left, until one serves. @throws GatewayError */
  next(): Promise<Reply> {
    const { model, readAt } = this.#exchange;
    const target = this.#nextTarget();
    const isLate = this.#failures.length > 0 && this.#host.now() >= readAt + model.deadline;
    if (target === null || isLate) return Promise.reject(verdict(this.#failures, this.#host));
    return this.#open(target).catch((error: unknown) => this.#failed(target, error));
  }

  #nextTarget(): Target | null {
    const { chain } = this.#exchange.model;
    for (;;) {
      const target = this.#targets[this.#target];
      if (target !== undefined) {
        this.#target += 1;
        if (this.#outgrown >= 0 && (target.contextWindow ?? 0) <= this.#outgrown) continue;
        return target;
      }
      const step = chain[this.#step];
      if (step === undefined) return null;
      this.#step += 1;
      this.#targets = this.#host.order(step, this.#exchange);
      this.#target = 0;
    }
  }

  #failed(target: Target, error: unknown): Promise<Reply> {
    if (!(error instanceof AttemptError) || this.#exchange.signal.aborted) throw error;
    const isRefused = error.filtered && target.failOverOn?.includes("content_filter");
    if (error.failure === "client_fault" && !isRefused) throw clientFault(error);
    // Of a window that nobody knows none is known to be larger.
    if (error.failure === "context_overflow")
      this.#outgrown = Math.max(this.#outgrown, target.contextWindow ?? Infinity);
    this.#failures = [...this.#failures, { target, error }];
    return this.next();
  }
}

function clientFault(cause: AttemptError): GatewayError {
  return new GatewayError("INVALID_REQUEST", `Invalid request: ${cause.message}`, { cause });
}

function verdict(failures: readonly Failed[], host: Host): GatewayError {
  const busy = failures.filter(({ error }) => error.failure === "saturated");
  if (busy.length > 0) return overloaded(busy);
  const last = failures.at(-1)?.error;
  // No larger window was left to try: the prompt is the client's to shorten.
  if (last?.failure === "context_overflow") {
    return clientFault(last.as({ failure: "client_fault" }));
  }
  const made = failures.map(({ error }) => error).filter(({ failure }) => !NOT_TRIED.has(failure));
  // Content filters were all that answered: the request is the client's to change.
  const refusal = made.findLast(({ filtered }) => filtered);
  if (refusal && made.every(({ failure, filtered }) => filtered || failure === "context_overflow"))
    return clientFault(refusal);
  const causes = made.filter(({ failure, filtered }) => failure !== "context_overflow" && !filtered);
  if (causes.length === 0) {
    const soonest = Math.min(...failures.map((failed) => waitOf(failed, host)));
    return new GatewayError("CIRCUIT_BREAKER_OPEN", "Circuit breaker open for an upstream", {
      retryAfter: Math.max(1, Math.ceil(soonest / 1000)),
    });
  }
  const unsupported = causes.find((error) => error.failure === "unsupported");
  // Nothing was sent to anybody: only a request that says less, or another model, can be served.
  if (unsupported && causes.every((error) => error.failure === "unsupported")) return clientFault(unsupported);
  const messages = [...new Set(causes.map((error) => error.message))].join("; ");
  const cause = causes.at(-1);
  return causes.every((error) => error.failure === "timeout")
    ? new GatewayError("PROVIDER_TIMEOUT", `Every upstream timed out: ${messages}`, { cause })
    : new GatewayError("PROVIDER_ERROR", `Every upstream failed: ${messages}`, { cause });
}

/** A target had no room. The others failed, but this one may serve soon: the client should come back. */
function overloaded(busy: readonly Failed[]): GatewayError {
  const soonest = Math.min(...busy.map(({ error }) => error.retryAfter ?? 0));
  return new GatewayError("OVERLOADED", "Every upstream is busy", {
    retryAfter: Math.max(1, Math.ceil(soonest / 1000)),
    cause: busy.at(-1)?.error,
  });
}

/** Milliseconds until a target that was not tried may be. */
function waitOf({ target, error }: Failed, host: Host): number {
  if (error.failure === "resting") return error.retryAfter ?? 0;
  return error.failure === "skipped" ? host.breaker(target.upstream).retryAt - host.now() : Infinity;
}
