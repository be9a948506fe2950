import { describe, expect, test } from "vitest";
import { readChat } from "../../../src/dialects/chat/client.ts";
import { readMessages } from "../../../src/dialects/messages/client/format.ts";
import { readResponses } from "../../../src/dialects/responses/client/request.ts";
import { fitSchema } from "../../../src/dialects/schemas/fit.ts";
import { CLAUDE_SCHEMAS, CLAUDE_TOOLS } from "../../../src/dialects/schemas/rules.ts";
import {
  MAX_REPEATED_VALUES,
  MAX_SCHEMA_VALUES,
  VALUES_OF_A_TOOL,
  weightOf,
  withinSchemaBound,
  Work,
} from "../../../src/dialects/schemas/work.ts";
import type { Json } from "../../../src/kit/index.ts";
import { cpuOf } from "../../support/cpu.ts";
import { fit, RULES } from "./support.ts";

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const byName = (count: number, make: (index: number) => readonly [string, unknown]): Json =>
  Object.fromEntries(times(count, make));
const object = (properties: Json, more: Json = {}): Json => ({ type: "object", properties, ...more });
const within = (levels: number, wrap: (inner: Json, level: number) => Json, leaf: Json): Json =>
  times(levels, (level) => level).reduce(wrap, leaf);

/** Schemas of about so many values that stand for much more than they are, or are compared with themselves. */
const HOSTILE: Readonly<Record<string, (n: number) => Json>> = {
  "allOf of one property": (n) => ({
    type: "object",
    allOf: times(n, (i) => ({ properties: { p: { minLength: i } } })),
  }),
  "anyOf of one property": (n) => ({
    type: "object",
    anyOf: times(n, (i) => ({ properties: { p: { minLength: i } } })),
  }),
  "a long enum beside others": (n) =>
    object({ p: { allOf: [{ enum: times(n, (i) => i) }, ...times(n, () => ({ enum: ["x"] }))] } }),
  "lists of types": (n) =>
    object({ p: { allOf: [{ type: times(n, (i) => `a${i}`) }, { type: times(n, (i) => `a${n - i}`) }] } }),
  "a chain of references": (n) =>
    object(
      byName(n, (i) => [`p${i}`, { $ref: `#/$defs/d${i}` }]),
      {
        $defs: byName(n, (i) => [
          `d${i}`,
          i + 1 < n ? object({ n: { $ref: `#/$defs/d${i + 1}` } }) : { type: "string" },
        ]),
      },
    ),
  "a web of references": (n) => {
    const side = Math.floor(Math.sqrt(n));
    const all = (): Json => byName(side, (i) => [`q${i}`, { $ref: `#/$defs/d${i}` }]);
    return object(all(), { $defs: byName(side, (i) => [`d${i}`, object(all())]) });
  },
  "a web of unions": (n) => {
    const side = Math.floor(Math.sqrt(n));
    const all = (): Json[] => times(side, (i) => ({ $ref: `#/$defs/d${i}` }));
    return object(
      byName(side, (i) => [`q${i}`, { $ref: `#/$defs/d${i}` }]),
      { $defs: byName(side, (i) => [`d${i}`, { anyOf: all() }]) },
    );
  },
  "references to a long enum": (n) =>
    object(
      byName(n, (i) => [`p${i}`, { $ref: "#/$defs/e", title: "t" }]),
      { $defs: { e: { enum: times(n, (i) => i) } } },
    ),
  "references to a long text": (n) =>
    object(
      byName(n, (i) => [`p${i}`, { $ref: "#/$defs/e" }]),
      { $defs: { e: { description: "x".repeat(20 * n) } } },
    ),
  "a union beside what is large": (n) =>
    object({
      p: object(
        { q: object(byName(n, (i) => [`q${i}`, { type: "string" }])) },
        { anyOf: times(n, () => ({ title: "t" })) },
      ),
    }),
  "unions beside each other": (n) =>
    object({ p: { allOf: times(n, (i) => ({ anyOf: [{ minLength: i }, { maxLength: i }] })) } }),
  "a long name above many": (n) =>
    object({ ["x".repeat(20 * n)]: object(byName(n, (i) => [`q${i}`, { type: "string", minProperties: 1 }])) }),
  "names within names above many": (n) =>
    object({
      p: within(
        80,
        (inner, level) => object({ ["x".repeat(200) + level]: inner }),
        object(byName(n, (i) => [`q${i}`, { type: "string", minProperties: 1 }])),
      ),
    }),
  "definitions that end in one name": (n) =>
    object(
      byName(n, (i) => [`p${i}`, { $ref: `#/$defs/a${i}/properties/x` }]),
      { $defs: byName(n, (i) => [`a${i}`, object({ x: {} })]) },
    ),
  "branches of the root that are one": (n) => ({
    anyOf: times(n, () => ({ $ref: "#/$defs/a" })),
    $defs: {
      a: object(
        byName(n, (i) => [`p${i}`, { title: "x" }]),
        { required: times(n, (i) => `p${i}`) },
      ),
    },
  }),
  "branches of the root within each other": (n) => ({
    anyOf: times(90, (i) => ({ $ref: `#/$defs/a${"/properties/p".repeat(i)}` })),
    $defs: { a: within(90, (inner) => object({ p: inner }), object(byName(n, (i) => [`q${i}`, {}]))) },
  }),
  "long enums that are compared": (n) =>
    object({ p: { oneOf: times(50, (i) => ({ enum: times(Math.ceil(n / 50), (k) => i * n + k) })) } }),
  "names that are not demanded": (n) =>
    object(
      byName(n, (i) => [`p${i}`, {}]),
      { required: times(n, (i) => `z${i}`) },
    ),
};

