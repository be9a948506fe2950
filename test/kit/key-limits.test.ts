import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { budgetPeriodOf, budgetResetsAt, keyMayCall, matchesGlob } from "../../src/kit/index.ts";
import { RUNS } from "../properties/runs.ts";

test.for<[string, string, boolean]>([
  ["route/*", "route/a", true],
  ["*", "route/a", true],
  ["route/a*c", "route/abbc", true],
  ["route/a", "route/ab", false],
  ["route/a.c", "route/abc", false],
  ["route/(a", "route/(a", true],
  ["a*", "route/a", false],
])("the glob %j and %j: %j", ([glob, id, expected]) => {
  expect(matchesGlob(glob, id)).toBe(expected);
});

test("a glob matches as a regular expression does", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "/", "*", "."), maxLength: 12 });
  fc.assert(
    fc.property(text, text, (glob, id) => {
      const parts = glob.split("*").map((part) => part.replaceAll(".", String.raw`\.`));
      expect(matchesGlob(glob, id)).toBe(new RegExp(`^${parts.join(".*")}$`, "s").test(id));
    }),
    { numRuns: RUNS },
  );
});

test("a glob made to try every way takes no time", () => {
  const began = performance.now();
  for (let n = 0; n < 50; n += 1) expect(matchesGlob("a*".repeat(100) + "b", "a".repeat(130))).toBe(false);
  expect(performance.now() - began).toBeLessThan(1_000);
});

test("a key without models may call each", () => {
  expect(keyMayCall(undefined, "route/a")).toBe(true);
  expect(keyMayCall({}, "route/a")).toBe(true);
  expect(keyMayCall({ models: ["route/b", "route/a*"] }, "route/abc")).toBe(true);
  expect(keyMayCall({ models: ["route/b"] }, "route/a")).toBe(false);
});

describe("periods of a budget", () => {
  test.for([
    ["2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"],
    ["2027-01-01T00:00:00.000Z", "2027-01-02T00:00:00.000Z", "2027-02-01T00:00:00.000Z"],
    ["2028-02-29T12:00:00.000Z", "2028-03-01T00:00:00.000Z", "2028-03-01T00:00:00.000Z"],
  ])("at %s the day ends %s, the month %s", ([at, day, month]) => {
    const time = Date.parse(at!);
    expect(new Date(budgetResetsAt("day", time)!).toISOString()).toBe(day);
    expect(new Date(budgetResetsAt("month", time)!).toISOString()).toBe(month);
    expect(budgetResetsAt("total", time)).toBeNull();
  });

  test("follow one another by 1, at the time at which the one before resets", () => {
    fc.assert(
      fc.property(fc.constantFrom("day" as const, "month" as const), fc.nat(4e12), (per, at) => {
        const end = budgetResetsAt(per, at)!;
        expect(end).toBeGreaterThan(at);
        expect(budgetPeriodOf(per, end - 1)).toBe(budgetPeriodOf(per, at));
        expect(budgetPeriodOf(per, end)).toBe(budgetPeriodOf(per, at) + 1);
      }),
      { numRuns: RUNS },
    );
  });
});
