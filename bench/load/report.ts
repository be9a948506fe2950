export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** One round: every target, one after the other. */
export type Round<Name extends string, Measured> = Readonly<Record<Name, Measured>>;

/** A figure; null of a target that has none. */
export interface Metric<Measured> {
  readonly name: string;
  readonly of: (measured: Measured) => number | null;
}

export interface Row<Name extends string> {
  readonly name: string;
  readonly targets: Readonly<Record<Name, Spread | null>>;
  /** By `one/other`: of the two in the same round. */
  readonly ratios: Readonly<Record<string, Spread | null>>;
}

export function rowsOf<Name extends string, Measured>(
  rounds: readonly Round<Name, Measured>[],
  metrics: readonly Metric<Measured>[],
  names: readonly Name[],
  ratios: readonly (readonly [Name, Name])[],
): readonly Row<Name>[] {
  return metrics.map(({ name, of }) => ({
    name,
    targets: Object.fromEntries(
      names.map((target) => [target, spreadOf(rounds.map((round) => of(round[target])))]),
    ) as Record<Name, Spread | null>,
    ratios: Object.fromEntries(
      ratios.map(([one, other]) => [
        `${one}/${other}`,
        spreadOf(rounds.map((round) => quotient(of(round[one]), of(round[other])))),
      ]),
    ),
  }));
}

/** @throws RangeError for an even number of values. */
export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const median = sorted[(sorted.length - 1) / 2];
  if (median === undefined) throw new RangeError("a median needs an odd number of values");
  return { median, min: sorted[0] ?? median, max: sorted.at(-1) ?? median };
}

export function tableOf<Name extends string>(rows: readonly Row<Name>[]): string {
  const [first] = rows;
  if (first === undefined) return "";
  const head = ["", ...Object.keys(first.targets), ...Object.keys(first.ratios)];
  const cells = rows.map(({ name, targets, ratios }) => [
    name,
    ...Object.values<Spread | null>(targets).map((of) => format(of, 1)),
    ...Object.values(ratios).map((of) => format(of, 2)),
  ]);
  return linesOf([head, ...cells]);
}

/** Columns as wide as their widest cell. */
export function linesOf(table: readonly (readonly string[])[]): string {
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

function spreadOf(values: readonly (number | null)[]): Spread | null {
  return values.every((value) => value !== null) ? spread(values) : null;
}

function quotient(of: number | null, by: number | null): number | null {
  return of === null || by === null ? null : of / by;
}

function format(of: Spread | null, digits: number): string {
  if (of === null) return "n/a";
  return `${of.median.toFixed(digits)} [${of.min.toFixed(digits)}-${of.max.toFixed(digits)}]`;
}
