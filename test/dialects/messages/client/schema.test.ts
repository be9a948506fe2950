import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import counting from "../../../../schemas/api/count-tokens.schema.json" with { type: "json" };
import schema from "../../../../schemas/api/messages.schema.json" with { type: "json" };
import type { Json } from "../../../../src/kit/index.ts";
import { claudeCode } from "./claude-code.ts";

/** As the gateway compiles them; the mistake that is reported is the first one. */
const ajv = new Ajv({ allErrors: false, strict: true, strictRequired: false, allowUnionTypes: true });

/** `<pointer> <keyword>` of the first mistake; null for a good body. */
function mistake(schema: Json): (body: Json) => string | null {
  const validate = ajv.compile(schema);
  return (body) => {
    if (validate(body)) return null;
    const { instancePath, keyword, params } = validate.errors!.findLast((error) => error.keyword !== "if")!;
    const missing =
      keyword === "required" ? `/${(params as { readonly missingProperty: string }).missingProperty}` : "";
    return `${instancePath}${missing} ${keyword}`;
  };
}

const check = mistake(schema);
const ok = { model: "route/a", max_tokens: 1, messages: [{ role: "user", content: "hi" }] };
const blocks = (...content: readonly unknown[]): Json => ({ ...ok, messages: [{ role: "user", content }] });
const at = "/messages/0/content/0";

describe("messages", () => {
  test.each<[string, Json]>([
    ["a text", ok],
    ["nothing to write: a cache is warmed", { ...ok, max_tokens: 0 }],
    ["what a coding agent sends", claudeCode],
    ["unknown fields and blocks", { ...blocks({ type: "later", text: 5 }), later: {} }],
    ["nulls", { ...ok, temperature: null, tools: null, tool_choice: null, system: null, stream: null, metadata: null }],
    ["a server tool", { ...ok, tools: [{ type: "web_search_20250305", name: "web_search" }, { type: "mcp_toolset" }] }],
    ["no blocks", { ...ok, messages: [{ role: "assistant", content: [] }] }],
  ])("good: %s", (_, body) => {
    expect(check(body)).toBeNull();
  });

  test.each<[Json, string]>([
    [{ ...ok, model: undefined }, "/model required"],
    [{ ...ok, model: "" }, "/model minLength"],
    [{ model: "a", messages: ok.messages }, "/max_tokens required"],
    [{ ...ok, max_tokens: 1.5 }, "/max_tokens type"],
    [{ ...ok, max_tokens: -1 }, "/max_tokens minimum"],
    [{ ...ok, max_tokens: null }, "/max_tokens type"],
    [{ ...ok, messages: [] }, "/messages minItems"],
    [{ ...ok, messages: "hi" }, "/messages type"],
    [{ ...ok, messages: [{ role: "tool", content: "" }] }, "/messages/0/role enum"],
    [{ ...ok, messages: [{ content: "" }] }, "/messages/0/role required"],
    [{ ...ok, messages: [{ role: "user" }] }, "/messages/0/content required"],
    [{ ...ok, messages: [{ role: "user", content: null }] }, "/messages/0/content type"],
    [blocks(5), `${at} type`],
    [blocks({}), `${at}/type required`],
    [blocks({ type: "text" }), `${at}/text required`],
    [blocks({ type: "text", text: 5 }), `${at}/text type`],
    [blocks({ type: "text", text: "", cache_control: {} }), `${at}/cache_control/type required`],
    [blocks({ type: "image" }), `${at}/source required`],
    [blocks({ type: "image", source: {} }), `${at}/source/type required`],
    [blocks({ type: "image", source: { type: "base64", media_type: "image/png" } }), `${at}/source/data required`],
    [blocks({ type: "image", source: { type: "url" } }), `${at}/source/url required`],
    [blocks({ type: "document", source: { type: "file" } }), `${at}/source/file_id required`],
    [blocks({ type: "tool_use", id: "a", name: "b" }), `${at}/input required`],
    [blocks({ type: "tool_use", id: "a", name: "b", input: [] }), `${at}/input type`],
    [blocks({ type: "tool_use", name: "b", input: {} }), `${at}/id required`],
    [blocks({ type: "tool_result" }), `${at}/tool_use_id required`],
    [blocks({ type: "tool_result", tool_use_id: "a", content: 5 }), `${at}/content type`],
    [blocks({ type: "tool_result", tool_use_id: "a", content: [{ type: "text" }] }), `${at}/content/0/text required`],
    [blocks({ type: "tool_result", tool_use_id: "a", is_error: "no" }), `${at}/is_error type`],
    [blocks({ type: "thinking", signature: "" }), `${at}/thinking required`],
    [blocks({ type: "redacted_thinking" }), `${at}/data required`],
    [{ ...ok, system: 5 }, "/system type"],
    [{ ...ok, system: [{ type: "text" }] }, "/system/0/text required"],
    [{ ...ok, temperature: "hot" }, "/temperature type"],
    [{ ...ok, stop_sequences: "a" }, "/stop_sequences type"],
    [{ ...ok, stop_sequences: [5] }, "/stop_sequences/0 type"],
    [{ ...ok, stream: "yes" }, "/stream type"],
    [{ ...ok, tools: [{}] }, "/tools/0/name required"],
    [{ ...ok, tools: [{ name: "f" }] }, "/tools/0/input_schema required"],
    [{ ...ok, tools: [{ type: "custom", name: "f", input_schema: 5 }] }, "/tools/0/input_schema type"],
    [{ ...ok, tool_choice: "auto" }, "/tool_choice type"],
    [{ ...ok, tool_choice: {} }, "/tool_choice/type required"],
    [{ ...ok, tool_choice: { type: "tool" } }, "/tool_choice/name required"],
    [{ ...ok, thinking: {} }, "/thinking/type required"],
    [{ ...ok, thinking: { type: "enabled", budget_tokens: "many" } }, "/thinking/budget_tokens type"],
    [{ ...ok, output_config: { effort: 5 } }, "/output_config/effort type"],
    [{ ...ok, metadata: { user_id: 5 } }, "/metadata/user_id type"],
  ])("bad: %j is %s", (body, expected) => {
    expect(check(body)).toBe(expected);
  });

  test("a body nested however deeply is checked", () => {
    const depth = 100_000;
    const result = '{"type":"tool_result","tool_use_id":"a","content":[';
    const content = JSON.parse(`[${result.repeat(depth)}${"]}".repeat(depth)}]`) as readonly unknown[];
    expect(check(blocks(...content))).toBeNull();
  });
});

describe("count_tokens", () => {
  const check = mistake(counting);
  test("needs no max_tokens", () => {
    expect(check({ model: "route/a", messages: ok.messages })).toBeNull();
    expect(check(claudeCode)).toBeNull();
  });

  test.each<[Json, string]>([
    [{ messages: ok.messages }, "/model required"],
    [{ model: "a" }, "/messages required"],
    [{ model: "a", messages: [] }, "/messages minItems"],
    [{ model: "a", messages: [{ role: "x", content: "" }] }, "/messages/0/role enum"],
    [{ model: "a", messages: [{ role: "user", content: [5] }] }, "/messages/0/content/0 type"],
    [{ model: "a", messages: ok.messages, tools: [5] }, "/tools/0 type"],
    [{ model: "a", messages: ok.messages, system: 5 }, "/system type"],
  ])("bad: %j is %s", (body, expected) => {
    expect(check(body)).toBe(expected);
  });
});
