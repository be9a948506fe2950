import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ShedSettings, Tier } from "../../src/kit/index.ts";
import { type Load, Shedder } from "../../src/gateway/shedding.ts";
import { type LogLine, memoryLog } from "../server/support.ts";
import { testSnapshot, testTier } from "../support/snapshot.ts";

const MIB = 1024 * 1024;
const SHED: ShedSettings = { loopDelay: 200, heap: { share: 0.85 } };
const IDLE: Load = { loopDelay: 1, heapUsed: 100 * MIB, heapLimit: 1_000 * MIB };
const LATE: Load = { ...IDLE, loopDelay: 201 };
const FULL: Load = { ...IDLE, heapUsed: 851 * MIB };
/** Neither beyond a bound nor well below it. */
const BETWEEN: Load = { ...IDLE, loopDelay: 150 };

interface Options {
  readonly shed?: ShedSettings | null;
  readonly tiers?: readonly (string | Tier)[];
}

function shedding({ shed = SHED, tiers = ["Free", "Lite", "Max"] }: Options = {}) {
  const all = tiers.map((tier) => (typeof tier === "string" ? testTier(tier) : tier));
  const base = testSnapshot({ tiers: all });
  const snapshot = { ...base, server: { ...base.server, shed } };
  const lines: LogLine[] = [];
  const shedder = new Shedder({ snapshot: () => snapshot, log: memoryLog(lines) });
  /** @returns how many of so many requests of each plan are refused. */
  const send = (requests: Readonly<Record<string, number>>): Record<string, number> =>
    Object.fromEntries(
      Object.entries(requests).map(([tier, count]) => {
        const refused = Array.from({ length: count }, () => shedder.refusal(tier)).filter((one) => one !== null);
        return [tier, refused.length];
      }),
    );
  const ask = (): string[] => all.map(({ name }) => name).filter((tier) => shedder.refusal(tier) !== null);
  return { shedder, snapshot, lines, send, ask };
}

test("a process within its bounds refuses nobody, however many ask; without server.shed none ever does", () => {
  const { shedder, ask } = shedding();
  for (let second = 0; second < 5; second += 1) {
    expect(ask()).toEqual([]);
    shedder.observe(BETWEEN);
  }
  const off = shedding({ shed: null });
  off.shedder.observe({ ...FULL, loopDelay: 10_000 });
  expect(off.ask()).toEqual([]);
  expect([...off.shedder.counts()]).toEqual([]);
});

test.each([
  ["late", LATE],
  ["full", FULL],
])("a process that is %s refuses the lowest class whole", (_, load) => {
  const { shedder, send } = shedding();
  shedder.observe(load);
  expect(send({ Free: 50, Lite: 50, Max: 50 })).toEqual({ Free: 50, Lite: 0, Max: 0 });
});

test("a bound on the heap may be a size; either bound may be left out", () => {
  const bySize = shedding({ shed: { loopDelay: null, heap: { bytes: 100 * MIB } } });
  bySize.shedder.observe({ ...LATE, heapUsed: 100 * MIB });
  expect(bySize.ask()).toEqual([]);
  bySize.shedder.observe({ ...IDLE, heapUsed: 100 * MIB + 1 });
  expect(bySize.ask()).toEqual(["Free"]);
  const byDelay = shedding({ shed: { loopDelay: 200, heap: null } });
  byDelay.shedder.observe({ ...IDLE, heapUsed: 999 * MIB });
  expect(byDelay.ask()).toEqual([]);
});

