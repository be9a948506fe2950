import type { AttemptError, BreakerState } from "../../kit/index.ts";
import { NOT_UPSTREAM_FAULTS, RollingCount } from "./breaker.ts";

/** As shown by `GET /v1/status`. */
export interface UpstreamHealth {
  readonly state: "healthy" | "degraded" | "unknown";
  /** Whole milliseconds: of the last good probe, else the mean of live traffic to the first byte; 0 without data. */
  readonly latencyMs: number;
  /** Whether a request would be sent to it now. */
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

/** Health of one upstream, from its probes and from the requests it is sent. */
export class Health {
  readonly #now: () => number;
  readonly #tries = new RollingCount(WINDOW_MS);
  #triedAt = -Infinity;
  #firstByte: { readonly mean: number; readonly at: number } | null = null;
  #probe: { readonly ok: boolean; readonly at: number } | null = null;
  #measured: { readonly latency: number; readonly at: number } | null = null;
  /** The newest result is a failed probe. */
  #down = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A request was answered, or its stream began. @param firstByte milliseconds, null when it was not measured. */
  served(firstByte: number | null, at = this.#now()): void {
    this.#tried(true, at);
    this.#down = false;
    if (firstByte === null) return;
    const latency = atLeastOne(firstByte);
    const before = this.#firstByte !== null && fresh(this.#firstByte.at, at) ? this.#firstByte.mean : latency;
    this.#firstByte = { mean: before + MEAN_WEIGHT * (latency - before), at };
  }

  /** A request failed, or its stream broke off. */
  failed({ failure, notUpstreamFault }: AttemptError): void {
    if (!notUpstreamFault && !NOT_UPSTREAM_FAULTS.has(failure)) this.#tried(false, this.#now());
  }

  /** @param latency milliseconds; null when the probe failed. */
  probed(latency: number | null): void {
    const at = this.#now();
    this.#probe = { ok: latency !== null, at };
    this.#down = latency === null;
    if (latency !== null) this.#measured = { latency: atLeastOne(latency), at };
  }

  view({ breaker, skipped, spoken, resting, probeTimeout, firstByte }: HealthContext): UpstreamHealth {
    const now = this.#now();
    const recent = <Result extends { readonly at: number }>(result: Result | null): Result | null =>
      result !== null && fresh(result.at, now) ? result : null;
    const probe = probeTimeout === null ? null : recent(this.#probe);
    const measured = probeTimeout === null ? null : recent(this.#measured);
    const latency = measured?.latency ?? recent(this.#firstByte)?.mean ?? 0;
    const bound = SLOW_SHARE * (measured !== null && probeTimeout !== null ? probeTimeout : firstByte);
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
      canServe: spoken && !resting && !skipped && !(probeTimeout !== null && this.#down),
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
