import type { Breaker, BreakerSettings, BreakerState } from "../../kit/index.ts";
import { type BreakerCause, CircuitBreaker } from "./breaker.ts";
import type { ManualControl } from "./manual.ts";

interface UpstreamBreakersOptions {
  readonly settings: BreakerSettings;
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** @param model null: of the upstream as a whole. */
  readonly onChange: (model: string | null, state: BreakerState, why: BreakerCause) => void;
  readonly manual?: Pick<ManualControl, "setting">;
}

/** The breakers of one upstream: one for all its models, or one for each where `breaker.scope` is target. */
export class UpstreamBreakers {
  /** Decides where the scope is upstream, and for who asks for no model. */
  readonly whole: CircuitBreaker;
  readonly #options: UpstreamBreakersOptions;
  readonly #byModel = new Map<string, CircuitBreaker>();
  /** Settings of the newest configuration. */
  #models: ReadonlySet<string> = new Set();
  #settings: BreakerSettings;
  /** Whether all are open, as was told last. */
  #isOut = false;

  constructor(options: UpstreamBreakersOptions) {
    this.#options = options;
    this.#settings = options.settings;
    const { onChange, ...more } = options;
    this.whole = new CircuitBreaker({ ...more, onChange: (state, why) => onChange(null, state, why) });
  }

  get #isByModel(): boolean {
    return this.#settings.scope === "target";
  }

  /** @param model by default the upstream as a whole, whose permits count for no model. */
  of(model?: string): Breaker {
    if (!this.#isByModel) return this.whole;
    return model === undefined ? this.#overview : this.#breakerOf(model);
  }

  /** Settings and models in force from now on. What is known of a model that stays outlives that. */
  configure(settings: BreakerSettings, models: ReadonlySet<string>): void {
    this.#settings = settings;
    this.#models = models;
    this.whole.configure(settings);
    for (const [model, breaker] of this.#byModel) {
      if (this.#isByModel && models.has(model)) breaker.configure(settings);
      else this.#byModel.delete(model);
    }
    if (!this.#isByModel) this.#isOut = false;
  }

  /** By what they have counted alone. */
  get counted(): BreakerState {
    return this.#isByModel ? this.#stateBy((breaker) => breaker.counted) : this.whole.counted;
  }

  /** By model, of those that were tried; empty where the scope is upstream. */
  models(): Iterable<readonly [model: string, breaker: Breaker]> {
    return this.#isByModel ? this.#byModel : [];
  }

  #breakerOf(model: string): CircuitBreaker {
    const known = this.#byModel.get(model);
    if (known !== undefined) return known;
    const { onChange, ...more } = this.#options;
    const made = new CircuitBreaker({
      ...more,
      settings: this.#settings,
      onChange: (state, why) => {
        onChange(model, state, why);
        this.#noteOutage(why);
      },
    });
    this.#byModel.set(model, made);
    return made;
  }

  /** An upstream of which no model is left is out, and it is back with the first that serves. */
  #noteOutage(why: BreakerCause): void {
    const isOut = this.#stateBy((breaker) => breaker.counted) === "open";
    const isBack = [...this.#byModel.values()].some((breaker) => breaker.counted === "closed");
    if (isOut === this.#isOut || (this.#isOut && !isBack)) return;
    this.#isOut = isOut;
    this.#options.onChange(null, isOut ? "open" : "closed", why);
  }

  /** As attempts find the upstream: open when no model is left, half-open when some are. */
  #stateBy(stateOf: (breaker: CircuitBreaker) => BreakerState): BreakerState {
    const states = [...this.#byModel.values()].map(stateOf);
    if (states.every((state) => state === "closed")) return "closed";
    const isWhole = states.length >= this.#models.size && states.every((state) => state === "open");
    return isWhole ? "open" : "half_open";
  }

  readonly #overview: Breaker = ((breakers: UpstreamBreakers): Breaker => ({
    get state() {
      const manual = breakers.#options.manual?.setting ?? null;
      return manual === null ? breakers.#stateBy((breaker) => breaker.state) : breakers.whole.state;
    },
    get retryAt() {
      if ((breakers.#options.manual?.setting ?? null) !== null) return breakers.whole.retryAt;
      const open = [...breakers.#byModel.values()].filter(({ state }) => state === "open");
      return open.length === 0 ? 0 : Math.min(...open.map(({ retryAt }) => retryAt));
    },
    acquire: () => breakers.whole.acquire(),
  }))(this);
}
