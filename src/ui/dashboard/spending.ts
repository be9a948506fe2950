import type { UsageRow } from "../shared/api.ts";

export const DAY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;

/** Usage as chart data: times without gaps, and one series per model. */
export interface Spread {
  readonly times: readonly number[];
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[];
}

const OTHERS = "others";

/**
 * Rows as series over time. Periods without a row are 0; beyond `maxSeries` models those with the least are put together.
 *
 * @param from,to Unix milliseconds; the periods that begin between them
 */
export function spread(
  rows: readonly UsageRow[],
  valueOf: (row: UsageRow) => number,
  { from, to, stepMs, maxSeries }: { from: number; to: number; stepMs: number; maxSeries: number },
): Spread {
  const first = Math.floor(from / stepMs) * stepMs;
  const count = Math.max(0, Math.ceil((to - first) / stepMs));
  const times = Array.from({ length: count }, (_, index) => first + index * stepMs);
  const byModel = Map.groupBy(rows, ({ model }) => model ?? "all models");
  const sums = [...byModel]
    .map(([name, own]) => ({ name, own, sum: own.reduce((sum, row) => sum + valueOf(row), 0) }))
    .toSorted((left, right) => right.sum - left.sum);
  const kept = sums.length > maxSeries ? sums.slice(0, maxSeries - 1) : sums;
  const merged = sums.slice(kept.length).flatMap(({ own }) => own);
  const all = merged.length > 0 ? [...kept, { name: OTHERS, own: merged }] : kept;
  return {
    times,
    series: all.map(({ name, own }) => {
      const values = times.map(() => 0);
      for (const row of own) {
        const index = Math.floor((Date.parse(row.start) - first) / stepMs);
        if (index >= 0 && index < values.length) values[index] = (values[index] ?? 0) + valueOf(row);
      }
      return { name, values };
    }),
  };
}

/** Amounts are texts, which a double would round: they are added as whole numbers of the smallest part. */
export function addAmounts(amounts: readonly string[]): string {
  const digits = Math.max(0, ...amounts.map((amount) => amount.split(".")[1]?.length ?? 0));
  const sum = amounts.reduce((total, amount) => {
    const [whole = "0", fraction = ""] = amount.split(".");
    return total + BigInt(`${whole}${fraction.padEnd(digits, "0")}`);
  }, 0n);
  if (digits === 0) return sum.toString();
  const text = (sum < 0n ? -sum : sum).toString().padStart(digits + 1, "0");
  return `${sum < 0n ? "-" : ""}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** The rows of each model as one, the dearest first. */
export function totalsByModel(rows: readonly UsageRow[]): readonly UsageRow[] {
  const totals = [...Map.groupBy(rows, ({ model }) => model ?? "all models")].map(([model, own]) => {
    const sum = (of: (row: UsageRow) => number): number => own.reduce((total, row) => total + of(row), 0);
    return {
      start: own[0]!.start,
      model,
      requests: sum(({ requests }) => requests),
      failed: sum(({ failed }) => failed),
      prompt_tokens: sum((row) => row.prompt_tokens),
      completion_tokens: sum((row) => row.completion_tokens),
      cached_tokens: sum((row) => row.cached_tokens),
      reasoning_tokens: sum((row) => row.reasoning_tokens),
      cost: addAmounts(own.map(({ cost }) => cost)),
    };
  });
  return totals.toSorted((left, right) => Number(right.cost) - Number(left.cost) || right.requests - left.requests);
}
