import type { AttemptError, BreakerState, FailureClass } from "../../kit/index.ts";
import { RollingCount } from "./breaker.ts";

/** As shown by `GET /v1/status`. */
export interface UpstreamHealth {
  readonly state: "healthy" | "degraded" | "unknown";
  /** Whole milliseconds: the mean of live traffic to the first byte, else of the last good probe; 0 without data. */
  readonly latencyMs: number;
  /** Whether a request would be sent to it now, and can be expected to be served. */
  readonly canServe: boolean;
}

/** What the state depends on besides what was measured. */
export interface HealthContext {
  /** By what it has counted. */
  readonly breaker: BreakerState;
  /** Whether attempts are skipped: by the breaker, or by an operator. */
  readonly skipped: boolean;
  /** Whether its dialect has a codec for any kind of model. */
  readonly spoken: boolean;
  /** Whether every key rests. */
  readonly resting: boolean;
  /** Milliseconds that a probe may take; null where there are none. */
  readonly probeTimeout: number | null;
  /** Milliseconds that live traffic may take to its first byte. */
  readonly firstByte: number;
}

/** Results older than this count no more. */
const WINDOW_MS = 300_000;
/** Share of failed requests in the window from which on an upstream is degraded. */
const DEGRADED_ERROR_SHARE = 0.1;
/** Share of the timeout of a probe, or of the first byte: a slower upstream is degraded. */
const SLOW_SHARE = 0.5;
/** Weight of a new measurement in the mean. */
const MEAN_WEIGHT = 0.2;

/** What says nothing of an upstream: the client's fault, or nothing was asked. */
const SILENT: ReadonlySet<FailureClass> = new Set([
  "aborted",
  "skipped",
  "saturated",
  "resting",
  "unsupported",
  "client_fault",
  "context_overflow",
]);
/** What concerns one model of an upstream: others may be well. */
const OF_MODEL: ReadonlySet<FailureClass> = new Set(["declined", "parameter", "rate_limited"]);
/** So many failures in a row, and nothing served since, say that the next request fails, too. One may be chance. */
const DOWN_FAILURES = 2;
const MAX_MODELS = 1_000;

/** Failures since something was served. */
class Run {
  #failures = 0;
  #failedAt = -Infinity;

  served(): void {
    this.#failures = 0;
  }

  failed(at: number): void {
    this.#failures = fresh(this.#failedAt, at) ? this.#failures + 1 : 1;
    this.#failedAt = at;
  }

  isDown(now: number): boolean {
    return this.#failures >= DOWN_FAILURES && fresh(this.#failedAt, now);
  }
}

/** Health of one upstream, by what requests met. Probes fill silence only. */
export class Health {
  readonly #now: () => number;
  readonly #tries = new RollingCount(WINDOW_MS);
  #triedAt = -Infinity;
  #firstByte: { readonly mean: number; readonly at: number } | null = null;
  #probe: { readonly ok: boolean; readonly at: number } | null = null;
  #measured: { readonly latency: number; readonly at: number } | null = null;
  readonly #run = new Run();
  /** By the upstream's name of the model; the one that failed last is last. */
  readonly #models = new Map<string, Run>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A request was answered, or its stream began. @param firstByte milliseconds, null when it was not measured. */
  served(firstByte: number | null, at = this.#now(), model = ""): void {
    this.#tried(true, at);
    this.#run.served();
    this.#models.delete(model);
    if (firstByte === null) return;
    const latency = atLeastOne(firstByte);
    const before = this.#firstByte !== null && fresh(this.#firstByte.at, at) ? this.#firstByte.mean : latency;
    this.#firstByte = { mean: before + MEAN_WEIGHT * (latency - before), at };
  }

  /** A request failed, or its stream broke off. */
  failed({ failure, notUpstreamFault }: AttemptError, model = ""): void {
    // A refusal of the key that only one user has met so far rests no key, but that user's request has failed.
    if (SILENT.has(failure) || (notUpstreamFault && failure !== "credentials")) return;
    const at = this.#now();
    this.#tried(false, at);
    if (!OF_MODEL.has(failure)) this.#run.failed(at);
    const run = this.#models.get(model) ?? new Run();
    run.failed(at);
    this.#models.delete(model);
    this.#models.set(model, run);
    if (this.#models.size > MAX_MODELS) this.#models.delete(this.#models.keys().next().value!);
  }

  /** @param result milliseconds; null: it failed; `refused`: it answers, and says nothing else */
  probed(result: number | null | "refused"): void {
    const at = this.#now();
    this.#probe = result === "refused" ? null : { ok: result !== null, at };
    if (typeof result === "number") this.#measured = { latency: atLeastOne(result), at };
  }

  /** Whether the latest requests to a model say that it serves; those to others where there were none. */
  serves(model: string): boolean {
    return this.#models.get(model)?.isDown(this.#now()) !== true;
  }

  view({ breaker, skipped, spoken, resting, probeTimeout, firstByte }: HealthContext): UpstreamHealth {
    const now = this.#now();
    const recent = <Result extends { readonly at: number }>(result: Result | null): Result | null =>
      result !== null && fresh(result.at, now) ? result : null;
    const isProbed = probeTimeout !== null && !fresh(this.#triedAt, now);
    const probe = isProbed ? recent(this.#probe) : null;
    const traffic = recent(this.#firstByte);
    const measured = probeTimeout !== null && traffic === null ? recent(this.#measured) : null;
    const latency = traffic?.mean ?? measured?.latency ?? 0;
    const bound = SLOW_SHARE * (traffic === null && measured !== null ? (probeTimeout ?? firstByte) : firstByte);
    const { failed, total } = this.#tries.sum(now);
    const well =
      breaker === "closed" &&
      (probe?.ok ?? true) &&
      latency <= bound &&
      (failed === 0 || failed / total < DEGRADED_ERROR_SHARE);
    const silent = probe === null && !fresh(this.#triedAt, now);
    return {
      state: silent ? "unknown" : well ? "healthy" : "degraded",
      latencyMs: Math.round(latency),
      canServe: spoken && !resting && !skipped && !this.#run.isDown(now) && (probe?.ok ?? true),
    };
  }

  #tried(ok: boolean, at: number): void {
    this.#triedAt = at;
    this.#tries.add(at, ok);
  }
}

function fresh(at: number, now: number): boolean {
  return now - at < WINDOW_MS;
}

/** 0 means that there is no data. */
function atLeastOne(milliseconds: number): number {
  return Math.max(1, milliseconds);
}
