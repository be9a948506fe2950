import type { Target } from "../../kit/index.ts";

const WEIGHT = 0.2;
/** A target that is never chosen would keep its old figure for ever: it halves in this time, until it is tried again. */
const HALF_LIFE = 60_000;

/** Time to first byte by target: exponentially weighted mean in milliseconds, fading with age. */
export class Latencies {
  readonly #now: () => number;
  readonly #samples = new Map<string, { mean: number; at: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  record(target: Target, measured: number): void {
    const at = this.#now();
    // 0 means unknown, and the clock counts whole milliseconds.
    const latency = Math.max(1, measured);
    const sample = this.#samples.get(targetKey(target));
    if (!sample) this.#samples.set(targetKey(target), { mean: latency, at });
    else Object.assign(sample, { mean: sample.mean + WEIGHT * (latency - sample.mean), at });
  }

  /** 0 for a target nobody has tried. */
  of(target: Target): number {
    const sample = this.#samples.get(targetKey(target));
    return sample ? sample.mean * 0.5 ** (Math.max(0, this.#now() - sample.at) / HALF_LIFE) : 0;
  }

  /** Forgets the upstreams for which `known` is false. */
  prune(known: (upstream: string) => boolean): void {
    for (const key of this.#samples.keys()) if (!known(key.slice(0, key.indexOf("\n")))) this.#samples.delete(key);
  }
}

/** Identifies a target across configurations. */
export function targetKey(target: Target): string {
  return `${target.upstream}\n${target.model}`;
}
