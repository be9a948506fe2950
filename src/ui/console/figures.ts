import type { Figure } from "#schema";
import { nanoOf } from "./usage-sums.ts";

/** Live data of one second. */
export interface Second {
  /** Unix milliseconds. */
  readonly at: number;
  readonly requests: number;
  readonly inFlight: number;
  readonly streams: number;
  /** By code. */
  readonly errors: Readonly<Record<string, number>>;
  readonly ttftP95Ms: number | null;
  readonly overheadP95Ms: number | null;
  /** Billionths of a credit. */
  readonly spend: bigint;
}

export const KEPT_MS = 900_000;

export function secondOf(figure: Figure): Second {
  return {
    at: Date.parse(figure.at),
    requests: figure.requests_per_second,
    inFlight: figure.in_flight,
    streams: figure.streams,
    errors: figure.errors,
    ttftP95Ms: figure.ttft_ms.p95,
    overheadP95Ms: figure.overhead_ms.p95,
    spend: nanoOf(figure.spend_per_second),
  };
}

/** Each second once, the latest of what was told about it; those that are too old are dropped. */
export function keepNewest(all: readonly Second[]): readonly Second[] {
  const byTime = new Map(all.map((second) => [second.at, second]));
  const newest = Math.max(...byTime.keys());
  return [...byTime.values()].filter(({ at }) => at > newest - KEPT_MS).toSorted((a, b) => a.at - b.at);
}

/** The numbers on top of the overview. They cover several seconds, so that they do not jump. */
export interface Now {
  readonly requestsPerSecond: number;
  readonly inFlight: number;
  readonly streams: number;
  /** 0 to 1; null without requests. */
  readonly errorShare: number | null;
  readonly ttftP95Ms: number | null;
  readonly overheadP95Ms: number | null;
  /** Billionths of a credit, of all the time that is kept. */
  readonly spend: bigint;
}

const NOW_MS = 10_000;
/** Fewer requests have no percentile worth the name. */
const LONGER_MS = 60_000;

export function nowOf(seconds: readonly Second[]): Now | null {
  const last = seconds.at(-1);
  if (last === undefined) return null;
  const recent = seconds.filter(({ at }) => at > last.at - NOW_MS);
  const minute = seconds.filter(({ at }) => at > last.at - LONGER_MS);
  const requests = sum(minute, ({ requests }) => requests);
  return {
    requestsPerSecond: sum(recent, ({ requests }) => requests) / recent.length,
    inFlight: last.inFlight,
    streams: last.streams,
    errorShare: requests === 0 ? null : sum(minute, errorsOf) / requests,
    ttftP95Ms: weighted(minute, ({ ttftP95Ms }) => ttftP95Ms),
    overheadP95Ms: weighted(minute, ({ overheadP95Ms }) => overheadP95Ms),
    spend: seconds.reduce((total, { spend }) => total + spend, 0n),
  };
}

function errorsOf({ errors }: Second): number {
  return Object.values(errors).reduce((total, count) => total + count, 0);
}

function sum(seconds: readonly Second[], of: (second: Second) => number): number {
  return seconds.reduce((total, second) => total + of(second), 0);
}

/** The mean of the seconds' percentiles by their requests: they cannot be added up, and this is near. */
function weighted(seconds: readonly Second[], of: (second: Second) => number | null): number | null {
  let [total, weight] = [0, 0];
  for (const second of seconds) {
    const value = of(second);
    if (value === null) continue;
    const own = Math.max(1, second.requests);
    total += value * own;
    weight += own;
  }
  return weight === 0 ? null : total / weight;
}

/** Chart data: one point per few seconds, so that 15 minutes fit on a phone. */
export interface Drawn {
  readonly times: readonly number[];
  readonly requestsPerSecond: readonly (number | null)[];
  readonly errors: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
  readonly ttftP95Ms: readonly (number | null)[];
  readonly overheadP95Ms: readonly (number | null)[];
  readonly spend: readonly (number | null)[];
  readonly streams: readonly (number | null)[];
  readonly inFlight: readonly (number | null)[];
}

export const STEP_MS = 10_000;
const MAX_CODES_COUNT = 6;
const NANO_PER_CREDIT = 1e9;

/** Whole steps only: one that has just begun would look like a fall. */
export function drawnOf(seconds: readonly Second[]): Drawn {
  const last = seconds.at(-1)?.at ?? 0;
  const steps = Map.groupBy(seconds, ({ at }) => Math.floor((at - 1) / STEP_MS) * STEP_MS + STEP_MS);
  const end = Math.floor(last / STEP_MS) * STEP_MS;
  const first = Math.ceil((seconds[0]?.at ?? 0) / STEP_MS) * STEP_MS;
  const count = seconds.length === 0 ? 0 : Math.max(0, (end - first) / STEP_MS + 1);
  const times = Array.from({ length: count }, (_, index) => first + index * STEP_MS);
  const own = times.map((at) => steps.get(at) ?? []);
  const each = (of: (seconds: readonly Second[]) => number | null) =>
    own.map((step) => (step.length === 0 ? null : of(step)));
  return {
    times,
    requestsPerSecond: each((step) => sum(step, ({ requests }) => requests) / step.length),
    errors: codesOf(seconds).map(({ name, codes }) => ({
      name,
      values: each((step) => sum(step, ({ errors }) => codes.reduce((total, code) => total + (errors[code] ?? 0), 0))),
    })),
    ttftP95Ms: each((step) => weighted(step, ({ ttftP95Ms }) => ttftP95Ms)),
    overheadP95Ms: each((step) => weighted(step, ({ overheadP95Ms }) => overheadP95Ms)),
    spend: each((step) => Number(step.reduce((total, { spend }) => total + spend, 0n)) / NANO_PER_CREDIT),
    streams: each((step) => step.at(-1)!.streams),
    inFlight: each((step) => step.at(-1)!.inFlight),
  };
}

/** The most frequent ones, and the others in one. */
function codesOf(seconds: readonly Second[]): readonly { readonly name: string; readonly codes: readonly string[] }[] {
  const counts = new Map<string, number>();
  for (const { errors } of seconds) {
    for (const [code, count] of Object.entries(errors)) counts.set(code, (counts.get(code) ?? 0) + count);
  }
  const codes = [...counts].toSorted(([, a], [, b]) => b - a).map(([code]) => code);
  const shown = codes.slice(0, MAX_CODES_COUNT).map((code) => ({ name: code, codes: [code] }));
  const others = codes.slice(MAX_CODES_COUNT);
  return others.length === 0 ? shown : [...shown, { name: "others", codes: others }];
}
