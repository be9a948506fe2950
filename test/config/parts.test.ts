import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { misplaced } from "../../src/config/link/pipeline.ts";
import { parse, parseScalar } from "../../src/config/parse.ts";
import { bytes, milliseconds } from "../../src/config/settings.ts";
import { CAPABILITIES } from "../../src/dialects/capabilities.ts";
import { nearest } from "../../src/kit/index.ts";
import { DIALECTS } from "./support.ts";

const NUM_RUNS = Number(process.env["NUM_RUNS"] ?? 300);

describe("units", () => {
  test("durations are milliseconds, sizes bytes", () => {
    expect(["250ms", "5s", "2m", "1h", "30d", "0s"].map(milliseconds)).toEqual([
      250, 5000, 120_000, 3_600_000, 2_592_000_000, 0,
    ]);
    expect(["7B", "64KiB", "32MiB", "1GiB"].map(bytes)).toEqual([7, 65_536, 33_554_432, 1_073_741_824]);
  });

  test.for(["", "5", "s", "5 s", "1.5s", "-1s", "5S", "5toString"])("%j is none", (text) => {
    expect(() => milliseconds(text)).toThrow(RangeError);
    expect(() => bytes(text)).toThrow(RangeError);
  });
});

describe("nearest name", () => {
  const names = ["timeouts", "retries", "breaker", "base_url"];

  test.for<[string, string | null]>([
    ["timeout", "timeouts"],
    ["retires", "retries"],
    ["BREAKER", "breaker"],
    ["base-url", "base_url"],
    ["colour", null],
    ["", null],
  ])("%j means %j", ([name, expected]) => {
    expect(nearest(name, names)).toBe(expected);
  });

  test("finds itself, and any name with one letter changed", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(5), fc.constantFrom("x", "_", "9"), (name, at, letter) => {
        expect(nearest(name, names)).toBe(name);
        expect(nearest(name.slice(0, at) + letter + name.slice(at + 1), names)).toBe(name);
      }),
    );
  });
});

function isSorted(ranks: readonly number[]): boolean {
  return ranks.every((rank, index) => index === 0 || (ranks[index - 1] ?? 0) <= rank);
}

describe("order of stages", () => {
  test("names the fewest", () => {
    expect(misplaced([])).toEqual([]);
    expect(misplaced([0, 1, 1, 2, 4, 5])).toEqual([]);
    expect(misplaced([5, 0, 1, 1, 2, 4])).toEqual([0]);
    expect(misplaced([0, 2, 1, 1, 4, 5])).toEqual([1]);
  });

  test("without them the rest is in order, and no smaller set would do", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { maxLength: 9 }), (ranks) => {
        const moved = new Set(misplaced(ranks));
        expect(isSorted(ranks.filter((_, index) => !moved.has(index)))).toBe(true);
        const subsets = Array.from({ length: 2 ** ranks.length }, (_, mask) =>
          ranks.filter((__, at) => (mask >> at) % 2 === 1),
        );
        expect(Math.max(...subsets.filter(isSorted).map(({ length }) => length))).toBe(ranks.length - moved.size);
      }),
      { numRuns: Math.ceil(NUM_RUNS / 5) },
    );
  });
});

/** The value of a document's only key. */
function value(text: string): unknown {
  const { root, diagnostics } = parse("/a.yaml", `v: ${text}\n`);
  expect(diagnostics).toEqual([]);
  const node = root?.entries.get("v")?.value;
  return node?.kind === "scalar" ? node.value : node?.kind;
}

describe("YAML", () => {
  test("is 1.2: no is text, 0o17 is octal, dates are text", () => {
    expect(["no", "yes", "on", "0o17", "017", "0x1F", "1_000", "2026-01-15", "~", "!!str 5", "1e3"].map(value)).toEqual(
      ["no", "yes", "on", 15, 17, 31, "1_000", "2026-01-15", null, "5", 1000],
    );
  });

  test("a plain scalar on its own reads as in a document", () => {
    for (const text of ["5", "-1.5", "true", "null", "~", "text", "0o17", "1e3", "2026-01-15"])
      expect(parseScalar(text)).toBe(value(text));
    for (const text of ["a: b", "- a", "[a]", '"a"', "#a", " a", "a\nb", "&a b", "!!int 5", "*a"])
      expect(parseScalar(text)).toBe(text);
    expect(parseScalar("")).toBeNull();
  });

  test("an alias repeats what its anchor holds, a redefined anchor included", () => {
    const { root, diagnostics } = parse("/a.yaml", "a: &x 1\nb: *x\nc: &x 2\nd: *x\n");
    expect(diagnostics).toEqual([]);
    expect(
      [...(root?.entries ?? [])].map(([, { value: node }]) => (node.kind === "scalar" ? node.value : null)),
    ).toEqual([1, 1, 2, 2]);
  });

  test("a map with very many keys is read in linear time", () => {
    const text = Array.from({ length: 50_000 }, (_, index) => `k${index}: 1\n`).join("");
    const { root, diagnostics } = parse("/a.yaml", text);
    expect([root?.entries.size, diagnostics]).toEqual([50_000, []]);
  });
});

test("the dialects of these suites can serve what the real ones can", () => {
  const [ours, real] = [DIALECTS, CAPABILITIES].map((table) =>
    Object.fromEntries(Object.entries(table).map(([name, { kinds }]) => [name, kinds.toSorted()])),
  );
  expect(ours).toEqual(real);
});
