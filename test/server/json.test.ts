import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJson, sizeOf } from "../../src/server/json.ts";
import { GatewayError } from "../../src/kit/index.ts";

const refusal = (text: string): string => {
  try {
    parseJson(Buffer.from(text));
  } catch (error) {
    if (error instanceof GatewayError) return `${error.status} ${error.message}`;
    throw error;
  }
  return "taken";
};

const object = (inner: string): string => `{"model":"m","x":[${inner}]}`;

describe("what is refused before it is parsed", () => {
  const bodies: readonly (readonly [name: string, text: string, due: string])[] = [
    ["200 levels", `{"x":${"[".repeat(199)}${"]".repeat(199)}}`, "taken"],
    [
      "201 levels",
      `{"x":${"[".repeat(200)}${"]".repeat(200)}}`,
      "400 Invalid request: / must not be nested deeper than 200 levels",
    ],
    [
      "levels that nothing closes",
      `{"x":${"[".repeat(2_000_000)}`,
      "400 Invalid request: / must not be nested deeper than 200 levels",
    ],
    ["brackets in a text", `{"x":"${"[".repeat(1000)}\\"${"{".repeat(1000)}"}`, "taken"],
    ["commas in a text", `{"x":"${",".repeat(2_000_000)}"}`, "taken"],
    ["a text of escapes", `{"x":"${'\\\\\\"'.repeat(500_000)}"}`, "taken"],
    ["a million numbers", object("0,".repeat(999_990) + "0"), "taken"],
    [
      "more than a million values",
      object("0,".repeat(1_000_001) + "0"),
      "400 Invalid request: / must not have more than 1000000 values",
    ],
    [
      "objects without anything in them",
      object("{},".repeat(200_000) + "{}"),
      "400 Invalid request: / has too many small lists and objects for its size",
    ],
    ["a few of them", object("{},".repeat(1000) + "{}"), "taken"],
    [
      "32 MiB of them",
      object("{},".repeat(11_000_000) + "{}"),
      "400 Invalid request: / must not have more than 1000000 values",
    ],
  ];
  test.each(bodies)("%s", (_name, text, due) => {
    expect(refusal(text)).toBe(due);
  });
});

test("the size of a JSON text is that of its values", () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 2), (json, indent) => {
      const value: unknown = JSON.parse(json);
      const { values, containers, levels } = sizeOf(Buffer.from(JSON.stringify(value, null, indent)));
      const real = measured(value);
      expect(levels).toBe(real.levels);
      expect(containers).toBe(real.containers);
      expect(values).toBeGreaterThanOrEqual(real.values);
      expect(values).toBeLessThanOrEqual(real.values + real.containers);
    }),
  );
});

function measured(value: unknown): { values: number; containers: number; levels: number } {
  if (typeof value !== "object" || value === null) return { values: 1, containers: 0, levels: 0 };
  const inner = Object.values(value).map(measured);
  return {
    values: 1 + inner.reduce((sum, { values }) => sum + values, 0),
    containers: 1 + inner.reduce((sum, { containers }) => sum + containers, 0),
    levels: 1 + Math.max(0, ...inner.map(({ levels }) => levels)),
  };
}
