import { hash } from "node:crypto";
import { type Call, type ChainStep, refusedReference, type Snapshot, type Target } from "../../kit/index.ts";

/** Share of requests that try another target first, so that one which became faster is noticed. */
const EXPLORATION_SHARE = 0.05;

interface BalanceOptions {
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Expected time to first byte in milliseconds; 0 when unknown. */
  readonly latency: (target: Target) => number;
}

/** The targets of a step in the order in which to try them; `userId` decides where a sticky step begins. */
export function orderTargets(step: ChainStep, userId: string, options: BalanceOptions): readonly Target[] {
  if (step.targets.length < 2) return step.targets;
  switch (step.balance) {
    case "single":
      return step.targets;
    case "weighted":
      return byRank(step.targets, (target) => rank(options.random(), target.weight));
    case "latency":
      return byLatency(step.targets, options);
    case "sticky":
      return byRank(step.targets, (target) => rank(uniform(`${userId}\n${targetKey(target)}`), target.weight));
  }
}

/** The step with the targets that may be sent what the call names; the others are passed over. */
export function taking(step: ChainStep, call: Call, { upstreams }: Pick<Snapshot, "upstreams">): ChainStep {
  if (call.references === undefined) return step;
  const targets = step.targets.filter(({ upstream }) => refusedReference(call, upstreams[upstream] ?? {}) === null);
  return { ...step, targets };
}

/**
 * Sorted by this, each target comes first in proportion to its weight, and so on among the others: weighted drawing
 * without replacement for random numbers, rendezvous hashing for hashed ones.
 */
function rank(uniformNumber: number, weight: number): number {
  return weight > 0 ? -Math.log(1 - uniformNumber) / weight : Infinity;
}

function byRank(targets: readonly Target[], of: (target: Target) => number): readonly Target[] {
  return targets
    .map((target) => ({ target, rank: of(target) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : Number(a.rank > b.rank)))
    .map(({ target }) => target);
}

function byLatency(targets: readonly Target[], { random, latency }: BalanceOptions): readonly Target[] {
  const ordered = byRank(targets, latency);
  if (random() >= EXPLORATION_SHARE) return ordered;
  const explored = 1 + Math.floor(random() * (ordered.length - 1));
  return [...ordered.slice(explored, explored + 1), ...ordered.slice(0, explored), ...ordered.slice(explored + 1)];
}

/** A number in [0, 1) that is the same for the same text on every instance. */
export function uniform(text: string): number {
  return Number.parseInt(hash("sha256", text, "hex").slice(0, 13), 16) / 2 ** 52;
}

const MEAN_WEIGHT = 0.2;
/** The latency of a target halves in this time, so that one which was slow once is tried again. */
const HALF_LIFE_MS = 60_000;

interface Sample {
  mean: number;
  /** Unix milliseconds. */
  at: number;
  /** Its upstream was none of any configuration's for a while. */
  forgotten: boolean;
}

/** Time to first byte by target: exponentially weighted mean in milliseconds, fading with age. */
export class Latencies {
  readonly #now: () => number;
  readonly #samples = new Map<string, Sample>();
  readonly #byTarget = new WeakMap<Target, Sample>();

  constructor(now: () => number) {
    this.#now = now;
  }

  record(target: Target, measured: number, at = this.#now()): void {
    // 0 means unknown, and the clock counts whole milliseconds.
    const latency = Math.max(1, measured);
    const sample = this.#sampleOf(target);
    if (sample === null) {
      this.#samples.set(targetKey(target), { mean: latency, at, forgotten: false });
      return;
    }
    sample.mean += MEAN_WEIGHT * (latency - sample.mean);
    sample.at = at;
  }

  /** Milliseconds; 0 for a target that was never tried. */
  of(target: Target): number {
    const sample = this.#sampleOf(target);
    return sample ? sample.mean * 0.5 ** (Math.max(0, this.#now() - sample.at) / HALF_LIFE_MS) : 0;
  }

  /** By the target as this configuration has it first: making its key takes longer than all else here. */
  #sampleOf(target: Target): Sample | null {
    const known = this.#byTarget.get(target);
    if (known !== undefined && !known.forgotten) return known;
    const sample = this.#samples.get(targetKey(target)) ?? null;
    if (sample !== null) this.#byTarget.set(target, sample);
    return sample;
  }

  /** Forgets the upstreams for which `known` is false. */
  prune(known: (upstream: string) => boolean): void {
    for (const [key, sample] of this.#samples) {
      if (known(key.slice(0, key.indexOf("\n")))) continue;
      sample.forgotten = true;
      this.#samples.delete(key);
    }
  }
}

/** Identifies a target across configurations. */
function targetKey(target: Target): string {
  return `${target.upstream}\n${target.model}`;
}
