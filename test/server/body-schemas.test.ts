import { Ajv } from "ajv";
import * as fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { lengthInCodePoints } from "../../schemas/generate.ts";
import { type BodyName, validateBody } from "../../src/server/body-schemas.ts";
import { BAD, GOOD, STILL_GOOD } from "./body-cases.ts";
import { RUNS } from "../properties/runs.ts";

const ENDPOINTS = Object.keys(GOOD) as BodyName[];

function check(endpoint: BodyName, body: unknown) {
  return validateBody(endpoint, body);
}

/** As it comes from the wire: a field that is undefined is not there. */
function changed(endpoint: BodyName, change: object): unknown {
  return JSON.parse(JSON.stringify({ ...GOOD[endpoint], ...change }));
}

function brief(change: object): string {
  const text = JSON.stringify(change, (_, value: unknown) => (value === undefined ? "(left out)" : value));
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

describe.for(ENDPOINTS)("%s", (endpoint) => {
  test.for([{}, ...STILL_GOOD[endpoint]].map((change) => [brief(change), change] as const))(
    "a good one: %s",
    ([, change]) => {
      expect(check(endpoint, changed(endpoint, change))).toBeNull();
    },
  );

  test.for(BAD[endpoint].map((row) => [brief(row[0]), row] as const))(
    "a bad one: %s",
    ([, [change, pointer, what]]) => {
      expect(check(endpoint, changed(endpoint, change))).toEqual({ pointer, what });
    },
  );

  test("no object", () => {
    for (const body of [null, [], "text", 5, true])
      expect(check(endpoint, body)).toEqual({ pointer: "/", what: "must be an object" });
  });

  test("a good body leaves no trace of the bad one before it", () => {
    expect(check(endpoint, null)).not.toBeNull();
    expect(check(endpoint, GOOD[endpoint])).toBeNull();
  });

  test("whatever stands in a field is accepted, or refused in words at a place in the body", () => {
    const fields = [...new Set([{}, ...STILL_GOOD[endpoint], GOOD[endpoint]].flatMap((change) => Object.keys(change)))];
    const names = fc.oneof(fc.constantFrom(...fields), fc.string());
    fc.assert(
      fc.property(fc.dictionary(names, fc.jsonValue(), { maxKeys: 4 }), (change) => {
        const body = changed(endpoint, change);
        const problem = check(endpoint, body);
        if (problem === null) return;
        expect(problem.what).toMatch(/^(must|is required)/);
        expect(parentOf(body, problem.pointer)).toBeInstanceOf(Object);
      }),
      { numRuns: RUNS },
    );
  });
});

/** What holds the place that a pointer names. */
function parentOf(body: unknown, pointer: string): unknown {
  const names = pointer.split("/").slice(1, -1);
  return names
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], body);
}

test("names of fields are escaped in pointers, and those of Object.prototype mean nothing", () => {
  const body: unknown = JSON.parse('{"model":"m","messages":[{"role":"u"}],"__proto__":{"model":5},"constructor":1}');
  expect(check("chat", body)).toBeNull();
  expect(check("chat", JSON.parse('{"__proto__":{"model":"m","messages":[{"role":"u"}]}}'))).toEqual({
    pointer: "/model",
    what: "is required",
  });
});

function query(text: string) {
  return check("rerank", { ...GOOD.rerank, query: text });
}

describe("texts are measured in code points", () => {
  const point = fc.constantFrom("a", "é", "😀", "\ud800", "\udc00");

  test("whatever they are made of", () => {
    const ajv = new Ajv();
    lengthInCodePoints(ajv);
    const validate = ajv.compile({ type: "string", minLength: 3, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(point, { maxLength: 9 }), (points) => {
        const text = points.join("");
        const { length } = Array.from(text);
        expect(validate(text)).toBe(length >= 3 && length <= 6);
      }),
    );
  });

  test("and are not walked through when their length says it all", () => {
    const walk = vi.spyOn(String.prototype, Symbol.iterator);
    onTestFinished(() => walk.mockRestore());
    expect(query("q".repeat(2 * 1024 * 1024))).toMatchObject({ what: "must be at most 65536 characters" });
    expect(query("q".repeat(65_536))).toBeNull();
    expect(walk).not.toHaveBeenCalled();
    expect(query("q".repeat(65_537))).not.toBeNull();
    expect(walk).toHaveBeenCalledOnce();
  });
});

const SAYS_NOTHING = [
  "$schema",
  "$id",
  "$ref",
  "title",
  "description",
  "properties",
  "definitions",
  "additionalProperties",
];
/** `const` stands in conditions only: a fixed value of a field is an `enum` of one. */
const DECIDES = ["if", "then", "else", "allOf", "const", "items", "contains"];
const HAS_WORDS = ["type", "enum", "pattern", "required", "maxItems", "maxLength", "minimum", "maximum"];

/** Every keyword of a schema, with its value. */
function* keywordsOf(schema: object): Generator<readonly [string, unknown]> {
  for (const [keyword, value] of Object.entries(schema) as [string, unknown][]) {
    yield [keyword, value];
    if (typeof value !== "object" || value === null || Array.isArray(value)) continue;
    const inner = keyword === "properties" || keyword === "definitions" ? Object.values(value) : [value];
    for (const part of inner as object[]) yield* keywordsOf(part);
  }
}

test("every keyword that can refuse a body has words of its own", () => {
  const folder = resolve(import.meta.dirname, "../../schemas/api");
  const files = readdirSync(folder).filter((name) => name !== "responses.schema.json");
  const used = files.flatMap((name) => [
    ...keywordsOf(JSON.parse(readFileSync(resolve(folder, name), "utf8")) as object),
  ]);
  expect(used.length).toBeGreaterThan(300);
  // A limit of 1 is said as "must not be empty".
  const told = used.filter(([keyword, value]) => !(/^min(Length|Items)$/.test(keyword) && value === 1));
  const known = new Set([...SAYS_NOTHING, ...DECIDES, ...HAS_WORDS]);
  expect(told.map(([keyword]) => keyword).filter((keyword) => !known.has(keyword))).toEqual([]);
});