const SIZE = 4_000;
/** Milliseconds: what is not bounded takes from five seconds to for ever, or all of the memory. */
const LONGEST_MS = 3_000;

describe.each(Object.entries(HOSTILE))("%s", (_, make) => {
  test.each(Object.entries(RULES))("is a few looks at each value for %s", (__, rules) => {
    const schema = make(SIZE);
    const length = JSON.stringify(schema).length;
    const work = new Work();
    const { value, ms } = cpuOf(() => fitSchema(schema, rules, work));
    const { schema: fitted, dropped } = value;
    expect(ms).toBeLessThan(LONGEST_MS);
    // The one that is looked at when nothing is left may be the whole once more.
    expect(work.done).toBeLessThan(6 * weightOf(schema) + MAX_REPEATED_VALUES);
    expect(JSON.stringify(fitted).length).toBeLessThan(8 * length + 500_000);
    expect(dropped.join("").length).toBeLessThan(8 * length + 500_000);
  });
});

/** Few values that refer to themselves as often as may be followed. */
const recursive = object(byName(7, (i) => [`p${i}`, { $ref: "#" }]));

test.each(Object.entries(RULES))(
  "what schemas repeat is bounded for all of one request together for %s",
  (_, rules) => {
    const work = new Work();
    for (let n = 0; n < 200; n += 1) fitSchema(recursive, rules, work);
    expect(work.done).toBeLessThan(200 * 6 * weightOf(recursive) + MAX_REPEATED_VALUES);
  },
);

test("a schema behind one that repeats itself without end is looked at as it would be alone", () => {
  const work = new Work();
  const plain = object(byName(50, (i) => [`p${i}`, { type: "string", minLength: 1 }]));
  fitSchema(HOSTILE["a web of unions"]!(SIZE), CLAUDE_SCHEMAS, work);
  for (let n = 0; n < 100; n += 1) fitSchema(recursive, CLAUDE_SCHEMAS, work);
  expect(fitSchema(plain, CLAUDE_SCHEMAS, work)).toEqual(fit(plain, CLAUDE_SCHEMAS));
});

test("references to one schema are looked up once each, however long they are", () => {
  const levels = 80;
  const place = "/a/properties".repeat(levels);
  const $defs = within(levels, (inner) => ({ a: { properties: inner } }), {});
  const schema = object(
    byName(2_000, (i) => [`p${i}`, { $ref: `#/$defs${place}` }]),
    { $defs },
  );
  const work = new Work();
  expect(fitSchema(schema, CLAUDE_SCHEMAS, work).schema["$defs"]).toEqual({
    properties: expect.any(Object) as unknown,
  });
  expect(work.done).toBeLessThan(3 * weightOf(schema));
});

test("work is in proportion to the schema", () => {
  const [one, three] = [1, 3].map((factor) => {
    const schema = HOSTILE["a chain of references"]!(1_000 * factor);
    const work = new Work();
    fitSchema(schema, CLAUDE_SCHEMAS, work);
    return work.done;
  });
  expect(three! / one!).toBeLessThan(3.5);
});

test("a long chain of references loses nothing where references are taken", () => {
  const schema = HOSTILE["a chain of references"]!(3_000);
  const { dropped, shaped, schema: fitted } = fit(schema, CLAUDE_SCHEMAS);
  expect({ dropped, shaped }).toEqual({ dropped: [], shaped: true });
  expect(Object.keys(fitted["$defs"] as Json)).toHaveLength(3_000);
});

