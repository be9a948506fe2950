import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJson, type Json } from "../../../../src/kit/index.ts";
import { RUNS } from "../../../properties/runs.ts";
import { scriptedOrigin, scriptedUrl } from "../../../../src/simulator/server.ts";
import { askFormat, FORMAT_NAMES, type FormatName } from "../../support/formats.ts";
import { TestGateway, type TestUser } from "../../support/in-process.ts";
import { CHAT_DIALECTS } from "../../support/sdk-matrix.ts";

const SEED = 20_260_123;
const PNG = "iVBORw0KGgo=";
const SCHEMA = { type: "object", properties: { q: { type: ["string", "null"], enum: ["a", null] } }, required: ["q"] };

/** Requests that use much of what a format has. */
const RICH: Readonly<Record<FormatName, Json>> = {
  chat: {
    messages: [
      { role: "system", content: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }] },
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}`, detail: "low" } },
          { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${PNG}` } },
        ],
      },
      {
        role: "assistant",
        content: null,
        reasoning_content: "hm",
        reasoning_details: [{ type: "reasoning.text", text: "hm" }],
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"q":"a"}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "done" }] },
      { role: "user", content: "go on" },
    ],
    tools: [{ type: "function", function: { name: "f", description: "d", parameters: SCHEMA, strict: true } }],
    tool_choice: { type: "function", function: { name: "f" } },
    response_format: { type: "json_schema", json_schema: { name: "n", schema: SCHEMA } },
    reasoning_effort: "low",
    thinking: { type: "enabled", budget_tokens: 1_024 },
    stop: ["x"],
    temperature: 0.5,
    max_completion_tokens: 2_048,
    metadata: { a: "b" },
  },
  messages: {
    system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
          { type: "document", source: { type: "base64", media_type: "application/pdf", data: PNG }, title: "t" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "" },
          { type: "text", text: "hm" },
          { type: "tool_use", id: "c1", name: "f", input: { q: "a" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c1", is_error: true, content: [{ type: "text", text: "done" }] },
          { type: "text", text: "go on" },
        ],
      },
      { role: "system", content: "and be kind" },
    ],
    tools: [
      { name: "f", description: "d", input_schema: SCHEMA, cache_control: { type: "ephemeral" } },
      { type: "web_search_20250305", name: "web_search", max_uses: 1 },
    ],
    tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true },
    thinking: { type: "adaptive", display: "omitted" },
    output_config: { effort: "high", format: { type: "json_schema", schema: SCHEMA } },
    context_management: { edits: [] },
    stop_sequences: ["x"],
    metadata: { user_id: "u" },
  },
  responses: {
    instructions: "Be brief.",
    input: [
      { role: "developer", content: "and be kind" },
      {
        role: "user",
        content: [
          { type: "input_text", text: "look" },
          { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "auto" },
          { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${PNG}` },
        ],
      },
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "x" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "hm", annotations: [] }] },
      { type: "function_call", call_id: "c1", name: "f", arguments: '{"q":"a"}' },
      { type: "custom_tool_call", call_id: "c2", name: "g", input: "x" },
      { type: "function_call_output", call_id: "c1", output: [{ type: "input_text", text: "done" }] },
      { type: "custom_tool_call_output", call_id: "c2", output: "done" },
      { role: "user", content: "go on" },
    ],
    tools: [
      { type: "function", name: "f", description: "d", parameters: SCHEMA, strict: true },
      { type: "custom", name: "g", format: { type: "text" } },
      { type: "web_search" },
    ],
    tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "f" }] },
    text: { format: { type: "json_schema", name: "n", schema: SCHEMA }, verbosity: "low" },
    reasoning: { effort: "low", summary: "auto" },
    include: ["reasoning.encrypted_content"],
    max_output_tokens: 2_048,
    top_logprobs: 2,
    metadata: { a: "b" },
  },
};

const nasty = fc.oneof(
  fc.jsonValue({ maxDepth: 2, noUnicodeString: false }),
  fc.constantFrom<unknown>("", "__proto__", "constructor", "\u0000", "\ud800", "data:image/png;base64,", "https://x"),
  fc.constantFrom<unknown>(0, -1, 0.5, 1e308, 2 ** 53, null, true, [], {}, [[]], [null], [{}], undefined),
);

/** Where a value stands: the names and numbers that lead to it. */
type Place = readonly (string | number)[];

function placesIn(value: unknown, at: Place = []): readonly Place[] {
  if (Array.isArray(value))
    return value.flatMap((inner: unknown, index) => [[...at, index], ...placesIn(inner, [...at, index])]);
  if (!isJson(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => [[...at, name], ...placesIn(inner, [...at, name])]);
}

/** A copy with another value at a place; undefined removes it. */
function changed(value: unknown, [step, ...rest]: Place, replacement: unknown): unknown {
  if (step === undefined) return replacement;
  if (Array.isArray(value)) {
    return value.map((inner: unknown, index) => (index === step ? changed(inner, rest, replacement) : inner));
  }
  if (!isJson(value)) return value;
  return { ...value, [step]: changed(value[step], rest, replacement) };
}

let gateway: TestGateway;
let user: TestUser;
beforeAll(async () => {
  gateway = await TestGateway.start({
    config: (origin) => ({
      upstreams: Object.fromEntries(
        CHAT_DIALECTS.map((dialect) => [
          dialect,
          {
            dialect,
            base_url: (dialect === "openai" ? scriptedUrl : scriptedOrigin)(origin, "-"),
            api_keys: ["upstream-key"],
          },
        ]),
      ),
      models: Object.fromEntries(
        CHAT_DIALECTS.map((dialect) => [
          `route/${dialect}`,
          {
            kind: "chat",
            tier: "Free",
            owned_by: "simulator",
            price: { input_per_million: 0, output_per_million: 0 },
            chain: [{ upstream: dialect, model: "model" }],
          },
        ]),
      ),
    }),
  });
  user = await gateway.user({ credits: "1000000" });
});
afterAll(() => gateway.close());

describe.each(FORMAT_NAMES)("%s", (name) => {
  const rich = RICH[name];

  test.each(CHAT_DIALECTS)("a rich request is served over %s, streamed or not", async (dialect) => {
    for (const stream of [false, true]) {
      const { status, text } = await askFormat(gateway, user, name, { model: `route/${dialect}`, stream, ...rich });
      expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
      expect(text).not.toMatch(/event: error|"error":\{/);
    }
  });

  test.each(CHAT_DIALECTS)(
    "with anything anywhere in it it is served or refused over %s: never a fault",
    async (dialect) => {
      const place = fc.constantFrom(...placesIn(rich));
      await fc.assert(
        fc.asyncProperty(place, nasty, fc.boolean(), async (at, value, stream) => {
          const body = changed(rich, at, value) as Json;
          const { status, text } = await askFormat(gateway, user, name, { model: `route/${dialect}`, ...body, stream });
          expect([200, 400]).toContain(status);
          expect(text).not.toMatch(/event: error|"error":\{/);
        }),
        { numRuns: Math.ceil(RUNS / 10), seed: SEED },
      );
    },
  );
});