test("the refusal is a 503 with a time to come back at, which differs from one to the next", () => {
  const { shedder } = shedding();
  shedder.observe(LATE);
  const refusals = Array.from({ length: 18 }, () => shedder.refusal("Free"));
  for (const refusal of refusals) expect(refusal).toMatchObject({ code: "OVERLOADED", status: 503 });
  const seconds = new Set(refusals.map((refusal) => refusal!.details.retryAfter));
  expect([...seconds].toSorted((a, b) => a! - b!)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test.each<[string, readonly Tier[], string]>([
  ["the first of the tiers", [testTier("Free"), testTier("Max")], "Free"],
  [
    "the lowest class",
    [
      { ...testTier("Free"), class: 2 },
      { ...testTier("Max"), class: 1.5 },
    ],
    "Max",
  ],
  [
    "below zero too",
    [
      { ...testTier("Free"), class: 0 },
      { ...testTier("Trial"), class: -1 },
    ],
    "Trial",
  ],
])("first refused is %s", (_, tiers, first) => {
  const { shedder, ask } = shedding({ tiers });
  shedder.observe(LATE);
  expect(ask()).toEqual([first]);
});

test("plans of one class are refused together, and a plan that is gone with the lowest", () => {
  const tiers = [
    { ...testTier("Free"), class: 1 },
    { ...testTier("Lite"), class: 1 },
    { ...testTier("Max"), class: 2 },
  ];
  const { shedder, ask } = shedding({ tiers });
  shedder.observe(LATE);
  expect(ask()).toEqual(["Free", "Lite"]);
  expect(shedder.refusal("Retired")).not.toBeNull();
});

test("where there is one class, it is refused: it is the load", () => {
  const { shedder, ask } = shedding({ tiers: ["Open"] });
  shedder.observe(LATE);
  expect(ask()).toEqual(["Open"]);
});

test("a calm process lets the class in again, a tenth each second; one that is neither calm nor over keeps to its share", () => {
  const { shedder, send } = shedding();
  shedder.observe(LATE);
  const refused: number[] = [];
  for (let second = 0; second < 11; second += 1) {
    refused.push(send({ Free: 100 })["Free"]!);
    shedder.observe(IDLE);
  }
  expect(refused).toEqual([100, 90, 80, 70, 60, 50, 40, 30, 20, 10, 0]);
  shedder.observe(LATE);
  shedder.observe(IDLE);
  shedder.observe(BETWEEN);
  shedder.observe(BETWEEN);
  expect(send({ Free: 100 })["Free"]).toBe(90);
  // Over again, it is refused whole again.
  shedder.observe(LATE);
  expect(send({ Free: 100 })["Free"]).toBe(100);
});

/** Observes for seconds in which such requests come. */
function during(
  seconds: number,
  load: Load,
  requests: Readonly<Record<string, number>>,
  parts: ReturnType<typeof shedding>,
) {
  for (let second = 0; second < seconds; second += 1) {
    parts.send(requests);
    parts.shedder.observe(load);
  }
}

test("free users that send so much that refusing them is work enough never cost a paid plan a request", () => {
  const parts = shedding();
  during(60, LATE, { Free: 20_000, Lite: 150, Max: 150 }, parts);
  expect(parts.ask()).toEqual(["Free"]);
});

test("a middle class is refused too when it is the load, but not before the lowest class has had time to drain", () => {
  const parts = shedding();
  during(1, LATE, { Free: 500, Lite: 5_000, Max: 50 }, parts);
  during(2, LATE, { Free: 500, Lite: 5_000, Max: 50 }, parts);
  expect(parts.ask()).toEqual(["Free"]);
  during(1, LATE, { Free: 500, Lite: 5_000, Max: 50 }, parts);
  expect(parts.ask()).toEqual(["Free", "Lite"]);
  during(60, LATE, { Free: 500, Lite: 5_000, Max: 5_000 }, parts);
  expect(parts.ask()).toEqual(["Free", "Lite"]);
});

test("where nobody of the lowest class asks, the next one is not waited with", () => {
  const parts = shedding();
  during(2, LATE, { Lite: 5_000, Max: 50 }, parts);
  expect(parts.ask()).toEqual(["Free", "Lite"]);
});

test("the fuller the heap, the more classes are refused; the highest only when it is about to run out", () => {
  const parts = shedding();
  const requests = { Free: 10, Lite: 10, Max: 10 };
  const heap = (share: number): Load => ({ ...IDLE, heapUsed: share * 1_000 * MIB });
  during(60, heap(0.9), requests, parts);
  expect(parts.ask()).toEqual(["Free"]);
  during(60, heap(0.901), requests, parts);
  expect(parts.ask()).toEqual(["Free", "Lite"]);
  during(60, heap(0.95), requests, parts);
  expect(parts.ask()).toEqual(["Free", "Lite"]);
  during(1, heap(0.951), requests, parts);
  expect(parts.ask()).toEqual(["Free", "Lite", "Max"]);
  during(30, IDLE, requests, parts);
  expect(parts.ask()).toEqual([]);
  // A bound that is passed at rest costs no paid plan anything.
  const low = shedding({ shed: { loopDelay: null, heap: { bytes: 1 } } });
  during(60, IDLE, requests, low);
  expect(low.ask()).toEqual(["Free"]);
});

test("whatever comes, no plan is refused while one of a lower class is served, and all are served in the end", () => {
  const loads = fc.record({
    loopDelay: fc.nat({ max: 400 }),
    heapUsed: fc.integer({ min: 0, max: 1_000 * MIB }),
    heapLimit: fc.constant(1_000 * MIB),
  });
  const seconds = fc.array(fc.tuple(loads, fc.nat({ max: 300 }), fc.nat({ max: 300 }), fc.nat({ max: 300 })));
  fc.assert(
    fc.property(seconds, (all) => {
      const parts = shedding();
      for (const [load, Free, Lite, Max] of all) {
        parts.send({ Free, Lite, Max });
        parts.shedder.observe(load);
        const [free = 0, lite = 0, max = 0] = [...parts.shedder.counts()].map(([, share]) => share);
        expect([lite === 0 || free === 1, max === 0 || lite === 1]).toEqual([true, true]);
      }
      for (let second = 0; second < 31; second += 1) parts.shedder.observe(IDLE);
      expect(parts.ask()).toEqual([]);
    }),
    { numRuns: Math.min(1_000, Number(process.env["NUM_RUNS"] ?? 100)) },
  );
});

test("beginning, widening and end are logged once each; counts are by plan", () => {
  const parts = shedding();
  during(3, FULL, { Free: 10 }, parts);
  during(8, { ...FULL, heapUsed: 920 * MIB }, { Free: 10, Lite: 5 }, parts);
  during(25, IDLE, {}, parts);
  const logged = parts.lines.map(({ level, message, fields }) => [
    level,
    message,
    (fields as { tiers?: string[] }).tiers,
  ]);
  expect(logged).toEqual([
    ["warn", "overloaded: new requests of these tiers are refused", ["Free"]],
    ["warn", "overloaded: new requests of these tiers are refused", ["Free", "Lite"]],
    ["warn", "overloaded: new requests of these tiers are refused", ["Free"]],
    ["info", "no longer overloaded: requests of all tiers are served", undefined],
  ]);
  const counts = Object.fromEntries([...parts.shedder.counts()].map(([tier, , refused]) => [tier, refused]));
  expect(counts["Free"]).toBe(100);
  expect(counts["Lite"]).toBeGreaterThan(0);
  expect(counts["Max"]).toBe(0);
});
