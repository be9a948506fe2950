import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Target } from "../../../src/kit/index.ts";
import { Latencies, orderTargets } from "../../../src/upstream/state/balance.ts";
import { step, target } from "../support/build.ts";
import { PATIENCE, RUNS } from "../../properties/runs.ts";

/** Deterministic uniform numbers. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const named = (...weights: readonly number[]): readonly Target[] =>
  weights.map((weight, index) => target({ model: `m${index}`, weight }));
const models = (targets: readonly Target[]): readonly string[] => targets.map(({ model }) => model);
const unknown = (): number => 0;

function shares(count: number, pick: (round: number) => readonly Target[]): Record<string, number> {
  const first: Record<string, number> = {};
  for (let round = 0; round < count; round += 1) {
    const model = pick(round)[0]?.model ?? "";
    first[model] = (first[model] ?? 0) + 1 / count;
  }
  return first;
}

const latency = ({ model }: Target): number => ({ m0: 300, m1: 100, m2: 0 })[model] ?? 0;

describe("order", () => {
  it("single keeps the configured order", () => {
    const targets = named(1, 5, 2);
    expect(orderTargets(step("single", ...targets), "u", { random: seeded(1), latency: unknown })).toEqual(targets);
  });

  it("weighted begins in proportion to the weights, and goes on so among the rest", () => {
    const random = seeded(7);
    const orders = Array.from({ length: 20_000 }, () =>
      orderTargets(step("weighted", ...named(3, 1, 0)), "u", { random, latency: unknown }),
    );
    const first = shares(orders.length, (round) => orders[round] ?? []);
    expect(first["m0"]).toBeCloseTo(0.75, 1);
    expect(first["m1"]).toBeCloseTo(0.25, 1);
    expect(first["m2"]).toBe(undefined);
    expect(orders.every((order) => order.length === 3 && order[2]?.model === "m2")).toBe(true);
  });

  it("latency tries unknown targets first, then the fastest, and now and then another", () => {
    const never = { random: () => 0.99, latency };
    expect(models(orderTargets(step("latency", ...named(1, 1, 1)), "u", never))).toEqual(["m2", "m1", "m0"]);
    const random = seeded(3);
    const first = shares(20_000, () => orderTargets(step("latency", ...named(1, 1, 1)), "u", { random, latency }));
    expect(first["m2"]).toBeCloseTo(0.95, 2);
    expect(first["m1"]).toBeCloseTo(0.025, 2);
    expect(first["m0"]).toBeCloseTo(0.025, 2);
  });

  it("sticky gives a user the same order always, and users in proportion to the weights", () => {
    const sticky = step("sticky", ...named(3, 1));
    const first = shares(8_000, (round) =>
      orderTargets(sticky, `user-${round}`, { random: seeded(round), latency: unknown }),
    );
    expect(first["m0"]).toBeCloseTo(0.75, 1);
    for (let round = 0; round < 50; round += 1) {
      const orders = [1, 2].map((seed) =>
        orderTargets(sticky, `user-${round}`, { random: seeded(seed), latency: unknown }),
      );
      expect(orders[0]).toEqual(orders[1]);
    }
  });

  it("sticky moves only the users of a target that goes", () => {
    const [a, b, c] = named(1, 1, 1) as [Target, Target, Target];
    const options = { random: () => 0, latency: unknown };
    for (let user = 0; user < 500; user += 1) {
      const before = orderTargets(step("sticky", a, b, c), `u${user}`, options);
      const after = orderTargets(step("sticky", a, c), `u${user}`, options);
      expect(models(after)).toEqual(models(before).filter((model) => model !== b.model));
    }
  });

  it(
    "is always a permutation of the targets",
    () => {
      fc.assert(
        fc.property(
          fc.constantFrom("single" as const, "weighted" as const, "latency" as const, "sticky" as const),
          fc.array(fc.integer({ min: 0, max: 1_000 }), { maxLength: 6 }),
          fc.string(),
          fc.integer(),
          (balance, weights, user, seed) => {
            const targets = named(...weights);
            const order = orderTargets(step(balance, ...targets), user, { random: seeded(seed), latency: unknown });
            expect(models(order).toSorted()).toEqual(models(targets).toSorted());
          },
        ),
        { numRuns: RUNS },
      );
    },
    PATIENCE,
  );
});

describe("Latencies", () => {
  it("follows what is measured, fades with time and is apart by target", () => {
    let now = 0;
    const latencies = new Latencies(() => now);
    const [a, b] = named(1, 1) as [Target, Target];
    expect(latencies.of(a)).toBe(0);
    latencies.record(a, 100);
    expect(latencies.of(a)).toBe(100);
    for (let sample = 0; sample < 50; sample += 1) latencies.record(a, 500);
    expect(latencies.of(a)).toBeCloseTo(500, 0);
    expect(latencies.of(b)).toBe(0);
    now += 60_000;
    expect(latencies.of(a)).toBeCloseTo(250, 0);
    latencies.prune((upstream) => upstream !== "alpha");
    expect(latencies.of(a)).toBe(0);
  });
});
