import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { medianOf, readConstants } from "../../bench/scale/constants.ts";
import { need, operationsOf, OPERATIONS, RENEWAL_SECONDS } from "../../bench/scale/model.ts";
import type { Constants, Load, Need } from "../../bench/scale/model.ts";
import { readOptions } from "../../bench/scale/options.ts";
import { describeConstants, describeNeed, describeSimulation } from "../../bench/scale/report.ts";
import { compare } from "../../bench/scale/simulate.ts";
import { rampedSeconds } from "../../bench/scale/traffic.ts";
import type { Passage } from "../../bench/scale/traffic.ts";

const cost = (cpu: number, wire: number) => ({ cpu, wire });

const CONSTANTS: Constants = {
  store: {
    operations: {
      admit: cost(30, 800),
      settle: cost(20, 700),
      renew: cost(15, 500),
      principal: cost(10, 400),
      touch: cost(8, 300),
      poll: cost(2, 100),
    },
    memory: { user: 1_000, caller: 500, reservation: 700, ledgerEntry: 200 },
  },
  gateway: { request: 100, chunk: 20 },
};

/** One process's worth: nobody is known for long, every key is used between two notes, nearly. */
const LOAD: Load = {
  users: 1_000,
  activeShare: 0.5,
  requestsPerSecond: 3_000,
  streamShare: 0.5,
  chunksPerStream: 20,
  seconds: 5,
  ledgerSeconds: 86_400,
  utilisation: 0.5,
  workers: 4,
  shardBytes: 1e10,
};

test("a load worked out by hand", () => {
  const { store, gateway, perThousand, perUser } = need(CONSTANTS, LOAD);
  // 100 us and half of 20 chunks at 20 us each: 300 us a request.
  expect(gateway).toEqual({ cores: 0.9, processes: 2, machines: 1, running: 15_000 });
  // 500 callers, each heard of 3 times a second by each of 2 processes: always known but for one time in 1,801.
  expect(store.operations).toMatchObject({ admit: 3_000, settle: 3_000, renew: 1_000, poll: 7_500 });
  expect(store.operations.principal).toBeCloseTo(3_000 / 1_801, 9);
  expect(store.operations.touch).toBeCloseTo((2 * 500) / 30, 9);
  const { principal, touch } = store.operations;
  expect(store.operationsPerSecond).toBeCloseTo(14_500 + principal + touch, 9);
  expect(store.cores).toBeCloseTo((90_000 + 60_000 + 15_000 + 15_000 + principal * 10 + touch * 8) / 1e6, 9);
  expect(store.bytesPerSecond).toBeCloseTo(2.4e6 + 2.1e6 + 5e5 + 7.5e5 + principal * 400 + touch * 300, 6);
  const ledger = 3_000 * 86_400 * 200;
  expect(store.memory).toEqual({
    users: 1e6,
    callers: 250_000,
    running: 15_000 * 700,
    ledger,
    total: 1e6 + 250_000 + 15_000 * 700 + ledger,
  });
  expect(store).toMatchObject({ shards: 6, shardsByCpu: 1, shardsByMemory: 6 });
  expect(perThousand.gatewayCpuMs).toBeCloseTo(300, 9);
  expect(perThousand.storeOperations).toBeCloseTo(store.operationsPerSecond / 3, 9);
  expect(perThousand.storeCpuMs).toBeCloseTo((store.cores * 1_000) / 3, 9);
  expect(perThousand.storeBytes).toBeCloseTo(store.bytesPerSecond / 3, 6);
  expect(perUser).toEqual({ atRest: 1_000, active: 1_500 });
});

const share = fc.double({ min: 0.01, max: 1, noNaN: true });
const loads: fc.Arbitrary<Load> = fc.record({
  users: fc.integer({ min: 1, max: 1e8 }),
  activeShare: share,
  requestsPerSecond: fc.integer({ min: 1, max: 1e6 }),
  streamShare: share,
  chunksPerStream: fc.integer({ min: 0, max: 10_000 }),
  seconds: fc.double({ min: 0.01, max: 600, noNaN: true }),
  ledgerSeconds: fc.integer({ min: 0, max: 1e7 }),
  utilisation: share,
  workers: fc.integer({ min: 1, max: 64 }),
  shardBytes: fc.integer({ min: 1e9, max: 1e12 }),
});

const near = (value: number, expected: number) => Math.abs(value - expected) <= 1e-9 * Math.abs(expected);

