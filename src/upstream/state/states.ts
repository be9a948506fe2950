import { type BreakerState, inBackground, type Log, type Snapshot, type Upstream } from "../../kit/index.ts";
import type { BreakerCause, CircuitBreaker } from "./breaker.ts";
import { Health } from "./health.ts";
import { KeyPool } from "./key-pool.ts";
import { LastErrors } from "./last-errors.ts";
import type { ManualChange, ManualControls } from "./manual.ts";
import { UpstreamBreakers } from "./upstream-breakers.ts";

interface UpstreamStatesOptions {
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  /** Left out: nobody sets anything. */
  readonly manual?: ManualControls;
}

/** A change of a breaker, or of what an operator has set of its upstream. */
export interface Transition {
  /** Unix milliseconds. */
  readonly at: number;
  /** In which it was afterwards. */
  readonly state: BreakerState;
  readonly cause: BreakerCause["cause"] | "manual" | "manual_lifted" | "manual_ended";
  readonly detail: string;
  /** The model of the breaker, if each model has its own; else absent. */
  readonly model?: string;
}

const MAX_TRANSITIONS = 50;

/** The state of one upstream, which outlives configurations. */
interface UpstreamState {
  /** State of the upstream as a whole. */
  readonly breaker: CircuitBreaker;
  readonly breakers: UpstreamBreakers;
  /** The latest ones, oldest first. */
  readonly transitions: Transition[];
  readonly keys: KeyPool;
  readonly health: Health;
  readonly errors: LastErrors;
  readonly prober: Prober;
}

/** The state of every upstream that a configuration names. */
export class UpstreamStates {
  readonly #options: UpstreamStatesOptions;
  readonly #states = new Map<string, UpstreamState>();
  readonly #unsubscribe: () => void;

  constructor(options: UpstreamStatesOptions) {
    this.#options = options;
    const noted = options.manual?.onChange((upstream, change) => this.#noteManual(upstream, change));
    this.#unsubscribe = noted ?? ((): void => undefined);
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

  configure(snapshot: Snapshot): void {
    const models = modelsByUpstream(snapshot);
    for (const upstream of Object.values(snapshot.upstreams)) {
      const { breakers, keys } = this.of(upstream);
      breakers.configure(upstream.breaker, models.get(upstream.name) ?? NO_MODELS);
      keys.adopt(upstream.apiKeys);
    }
  }

  /**
   * Ends the cooldowns of all keys, as an operator's act does: a quota may have been raised.
   * @param names upstreams; all by default.
   * @returns how many there were.
   */
  endCooldowns(by: string, names: Iterable<string> = this.#states.keys()): number {
    const { now, log } = this.#options;
    let count = 0;
    for (const upstream of names) {
      const ended = this.#states.get(upstream)?.keys.clear(now()) ?? 0;
      if (ended > 0) log.info({ upstream, cooldowns: ended, by }, "cooldowns ended");
      count += ended;
    }
    return count;
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
    this.#unsubscribe();
    for (const { prober } of this.#states.values()) prober.close();
  }

  #noteManual(upstream: string, change: ManualChange): void {
    const state = this.#states.get(upstream);
    if (state === undefined) return;
    const at = this.#options.now();
    const { breaker, transitions } = state;
    const isCleared = change.type === "lifted" || change.type === "cleared" || change.setting?.mode === "close";
    if (isCleared) this.endCooldowns("override", [upstream]);
    if (change.type === "cleared") return;
    if (change.type !== "set") {
      const detail = change.type === "ended" ? "expired" : "cleared by an operator";
      return note(transitions, { at, state: breaker.state, cause: `manual_${change.type}`, detail });
    }
    const { mode, by, reason } = change.setting;
    note(transitions, { at, state: breaker.state, cause: "manual", detail: `${mode} by ${by}: ${reason}` });
  }

  #make({ name: upstream, breaker: settings }: Upstream): UpstreamState {
    const { now, random, log, manual } = this.#options;
    const transitions: Transition[] = [];
    const onChange = (model: string | null, to: BreakerState, why: BreakerCause): void => {
      const level = to === "open" ? "warn" : "info";
      const ofModel = model === null ? {} : { model };
      log[level]({ upstream, ...ofModel }, `breaker ${to}`);
      note(transitions, { at: now(), state: to, ...why, ...ofModel });
    };
    const health = new Health(now);
    const controls = manual && { manual: manual.of(upstream) };
    const breakers = new UpstreamBreakers({ settings, now, random, onChange, ...controls });
    return {
      breaker: breakers.whole,
      breakers,
      transitions,
      keys: new KeyPool(),
      health,
      errors: new LastErrors(),
      prober: new Prober({ upstream, random, onResult: (result) => health.probed(result), log }),
    };
  }
}

export const NO_MODELS: ReadonlySet<string> = new Set();

/** The names that its targets have at each upstream. */
export function modelsByUpstream({ models }: Snapshot): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const { chain } of Object.values(models)) {
    for (const { targets } of chain) {
      for (const { upstream, model } of targets) {
        const names = found.get(upstream);
        if (names === undefined) found.set(upstream, new Set([model]));
        else names.add(model);
      }
    }
  }
  return found;
}

function note(transitions: Transition[], transition: Transition): void {
  transitions.push(transition);
  if (transitions.length > MAX_TRANSITIONS) transitions.shift();
}

export function existing<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`no upstream is named "${name}" in this configuration`);
  return value;
}

/** The first probes of all upstreams are spread over this time. */
const FIRST_WITHIN_MS = 1_000;
/** Node's timers take no longer delay. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Why a probe failed. */
export interface ProbeFailure {
  /** The upstream's answer; 0 where none came. */
  readonly status: number;
  /** In words for operators. */
  readonly cause: string;
}

/** Milliseconds that a probe took, or why it failed. */
export type ProbeResult = number | ProbeFailure | "inconclusive";

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
  /** @param result milliseconds; null: it failed; `refused`: it was answered that its keys are not accepted */
  readonly onResult: (result: number | null | "refused") => void;
  readonly log: Log;
}

/** Probes one upstream at its interval, one probe at a time; its timers do not keep the process alive. */
export class Prober {
  readonly #options: ProberOptions;
  #subject: ProbeSubject | null = null;
  #timer: NodeJS.Timeout | undefined;
  #running: AbortController | null = null;
  /** The text of the last failure that was logged; null: the last one was good. */
  #failing: string | null = null;
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

  #report(result: number | ProbeFailure): void {
    const { upstream, log, onResult } = this.#options;
    const failure = typeof result === "number" ? null : result;
    const isRefused = failure !== null && (failure.status === 401 || failure.status === 403);
    onResult(isRefused ? "refused" : typeof result === "number" ? result : null);
    const text = failure === null ? null : textOf(failure, isRefused);
    if (text === this.#failing) return;
    this.#failing = text;
    if (failure === null) return log.info({ upstream }, "probe succeeded again");
    const { status, cause } = failure;
    log.warn({ upstream, ...(status > 0 && { status }), cause }, text!);
  }
}

function textOf({ status }: ProbeFailure, isRefused: boolean): string {
  if (isRefused) return `probe was refused: the upstream is reachable, and answers ${status} to each of its keys`;
  if (status > 0) return `probe failed: the upstream is reachable, and answers ${status}`;
  return "probe failed: the upstream is not reachable";
}
