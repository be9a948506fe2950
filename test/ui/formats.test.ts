import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatBytes,
  formatCompact,
  formatCount,
  formatCredits,
  formatDuration,
  formatPercent,
  formatRelative,
  plural,
} from "../../src/ui/shared/formats.ts";
import { RUNS } from "../properties/runs.ts";

const NOW = Date.UTC(2026, 10, 23, 12);

describe("credits", () => {
  test.each([
    ["0", "0.00"],
    ["0.000123", "0.00012"],
    ["0.000129", "0.00013"],
    ["0.000000001", "0.000000001"],
    ["0.999", "1.00"],
    ["0.5", "0.50"],
    ["1234567.891", "1,234,567.89"],
    ["-12.345", "-12.35"],
    ["-0.000000000", "0.00"],
    ["123456789012345678901.25", "123,456,789,012,345,678,901.25"],
    ["none", "none"],
  ])("%s is shown as %s", (exact, shown) => {
    expect(formatCredits(exact)).toBe(shown);
  });

  test("with digits that are asked for", () => {
    expect(formatCredits("1.23456", { digits: 4 })).toBe("1.2346");
    expect(formatCredits("1.5", { digits: 0 })).toBe("2");
  });

  test("what is shown is never further off than half of its last digit", () => {
    const amounts = fc.bigInt({ min: 0n, max: 10n ** 18n });
    fc.assert(
      fc.property(amounts, (nano) => {
        const exact = `${nano / 10n ** 9n}.${(nano % 10n ** 9n).toString().padStart(9, "0")}`;
        const [whole = "0", fraction = ""] = formatCredits(exact).replaceAll(",", "").split(".");
        const shown = BigInt(whole + fraction.padEnd(9, "0"));
        const difference = shown > nano ? shown - nano : nano - shown;
        // Two decimals at least; a small amount has two digits of its own.
        expect(difference * 2n).toBeLessThanOrEqual(10n ** 7n);
        expect(shown > 0n).toBe(nano > 0n);
      }),
      { numRuns: RUNS },
    );
  });
});

test.each([
  [0.4, "0.4 ms"],
  [340.4, "340 ms"],
  [1240, "1.24 s"],
  [12_400, "12 s"],
  [59_700, "1 min"],
  [125_000, "2 min 5 s"],
  [12_000_000, "3 h 20 min"],
  [187_200_000, "2 d 4 h"],
  [-5, "0 ms"],
])("a duration of %d ms is %s", (ms, shown) => {
  expect(formatDuration(ms)).toBe(shown);
});

test.each([
  [-1_000, "now"],
  [-30_000, "30 seconds ago"],
  [-180_000, "3 minutes ago"],
  [7_200_000, "in 2 hours"],
  [-86_400_000, "yesterday"],
])("a moment %d ms from now is %s", (difference, shown) => {
  expect(formatRelative(NOW + difference, NOW)).toBe(shown);
});

test("counts, shares and sizes have their units", () => {
  expect([formatCount(1234567), formatCompact(12_345), formatPercent(0.1234)]).toEqual(["1,234,567", "12.3K", "12.3%"]);
  expect([formatBytes(0), formatBytes(1536), formatBytes(32 * 1024 ** 2)]).toEqual(["0 B", "1.5 KiB", "32 MiB"]);
  expect([plural(1, "key"), plural(2, "key"), plural(0, "entry", "entries")]).toEqual(["1 key", "2 keys", "0 entries"]);
});
