import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { isJson, type Json } from "../../src/kit/index.ts";
import { sharedFixtures } from "../support/shared.ts";
import { ALL_CASES, casesOf } from "./cases.ts";

/* The cases are legal by the clients' own definitions. What is not would show nothing about the gateway. */

const openapi = sharedFixtures("openai-openapi");

/** A check of a schema of OpenAI's description; each message a line. */
function openaiCheck(folder: string): (schema: string, value: unknown) => readonly string[] {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false, logger: false });
  const { components } = JSON.parse(readFileSync(join(folder, "openapi.json"), "utf8")) as Json;
  ajv.addSchema({ $id: "openapi", components: lenient(components) });
  return (schema, value) => {
    const validate = ajv.getSchema(`openapi#/components/schemas/${schema}`);
    if (validate === undefined) throw new Error(`no schema ${schema}`);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

/**
 * The description as it is meant: its alternatives overlap (a message with a type is both of two), and `nullable` is of an
 * older version of OpenAPI than it names.
 */
function lenient(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lenient);
  if (!isJson(value)) return value;
  const { oneOf, nullable, discriminator: _discriminator, ...rest } = value;
  const inner = Object.fromEntries(Object.entries(rest).map(([name, of]) => [name, lenient(of)]));
  const whole = oneOf === undefined ? inner : { ...inner, anyOf: lenient(oneOf) };
  return nullable === true ? { anyOf: [whole, { type: "null" }] } : whole;
}

const SCHEMAS = { chat: "CreateChatCompletionRequest", responses: "CreateResponse" } as const;

describe.skipIf(openapi === null).each(["chat", "responses"] as const)("%s", (format) => {
  const check = openaiCheck(openapi ?? "");

  test.each(casesOf(format).map((one) => [one.name, one] as const))("%s is legal", (_, { body }) => {
    expect(check(SCHEMAS[format], { model: "gpt-5", ...body })).toEqual([]);
  });
});

test("there are as many cases as there were", () => {
  expect(ALL_CASES.length).toBeGreaterThanOrEqual(110);
});
