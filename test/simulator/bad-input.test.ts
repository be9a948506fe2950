import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJson } from "../../src/kit/index.ts";
import { type Simulator, startSimulator } from "../../src/simulator/server.ts";
import { call, RUNS } from "./support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const schema = { type: "object", properties: { city: { type: "string", enum: ["a"] } }, required: ["city"] };
const made = { name: "f", description: "d", parameters: schema };
const HEADERS = { "anthropic-version": "2023-06-01", "api-key": "any" };
const image = { type: "base64", media_type: "image/png", data: "AA==" };

/** A body that uses much of what a dialect has. */
const BODIES: readonly (readonly [string, object])[] = [
  [
    "/v1/responses",
    {
      model: "gpt-5",
      input: [
        { role: "user", content: [{ type: "input_text", text: "f" }] },
        { type: "function_call", id: "fc_1", call_id: "c", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: "y" },
      ],
      tools: [{ type: "function", ...made, strict: false }],
      tool_choice: "auto",
      reasoning: { effort: "low", summary: "auto" },
      text: { format: { type: "json_schema", name: "n", schema } },
      stream: true,
    },
  ],
  ["/v1/embeddings", { model: "m", input: ["a", "b"], dimensions: 3, encoding_format: "base64" }],
  ["/v2/embed", { model: "m", texts: ["a"], embedding_types: ["float"], output_dimension: 2 }],
  ["/v1/rerank", { model: "m", query: "a", documents: ["a", { text: "b" }], top_n: 1, return_documents: true }],
  ["/v1/images/generations", { model: "m", prompt: "a", n: 2, size: "8x8", response_format: "b64_json" }],
  ["/v1/audio/speech", { model: "m", voice: { id: "v" }, input: "a", response_format: "wav", speed: 2 }],
  [
    "/v1/messages",
    {
      model: "reason",
      max_tokens: 4_000,
      system: [{ type: "text", text: "x", cache_control: { type: "ephemeral" } }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "f" },
            { type: "image", source: image },
          ],
        },
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "y" }] }] },
      ],
      tools: [{ name: "f", input_schema: schema }],
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
      thinking: { type: "adaptive", display: "omitted" },
      output_config: { effort: "low" },
      stop_sequences: ["z"],
      temperature: 1,
      stream: true,
    },
  ],
  [
    "/sim/vendor=vertex/v1/projects/p/locations/l/publishers/anthropic/models/claude-opus-4-6:streamRawPredict",
    {
      anthropic_version: "vertex-2023-10-16",
      max_tokens: 4_000,
      messages: [{ role: "user", content: [{ type: "image", source: image }] }],
      tools: [
        { name: "f", input_schema: schema },
        { type: "bash_20250124", name: "bash" },
      ],
      stream: true,
    },
  ],
  ["/v1/messages/count_tokens", { model: "m", system: "x", messages: [{ role: "user", content: "x" }] }],
  [
    "/v1beta/models/gemini-3-x:streamGenerateContent?alt=sse",
    {
      systemInstruction: { parts: [{ text: "x" }] },
      contents: [
        { role: "user", parts: [{ text: "f" }, { inlineData: { mimeType: "image/png", data: "AA==" } }] },
        {
          role: "model",
          parts: [{ functionCall: { name: "f", args: {} }, thoughtSignature: "skip_thought_signature_validator" }],
        },
        { role: "user", parts: [{ functionResponse: { name: "f", response: { result: "y" } } }] },
      ],
      tools: [{ functionDeclarations: [made] }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f"] } },
      generationConfig: {
        maxOutputTokens: 9,
        candidateCount: 2,
        stopSequences: ["z"],
        responseMimeType: "application/json",
        responseSchema: schema,
        thinkingConfig: { thinkingLevel: "low", includeThoughts: true },
      },
    },
  ],
  ["/v1beta/models/m:batchEmbedContents", { requests: [{ model: "models/m", content: { parts: [{ text: "x" }] } }] }],
  [
    "/model/reason/converse-stream",
    {
      system: [{ text: "x" }],
      messages: [
        {
          role: "user",
          content: [{ text: "f" }, { document: { format: "pdf", name: "a", source: { bytes: "AA==" } } }],
        },
        { role: "assistant", content: [{ toolUse: { toolUseId: "t", name: "f", input: {} } }] },
        { role: "user", content: [{ toolResult: { toolUseId: "t", content: [{ json: { a: 1 } }], status: "error" } }] },
      ],
      toolConfig: { tools: [{ toolSpec: { name: "f", inputSchema: { json: schema } } }], toolChoice: { auto: {} } },
      inferenceConfig: { maxTokens: 9, temperature: 0.5, topP: 1, stopSequences: ["z"] },
      additionalModelRequestFields: { thinking: { type: "enabled" } },
    },
  ],
  [
    "/v2/chat",
    {
      model: "reason",
      messages: [
        { role: "user", content: [{ type: "text", text: "f" }] },
        { role: "assistant", tool_calls: [{ id: "t", type: "function", function: { name: "f", arguments: "{}" } }] },
        { role: "tool", tool_call_id: "t", content: [{ type: "document", document: { data: { a: "b" } } }] },
      ],
      tools: [{ type: "function", function: made }],
      tool_choice: "REQUIRED",
      max_tokens: 9,
      stop_sequences: ["z"],
      thinking: { type: "enabled" },
      stream: true,
    },
  ],
  [
    "/openai/deployments/m/chat/completions?api-version=1",
    { messages: [{ role: "user", content: "x" }], tools: [], stop: "x" },
  ],
];

/** Every place of a value, as the keys that lead to it. */
function pathsOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  const entries = Array.isArray(value) || isJson(value) ? Object.entries(value) : [];
  return [path, ...entries.flatMap(([key, inner]) => pathsOf(inner, [...path, key]))];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((inner: unknown, index) => (String(index) === key ? replaced(inner, rest, by) : inner));
  return isJson(value) ? { ...value, [key]: replaced(value[key], rest, by) } : value;
}

const send = (path: string, body: unknown) =>
  call(`${simulator.origin}${path}`, { body: JSON.stringify(body), headers: HEADERS });

describe.each(BODIES)("%s", (path, body) => {
  test("is served as it is", async () => {
    expect((await send(path, body)).status).toBe(200);
  });

  // A JSON object with a `toString` of its own cannot be turned into text or a number.
  test("with an object that is neither text nor number anywhere it is served or refused", async () => {
    for (const at of pathsOf(body)) {
      const seen = await send(path, replaced(body, at, { toString: [] }));
      expect({ at, ...seen, status: Math.max(seen.status, 400) }).toMatchObject({ at, status: 400, whole: true });
    }
  });

  test("with anything anywhere it is served or refused, and never fails", async () => {
    const anything = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(null, "", [], {}, -1, 0, [null], [{}], { toString: [] }),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...pathsOf(body)), anything, async (at, value) => {
        const changed = replaced(body, at, value);
        const seen = await send(path, changed === undefined ? null : changed);
        expect([200, 400]).toContain(seen.status);
        expect(seen.whole).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});
