import { isJson } from "../kit/index.ts";

/** Units that fitting a schema may come to beyond a few times its weight: what references and unions repeat. */
const MOST_REPEATED_UNITS = 10_000;
/** How often each value of a schema that repeats nothing is looked at, at most. */
const LOOKS = 4;
/** Characters of a text that are as much work as one value. */
const CHARACTERS_A_UNIT = 16;

/**
 * How much work one schema may be, in values looked at. A few hundred kilobytes of references and unions can stand for
 * more than any memory holds: whoever walks a schema pays here, and stops when nothing is left.
 */
export class Work {
  readonly #most: number;
  #done = 0;

  constructor(schema: unknown) {
    this.#most = LOOKS * weightOf(schema) + MOST_REPEATED_UNITS;
  }

  /** Values looked at, for tests. */
  get done(): number {
    return this.#done;
  }

  get over(): boolean {
    return this.#done > this.#most;
  }

  /** @returns whether it may still be done. */
  spend(units: number): boolean {
    this.#done += units;
    return !this.over;
  }
}

/** The values in a value and itself; long texts count as several. */
export function weightOf(value: unknown): number {
  if (typeof value === "string") return 1 + Math.floor(value.length / CHARACTERS_A_UNIT);
  if (Array.isArray(value)) {
    let weight = 1;
    for (const item of value as readonly unknown[]) weight += weightOf(item);
    return weight;
  }
  if (!isJson(value)) return 1;
  let weight = 1;
  for (const name in value) weight += weightOf(value[name]) + Math.floor(name.length / CHARACTERS_A_UNIT);
  return weight;
}
