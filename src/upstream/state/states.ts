import { type BreakerState, inBackground, type Log, type Snapshot, type Upstream } from "../../kit/index.ts";
import { CircuitBreaker } from "./breaker.ts";
import { Health } from "./health.ts";
import { KeyPool } from "./key-pool.ts";

interface UpstreamStatesOptions {
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Log;
}

/** The state of one upstream, which outlives configurations. */
interface UpstreamState {
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

/** The first probes of all upstreams are spread over this time. */
const FIRST_WITHIN_MS = 1_000;
/** Node's timers take no longer delay. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Milliseconds that a probe took; null when it failed. */
export type ProbeResult = number | null | "inconclusive";

export interface ProbeSubject {
  /** Differs when the probe or its interval differs. */
  readonly fingerprint: string;
  /** Milliseconds from the beginning of one probe to that of the next. */
  readonly every: number;
  /** Does not throw. */
  probe(signal: AbortSignal): Promise<ProbeResult>;
}

interface ProberOptions {
  readonly upstream: string;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly onResult: (latency: number | null) => void;
  readonly log: Log;
}

/** Probes one upstream at its interval, one probe at a time; its timers do not keep the process alive. */
export class Prober {
  readonly #options: ProberOptions;
  #subject: ProbeSubject | null = null;
  #timer: NodeJS.Timeout | undefined;
  #running: AbortController | null = null;
  #failing = false;
  #closed = false;

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  /** What is probed from now on: the same as before keeps its interval running, null stops. */
  setSubject(subject: ProbeSubject | null): void {
    if (this.#closed) return;
    const same = subject !== null && subject.fingerprint === this.#subject?.fingerprint;
    this.#subject = subject;
    if (same) return;
    clearTimeout(this.#timer);
    this.#running?.abort();
    this.#running = null;
    if (subject !== null) this.#schedule(this.#options.random() * Math.min(subject.every, FIRST_WITHIN_MS));
  }

  /** Stops for good. */
  close(): void {
    this.setSubject(null);
    this.#closed = true;
  }

  #schedule(delay: number): void {
    this.#timer = setTimeout(
      () => inBackground(this.#options.log, "a probe", this.#probe()),
      Math.min(delay, MAX_TIMER_MS),
    ).unref();
  }

  async #probe(): Promise<void> {
    const subject = this.#subject;
    if (subject === null) return;
    const running = new AbortController();
    this.#running = running;
    const startedAt = performance.now();
    const result = await subject.probe(running.signal);
    // Another subject was set meanwhile: the result is about the old one.
    if (this.#running !== running) return;
    this.#running = null;
    if (result !== "inconclusive") this.#report(result);
    this.#schedule(Math.max(0, startedAt + subject.every - performance.now()));
  }

  #report(latency: number | null): void {
    const { upstream, log, onResult } = this.#options;
    onResult(latency);
    const failed = latency === null;
    if (failed === this.#failing) return;
    this.#failing = failed;
    if (failed) log.warn({ upstream }, "probe failed: the upstream is not reachable with any of its keys");
    else log.info({ upstream }, "probe succeeded again");
  }
}
