import { expect, test } from "vitest";
import {
  drawnOf,
  keepNewest,
  KEPT_MS,
  nowOf,
  type Second,
  secondOf,
  STEP_MS,
} from "../../../src/ui/console/figures.ts";

const START = Date.UTC(2026, 10, 23, 12);

function second(at: number, more: Partial<Second> = {}): Second {
  const times = { ttftP95Ms: null, overheadP95Ms: null };
  return { at: START + at, requests: 0, inFlight: 0, streams: 0, errors: {}, spend: 0n, ...times, ...more };
}

test("an event is one second, its money exact", () => {
  const percentiles = { p50: 1, p95: 2 };
  const figure = {
    at: new Date(START).toISOString(),
    requests_per_second: 3,
    in_flight: 2,
    streams: 1,
    errors: { RATE_LIMIT_ERROR: 1 },
    ttft_ms: percentiles,
    overhead_ms: { p50: null, p95: null },
    spend_per_second: "0.000000001",
  };
  const told = second(0, { requests: 3, inFlight: 2, streams: 1, errors: figure.errors, ttftP95Ms: 2, spend: 1n });
  expect(secondOf(figure)).toEqual(told);
});

test("a second that is told twice counts once, the latest of it; what is too old goes", () => {
  const kept = keepNewest([second(-KEPT_MS), second(1000, { requests: 1 }), second(0), second(1000, { requests: 2 })]);
  expect(kept.map(({ at, requests }) => [at - START, requests])).toEqual([
    [0, 0],
    [1000, 2],
  ]);
});

test("the numbers are of the last seconds", () => {
  expect(nowOf([])).toBeNull();
  const old = second(-120_000, { requests: 1000, errors: { X: 1000 }, spend: 5n });
  const recent = Array.from({ length: 10 }, (_, index) =>
    second(index * 1000, {
      requests: 4,
      inFlight: index,
      ttftP95Ms: 100,
      errors: index === 0 ? { X: 10 } : {},
      spend: 1n,
    }),
  );
  const now = nowOf([old, ...recent])!;
  expect(now).toMatchObject({ requestsPerSecond: 4, inFlight: 9, errorShare: 0.25, ttftP95Ms: 100, spend: 15n });
  expect(now.overheadP95Ms).toBeNull();
  expect(nowOf([second(0)])!.errorShare).toBeNull();
});

test("percentiles of busy seconds weigh more", () => {
  const now = nowOf([second(0, { requests: 1, ttftP95Ms: 1000 }), second(1000, { requests: 99, ttftP95Ms: 0 })]);
  expect(now!.ttftP95Ms).toBeCloseTo(10);
});

test("a chart has a point for each whole step, and gaps where nothing was told", () => {
  const told = Array.from({ length: 35 }, (_, index) => index * 1000 + 1000).filter(
    (at) => at <= 10_000 || at > 20_000,
  );
  const drawn = drawnOf(told.map((at) => second(at, { requests: 2, spend: 1_000_000_000n })));
  expect(drawn.times.map((at) => at - START)).toEqual([STEP_MS, 2 * STEP_MS, 3 * STEP_MS]);
  expect(drawn.requestsPerSecond).toEqual([2, null, 2]);
  expect(drawn.spend).toEqual([10, null, 10]);
  expect(drawnOf([]).times).toEqual([]);
});

test("the most frequent errors are drawn by their code, the rest as others", () => {
  const errors = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`CODE_${index}`, index + 1]));
  const drawn = drawnOf([second(5000, { errors }), second(10_000)]);
  expect(drawn.errors.map(({ name }) => name)).toEqual([
    ...[8, 7, 6, 5, 4, 3].map((index) => `CODE_${index}`),
    "others",
  ]);
  expect(drawn.errors.at(-1)!.values).toEqual([6]);
});
