import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type FigurePoint, Figures, MAX_POINTS, mergePoints, percentile } from "../../src/telemetry/figures.ts";
import { exchange, outcome } from "./support.ts";

const NUM_RUNS = Number(process.env["NUM_RUNS"] ?? 200);
const START = 1_700_000_000_000;

function setup() {
  const state = { now: START + 300, inFlight: 0, streams: 0 };
  const figures = new Figures({
    now: () => state.now,
    inFlight: () => state.inFlight,
    streams: () => state.streams,
  });
  const second = (): void => {
    state.now += 1_000;
    figures.tick();
  };
  return { figures, state, second };
}

describe("a second", () => {
  test("has what came in it: requests, errors, times and charges", () => {
    const { figures, state, second } = setup();
    const [first, failed] = [outcome(), outcome({ kind: "failed", status: 502, code: "PROVIDER_ERROR", target: null })];
    const { receivedAt } = exchange();
    const attempts = [{ start: 2, end: 90 }] as never;
    const timeline = { waited: 1, firstEvent: 80, end: 95, attempts };
    figures.finished({ receivedAt }, { ...first, firstEventAt: receivedAt + 80, timeline });
    figures.finished({ receivedAt }, { ...failed, bill: { ...failed.bill, charge: 0n } });
    figures.refused("RATE_LIMIT_ERROR");
    figures.refused("RATE_LIMIT_ERROR");
    figures.refused(null);
    Object.assign(state, { inFlight: 7, streams: 3 });
    second();
    const [point] = figures.since(0);
    expect(point).toMatchObject({
      at: START + 1_000,
      requests: 5,
      in_flight: 7,
      streams: 3,
      errors: { PROVIDER_ERROR: 1, RATE_LIMIT_ERROR: 2 },
      spend: String(first.bill.charge),
    });
    expect(percentile(point!.ttft, 0.5)).toBeCloseTo(80, -1);
    expect(percentile(point!.overhead, 0.95)! / 6).toBeCloseTo(1, 0);
    second();
    expect(figures.since(START + 1_000)).toEqual([
      { at: START + 2_000, requests: 0, in_flight: 7, streams: 3, errors: {}, ttft: [], overhead: [], spend: "0" },
    ]);
  });

  test("is told once by an early timer, and again when the clock was set back", () => {
    const { figures, state, second } = setup();
    second();
    state.now += 600;
    figures.tick();
    figures.tick();
    expect(figures.since(0)).toHaveLength(1);
    state.now -= 60_000;
    figures.tick();
    expect(figures.since(0)).toHaveLength(2);
  });

  test("is kept for a quarter of an hour", () => {
    const { figures, second } = setup();
    for (let count = 0; count < MAX_POINTS + 5; count += 1) second();
    const points = figures.since(0);
    expect(points).toHaveLength(MAX_POINTS);
    expect(points[0]!.at).toBe(START + 6_000);
    expect(figures.since(points.at(-1)!.at)).toEqual([]);
  });
});

test("percentiles are within 10 % of those of what was measured", () => {
  const times = fc.array(fc.double({ min: 0.01, max: 600_000, noNaN: true }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(times, fc.constantFrom(0.5, 0.95), (measured, share) => {
      const { figures, second } = setup();
      const { receivedAt } = exchange();
      for (const ms of measured) figures.finished({ receivedAt: 0 }, outcome({ firstEventAt: ms }));
      second();
      const exact = measured.toSorted((a, b) => a - b)[Math.ceil(share * measured.length) - 1]!;
      const told = percentile(figures.since(0)[0]!.ttft, share)!;
      expect(told / exact).toBeGreaterThan(0.9);
      expect(told / exact).toBeLessThan(1.11);
      expect(receivedAt).toBeGreaterThan(0);
    }),
    { numRuns: NUM_RUNS },
  );
});

test("several processes together are what one process would have counted", () => {
  const requests = fc.array(
    fc.record({
      process: fc.nat(2),
      ms: fc.integer({ min: 1, max: 60_000 }),
      code: fc.constantFrom(null, "A", "B"),
      second: fc.nat(3),
    }),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(requests, (all) => {
      const one = setup();
      const several = [setup(), setup(), setup()];
      for (let second = 0; second <= 3; second += 1) {
        for (const { process, ms, code } of all.filter((request) => request.second === second)) {
          for (const { figures } of [one, several[process]!]) {
            figures.finished({ receivedAt: 0 }, outcome({ firstEventAt: ms, code: code as never }));
          }
        }
        for (const { second: over } of [one, ...several]) over();
      }
      const merged = mergePoints(several.map(({ figures }) => figures.since(0)));
      expect(JSON.parse(JSON.stringify(merged)) as FigurePoint[]).toEqual(one.figures.since(0));
    }),
    { numRuns: NUM_RUNS },
  );
});

test("without measurements there is no percentile", () => {
  expect(percentile([], 0.5)).toBe(null);
});
