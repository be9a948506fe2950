import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJson } from "../../src/server/json.ts";
import { JsonSize, sizeSteps } from "../../src/server/json-size.ts";
import { parseSteps } from "../../src/server/json-slices.ts";
import { GatewayError, type Steps } from "../../src/kit/index.ts";

const NUM_RUNS = Number(process.env["NUM_RUNS"] ?? 300);

const refusal = async (text: string): Promise<string> => {
  try {
    await parseJson(Buffer.from(text));
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
      "fields of 10,000 names",
      object(Array.from({ length: 50_000 }, (_, n) => `{"name ${n % 9_998}":"and some text of it"}`).join(",")),
      "taken",
    ],
    [
      "small objects of many names",
      object(Array.from({ length: 50_000 }, (_, n) => `{"name ${n % 1001}":0}`).join(",")),
      "400 Invalid request: / has too many small lists and objects for its size",
    ],
    [
      "fields of more names",
      object(Array.from({ length: 20_000 }, (_, n) => `{"name ${n % 9_999}":0}`).join(",")),
      "400 Invalid request: / must not have more than 10000 different names of fields",
    ],
    [
      "32 MiB of them",
      object("{},".repeat(11_000_000) + "{}"),
      "400 Invalid request: / must not have more than 1000000 values",
    ],
  ];
  test.each(bodies)("%s", async (_name, text, due) => {
    expect(await refusal(text)).toBe(due);
  });
});

/** Does all the steps. */
function done<Result>(steps: Steps<Result>): { readonly result: Result; readonly steps: number } {
  for (let count = 1; ; count++) {
    const { done: isDone, value } = steps.next();
    if (isDone === true) return { result: value, steps: count };
  }
}

const sizeOf = (text: string): JsonSize => {
  const size = new JsonSize(200, 10_000);
  const body = Buffer.from(text);
  size.scan(body, 0, body.length);
  return size;
};

test("the size of a JSON text is that of its values, in however many steps", () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 2), fc.integer({ min: 1, max: 40 }), (json, indent, slice) => {
      const value: unknown = JSON.parse(json);
      const text = JSON.stringify(value, null, indent);
      const whole = sizeOf(text);
      const { values, containers, levels, names } = whole;
      const real = measured(value);
      expect(levels).toBe(real.levels);
      expect(containers).toBe(real.containers);
      expect(values).toBeGreaterThanOrEqual(real.values);
      expect(values).toBeLessThanOrEqual(real.values + real.containers);
      expect([...names!].toSorted()).toEqual(namesIn(value).toSorted());
      expect(done(sizeSteps(Buffer.from(text), 200, 10_000, slice)).result).toEqual(whole);
    }),
    { numRuns: NUM_RUNS },
  );
});

/** What `JSON.parse` makes of it, to the order of names, or that it is none. */
const shown = (parse: () => unknown): string => {
  try {
    return JSON.stringify(parse(), (_key, value: unknown) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? [Object.getPrototypeOf(value) === Object.prototype, Object.entries(value)]
        : value,
    );
  } catch (error) {
    if (error instanceof SyntaxError) return "no JSON";
    throw error;
  }
};

const NAMES = ["a", "b", "__proto__", "constructor", "1", "0", "\u20ac", ""];

/** JSON of nested lists and objects whose names repeat, written with escapes and blanks. */
const jsonText = fc.letrec<{ value: string }>((tie) => {
  const blank = fc.constantFrom("", "", "", " ", "\n \t\r");
  const text = fc
    .array(
      fc.constantFrom(
        "x",
        "xyz",
        "\\\\",
        '\\"',
        "\\n",
        "\\u20ac",
        "\\ud83d\\ude00",
        "\\u0022",
        "€",
        "😀",
        "[",
        ",",
        "{",
        "}",
        ":",
      ),
      { maxLength: 30 },
    )
    .map((parts) => `"${parts.join("")}"`);
  const scalar = fc.constantFrom("0", "-1.5e3", "true", "null", "12345678901234567890");
  const list = fc.array(tie("value"), { maxLength: 6 });
  const object = fc.array(fc.tuple(fc.constantFrom(...NAMES), blank, tie("value")), { maxLength: 6 });
  const value = fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    scalar,
    text,
    list.map((items) => `[${items.join(",")}]`),
    object.map(
      (fields) => `{${fields.map(([name, gap, one]) => `${JSON.stringify(name)}${gap}:${gap}${one}`).join(",")}}`,
    ),
  );
  return { value: fc.tuple(blank, value, blank).map((parts) => parts.join("")) };
}).value;

