import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CLAUDE_SCHEMAS, COHERE_SCHEMAS, type SchemaRules } from "../../../src/dialects/schemas/rules.ts";
import { isJson, type Json } from "../../../src/kit/index.ts";
import { type Cases, casesOfFiles } from "../cases.ts";
import { fit, RULES, RUNS } from "./support.ts";

/** One schema, and what it is for each of the targets named. */
interface Case {
  readonly about: string;
  readonly schema: Json;
  readonly fitted: Readonly<
    Record<string, { readonly schema: Json; readonly dropped?: readonly string[]; readonly shaped?: boolean }>
  >;
}

const cases = casesOfFiles(new URL("cases/", import.meta.url)) as Cases<Case>;

describe.each(cases)("%s", (_, { about, schema, fitted }) => {
  test.each(Object.entries(fitted))(`${about}: %s`, (name, due) => {
    const made = fit(schema, RULES[name]!);
    expect(made.schema).toEqual(due.schema);
    expect(made.dropped).toEqual(due.dropped ?? []);
    expect(made.shaped).toBe(due.shaped ?? true);
  });
});

test("there are cases for every target", () => {
  const named = new Set(cases.flatMap(([, { fitted }]) => Object.keys(fitted)));
  expect([...named].toSorted()).toEqual(Object.keys(RULES).toSorted());
});

const name = fc.constantFrom("a", "b", "c", "definitions", "$ref");
const reference = fc.constantFrom("#/$defs/A", "#/definitions/B", "#/$defs/C").map(($ref) => ({ $ref }));
const leaf: fc.Arbitrary<Json> = fc.oneof(
  fc.record(
    {
      type: fc.constant("string"),
      minLength: fc.nat(2),
      maxLength: fc.integer({ min: 1, max: 4 }),
      format: fc.constantFrom("uri", "date", "color"),
      description: fc.constant("words"),
    },
    { requiredKeys: ["type"] },
  ),
  fc.record(
    { type: fc.constantFrom("integer", "number"), minimum: fc.nat(2), maximum: fc.integer({ min: 2, max: 5 }) },
    { requiredKeys: ["type"] },
  ),
  fc.constantFrom<Json>(
    { enum: ["a", "b", null] },
    { const: 1 },
    { type: ["string", "null"] },
    { type: "boolean" },
    { type: "null" },
  ),
  reference,
  fc.record({ description: fc.constant("d"), $ref: reference.map(({ $ref }) => $ref) }),
);
const { schema: anySchema, object: anyObject } = fc.letrec<{ schema: Json; object: Json }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 2 },
    leaf,
    tie("object"),
    fc.record(
      { type: fc.constant("array"), items: tie("schema"), minItems: fc.nat(2), uniqueItems: fc.boolean() },
      { requiredKeys: ["type", "items"] },
    ),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
    fc.record({ allOf: fc.array(tie("object"), { minLength: 1, maxLength: 2 }) }),
  ),
  object: fc.record(
    {
      type: fc.constant("object"),
      properties: fc.dictionary(name, tie("schema"), { minKeys: 1, maxKeys: 2 }),
      required: fc.uniqueArray(name, { maxLength: 2 }),
      additionalProperties: fc.oneof(fc.boolean(), leaf),
      anyOf: fc.array(fc.record({ required: fc.uniqueArray(name, { maxLength: 1 }) }), { minLength: 1, maxLength: 2 }),
      minProperties: fc.nat(1),
    },
    { requiredKeys: ["type", "properties"] },
  ),
}));
const root = fc
  .tuple(anyObject, leaf, anyObject, anySchema)
  .map(([schema, A, B, C]): Json => ({ ...schema, $defs: { A, C }, definitions: { B } }));

const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<unknown>("a", "b", "", "abcd", null, true, 0, 1, 2, 3, 2.5),
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3 }),
  ),
})).value;
const values = fc.array(fc.dictionary(name, value, { maxKeys: 3 }), { minLength: 1, maxLength: 10 });

type Check = (value: unknown) => boolean;
/** null for a schema that is none: a definition may refer to nothing but itself. */
function validator(schema: unknown): Check | null {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  try {
    const validate = ajv.compile(schema as Json);
    return (value) => {
      try {
        return validate(value);
      } catch {
        // References that go around in a circle without a value between them.
        return false;
      }
    };
  } catch {
    return null;
  }
}

/** A schema, by its own keywords alone. */
function eachSchema(schema: unknown, visit: (schema: Json) => void): void {
  if (!isJson(schema)) return;
  visit(schema);
  for (const [keyword, inner] of Object.entries(schema)) {
    const isMap = keyword === "properties" || keyword === "$defs" || keyword === "definitions";
    if (isMap && isJson(inner)) for (const one of Object.values(inner)) eachSchema(one, visit);
    else if (["anyOf", "oneOf", "allOf", "prefixItems"].includes(keyword) && Array.isArray(inner)) {
      for (const one of inner) eachSchema(one, visit);
    } else if (keyword === "items" || keyword === "additionalProperties") eachSchema(inner, visit);
  }
}

