import * as fc from "fast-check";
import type { KeyBudget, Limits } from "../../src/kit/index.ts";
import { DAY, HOUR, MINUTE } from "../store/support.ts";

export type Step =
  | { readonly do: "identify"; readonly key: number }
  | {
      readonly do: "admit";
      readonly units: number;
      readonly stream: boolean;
      readonly hold: bigint;
      /** What the longest answer costs; null: nobody knows. */
      readonly longest: bigint | null;
      readonly enforce: boolean;
    }
  | { readonly do: "repeat" | "release" | "settle"; readonly which: number }
  | { readonly do: "grant"; readonly amount: bigint }
  | { readonly do: "setTier"; readonly tier: string }
  | { readonly do: "revoke"; readonly key: number }
  | { readonly do: "kill" }
  | { readonly do: "pass"; readonly time: number };

const step = <Name extends Step["do"], Fields extends object>(
  name: Name,
  fields: { [Field in keyof Fields]: fc.Arbitrary<Fields[Field]> },
): fc.Arbitrary<{ do: Name } & Fields> =>
  fc.record(fields).map((values) => Object.assign({ do: name }, values as Fields));

const which = fc.nat(20);
const key = fc.nat(1);
const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: step("admit", {
      units: fc.integer({ min: 1, max: 3 }),
      stream: fc.boolean(),
      hold: fc.bigInt({ min: 0n, max: 30n }),
      longest: fc.option(fc.bigInt({ min: 0n, max: 90n }), { nil: null, freq: 3 }),
      enforce: fc.nat(3).map((one) => one > 0),
    }),
  },
  { weight: 5, arbitrary: step("settle", { which }) },
  { weight: 2, arbitrary: step("release", { which }) },
  { weight: 2, arbitrary: step("identify", { key }) },
  { weight: 1, arbitrary: step("repeat", { which }) },
  { weight: 1, arbitrary: step("grant", { amount: fc.bigInt({ min: -20n, max: 50n }) }) },
  { weight: 1, arbitrary: step("setTier", { tier: fc.constantFrom("Free", "Max") }) },
  { weight: 1, arbitrary: step("revoke", { key }) },
  { weight: 1, arbitrary: step("kill", {}) },
  {
    weight: 2,
    arbitrary: step("pass", { time: fc.constantFrom(1, 999, MINUTE - 1, MINUTE, HOUR, DAY - 1) }),
  },
);

const limit = (max: number) => fc.option(fc.nat(max), { nil: null, freq: 4 });
const LIMITS: fc.Arbitrary<Limits> = fc.record({ day: limit(10), hour: limit(6), minute: limit(4), streams: limit(3) });

/** Of the first key. */
const BUDGET: fc.Arbitrary<KeyBudget | null> = fc.option(
  fc.record(
    { amount: fc.bigInt({ min: 1n, max: 80n }), per: fc.constantFrom("day", "month", "total") },
    { noNullPrototype: true },
  ),
  { freq: 3 },
);

/** What somebody does one after the other, on one of the instances, while others do something else. */
export interface Client {
  readonly at: number;
  readonly steps: readonly Step[];
}

export const PROGRAM = fc.record({
  tiers: fc.record({ Free: LIMITS, Max: LIMITS }),
  credits: fc.bigInt({ min: 0n, max: 100n }),
  budget: BUDGET,
  offset: fc.constantFrom(0, 1, MINUTE - 1, DAY - 1),
  /** What the requests cost, in the order of their beginning; null: given back. */
  fates: fc.array(fc.option(fc.bigInt({ min: 0n, max: 40n }), { nil: null, freq: 3 }), { minLength: 1, maxLength: 5 }),
  clients: fc.array(fc.record({ at: fc.nat(2), steps: fc.array(STEP, { minLength: 1, maxLength: 7, size: "max" }) }), {
    minLength: 2,
    maxLength: 5,
  }),
});
export type Program = typeof PROGRAM extends fc.Arbitrary<infer Value> ? Value : never;
