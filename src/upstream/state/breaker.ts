import type {
  AttemptError,
  AttemptResult,
  Breaker,
  BreakerSettings,
  BreakerState,
  FailureClass,
  Permit,
} from "../../kit/index.ts";
import { type ManualControl, UNCOUNTED_PERMIT } from "./manual.ts";

/** Failures that say nothing about the upstream's health. */
export const NOT_UPSTREAM_FAULTS: ReadonlySet<FailureClass> = new Set([
  "aborted",
  "skipped",
  "client_fault",
  "saturated",
  "unsupported",
  "resting",
  "declined",
  "parameter",
  "context_overflow",
]);
/** A rate limit ends with its key's pause and shows an upstream that answers: it opens no breaker. */
const IGNORED: ReadonlySet<FailureClass> = new Set([...NOT_UPSTREAM_FAULTS, "rate_limited"]);
const JITTER_SHARE = 0.2;

/** Why a breaker has changed, for its history. */
export interface BreakerCause {
  readonly cause: "failures" | "waited" | "probe_succeeded" | "probe_failed";
  readonly detail: string;
}

interface BreakerOptions {
  readonly settings: BreakerSettings;
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly onChange?: (state: BreakerState, why: BreakerCause) => void;
  /** What operators set of the upstream. */
  readonly manual?: Pick<ManualControl, "setting">;
}

/**
 * Circuit breaker of one upstream, or of one of its models. Closed, it opens on `consecutive` failures or on `ratio` of at
 * least `minimum` results within `window`; open, it waits `openFor`, doubled with each opening in a row, and at least as
 * long as the upstream has asked for; half-open, it lets `probes` attempts through at a time and follows the first that
 * ends.
 */
export class CircuitBreaker implements Breaker {
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #onChange: (state: BreakerState, why: BreakerCause) => void;
  readonly #manual: Pick<ManualControl, "setting">;
  #settings: BreakerSettings;
  #state: BreakerState = "closed";
  /** Counts state changes: the results of attempts that began in an earlier state are ignored. */
  #epoch = 0;
  #results: RollingCount;
  #consecutive = 0;
  #probing = 0;
  #retryAt = 0;
  #openings = 0;
  #closedAt = -Infinity;

  constructor(options: BreakerOptions) {
    this.#settings = options.settings;
    this.#now = options.now;
    this.#random = options.random;
    this.#onChange = options.onChange ?? (() => undefined);
    this.#manual = options.manual ?? NOT_SET;
    this.#results = new RollingCount(options.settings.window);
  }

  /** As attempts find it: an operator's setting is before what it has counted. */
  get state(): BreakerState {
    const manual = this.#manual.setting;
    if (manual === null) return this.counted;
    return manual.mode === "close" ? "closed" : "open";
  }

  /** By what it has counted alone. */
  get counted(): BreakerState {
    this.#tick();
    return this.#state;
  }