/** The schema without what fitting adds: closed objects and required properties. */
function opened(schema: unknown): unknown {
  const copy = structuredClone(schema);
  eachSchema(copy, (one) => {
    const open = one as Record<string, unknown>;
    if (open["additionalProperties"] === false) delete open["additionalProperties"];
    delete open["required"];
  });
  return copy;
}

/** Whether fitting adds anything that `opened` takes away: where it does not, `oneOf` may stand, which open branches share. */
function adds({ closed, required }: SchemaRules): boolean {
  return closed !== false || required !== "given";
}

const STRUCTURE = new Set(["$ref", "$defs", "anyOf", "properties", "required", "items", "additionalProperties"]);

/** What of a fitted schema breaks the rules. */
function violations(whole: Json, rules: SchemaRules): readonly string[] {
  if (rules.keywords === null) return [];
  const found: string[] = [];
  const demand = (holds: boolean, what: string): void => void (holds || found.push(what));
  eachSchema(whole, (one) => {
    const { properties, required = [] } = one;
    for (const [keyword, held] of Object.entries(one)) {
      const isTaken = rules.keywords!.has(keyword) && (rules.takes?.(keyword, held) ?? true);
      demand(STRUCTURE.has(keyword) || isTaken, `${keyword} is not taken`);
    }
    demand(rules.references !== "never" || !("$ref" in one), "a reference");
    demand(rules.unions || !("anyOf" in one), "a union");
    if (!isJson(properties)) return;
    const names = Object.keys(properties);
    demand(rules.closed !== true || one["additionalProperties"] === false, "an open object");
    demand(rules.required !== "all" || String(required) === String(names), "a property that is not required");
    demand(rules.required !== "some" || names.length === 0 || String(required) !== "", "nothing is required");
  });
  demand(!rules.objectRoot || whole["type"] === "object", "a root that is no object");
  demand(rules.references !== "acyclic" || !isCyclic(whole, whole, 0), "references that go around in a circle");
  return found;
}

function isCyclic(schema: unknown, whole: Json, depth: number): boolean {
  if (depth > 10) return true;
  const targets: unknown[] = [];
  eachSchema(schema, ({ $ref }) => {
    if (typeof $ref === "string") targets.push((whole["$defs"] as Json)[$ref.slice("#/$defs/".length)]);
  });
  return targets.some((target) => target === undefined || isCyclic(target, whole, depth + 1));
}

/** Values that are forbidden or permitted against what was said. */
function changed(schema: Json, rules: SchemaRules, all: readonly unknown[]): readonly unknown[] {
  const { schema: made, dropped } = fit(schema, rules);
  // Unrolled recursion may be large, and the validator slow.
  if (JSON.stringify(made).length > 4_000) return [];
  const [before, after, open] = [schema, made, adds(rules) ? opened(made) : made].map(validator);
  if (!before || !after || !open) return [];
  const forbids = rules.unions && !dropped.some((at) => at.endsWith("/$ref"));
  const tells = rules.closed !== "implied";
  return all.filter(
    (one) => (forbids && before(one) && !open(one)) || (tells && dropped.length === 0 && after(one) && !before(one)),
  );
}

/** An object whose `a` is of that type. */
const branch = (type: string, required: readonly string[]): Json => ({
  type: "object",
  properties: { a: { type } },
  required,
});

describe.each(Object.entries(RULES))("any schema for %s", (_, rules) => {
  test("obeys the rules, is left alone, and when fitted is taken as it is", () => {
    fc.assert(
      fc.property(root, (schema) => {
        const before = JSON.stringify(schema);
        const fitted = fit(schema, rules).schema;
        const again = fit(fitted, rules);
        expect(JSON.stringify(schema)).toBe(before);
        expect(again.schema).toEqual(fitted);
        expect(rules.keywords === null ? [] : again.dropped).toEqual([]);
        expect(violations(fitted, rules)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test("forbids nothing but what is documented, and permits nothing more without saying so", () => {
    fc.assert(
      fc.property(root, values, (schema, all) => {
        expect(changed(schema, rules, all)).toEqual([]);
      }),
      { numRuns: Math.ceil(RUNS / 3) },
    );
  });

  test("keeps what fits one branch of several that would be alike were nothing required", () => {
    const schema = { type: "object", properties: { a: { oneOf: [branch("string", ["a"]), branch("integer", [])] } } };
    expect(changed(schema, rules, [{ a: {} }, { a: { a: 1 } }, { a: { a: "" } }])).toEqual([]);
  });

  test("that is taken as it is is not copied", () => {
    const properties = { a: { type: "string" } };
    const closed = rules === COHERE_SCHEMAS ? {} : { additionalProperties: false };
    const schema = { type: "object", properties, required: ["a"], ...closed };
    expect(Object.is(fit(schema, rules).schema, schema)).toBe(true);
  });
});

test("one that grows without end is bounded", () => {
  const branches = Array.from({ length: 12 }, (_, n) => ({ properties: { [`p${n}`]: { $ref: "#/$defs/N" } } }));
  const N = { type: "object", anyOf: branches, allOf: [{ anyOf: branches }, { anyOf: branches }] };
  const { schema, shaped } = fit({ $defs: { N }, $ref: "#/$defs/N" }, CLAUDE_SCHEMAS);
  expect(shaped).toBe(false);
  expect(JSON.stringify(schema).length).toBeLessThan(1_000_000);
});
