import type { BreakerState, Log, Snapshot, Upstream } from "../../kit/index.ts";
import { CircuitBreaker } from "./breaker.ts";
import { Health } from "./health.ts";
import { KeyPool } from "./key-pool.ts";
import { Prober, type ProbeSubject } from "./prober.ts";

export interface UpstreamStatesOptions {
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Log;
}

/** The state of one upstream, which outlives configurations. */
export interface UpstreamState {
  readonly breaker: CircuitBreaker;
  readonly keys: KeyPool;
  readonly health: Health;
  readonly prober: Prober;
}

/** The state of every upstream that a configuration names. */
export class UpstreamStates {
  readonly #options: UpstreamStatesOptions;
  readonly #states = new Map<string, UpstreamState>();

  constructor(options: UpstreamStatesOptions) {
    this.#options = options;
  }

  /** Created on first use. */
  of(upstream: Upstream): UpstreamState {
    const state = this.#states.get(upstream.name) ?? this.#make(upstream);
    this.#states.set(upstream.name, state);
    return state;
  }

  /** @throws Error for a name that no configuration has. */
  get(name: string): UpstreamState {
    return existing(this.#states.get(name), name);
  }

  configure({ upstreams }: Snapshot): void {
    for (const upstream of Object.values(upstreams)) {
      const { breaker, keys } = this.of(upstream);
      breaker.configure(upstream.breaker);
      keys.adopt(upstream.apiKeys);
    }
  }

  /** @param subject what to probe of an upstream from now on. */
  probe(subject: (name: string) => ProbeSubject | null): void {
    for (const [name, { prober }] of this.#states) prober.setSubject(subject(name));
  }

  /** Forgets the upstreams for which `named` is false. */
  prune(named: (name: string) => boolean): void {
    for (const name of this.#states.keys()) if (!named(name)) this.#states.delete(name);
  }

  /** Stops all probes. */
  close(): void {
    for (const { prober } of this.#states.values()) prober.close();
  }

  #make({ name: upstream, breaker: settings }: Upstream): UpstreamState {
    const { now, random, log } = this.#options;
    const onChange = (to: BreakerState): void => {
      const level = to === "open" ? "warn" : "info";
      log[level]({ upstream }, `breaker ${to}`);
    };
    const health = new Health(now);
    return {
      breaker: new CircuitBreaker({ settings, now, random, onChange }),
      keys: new KeyPool(),
      health,
      prober: new Prober({ upstream, random, onResult: (latency) => health.probed(latency), log }),
    };
  }
}

export function existing<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`no upstream is named "${name}" in this configuration`);
  return value;
}