  get retryAt(): number {
    const manual = this.#manual.setting;
    if (manual === null) return this.#retryAt;
    if (manual.mode === "close") return 0;
    // It may be lifted at any time: nobody is told to wait for days.
    return Math.min(manual.until, this.#now() + this.#settings.openFor);
  }

  /** Settings in force from now on; a breaker that is open stays so until the time set when it opened. */
  configure(settings: BreakerSettings): void {
    if (settings.window !== this.#settings.window) this.#results = new RollingCount(settings.window);
    this.#settings = settings;
  }

  acquire(): Permit | null {
    const manual = this.#manual.setting;
    if (manual !== null) return manual.mode === "close" ? UNCOUNTED_PERMIT : null;
    this.#tick();
    if (this.#state === "open") return null;
    if (this.#state === "half_open") {
      if (this.#probing >= this.#settings.probes) return null;
      this.#probing += 1;
    }
    return new BreakerPermit(this, this.#epoch);
  }

  /** @param epoch in which the attempt began, as in `failed`. */
  succeeded(epoch: number): void {
    if (epoch !== this.#epoch) return;
    if (this.#state === "half_open") {
      this.#closedAt = this.#now();
      this.#retryAt = 0;
      this.#results.clear();
      this.#enter("closed", { cause: "probe_succeeded", detail: "a probing attempt succeeded" });
    }
    this.#consecutive = 0;
    this.#results.add(this.#now(), true);
  }

  failed(epoch: number, error: AttemptError): void {
    const { failure, notUpstreamFault, explanation, retryAfter } = error;
    if (epoch !== this.#epoch) return;
    if (notUpstreamFault || IGNORED.has(failure)) {
      if (this.#state === "half_open") this.#probing -= 1;
      return;
    }
    const now = this.#now();
    if (this.#state === "half_open") {
      return this.#open(now, retryAfter, { cause: "probe_failed", detail: `a probing attempt failed: ${explanation}` });
    }
    this.#consecutive += 1;
    this.#results.add(now, false);
    const { failed, total } = this.#results.sum(now);
    const { consecutive, minimum, ratio } = this.#settings;
    if (this.#consecutive < consecutive && (total < minimum || failed < ratio * total)) return;
    // Closed for a whole window, the upstream has recovered: the next opening is short again.
    if (now - this.#closedAt >= this.#settings.window) this.#openings = 0;
    const counts = this.#consecutive < consecutive ? `${failed} of ${total} attempts` : `${this.#consecutive} in a row`;
    this.#open(now, retryAfter, { cause: "failures", detail: `${counts} failed, the last one: ${explanation}` });
  }

  /** @param told milliseconds that the upstream asked to wait; null without. */
  #open(now: number, told: number | null, why: BreakerCause): void {
    const { openFor, maxOpenFor } = this.#settings;
    const jitter = 1 - JITTER_SHARE + 2 * JITTER_SHARE * this.#random();
    const wait = Math.min(maxOpenFor, openFor * 2 ** this.#openings) * jitter;
    this.#retryAt = now + Math.min(maxOpenFor, Math.max(wait, told ?? 0));
    this.#openings += 1;
    this.#consecutive = 0;
    this.#enter("open", why);
  }

  #tick(): void {
    if (this.#state === "open" && this.#now() >= this.#retryAt) this.#enter("half_open", WAITED);
  }

  #enter(state: BreakerState, why: BreakerCause): void {
    this.#state = state;
    this.#epoch += 1;
    this.#probing = 0;
    this.#onChange(state, why);
  }
}

const NOT_SET: Pick<ManualControl, "setting"> = { setting: null };
const WAITED: BreakerCause = { cause: "waited", detail: "open period over" };

/** Tells its breaker once that the attempt has succeeded, or has failed. */
class BreakerPermit implements Permit {
  readonly #breaker: CircuitBreaker;
  readonly #epoch: number;
  #hasAnswered = false;
  #hasEnded = false;

  constructor(breaker: CircuitBreaker, epoch: number) {
    this.#breaker = breaker;
    this.#epoch = epoch;
  }

  answered(): void {
    if (this.#hasAnswered || this.#hasEnded) return;
    this.#hasAnswered = true;
    this.#breaker.succeeded(this.#epoch);
  }

  end(result: AttemptResult): void {
    if (this.#hasEnded) return;
    if (result.ok) this.answered();
    this.#hasEnded = true;
    if (!result.ok) this.#breaker.failed(this.#epoch, result.error);
  }
}

const BUCKET_COUNT = 10;

interface Bucket {
  index: number;
  failed: number;
  total: number;
}

/** Results within the last `window` milliseconds, to a tenth of it. */
export class RollingCount {
  readonly #width: number;
  readonly #buckets: Bucket[] = Array.from({ length: BUCKET_COUNT }, () => ({ index: -Infinity, failed: 0, total: 0 }));

  constructor(window: number) {
    this.#width = Math.max(1, window / BUCKET_COUNT);
  }

  add(now: number, ok: boolean): void {
    const index = Math.floor(now / this.#width);
    const slot = index % BUCKET_COUNT;
    let bucket = this.#buckets[slot];
    if (bucket?.index !== index) bucket = this.#buckets[slot] = { index, failed: 0, total: 0 };
    bucket.total += 1;
    if (!ok) bucket.failed += 1;
  }

  sum(now: number): { readonly failed: number; readonly total: number } {
    const current = Math.floor(now / this.#width);
    let failed = 0;
    let total = 0;
    for (const bucket of this.#buckets) {
      // The upper bound excludes buckets that lie in the future because the clock was set back.
      if (bucket.index <= current - BUCKET_COUNT || bucket.index > current) continue;
      failed += bucket.failed;
      total += bucket.total;
    }
    return { failed, total };
  }

  clear(): void {
    for (const bucket of this.#buckets) bucket.index = -Infinity;
  }
}
