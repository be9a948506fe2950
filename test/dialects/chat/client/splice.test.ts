import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RUNS } from "../../../properties/runs.ts";
import { ModelSplice } from "../../../../src/dialects/chat/client.ts";
import type { Json } from "../../../../src/kit/index.ts";

const ROUTE = "route/a";

/** What parsing and writing anew would say, its fields in their order. */
function rewritten(raw: string, hideUsage: boolean): string {
  const data = { ...(JSON.parse(raw) as Json), model: ROUTE };
  return JSON.stringify(hideUsage ? { ...data, usage: undefined } : data);
}

/** Null, or the very same. */
function expectSame(splice: ModelSplice, raw: string, hideUsage: boolean): string | null {
  const text = splice.write(raw, JSON.parse(raw) as Json, hideUsage);
  const anew = rewritten(raw, hideUsage);
  expect(text === null ? anew : JSON.stringify(JSON.parse(text))).toBe(anew);
  return text;
}

/** Texts and names that try to be taken for the fields. */
const trap = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 4 }),
      fc.constantFrom('"model":"up-1"', ',"usage":null', "}", "{", '"', ",", "\\", "up-1", "model", "usage", "]", "\n"),
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(""));
const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, 1.5e-9, -0, 7, "x", "up-1"),
  trap,
  fc.constantFrom<unknown>({ model: "up-1" }, { usage: null }, { a: 1, usage: null }, [], {}, [{ usage: null }]),
);
// No name ends in a backslash: V8 14.6 then misreads later names with an escape in that place.
const name = trap.map((text) => `x${text.replaceAll("\\", "")}`);
const chunk = fc
  .record({
    fields: fc.uniqueArray(fc.tuple(name, value), { maxLength: 5, selector: ([name]) => name }),
    model: fc.constantFrom("up-1", "up-1", "up-2", 'u"p', "u\\", "model", "usage", ""),
    places: fc.tuple(fc.nat(5), fc.nat(6)),
    blanks: fc.constantFrom(undefined, undefined, undefined, 1),
  })
  .map(({ fields, model, places, blanks }) => {
    const all: (readonly [string, unknown])[] = [...fields];
    all.splice(places[0], 0, ["model", model]);
    all.splice(places[1], 0, ["usage", null]);
    return JSON.stringify(Object.fromEntries(all), null, blanks).replaceAll("\n", "");
  });

describe("what is spliced is what would be written anew", () => {
  test("for any chunks of one stream", () => {
    let spliced = 0;
    fc.assert(
      fc.property(fc.array(fc.tuple(chunk, fc.boolean()), { minLength: 1, maxLength: 6 }), (chunks) => {
        const splice = new ModelSplice(ROUTE);
        for (const [raw, hideUsage] of chunks) if (expectSame(splice, raw, hideUsage) !== null) spliced++;
      }),
      { numRuns: RUNS },
    );
    expect(spliced).toBeGreaterThan(100);
  });

  test("with the usage before the model, whether hidden or not", () => {
    const splice = new ModelSplice(ROUTE);
    const raw = '{"id":"c","usage":null,"model":"up-1"}';
    for (const hideUsage of [false, true, true, false]) {
      const usage = hideUsage ? "" : ',"usage":null';
      expect(expectSame(splice, raw, hideUsage)).toBe(`{"id":"c"${usage},"model":"${ROUTE}"}`);
    }
  });

  test.each([
    ["a text", `"x":"${"a".repeat(2 ** 20)}"`],
    ["fields", Array.from({ length: 2 ** 17 }, (_, at) => `"x${at}":1`).join(",")],
  ])("with as large %s around it as an event can hold", (_, fields) => {
    const splice = new ModelSplice(ROUTE);
    const texts = [`${fields},"model":"m"`, `"model":"m",${fields}`, `"a":[],"model":"m",${fields}`];
    const written = texts.map((text) => splice.write(`{${text},"usage":null}`, { model: "m" }, true));
    expect(written).toEqual(texts.map((text) => `{${text.replace('"m"', `"${ROUTE}"`)}}`));
  });

  const choices = '"choices":[{"index":0,"delta":{"content":"say \\"model\\":\\"up-1\\",\\"usage\\":null"}}]';
  const model = '"model":"up-1"';
  const usage = '"usage":null';

  test.each<readonly [string, string]>([
    ["OpenAI", `{"id":"c",${model},"service_tier":"default",${choices},${usage},"obfuscation":"Q\u00e97"}`],
    ["DeepSeek", `{"id":"c",${model},${choices},${usage}}`],
    ["Azure", `{${choices},"created":1.0,"id":"c",${model},"system_fingerprint":null,${usage}}`],
    ["Alibaba", `{${choices},${usage},"created":-1e9,${model},"id":"c"}`],
    ["the model first", `{${model},${choices},${usage}}`],
    ["both behind each other", `{${choices},${model},${usage}}`],
  ])("byte for byte, as %s writes", (_, raw) => {
    const splice = new ModelSplice(ROUTE);
    const exchanged = raw.replace(/"model":"up-1"/, `"model":"${ROUTE}"`);
    for (let again = 0; again < 3; again++) {
      expect(expectSame(splice, raw, false)).toBe(exchanged);
      expect(expectSame(splice, raw, true)).toBe(exchanged.replace(`,${usage}`, ""));
    }
  });

  test.each<readonly [string, string]>([
    ["over two lines", `{${model},\n${choices},${usage}}`],
    ["with a model in an object behind it", `{${model},"x":{${model}},${usage}}`],
    ["with a usage in an object alone", `{${model},"x":{"a":1,${usage}}}`],
    ["with objects on both sides", `{"a":{},${model},"b":{},${usage},"c":{}}`],
    ["with the model apart from its name, and one in an object", `{"model": "up-1","x":{"a":1,${model}},${usage}}`],
    ["with the model apart from its name, and one in a list", `{"model": "up-1","x":[{${model}}],${usage}}`],
    ["with the model apart from its name, and a longer name", `{"model": "up-1","x\\"model":"up-1",${usage}}`],
    ["without a usage", '{"model":"m"}'],
    ["without a model", `{${choices},${usage}}`],
    ["with a model that is no text", `{"model":null,${choices},${usage}}`],
    ["with an escape in the model", `{"model":"up\\u002d1",${choices},${usage}}`],
  ])("not where that cannot be told: a chunk %s", (_, raw) => {
    expect(new ModelSplice(ROUTE).write(raw, JSON.parse(raw) as Json, true)).toBeNull();
  });
});
