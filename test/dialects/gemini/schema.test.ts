import { Ajv } from "ajv";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FEW_RUNS } from "../../properties/runs.ts";
import { fitSchema } from "../../../src/dialects/schemas/fit.ts";
import { GEMINI_SCHEMAS } from "../../../src/dialects/schemas/rules.ts";
import { Work } from "../../../src/dialects/schemas/work.ts";
import type { Json } from "../../../src/kit/index.ts";
import { callOf, list, send } from "./support.ts";

const schemaOf = (schema: Json): Json => fitSchema(schema, GEMINI_SCHEMAS, new Work()).schema;

/** As coding agents send them. */
const AGENT: Json = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    filePath: { type: "string", description: "path" },
    offset: { type: "integer", exclusiveMinimum: 0, maximum: 9_007_199_254_740_991 },
    limit: { type: "number", minimum: -9_007_199_254_740_991 },
    kind: { anyOf: [{ const: "a" }, { type: "null" }] },
    list: { type: ["array", "null"], items: { type: "string", pattern: "^a" }, minItems: 1 },
    $ref: { type: "string" },
  },
  required: ["filePath"],
  additionalProperties: false,
};

describe("a tool's schema", () => {
  test("goes out whole", () => {
    expect(schemaOf(AGENT)).toEqual(AGENT);
    const tools = [{ type: "function", function: { name: "read", parameters: AGENT } }];
    const [{ functionDeclarations } = {}] = list(send(callOf({ tools })).body["tools"]);
    expect(list(functionDeclarations)[0]!["parametersJsonSchema"]).toEqual(AGENT);
  });

  test.each<[string, Json, Json]>([
    [
      "former definitions and references to them",
      { definitions: { A: { type: "string" } }, properties: { a: { $ref: "#/definitions/A" } } },
      { $defs: { A: { type: "string" } }, properties: { a: { $ref: "#/$defs/A" } } },
    ],
    [
      "both names of definitions",
      { definitions: { A: {} }, $defs: { B: { $ref: "#/definitions/A" } } },
      { $defs: { A: {}, B: { $ref: "#/$defs/A" } } },
    ],
    [
      "fields beside a reference",
      { properties: { a: { $ref: "#/$defs/A", description: "d", default: 1 } } },
      { properties: { a: { description: "d", default: 1, anyOf: [{ $ref: "#/$defs/A" }] } } },
    ],
    [
      "fields beside a reference, compositions of each kind among them",
      { properties: { a: { $ref: "#/$defs/A", anyOf: [{ maximum: 1 }], allOf: [{ minimum: 0 }] } } },
      { properties: { a: { anyOf: [{ maximum: 1 }], allOf: [{ minimum: 0 }, { $ref: "#/$defs/A" }] } } },
    ],
    [
      "definitions beside a reference",
      { $ref: "#/definitions/A", definitions: { A: { type: "object" } } },
      { $defs: { A: { type: "object" } }, $ref: "#/$defs/A" },
    ],
    [
      "properties named like keywords",
      { properties: { definitions: { type: "string" }, $ref: { type: "string" }, properties: { type: "string" } } },
      { properties: { definitions: { type: "string" }, $ref: { type: "string" }, properties: { type: "string" } } },
    ],
    [
      "data that looks like a reference",
      { enum: [{ $ref: "#/definitions/A", b: 1 }], const: { definitions: 1 }, default: { $ref: "#/definitions/A" } },
      { enum: [{ $ref: "#/definitions/A", b: 1 }], const: { definitions: 1 }, default: { $ref: "#/definitions/A" } },
    ],
  ])("%s", (_, schema, sent) => {
    expect(schemaOf(schema)).toEqual(sent);
  });

  test("means what it meant", () => {
    const reference = fc.constantFrom("#/definitions/A", "#/definitions/B").map(($ref) => ({ $ref }));
    const leaf = fc.oneof(
      fc.constantFrom({ type: "string" }, { type: "integer", minimum: 2 }, { enum: ["a", null] }),
      reference,
    );
    const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
      schema: fc.oneof(
        { depthSize: "small" },
        leaf as fc.Arbitrary<Json>,
        fc.record({
          type: fc.constant("object"),
          properties: fc.dictionary(fc.constantFrom("a", "b", "definitions"), tie("schema")),
        }),
        fc.record({ type: fc.constant("array"), items: tie("schema") }),
        fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
      ),
    }));
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.dictionary(fc.constantFrom("a", "b", "definitions"), fc.jsonValue()),
    );
    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 1, maxLength: 5 }), (inner, values) => {
        const whole = { definitions: { A: { type: "string" }, B: { type: ["integer", "null"] } }, ...inner };
        const [before, after] = [whole, schemaOf(whole)].map((one) => new Ajv({ strict: false }).compile(one));
        for (const one of values) expect(after!(one)).toBe(before!(one));
      }),
      { numRuns: FEW_RUNS },
    );
  });
});
