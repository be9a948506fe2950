import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJson, type Json } from "../../src/kit/index.ts";
import { type Simulator, startSimulator } from "../../src/simulator/server.ts";
import { sharedFixtures } from "../support/shared.ts";
import { call, eventsOf, form } from "./support.ts";

/* Bounds and words that OpenAI's OpenAPI document states: at the edge they are taken, beyond it refused. */

const folder = sharedFixtures("openai-openapi");
const schemas = (() => {
  if (folder === null) return {};
  const { components } = JSON.parse(readFileSync(`${folder}/openapi.json`, "utf8")) as { readonly components: Json };
  return components["schemas"] as Readonly<Record<string, Json>>;
})();

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const listed = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

/** A schema and those that it is made of. */
function partsOf(schema: Json): readonly Json[] {
  const { $ref } = schema;
  const named = typeof $ref === "string" ? [schemas[$ref.split("/").at(-1)!]!] : [];
  const inner = ["allOf", "anyOf", "oneOf"].flatMap((name) => listed(schema[name]));
  return [schema, ...[...named, ...inner].flatMap(partsOf)];
}

interface Bound {
  readonly field: string;
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
}

/** What the document says of the fields of a body; of fields of one simple type only. */
function boundsOf(name: string): readonly Bound[] {
  const fields = new Map<string, Json>();
  for (const { properties } of partsOf(schemas[name]!))
    if (isJson(properties)) for (const [field, schema] of Object.entries(properties)) fields.set(field, schema as Json);
  return [...fields].flatMap(([field, schema]) => {
    const parts = partsOf(schema).filter((part) => part["type"] !== undefined && part["type"] !== "null");
    const [part] = parts;
    if (parts.length !== 1 || !part) return [];
    const { type, minimum, maximum, maxLength, enum: words } = part;
    const bad: unknown[] = [];
    const good: unknown[] = [];
    const edge = (taken: unknown, refused: unknown) => {
      good.push(taken);
      bad.push(refused);
    };
    if (type === "integer" || type === "number") {
      // The document writes bounds of 64 bits that JSON cannot hold.
      if (typeof minimum === "number" && minimum > -(2 ** 62)) edge(minimum, minimum - 1);
      if (typeof maximum === "number" && maximum < 2 ** 62) edge(maximum, maximum + 1);
      bad.push("a");
    }
    if (type === "boolean") edge(true, "a");
    if (type === "string") bad.push(1);
    if (typeof maxLength === "number") edge("a".repeat(maxLength), "a".repeat(maxLength + 1));
    for (const known of Array.isArray(words) ? words : []) edge(known, "never");
    return bad.length === 0 ? [] : [{ field, good, bad }];
  });
}

const messages = [{ role: "user", content: "hi" }];
const PLACES: Readonly<Record<string, readonly [path: string, body: Json]>> = {
  CreateChatCompletionRequest: ["/v1/chat/completions", { model: "gpt-4o", messages }],
  CreateResponse: ["/v1/responses", { model: "gpt-5", input: "hi" }],
  CreateEmbeddingRequest: ["/v1/embeddings", { model: "text-embedding-3-small", input: "hi" }],
  CreateImageRequest: ["/v1/images/generations", { model: "any", prompt: "a cat" }],
  CreateSpeechRequest: ["/v1/audio/speech", { model: "gpt-4o-mini-tts", input: "hi", voice: "alloy" }],
};
/** Refusals of a value itself, whatever else is in the body. */
const OF_THE_VALUE = /Invalid '|Invalid type|Invalid value: '|'loc': \('body', '|must be|expected/;

describe.runIf(folder !== null).each(Object.entries(PLACES))("%s", (name, [path, plain]) => {
  const bounds = folder === null ? [] : boundsOf(name);

  test("has bounds", () => expect(bounds.length).toBeGreaterThan(2));

  test.each(bounds)("$field", async ({ field, good, bad }) => {
    const url = `${simulator.origin}/sim/vendor=openai${path}`;
    const ask = async (value: unknown) => call(url, { body: { ...plain, [field]: value } });
    for (const value of bad) expect([value, (await ask(value)).status]).toEqual([value, 400]);
    for (const value of good) {
      const { status, text } = await ask(value);
      // Another rule may refuse it: for the model, or for what is not beside it.
      if (status === 200) continue;
      expect([value, OF_THE_VALUE.test(text) && !/with this model|only allowed|'not' found/.test(text)]).toEqual([
        value,
        false,
      ]);
    }
  });
});

describe("what is taken", () => {
  test("speech as events", async () => {
    const body = { model: "gpt-4o-mini-tts", input: "hello", voice: "alloy", stream_format: "sse" };
    const { text, status } = await call(`${simulator.origin}/v1/audio/speech`, { body });
    const events = eventsOf(text) as unknown as readonly Json[];
    expect(status).toBe(200);
    expect(events.slice(0, -1).every(({ type, audio }) => type === "speech.audio.delta" && audio !== "")).toBe(true);
    expect(events.at(-1)).toMatchObject({ type: "speech.audio.done", usage: { input_tokens: 1 } });
  });

  test("a transcript with speakers", async () => {
    const sent = await form(
      [
        ["model", "gpt-4o-transcribe-diarize"],
        ["response_format", "diarized_json"],
        ["chunking_strategy", "auto"],
      ],
      new File([new Uint8Array(64)], "a.wav"),
    );
    const { text } = await call(`${simulator.origin}/v1/audio/transcriptions`, sent);
    const { segments } = JSON.parse(text) as { readonly segments: readonly Json[] };
    expect(segments[0]).toMatchObject({ type: "transcript.text.segment", speaker: "A", start: 0 });
  });

  test("no tokens of Claude's, which fills a cache", async () => {
    const body = { model: "claude-opus-5", max_tokens: 0, messages };
    const headers = { "anthropic-version": "2023-06-01", "x-api-key": "any" };
    const { text } = await call(`${simulator.origin}/v1/messages`, { body, headers });
    expect(JSON.parse(text)).toMatchObject({ content: [], stop_reason: "max_tokens", usage: { output_tokens: 0 } });
  });

  test("some of the tools, one of which is called", async () => {
    const tools = ["f", "g"].map((name) => ({ type: "function", function: { name, parameters: { type: "object" } } }));
    const allowed = { mode: "required", tools: [{ type: "function", function: { name: "g" } }] };
    const tool_choice = { type: "allowed_tools", allowed_tools: allowed };
    const body = { model: "gpt-4o", messages, tools, tool_choice };
    const { text } = await call(`${simulator.origin}/sim/vendor=openai/v1/chat/completions`, { body });
    expect(text).toContain('"name":"g"');
    expect(text).not.toContain('"name":"f"');
  });
});