/** What must be twice as much when something is. */
const DOUBLINGS: readonly (readonly [string, (load: Load) => Load, readonly ((need: Need) => number)[]])[] = [
  [
    "users at the same rate",
    (load) => ({ ...load, users: load.users * 2 }),
    [({ store }) => store.memory.users, ({ store }) => store.memory.callers],
  ],
  [
    "users and rate",
    (load) => ({ ...load, users: load.users * 2, requestsPerSecond: load.requestsPerSecond * 2 }),
    [
      ({ gateway }) => gateway.cores,
      ({ gateway }) => gateway.running,
      ({ store }) => store.memory.total,
      ({ store }) => store.operations.admit,
      ({ store }) => store.operations.settle,
      ({ store }) => store.operations.renew,
      ({ store }) => store.operations.poll,
    ],
  ],
  [
    "seconds of a request",
    (load) => ({ ...load, seconds: load.seconds * 2 }),
    [({ store }) => store.operations.renew, ({ store }) => store.operations.poll, ({ store }) => store.memory.running],
  ],
  [
    "days of the ledger",
    (load) => ({ ...load, ledgerSeconds: load.ledgerSeconds * 2 }),
    [({ store }) => store.memory.ledger],
  ],
];

test.each(DOUBLINGS)("twice the %s needs twice of what depends on it", (_, doubled, figures) => {
  fc.assert(
    fc.property(loads, (load) => {
      const [once, twice] = [need(CONSTANTS, load), need(CONSTANTS, doubled(load))];
      for (const figure of figures) expect(near(figure(twice), 2 * figure(once))).toBe(true);
    }),
  );
});

test("whatever the load: no more look-ups than requests, no more notes than keys, whole processes that are enough", () => {
  fc.assert(
    fc.property(loads, fc.integer({ min: 1, max: 100 }), (load, processes) => {
      const { principal, touch } = operationsOf(load, processes);
      const slack = 1 + 1e-9;
      expect(principal).toBeGreaterThanOrEqual(0);
      expect(principal).toBeLessThanOrEqual(load.requestsPerSecond * slack);
      expect(touch).toBeLessThanOrEqual(load.requestsPerSecond * slack);
      expect(touch).toBeLessThanOrEqual(((processes * load.users * load.activeShare) / 30) * slack);
      const { store, gateway } = need(CONSTANTS, load);
      expect(gateway.processes * load.utilisation * slack).toBeGreaterThanOrEqual(gateway.cores);
      expect(gateway.machines * load.workers).toBeGreaterThanOrEqual(gateway.processes);
      expect(store.shards * load.utilisation * slack).toBeGreaterThanOrEqual(store.cores);
      expect(store.shards * load.shardBytes * slack).toBeGreaterThanOrEqual(store.memory.total);
      expect(store.operationsPerSecond).toBeCloseTo(
        OPERATIONS.reduce((sum, name) => sum + store.operations[name], 0),
        3,
      );
    }),
  );
});

test("the renewals are the store's", () => {
  expect(RENEWAL_SECONDS).toBe(15);
});

describe("a simulation", () => {
  const scene = { users: 3_000, requestsPerSecond: 300, streamShare: 0.5, chunksPerStream: 20 };
  const passage: Passage = {
    seconds: 30,
    answers: 9_000,
    chunks: 90_000,
    duration: 2,
    gatewayCpu: 9_000 * 100 + 90_000 * 20,
    storeCpu: 1e6,
    scripts: 30_000,
    allAnswers: 12_000,
    bad: 0,
    sample: "",
  };
  const kept = 3_000 * 1_500 + 12_000 * 200;

  test("is compared with the model at what really passed", () => {
    const [scripts, storeCpu, memory, gatewayCpu] = compare(CONSTANTS, scene, passage, kept);
    const { admit, settle, renew, principal, touch } = operationsOf(
      { ...LOAD, ...scene, activeShare: 1, seconds: 2 },
      1,
    );
    expect(scripts).toMatchObject({ measured: 1_000 });
    expect(scripts!.predicted).toBeCloseTo(admit + settle + renew + principal + touch, 9);
    expect(storeCpu!.measured).toBeCloseTo(100 / 30, 9);
    expect(memory!.predicted).toBeCloseTo(memory!.measured, 9);
    expect(gatewayCpu!.predicted).toBeCloseTo(gatewayCpu!.measured, 9);
    expect(gatewayCpu!.measured).toBeCloseTo(9, 9);
  });

  test("is reported with ratios", () => {
    const comparisons = [{ name: "store scripts/s", predicted: 800, measured: 1_000 }];
    expect(describeSimulation({ passage, comparisons }).split("\n")).toEqual([
      "simulated for 30 s: 300 requests/s, 3,000 chunks/s, 2 s a request",
      "                 predicted  measured  measured/predicted",
      "store scripts/s  800        1,000     1.25",
    ]);
  });
});

