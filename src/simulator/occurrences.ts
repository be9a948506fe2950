import { hash } from "node:crypto";
import type { Script } from "./script.ts";

/** Counts requests by script, for `fail_times` and `fail_ratio`. */
export class Occurrences {
  readonly #seen = new Map<string, number>();

  /** Whether the script's faults hit this request. A probe (`counted` false) looks without using one up. */
  hits(script: Script, counted: boolean): boolean {
    if (script.fail_times === undefined && script.fail_ratio === undefined) return true;
    const name = script.name ?? JSON.stringify(script);
    const seen = this.#seen.get(name) ?? 0;
    if (counted) this.#seen.set(name, seen + 1);
    return seen < (script.fail_times ?? Infinity) && chance(`${script.seed ?? ""}:${seen}`) < (script.fail_ratio ?? 1);
  }
}

/** A number in [0, 1) that depends on nothing but `of`. */
function chance(of: string): number {
  return Number.parseInt(hash("sha256", of).slice(0, 8), 16) / 2 ** 32;
}
