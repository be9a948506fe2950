import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { atOnce, type Json, type Upload } from "../../src/kit/index.ts";
import { digestForm, digestSteps } from "../../src/server/body-digest.ts";

const digestOf = (body: Json, endpoint = "chat" as const): string =>
  atOnce(digestSteps(endpoint, body)).toString("hex");

/** Turns of the event loop that a digest takes. */
function steps(body: Json): number {
  let count = 1;
  for (const walk = digestSteps("chat", body); walk.next().done !== true;) count += 1;
  return count;
}

function upload(...chunks: readonly string[]): Upload {
  return {
    name: "a.wav",
    contentType: "audio/wav",
    size: chunks.join("").length,
    async *read() {
      for (const chunk of chunks) yield Buffer.from(chunk);
    },
  };
}

async function ofForm(fields: Json, ...chunks: readonly string[]): Promise<string> {
  return (await digestForm("transcription", fields, upload(...chunks))).toString("hex");
}

/** Names and lists in another order of writing, the same value. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, inner]) => [name, turned(inner)]),
  );
}

const BODY = fc.dictionary(fc.string(), fc.jsonValue()).map((body) => JSON.parse(JSON.stringify(body)) as Json);

describe("the digest of a body", () => {
  test("is that of its JSON value", () => {
    const property = fc.property(BODY, (body) => {
      expect(digestOf(turned(body) as Json)).toBe(digestOf(body));
    });
    fc.assert(property);
  });

  test("tells values apart, as far as JSON does", () => {
    const property = fc.property(BODY, BODY, (one, other) => {
      const isSame = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
      expect(digestOf(one) === digestOf(other)).toBe(isSame);
    });
    fc.assert(property);
  });

  test.each<readonly [Json, Json]>([
    [{ a: "1" }, { a: 1 }],
    [{ a: null }, { a: "null" }],
    [{ a: null }, {}],
    [{ a: [] }, { a: {} }],
    [{ a: [1, 2] }, { a: [2, 1] }],
    [{ a: [[1], 2] }, { a: [[1, 2]] }],
    [{ a: "b", c: "d" }, { a: 'b","c":"d' }],
    [{ "a:1": 1 }, { a: ":11" }],
    [{ a: "é" }, { a: "e\u0301" }],
    [{ a: "x".repeat(70_000) }, { a: "x".repeat(70_001) }],
    [JSON.parse('{"__proto__":1}') as Json, {}],
  ])("%j is not %j", (one, other) => {
    expect(digestOf(one)).not.toBe(digestOf(other));
  });

  test.each([
    ['{"a":1}', '{ "a" : 1.0 }'],
    ['{"a":100}', '{"a":1e2}'],
    ['{"a":0}', '{"a":-0}'],
    ['{"a":"é"}', String.raw`{"a":"\u00e9"}`],
    ['{"a":1,"b":2}', '{"b":2,"a":1}'],
    ['{"a":1,"b":2}', '{"b":3,"b":2,"a":1}'],
  ])("%s is %s", (one, other) => {
    expect(digestOf(JSON.parse(one) as Json)).toBe(digestOf(JSON.parse(other) as Json));
  });

  test("is another one at another endpoint", () => {
    expect(atOnce(digestSteps("messages", {})).toString("hex")).not.toBe(digestOf({}));
  });

  test("of a large one is made in steps, of a deep one without recursion", () => {
    expect(steps({ a: "x".repeat(8 * 1024 * 1024) })).toBeGreaterThan(4);
    expect(steps({ a: Array.from({ length: 100_000 }, () => 1) })).toBeGreaterThan(4);
    let deep: Json = {};
    for (let level = 0; level < 20_000; level += 1) deep = { deep };
    expect(steps(deep)).toBeGreaterThan(0);
  });

  test("of a form is that of its fields and its file's bytes, however they are cut", async () => {
    const whole = await ofForm({ model: "m", language: "en" }, "abcdef");
    expect(await ofForm({ language: "en", model: "m" }, "abc", "def")).toBe(whole);
    expect(await ofForm({ language: "en", model: "m" }, "abcdeg")).not.toBe(whole);
    expect(await ofForm({ model: "m" }, "abcdef")).not.toBe(whole);
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? 0 : value;
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => ["field", name, sorted(inner)]);
}
