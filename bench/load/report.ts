import type { Result } from "./drive.ts";

export const TARGETS = ["bare", "gateway"] as const;
export type TargetName = (typeof TARGETS)[number];

/** One round: both proxies, one after the other, in both modes. */
export type Round = Readonly<Record<TargetName, { readonly json: Result; readonly sse: Result }>>;

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface Row {
  readonly name: string;
  readonly bare: Spread;
  readonly gateway: Spread;
  /** Gateway to bare, of the two that ran in the same round. */
  readonly ratio: Spread;
}

const METRICS: readonly (readonly [string, (target: Round[TargetName]) => number])[] = [
  ["CPU us/request", ({ json }) => json.cpu],
  ["requests/s", ({ json }) => json.count / json.seconds],
  ["CPU us/SSE chunk", ({ sse }) => sse.cpu],
  ["chunks/s", ({ sse }) => sse.count / sse.seconds],
  ["RSS MB after JSON", ({ json }) => json.residentBytes / 2 ** 20],
];

export function rowsOf(rounds: readonly Round[]): readonly Row[] {
  return METRICS.map(([name, of]) => ({
    name,
    bare: spread(rounds.map((round) => of(round.bare))),
    gateway: spread(rounds.map((round) => of(round.gateway))),
    ratio: spread(rounds.map((round) => of(round.gateway) / of(round.bare))),
  }));
}

/** @throws RangeError without values. */
export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const median = sorted[(sorted.length - 1) / 2];
  if (median === undefined) throw new RangeError("a median needs an odd number of values");
  return { median, min: sorted[0] ?? median, max: sorted.at(-1) ?? median };
}

export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map((row) => [row.name, format(row.bare, 1), format(row.gateway, 1), format(row.ratio, 2)]);
  const table = [["", ...TARGETS, "gateway/bare"], ...cells];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0))) ?? [];
  return table
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function format({ median, min, max }: Spread, digits: number): string {
  return `${median.toFixed(digits)} [${min.toFixed(digits)}-${max.toFixed(digits)}]`;
}