test("a text parsed in slices is what JSON.parse makes of it", () => {
  fc.assert(
    fc.property(jsonText, fc.integer({ min: 1, max: 60 }), (text, slice) => {
      expect(shown(() => done(parseSteps(Buffer.from(text), 200, slice)).result)).toBe(shown(() => JSON.parse(text)));
    }),
    { numRuns: 3 * NUM_RUNS },
  );
});

test("what is no JSON is none in slices", () => {
  const change = fc.record({
    at: fc.nat(),
    removed: fc.integer({ min: 0, max: 2 }),
    added: fc.constantFrom("", ",", "[", "]", "{", "}", '"', ":", "\\", "-", "1", " ", "null", "\ufeff"),
  });
  fc.assert(
    fc.property(jsonText, change, fc.integer({ min: 1, max: 60 }), (text, { at, removed, added }, slice) => {
      const place = at % (text.length + 1);
      // Through bytes: half a pair of surrogates is no UTF-8.
      const body = Buffer.from(text.slice(0, place) + added + text.slice(place + removed));
      expect(shown(() => done(parseSteps(body, 200, slice)).result)).toBe(shown(() => JSON.parse(body.toString())));
    }),
    { numRuns: 3 * NUM_RUNS },
  );
});

describe("a step is no longer than a slice, whatever is long", () => {
  const SLICE = 1000;
  const bodies: readonly (readonly [name: string, text: string])[] = [
    ["a list", `[${"1,".repeat(50_000)}1]`],
    ["an object", `{${Array.from({ length: 9000 }, (_, n) => `"k${n}":${n}`).join(",")}}`],
    ["a text", `{"a":[1,"${"x".repeat(100_000)}"]}`],
    ["a text of escaped quotes", `["${'\\"'.repeat(50_000)}"]`],
    ["a text of backslashes", `["${"\\\\".repeat(50_000)}"]`],
    ["nested lists", `{"a":${"[".repeat(150)}${"1,".repeat(50_000)}1${"]".repeat(150)}}`],
    ["lists of lists", `[${`${"[".repeat(150)}${"1,".repeat(1000)}1${"]".repeat(150)},`.repeat(40)}1]`],
  ];
  test.each(bodies)("%s", (_name, text) => {
    const native = JSON.parse;
    let longest = 0;
    let parsed = 0;
    JSON.parse = (part: string): unknown => {
      longest = Math.max(longest, part.length);
      parsed += part.length;
      return native(part);
    };
    try {
      const { result, steps } = done(parseSteps(Buffer.from(text), 200, SLICE));
      JSON.parse = native;
      expect(result).toEqual(JSON.parse(text));
      expect(longest).toBeLessThan(2.1 * SLICE);
      // Nothing is parsed twice, nor is all of it in a few steps.
      expect(parsed).toBeLessThan(1.1 * text.length + 10 * SLICE);
      expect(steps).toBeGreaterThan(text.length / (2.1 * SLICE));
    } finally {
      JSON.parse = native;
    }
  });
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

/** As they are written, in one byte a character. */
function namesIn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value).map((name) => JSON.stringify(name).slice(1, -1));
  const written = own.map((name) => Buffer.from(name).toString("latin1"));
  return [...new Set([...written, ...Object.values(value).flatMap(namesIn)])];
}