test("the report names every operation, every part of the memory and every assumption", () => {
  const text = [
    describeConstants(CONSTANTS, { admit: 25, settle: 15, renew: 10, principal: 5, touch: 4, poll: 0 }),
    describeNeed(need(CONSTANTS, LOAD), LOAD, CONSTANTS),
  ].join("\n");
  for (const name of OPERATIONS) expect(text).toContain(name);
  expect(text).toContain("1,000 users, 3,000 requests/s");
  expect(text).toContain("50 % of the users call");
  expect(text).toContain("ledger 51.8 GB (51.8 GB a day)");
  expect(text).toContain("the ledger is kept 1 days");
  expect(text).not.toMatch(/NaN|undefined|Infinity/);
});

describe("constants of a file", () => {
  test("are those that were printed", () => {
    expect(readConstants(JSON.stringify({ node: "v26", constants: CONSTANTS }))).toEqual(CONSTANTS);
  });

  test.each([
    ["{", "not JSON"],
    ["null", "/constants/store/operations/admit/cpu is not a number above 0"],
    [JSON.stringify({ constants: { store: 1 } }), "/constants/store/operations/admit/cpu"],
    [JSON.stringify({ constants: { ...CONSTANTS, gateway: { request: "9" } } }), "/constants/gateway/request"],
    [JSON.stringify({ constants: { ...CONSTANTS, gateway: { request: 9, chunk: 0 } } }), "/constants/gateway/chunk"],
  ])("%s is refused", (text, message) => {
    expect(() => readConstants(text)).toThrow(message);
  });
});

test("the rate rises evenly, and stays", () => {
  expect([0, 5, 10, 11].map((elapsed) => rampedSeconds(elapsed, 10))).toEqual([0, 1.25, 5, 6]);
  expect(rampedSeconds(3, 0)).toBe(3);
});

test("of several measurements each figure's median counts", () => {
  const all = [
    { a: 1, b: { c: 30 } },
    { a: 3, b: { c: 10 } },
    { a: 2, b: { c: 20 } },
  ];
  expect(medianOf(all)).toEqual({ a: 2, b: { c: 20 } });
  expect(() => medianOf([])).toThrow(RangeError);
});

describe("options", () => {
  test("have defaults", () => {
    const { load, scene, constants, runs } = readOptions([]);
    expect(load).toMatchObject({ users: 1e6, requestsPerSecond: 1e5, ledgerSeconds: 90 * 86_400 });
    expect({ scene, constants, runs }).toEqual({ scene: null, constants: null, runs: 3 });
    expect(readOptions(["--simulate", "--sim-users", "50"]).scene?.users).toBe(50);
    expect(readOptions([]).gateway).toBe(null);
    expect(readOptions(["--gateway-request", "80", "--gateway-chunk", "20"]).gateway).toEqual({
      request: 80,
      chunk: 20,
    });
    expect(readOptions(["--shard-gib", "0.5", "--stream-share", "0"]).load).toMatchObject({
      shardBytes: 2 ** 29,
      streamShare: 0,
    });
  });

  test.each([
    [["--users", "many"], "--users is a whole number from 1 to 10000000000"],
    [["--users", "1.5"], "--users is a whole number"],
    [["--users", ""], "--users is a whole number"],
    [["--rps", "0"], "--rps is a number from 1"],
    [["--rps", "-5"], "--rps"],
    [["--stream-share", "1.1"], "--stream-share is a number from 0 to 1"],
    [["--runs", "2"], "--runs is an odd number from 1 to 99"],
    [["--gateway-request", "80"], "--gateway-request and --gateway-chunk are given together"],
    [["--gateway-request", "80", "--gateway-chunk", "0"], "--gateway-chunk is a number from 0.1"],
    [["--sim-users", "9000"], "--sim-users: at --sim-rps 300 at most 2250"],
    [["--user", "1"], "Unknown option '--user'"],
    [["constants.json"], "Unexpected argument 'constants.json'"],
  ])("%j is refused", (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });
});
