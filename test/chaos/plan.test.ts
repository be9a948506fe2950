import * as fc from "fast-check";
import { expect, test } from "vitest";
import { makePlan } from "./plan.ts";
import { Random } from "./random.ts";
import { RunningStreams } from "./running.ts";

const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const sizes = fc.record({ requests: fc.integer({ min: 1, max: 2_000 }), instances: fc.integer({ min: 1, max: 8 }) });

test("a seed repeats its plan, whatever was planned before", () => {
  fc.assert(
    fc.property(seeds, sizes, (seed, size) => {
      expect(makePlan(seed, size)).toEqual(makePlan(seed, size));
    }),
    { numRuns: 20 },
  );
});

test("a longer run begins with the requests of a shorter one", () => {
  const size = { requests: 100, instances: 3 };
  const { requests } = makePlan(5, { ...size, requests: 200 });
  expect(requests.slice(0, 100)).toEqual(makePlan(5, size).requests);
});

test("workers, where there are any, are killed as well: one, all of an instance, and their supervisor", () => {
  fc.assert(
    fc.property(seeds, sizes, (seed, size) => {
      const { disturbances, requests } = makePlan(seed, { ...size, workers: 3 });
      expect(new Set(disturbances.map(({ kind }) => kind)).size).toBe(14);
      expect(disturbances.filter((one) => "place" in one && one.place >= 3)).toEqual([]);
      expect(requests).toEqual(makePlan(seed, size).requests);
    }),
    { numRuns: 20 },
  );
});

test("everything that goes wrong does so in every run, in its order, before the last requests", () => {
  fc.assert(
    fc.property(seeds, sizes, (seed, size) => {
      const { disturbances, users } = makePlan(seed, size);
      expect(new Set(disturbances.map(({ kind }) => kind)).size).toBe(11);
      expect(disturbances.map(({ at }) => at)).toEqual(disturbances.map(({ at }) => at).toSorted((a, b) => a - b));
      expect(disturbances.filter(({ at }) => at >= size.requests)).toEqual([]);
      expect(disturbances.filter((one) => "slot" in one && one.slot >= size.instances)).toEqual([]);
      expect(disturbances.filter((one) => "user" in one && !users[one.user])).toEqual([]);
    }),
    { numRuns: 50 },
  );
});

test("one in ten attempts has a fault, and nobody claims more than the hold covers", () => {
  const { requests } = makePlan(1, { requests: 20_000, instances: 3 });
  const attempts = requests.map((plan) => plan.attempts[0]);
  const faults = attempts.filter(({ fault }) => fault !== "none").length / attempts.length;
  expect(faults).toBeGreaterThan(0.09);
  expect(faults).toBeLessThan(0.11);
  const beyond = requests.filter(({ attempts, words, maxTokens }) =>
    attempts.some(({ usage }) => usage.cached > usage.prompt || usage.prompt > words || usage.completion > maxTokens),
  );
  expect(beyond).toEqual([]);
});

test("chance is spread evenly, bounds included", () => {
  const random = new Random(3);
  const counts = new Map<number, number>();
  for (let turn = 0; turn < 6_000; turn++) {
    const drawn = random.between(1, 6);
    counts.set(drawn, (counts.get(drawn) ?? 0) + 1);
  }
  expect([...counts.keys()].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6]);
  for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(200);
});

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

test("too many streams at a time are seen, one that ends in the same turn is not", async () => {
  const running = new RunningStreams((user) => (user === 0 ? 1 : null));
  const end = running.begin(0, "a");
  const other = running.begin(0, "a");
  running.begin(1, "x");
  running.begin(1, "y");
  await turns(5);
  expect(running.excesses, "two attempts of one request; a user without a limit").toEqual([]);
  end();
  end();
  running.begin(0, "b");
  other();
  await turns(5);
  expect(running.excesses).toEqual([]);
  running.begin(0, "c");
  await turns(5);
  expect(running.excesses).toMatchObject([{ user: 0, streams: 2, limit: 1 }]);
});
