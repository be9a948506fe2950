import { Ajv } from "ajv";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { example } from "../../src/simulator/example.ts";
import { RUNS } from "./support.ts";

const ajv = new Ajv({ strict: false, validateFormats: false });
/** What is wrong with the example of a schema; null when it fits. */
function misfit(schema: object): string | null {
  const value = example(schema);
  return ajv.validate(schema, value) ? null : `${JSON.stringify(value)}: ${ajv.errorsText()}`;
}

test.each<object>([
  {},
  { type: "object", properties: { a: { type: "string" } }, required: ["a", "b"] },
  { const: 7 },
  { type: "integer", exclusiveMinimum: 0, maximum: 2 ** 53 },
  { type: "integer", maximum: -3 },
  { type: "number", exclusiveMaximum: 0 },
  { type: "integer", minimum: 1, multipleOf: 5 },
  { type: "string", maxLength: 3 },
  {
    allOf: [
      { type: "object", properties: { a: { type: "null" } } },
      { type: "object", properties: { b: { const: 1 } } },
    ],
  },
  { type: "object", properties: { at: { $ref: "#/$defs/a~1b" } }, $defs: { "a/b": { type: "integer" } } },
])("%j", (schema) => {
  expect(misfit(schema)).toBeNull();
});

test("a schema that contains itself ends", () => {
  const schema = { type: "object", properties: { next: { $ref: "#" } } };
  expect(JSON.stringify(example(schema)).length).toBeLessThan(1_000);
});

test("any composition of the keywords gets a value that fits", () => {
  const { schema } = fc.letrec<{ schema: object }>((tie) => ({
    schema: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.record({ type: fc.constant("string"), minLength: fc.nat(20) }),
      fc.record({ type: fc.constant("integer"), minimum: fc.integer({ min: -50, max: 50 }) }),
      fc.record({ type: fc.constant("number"), exclusiveMinimum: fc.integer({ min: -50, max: 50 }) }),
      fc.record({ enum: fc.uniqueArray(fc.string(), { minLength: 1 }) }),
      fc.record({ type: fc.constant("array"), items: tie("schema"), minItems: fc.nat(3) }),
      fc.record({
        type: fc.constant("object"),
        properties: fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), tie("schema"), { maxKeys: 3 }),
      }),
    ),
  }));
  fc.assert(
    fc.property(schema, (of) => {
      expect(misfit(of)).toBeNull();
    }),
    { numRuns: RUNS },
  );
});
