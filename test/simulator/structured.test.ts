import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Json } from "../../src/kit/index.ts";
import { type Simulator, startSimulator } from "../../src/simulator/server.ts";
import { call } from "./support.ts";

const object = (properties: Json) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
/** Closed, and with everything required, so that the strictest providers take it too. */
const SCHEMA = {
  ...object({
    name: { type: "string", description: "a name" },
    kind: { type: "string", enum: ["cat", "dog"] },
    age: { type: ["integer", "null"] },
    born: { type: "string", format: "date" },
    owner: { $ref: "#/$defs/person" },
    toys: { type: "array", items: object({ price: { type: "number" }, loud: { type: "boolean" } }) },
    home: { anyOf: [{ type: "null" }, { $ref: "#/$defs/person" }] },
  }),
  $defs: {
    person: object({
      email: { type: "string", format: "email" },
      friend: { anyOf: [{ $ref: "#/$defs/person" }, { type: "null" }] },
    }),
  },
};
/** As Gemini and Cohere take it. */
const PLAIN = {
  type: "object",
  properties: { kind: { type: "string", enum: ["cat", "dog"] }, ages: { type: "array", items: { type: "integer" } } },
  required: ["kind", "ages"],
};

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

/** The texts of an answer in any dialect, or else the arguments of its call. */
function textsOf(answer: string): string {
  const found: Record<"text" | "arguments", string[]> = { text: [], arguments: [] };
  JSON.stringify(JSON.parse(answer), (key, value: unknown) => {
    if ((key === "text" || key === "content") && typeof value === "string") found.text.push(value);
    if (key === "arguments" && typeof value === "string") found.arguments.push(value);
    return value;
  });
  return [...found.text, ...found.arguments].join("");
}

const messages = [{ role: "user", content: "a pet" }];
const contents = [{ role: "user", parts: [{ text: "a pet" }] }];
const named = { name: "pet", strict: true, schema: SCHEMA };
const adopt = { name: "adopt", parameters: SCHEMA, strict: true };
const textFormat = { type: "json_schema", structure: { jsonSchema: { name: "pet", schema: JSON.stringify(SCHEMA) } } };
const HEADERS = { "x-goog-api-key": "any", "anthropic-version": "2023-06-01" };

test.each<readonly [string, object, Json]>([
  [
    "openai/v1/chat/completions",
    SCHEMA,
    { model: "gpt-4o", messages, response_format: { type: "json_schema", json_schema: named } },
  ],
  [
    "openai/v1/chat/completions",
    SCHEMA,
    {
      model: "gpt-4o",
      messages,
      tools: [{ type: "function", function: adopt }],
      tool_choice: { type: "function", function: { name: "adopt" } },
    },
  ],
  [
    "openai/v1/chat/completions",
    { required: ["answer"] },
    { model: "gpt-4o", messages: [{ role: "user", content: "json" }], response_format: { type: "json_object" } },
  ],
  [
    "openai/v1/responses",
    SCHEMA,
    { model: "gpt-4o", input: "a pet", text: { format: { type: "json_schema", ...named } } },
  ],
  [
    "anthropic/v1/messages",
    SCHEMA,
    {
      model: "claude-opus-4-6",
      max_tokens: 999,
      messages,
      output_config: { format: { type: "json_schema", schema: SCHEMA } },
    },
  ],
  [
    "gemini/v1beta/models/gemini-2.5-flash:generateContent",
    PLAIN,
    { contents, generationConfig: { responseMimeType: "application/json", responseSchema: PLAIN } },
  ],
  [
    "gemini/v1beta/models/gemini-3-pro:generateContent",
    SCHEMA,
    { contents, generationConfig: { responseMimeType: "application/json", responseJsonSchema: SCHEMA } },
  ],
  [
    "bedrock/model/anthropic.claude-opus-4-6-v1:0/converse",
    SCHEMA,
    { messages: [{ role: "user", content: [{ text: "a pet" }] }], outputConfig: { textFormat } },
  ],
  [
    "cohere/v2/chat",
    PLAIN,
    { model: "command-a", messages, response_format: { type: "json_object", json_schema: PLAIN } },
  ],
])("an answer at %s is an instance of the schema that is asked for", async (path, schema, body) => {
  const seen = await call(`${simulator.origin}/sim/vendor=${path}`, { body, headers: HEADERS });
  expect([seen.status, seen.text]).toEqual([200, expect.any(String)]);
  const value: unknown = JSON.parse(textsOf(seen.text));
  expect([ajv.validate(schema, value), ajv.errorsText()]).toEqual([true, "No errors"]);
});
