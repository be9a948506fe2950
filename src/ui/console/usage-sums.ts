import type { UsageRow } from "#schema";

export type Dimension = "model" | "upstream" | "tier" | "user" | "key";
export type Measure = "cost" | "requests" | "failed" | "tokens";

/** Totals over all periods. */
export interface Total {
  /** Empty: of what has none, as a request that no upstream served. */
  readonly name: string;
  readonly requests: number;
  readonly failed: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
  /** An exact decimal. */
  readonly cost: string;
}

const NANO_DIGITS = 9;

/** An exact decimal as an integer of billionths. */
export function nanoOf(exact: string): bigint {
  const [whole = "0", fraction = ""] = exact.replace(/^-/, "").split(".");
  const nano = BigInt(whole + fraction.slice(0, NANO_DIGITS).padEnd(NANO_DIGITS, "0"));
  return exact.startsWith("-") ? -nano : nano;
}

export function decimalOf(nano: bigint): string {
  const text = (nano < 0n ? -nano : nano).toString().padStart(NANO_DIGITS + 1, "0");
  const cut = text.length - NANO_DIGITS;
  const fraction = text.slice(cut).replace(/0+$/, "");
  return `${nano < 0n ? "-" : ""}${text.slice(0, cut)}${fraction === "" ? "" : `.${fraction}`}`;
}

/** Money is added up exactly, as it was charged. */
export function addUp(rows: readonly UsageRow[], name = ""): Total {
  const sum = (field: "requests" | "failed" | `${"prompt" | "completion" | "cached" | "reasoning"}_tokens`): number =>
    rows.reduce((total, row) => total + row[field], 0);
  return {
    name,
    requests: sum("requests"),
    failed: sum("failed"),
    prompt_tokens: sum("prompt_tokens"),
    completion_tokens: sum("completion_tokens"),
    cached_tokens: sum("cached_tokens"),
    reasoning_tokens: sum("reasoning_tokens"),
    cost: decimalOf(rows.reduce((total, { cost }) => total + nanoOf(cost), 0n)),
  };
}

function nameIn(row: UsageRow, by: Dimension): string {
  const { model, upstream, tier, user_id: user, key_id: key } = row;
  return { model, upstream, tier, user, key }[by] ?? "";
}

/** A sum for each model, upstream, plan, user or key; what cost the most first. */
export function groupsOf(rows: readonly UsageRow[], by: Dimension): readonly Total[] {
  const groups = Map.groupBy(rows, (row) => nameIn(row, by));
  return [...groups]
    .map(([name, own]) => addUp(own, name))
    .toSorted((a, b) => Number(nanoOf(b.cost) - nanoOf(a.cost)) || b.requests - a.requests);
}

/** More of them could not be told apart. */
const MAX_SERIES_COUNT = 7;
const PERIOD_MS = { day: 86_400_000, hour: 3_600_000 };
/** A longer time has gaps in place of its empty periods. */
const MAX_PERIODS_COUNT = 1_000;

export interface Periods {
  readonly per: "day" | "hour";
  /** Requested period, in Unix milliseconds. */
  readonly from: number;
  readonly to: number;
}

interface Stack {
  readonly times: readonly number[];
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[];
}

/** The largest ones, and the others in one; periods in which nothing was used are 0. */
export function seriesOf(
  rows: readonly UsageRow[],
  totals: readonly Total[],
  by: Dimension,
  measure: Measure,
  { per, from, to }: Periods,
): Stack {
  const times = periodsOf(rows, PERIOD_MS[per], [from, to]);
  const index = new Map(times.map((at, position) => [at, position]));
  const largest = totals.toSorted((a, b) => valueOf(b, measure) - valueOf(a, measure));
  const own = largest.length > MAX_SERIES_COUNT + 1 ? largest.slice(0, MAX_SERIES_COUNT) : largest;
  const names = new Map(own.map(({ name }, position) => [name, position]));
  const values = [...own, null].map(() => times.map(() => 0));
  for (const row of rows) {
    const series = values[names.get(nameIn(row, by)) ?? own.length]!;
    series[index.get(Date.parse(row.start))!]! += valueOf(row, measure);
  }
  const series = own.map(({ name }, position) => ({ name: name || "none", values: values[position]! }));
  return {
    times,
    series: own.length < largest.length ? [...series, { name: "others", values: values[own.length]! }] : series,
  };
}

function periodsOf(
  rows: readonly UsageRow[],
  stepMs: number,
  [from, to]: readonly [number, number],
): readonly number[] {
  const known = [...new Set(rows.map(({ start }) => Date.parse(start)))].toSorted((a, b) => a - b);
  const first = Math.min(known[0] ?? Infinity, Math.floor(from / stepMs) * stepMs);
  const last = Math.max(known.at(-1) ?? -Infinity, Math.ceil(to / stepMs) * stepMs - stepMs);
  const count = (last - first) / stepMs + 1;
  if (count > MAX_PERIODS_COUNT || !Number.isInteger(count)) return known;
  return Array.from({ length: count }, (_, position) => first + position * stepMs);
}

function valueOf(row: Omit<Total, "name">, measure: Measure): number {
  switch (measure) {
    case "requests":
      return row.requests;
    case "failed":
      return row.failed;
    case "tokens":
      return row.prompt_tokens + row.completion_tokens;
    default:
      return Number(row.cost);
  }
}
