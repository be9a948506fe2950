import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RUNS } from "../../properties/runs.ts";
import { isLong, writeSteps } from "../../../src/dialects/canonical/long-json.ts";
import { postJson } from "../../../src/dialects/canonical/requests.ts";

function written(value: unknown, slice: number): { readonly text: string; readonly longest: number; steps: number } {
  const steps = writeSteps(value, slice);
  for (let count = 1; ; count++) {
    const { done, value: chunks } = steps.next();
    if (done !== true) continue;
    const text = Buffer.concat(chunks).toString();
    return { text, longest: Math.max(...chunks.map(({ length }) => length)), steps: count };
  }
}

const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", maxDepth: 6 },
    fc.constantFrom<unknown>(0, -0, 1.5, NaN, true, null, undefined, "", "x", '"\\\n', "€", "\ud800"),
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom("a", "b", "__proto__", "toString", "1", "0", "€", ""), tie("value")),
  ),
})).value;

test("what is written in slices is what JSON.stringify writes", () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 5 }), fc.integer({ min: 1, max: 200 }), (list, slice) => {
      expect(written(list, slice).text).toBe(JSON.stringify(list));
      expect(written({ list }, slice).text).toBe(JSON.stringify({ list }));
    }),
    { numRuns: RUNS },
  );
});

describe("a step is no longer than a slice, whatever is long", () => {
  const nested = (levels: number, inner: unknown): unknown => (levels === 0 ? inner : [nested(levels - 1, inner)]);
  const values: readonly (readonly [name: string, value: unknown])[] = [
    ["a list", Array.from({ length: 50_000 }, (_, n) => n)],
    ["an object", Object.fromEntries(Array.from({ length: 9000 }, (_, n) => [`k${n}`, n]))],
    ["a text", { a: [1, "x".repeat(100_000)] }],
    ["a text of pairs", ["😀".repeat(50_000)]],
    ["objects", Array.from({ length: 5000 }, (_, n) => ({ role: "user", content: `${n}` }))],
    [
      "nested lists",
      nested(
        150,
        Array.from({ length: 50_000 }, (_, n) => n),
      ),
    ],
    [
      "lists of lists",
      Array.from({ length: 40 }, () =>
        nested(
          150,
          Array.from({ length: 1000 }, (_, n) => n),
        ),
      ),
    ],
  ];
  test.each(values)("%s", (_name, one) => {
    const SLICE = 1000;
    const { text, longest, steps } = written(one, SLICE);
    expect(text).toBe(JSON.stringify(one));
    expect(longest).toBeLessThan(4.1 * SLICE);
    expect(steps).toBeGreaterThan(text.length / (4.1 * SLICE));
  });
});

test("a body that is long is left unwritten, one that is not is text", () => {
  expect(postJson("/", "", { a: "x".repeat(200_000) }).body).toBe(`{"a":"${"x".repeat(200_000)}"}`);
  for (const long of [{ a: "x".repeat(300_000) }, { a: Array.from({ length: 20_000 }, () => 0) }]) {
    expect(isLong(long)).toBe(true);
    expect(postJson("/", "", long).body).toEqual({ json: long });
  }
});
