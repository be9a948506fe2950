export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** One side of a comparison. */
export interface Side {
  readonly name: string;
  readonly values: readonly number[];
}

/** One line of the table, measured round by round. */
export interface Comparison {
  /** Of the table. */
  readonly row: number;
  readonly what: string;
  readonly unit: string;
  /** What it is compared with; null: nothing. */
  readonly reference: Side | null;
  readonly measured: Side;
  /** Said in place of figures: why there are none. */
  readonly absent?: string;
}

export interface Line {
  readonly row: number;
  readonly what: string;
  readonly unit: string;
  readonly reference: ({ readonly name: string } & Spread) | null;
  readonly measured: ({ readonly name: string } & Spread) | null;
  /** Of the two in the same round. */
  readonly ratio: Spread | null;
  readonly absent: string | null;
}

export function lineOf({ row, what, unit, reference, measured, absent }: Comparison): Line {
  if (absent !== undefined) return { row, what, unit, reference: null, measured: null, ratio: null, absent };
  const ratios = reference?.values.map((value, round) => (measured.values[round] ?? NaN) / value);
  return {
    row,
    what,
    unit,
    reference: reference && { name: reference.name, ...spread(reference.values) },
    measured: { name: measured.name, ...spread(measured.values) },
    ratio: ratios === undefined ? null : spread(ratios),
    absent: null,
  };
}

/** @throws RangeError for an even number of values. */
export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const median = sorted[(sorted.length - 1) / 2];
  if (median === undefined) throw new RangeError("a median needs an odd number of values");
  return { median, min: sorted[0] ?? median, max: sorted.at(-1) ?? median };
}

export function tableOf(lines: readonly Line[]): string {
  const cells = lines.map(({ row, what, unit, reference, measured, ratio, absent }) => [
    String(row),
    what,
    unit,
    absent ?? sideOf(reference),
    sideOf(measured),
    ratio === null ? "" : formatOf(ratio, 2),
  ]);
  return linesOf([["row", "what", "unit", "against", "measured", "ratio"], ...cells]);
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

function sideOf(side: Line["measured"]): string {
  return side === null ? "" : `${side.name} ${formatOf(side, Math.abs(side.median) < 100 ? 1 : 0)}`;
}

function formatOf(of: Spread, digits: number): string {
  const { median, min, max } = of;
  if (min === max) return median.toFixed(digits);
  return `${median.toFixed(digits)} [${min.toFixed(digits)}-${max.toFixed(digits)}]`;
}
