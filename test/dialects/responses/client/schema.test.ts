import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import schema from "../../../../schemas/api/responses-create.schema.json" with { type: "json" };
import { readResponses } from "../../../../src/dialects/responses/client/request.ts";
import type { Json } from "../../../../src/kit/index.ts";
import codex from "./codex.json" with { type: "json" };
import { request } from "./support.ts";

const validate = new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(schema);

/** `<pointer> <keyword>` of the first mistake; null for a good body. */
function mistake(body: Json): string | null {
  if (validate(body)) return null;
  const { instancePath, keyword, params } = validate.errors![0]!;
  const { missingProperty: missing } = params as { readonly missingProperty?: string };
  return `${instancePath}${missing === undefined ? "" : `/${missing}`} ${keyword}`;
}

test.each<[string, Json]>([
  ["a text", request()],
  ["what codex sends", codex],
  [
    "nulls",
    request(
      Object.fromEntries(
        Object.entries(schema.properties)
          .filter(([, { type }]) => Array.isArray(type) && type.includes("null"))
          .map(([name]) => [name, null]),
      ),
    ),
  ],
  [
    "items of every kind",
    request({
      input: [
        { role: "user", content: "a" },
        { type: "message", role: "user", content: [{ type: "input_image", image_url: "data:,", detail: "auto" }] },
        { type: "reasoning", id: "rs", summary: [], content: null, encrypted_content: null },
        { type: "function_call", call_id: "1", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "1", output: [{ type: "input_text", text: "" }] },
        { type: "mcp_call", id: "m", name: "n", arguments: "{}", server_label: "s", output: null },
        { type: "tool_search_call", arguments: {} },
        { id: "x", type: "item_reference" },
      ],
    }),
  ],
  ["fields of the future", request({ later: { any: [1] } })],
])("good: %s", (_, body) => {
  expect(mistake(body)).toBeNull();
});

test.each<[Json, string]>([
  [{ input: "a" }, "/model required"],
  [{ model: "route/a" }, "/input required"],
  [request({ model: "" }), "/model minLength"],
  [request({ input: [] }), "/input minItems"],
  [request({ input: {} }), "/input type"],
  [request({ input: ["a"] }), "/input/0 type"],
  [request({ input: [{ role: 5 }] }), "/input/0/role type"],
  [request({ input: [{ role: "user", content: ["a"] }] }), "/input/0/content/0 type"],
  [request({ input: [{ role: "user", content: [{}] }] }), "/input/0/content/0/type required"],
  [request({ instructions: [] }), "/instructions type"],
  [request({ max_output_tokens: 0 }), "/max_output_tokens minimum"],
  [request({ temperature: "0" }), "/temperature type"],
  [request({ tools: [{}] }), "/tools/0/type required"],
  [request({ tools: [{ type: "function", parameters: "x" }] }), "/tools/0/parameters type"],
  [request({ text: { format: {} } }), "/text/format/type required"],
  [request({ metadata: { a: 5 } }), "/metadata/a type"],
  [request({ top_logprobs: 21 }), "/top_logprobs maximum"],
  [request({ stream: "true" }), "/stream type"],
])("%#: %j", (body, expected) => {
  expect(mistake(body)).toBe(expected);
});

describe("codex", () => {
  const { body, native } = readResponses(codex);

  test("is read whole but for the tools that run at a provider", () => {
    expect(native).toBeUndefined();
    expect(body).toMatchObject({
      stream: true,
      reasoning_effort: "medium",
      prompt_cache_key: "0199-session",
      tool_choice: "auto",
      parallel_tool_calls: false,
      tools: [
        { function: { name: "exec_command", strict: false } },
        { function: { name: "apply_patch", parameters: { required: ["input"] } } },
        { type: "native", block: { type: "web_search" } },
      ],
    });
  });

  test("its turns are messages", () => {
    expect(
      (body["messages"] as Json[]).map(({ role, content, tool_calls: calls }) => [
        role,
        typeof content,
        Array.isArray(calls),
      ]),
    ).toEqual([
      ["system", "string", false],
      ["developer", "string", false],
      ["user", "string", false],
      ["user", "string", false],
      ["assistant", "string", true],
      ["tool", "string", false],
      ["tool", "string", false],
    ]);
  });
});
