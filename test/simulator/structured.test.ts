import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { jsonSchemaOutputFormat } from "@anthropic-ai/sdk/helpers/json-schema";
import { generateText, jsonSchema, Output, streamText } from "ai";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import OpenAI from "openai";
import { makeParseableResponseFormat, makeParseableTextFormat } from "openai/lib/parser";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Json } from "../../src/kit/index.ts";
import { type Simulator, startSimulator } from "../../src/simulator/server.ts";
import { call } from "./support.ts";

/** Closed, and with everything required, so that the strictest providers take it too. */
const SCHEMA: Exclude<Parameters<typeof jsonSchema>[0], PromiseLike<unknown> | (() => unknown)> = {
  type: "object",
  properties: {
    name: { type: "string", description: "a name" },
    kind: { type: "string", enum: ["cat", "dog"] },
    age: { type: ["integer", "null"] },
    born: { type: "string", format: "date" },
    owner: { $ref: "#/$defs/person" },
    toys: { type: "array", items: { $ref: "#/$defs/toy" } },
    home: { anyOf: [{ type: "null" }, { $ref: "#/$defs/person" }] },
  },
  required: ["name", "kind", "age", "born", "owner", "toys", "home"],
  additionalProperties: false,
  $defs: {
    person: {
      type: "object",
      properties: {
        email: { type: "string", format: "email" },
        friend: { anyOf: [{ $ref: "#/$defs/person" }, { type: "null" }] },
      },
      required: ["email", "friend"],
      additionalProperties: false,
    },
    toy: {
      type: "object",
      properties: { price: { type: "number" }, loud: { type: "boolean" } },
      required: ["price", "loud"],
      additionalProperties: false,
    },
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
function parsed(schema: object, text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (ajv.validate(schema, value)) return value;
  throw new Error(`${text}: ${ajv.errorsText()}`);
}

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const messages = [{ role: "user" as const, content: "a pet" }];
const strictUrl = (vendor: string) => `${simulator.origin}/sim/vendor=${vendor}`;
const openai = () => new OpenAI({ apiKey: "any", baseURL: `${strictUrl("openai")}/v1`, maxRetries: 0 });
const named = { type: "json_schema" as const, name: "pet", strict: true, schema: { ...SCHEMA } };
const pet = (text: string) => parsed(SCHEMA, text) as { kind: string };

test("openai's chat.completions.parse, and its stream", async () => {
  const format = { type: "json_schema" as const, json_schema: { name: "pet", strict: true, schema: { ...SCHEMA } } };
  const body = { model: "gpt-4o", messages, response_format: makeParseableResponseFormat(format, pet) };
  expect((await openai().chat.completions.parse(body)).choices[0]?.message.parsed?.kind).toBe("cat");
  const stream = openai().chat.completions.stream(body);
  expect((await stream.finalChatCompletion()).choices[0]?.message.parsed?.kind).toBe("cat");
});

test("openai's responses.parse", async () => {
  const text = { format: makeParseableTextFormat(named, pet) };
  const made = await openai().responses.parse({ model: "gpt-5", input: "a pet", text });
  expect(made.output_parsed?.kind).toBe("cat");
});

test("anthropic's messages.parse", async () => {
  const client = new Anthropic({ apiKey: "any", baseURL: strictUrl("anthropic"), maxRetries: 0 });
  const made = await client.messages.parse({
    model: "claude-opus-4-6",
    max_tokens: 999,
    messages,
    output_config: { format: jsonSchemaOutputFormat(SCHEMA as object as { type: "object" }) },
  });
  expect(pet(JSON.stringify(made.parsed_output)).kind).toBe("cat");
});

test.each([
  ["openai, Responses", () => createOpenAI({ apiKey: "any", baseURL: `${strictUrl("openai")}/v1` })("gpt-5")],
  ["openai, chat", () => createOpenAI({ apiKey: "any", baseURL: `${strictUrl("openai")}/v1` }).chat("gpt-4o")],
  ["anthropic", () => createAnthropic({ apiKey: "any", baseURL: `${strictUrl("anthropic")}/v1` })("claude-opus-4-6")],
])("ai's Output.object over %s, whole and streamed", async (_name, model) => {
  const output = Output.object({ schema: jsonSchema<{ kind: string }>(SCHEMA) });
  const whole = await generateText({ model: model(), prompt: "a pet", output, maxRetries: 0 });
  expect(pet(JSON.stringify(whole.output)).kind).toBe("cat");
  const stream = streamText({ model: model(), prompt: "a pet", output });
  expect(pet(JSON.stringify(await stream.output)).kind).toBe("cat");
});

const texts = (value: unknown): string => {
  const found: string[] = [];
  JSON.stringify(value, (key, inner: unknown) => {
    if (key === "text" && typeof inner === "string") found.push(inner);
    return inner;
  });
  return found.join("");
};
const converse = [{ role: "user", content: [{ text: "a pet" }] }];
const textFormat = { type: "json_schema", structure: { jsonSchema: { name: "pet", schema: JSON.stringify(SCHEMA) } } };

test.each<readonly [string, object, Json]>([
  [
    "/v1beta/models/gemini-2.5-flash:generateContent",
    PLAIN,
    {
      contents: [{ role: "user", parts: [{ text: "a pet" }] }],
      generationConfig: { responseMimeType: "application/json", responseSchema: PLAIN },
    },
  ],
  [
    "/v1beta/models/gemini-3-pro:generateContent",
    SCHEMA,
    {
      contents: [{ role: "user", parts: [{ text: "a pet" }] }],
      generationConfig: { responseMimeType: "application/json", responseJsonSchema: SCHEMA },
    },
  ],
  ["/model/anthropic.claude-opus-4-6-v1:0/converse", SCHEMA, { messages: converse, outputConfig: { textFormat } }],
  ["/v2/chat", PLAIN, { model: "command-a", messages, response_format: { type: "json_object", json_schema: PLAIN } }],
])("%s", async (path, schema, body) => {
  const seen = await call(simulator.origin + path, { body, headers: { "x-goog-api-key": "any" } });
  expect([seen.status, seen.text]).toEqual([200, expect.any(String)]);
  expect(parsed(schema, texts(JSON.parse(seen.text)))).toBeTruthy();
});

test("JSON without a schema is JSON", async () => {
  const body = {
    model: "gpt-4o",
    messages: [{ role: "user", content: "json" }],
    response_format: { type: "json_object" },
  };
  const seen = await call(`${strictUrl("openai")}/v1/chat/completions`, { body });
  expect(JSON.parse(JSON.parse(seen.text).choices[0].message.content)).toEqual({ answer: "simulated" });
});

test("a forced tool is called with arguments that fit", async () => {
  const function_ = { name: "adopt", parameters: { ...SCHEMA }, strict: true };
  const made = await openai().chat.completions.create({
    model: "gpt-4o",
    messages,
    tools: [{ type: "function", function: function_ }],
    tool_choice: { type: "function", function: { name: "adopt" } },
  });
  const [called] = made.choices[0]?.message.tool_calls ?? [];
  expect(pet(called?.type === "function" ? called.function.arguments : "")).toBeTruthy();
});