const branch = (name: string, schema: Json): Json =>
  object({ [name]: schema, k: { const: name } }, { required: ["k", name] });

test("the root's unions are brought together, each property once", () => {
  const { schema } = fit(
    { anyOf: [branch("a", { type: "string" }), branch("b", {}), branch("a", { type: "string" })] },
    CLAUDE_TOOLS,
  );
  expect(schema).toEqual({
    type: "object",
    properties: { a: { type: "string" }, b: {}, k: { anyOf: [{ const: "a" }, { const: "b" }] } },
    required: ["k"],
  });
});

test.each<[string, Json]>([
  ["the root's word on other properties", { allOf: [{ properties: { b: {} } }], additionalProperties: false }],
  ["what stands beside a reference", { allOf: [{ $ref: "#/$defs/A", minProperties: 1 }] }],
  ["a reference that leads nowhere", { allOf: [{ $ref: "#/$defs/B" }] }],
  ["a branch that nothing fits", { allOf: [false] }],
  ["a branch that is of no object", { allOf: [{ type: "string" }] }],
])("bringing the root's unions together tells that it loses %s", (_, said) => {
  const schema = { type: "object", ...said, $defs: { A: object({ a: {} }) } };
  expect(fit(schema, CLAUDE_TOOLS).dropped).toEqual(["/allOf"]);
});

test.each(["claude", "strict", "vendor"])("%s is told what a schema said of properties that another names", (name) => {
  const closed = object({ a: {} }, { additionalProperties: false });
  const at = "/properties/p/allOf/0/additionalProperties";
  const of = (other: Json): Json => object({ p: { allOf: [closed, other] } });
  expect(fit(of(object({ b: { type: "string" } })), RULES[name]!).dropped).toContain(at);
  expect(fit(of(object({ a: { type: "string" } })), RULES[name]!).dropped).not.toContain(at);
});

test("beyond a thousand pointers the whole stands for the rest", () => {
  const { dropped } = fit(object(byName(2_000, (i) => [`p${i}`, { type: "string", minLength: 1 }])), CLAUDE_SCHEMAS);
  expect(dropped).toHaveLength(1_001);
  expect(dropped.at(-1)).toBe("");
});

// One value each: the object, its `type`, `properties`, and two a property.
const properties = (count: number): Json => object(byName(count, (i) => [`p${i}`, { type: "string" }]));
const chat = (schemas: readonly Json[], more: Json = {}): Json => ({
  model: "m",
  messages: [{ role: "user", content: "x" }],
  tools: schemas.map((parameters) => ({ type: "function", function: { name: "f", parameters } })),
  ...more,
});

describe("the schemas of one request", () => {
  const half = properties(MAX_SCHEMA_VALUES / 4);
  const said = `makes it more than ${MAX_SCHEMA_VALUES} values in the JSON schemas of one request`;

  test("may be large", () => {
    const call = readChat(chat([properties(MAX_SCHEMA_VALUES / 4 - 10), properties(MAX_SCHEMA_VALUES / 4 - 10)]));
    expect(withinSchemaBound(call)).toBe(call);
  });

  test("are counted however small they are", () => {
    expect(() =>
      withinSchemaBound(readChat(chat(times(MAX_SCHEMA_VALUES / VALUES_OF_A_TOOL, () => ({}))))),
    ).not.toThrow();
    expect(() =>
      withinSchemaBound(readChat(chat(times(MAX_SCHEMA_VALUES / VALUES_OF_A_TOOL + 1, () => ({}))))),
    ).toThrow(said);
  });

  test("are refused together, at the one that is too much, where the client wrote it", () => {
    expect(() => withinSchemaBound(readChat(chat([half, half])))).toThrow(`/tools/1/function/parameters ${said}`);
    const format = { type: "json_schema", json_schema: { name: "x", schema: half } };
    expect(() => withinSchemaBound(readChat(chat([half], { response_format: format })))).toThrow(
      `/response_format/json_schema/schema ${said}`,
    );
    const tools = [
      { name: "a", input_schema: half },
      { name: "b", input_schema: half },
    ];
    const messages = { model: "m", max_tokens: 1, messages: [{ role: "user", content: "x" }], tools };
    expect(() => withinSchemaBound(readMessages(messages))).toThrow(`/tools/1/input_schema ${said}`);
    const functions = ["a", "b"].map((name) => ({ type: "function", name, parameters: half }));
    expect(() => withinSchemaBound(readResponses({ model: "m", input: "x", tools: functions }))).toThrow(
      `/tools/1/parameters ${said}`,
    );
  });
});
