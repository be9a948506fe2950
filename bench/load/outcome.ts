import type { Result } from "./drive.ts";
import { PINNED } from "./processes.ts";
import { rowsOf, tableOf } from "./report.ts";
import type { Metric, Round } from "./report.ts";

export interface Outcome<Name extends string, Measured> {
  readonly rounds: readonly Round<Name, Measured>[];
  readonly metrics: readonly Metric<Measured>[];
  readonly names: readonly Name[];
  readonly ratios: readonly (readonly [Name, Name])[];
  /** The answers behind what was measured. */
  readonly results: (measured: Measured) => readonly Result[];
  /** Beside the figures, when they are JSON. */
  readonly about?: Readonly<Record<string, string>>;
  readonly json: boolean;
}

/** Prints the figures on stdout, as a table or as JSON; what disturbs them on stderr. Wrong answers make the exit code 1. */
export function report<Name extends string, Measured>(outcome: Outcome<Name, Measured>): void {
  const { rounds, metrics, names, ratios, results, about, json } = outcome;
  const rows = rowsOf(rounds, metrics, names, ratios);
  const all = rounds.flatMap((round) => names.flatMap((name) => results(round[name])));
  const bad = all.reduce((sum, result) => sum + result.bad, 0);
  const whole = { node: process.version, ...about, pinned: PINNED, rows, bad };
  process.stdout.write(json ? `${JSON.stringify(whole)}\n` : `${tableOf(rows)}\n`);
  if (!PINNED) process.stderr.write("not pinned: no taskset, or one CPU; the figures include each other's work\n");
  if (bad === 0) return;
  process.stderr.write(`${bad} wrong answers, such as: ${all.find((result) => result.bad > 0)?.sample}\n`);
  process.exitCode = 1;
}
