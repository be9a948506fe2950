import { describe, expect, test } from "vitest";
import { DIALECTS } from "../../src/dialects/capabilities.ts";
import { thinkingOf } from "../../src/dialects/thinking.ts";
import type { Call, DialectName, Json } from "../../src/kit/index.ts";

const call = (body: Json, dialect: Call["dialect"] = "chat"): Call => ({
  kind: "chat",
  model: "route/x",
  stream: true,
  promptBytes: 0,
  maxOutput: null,
  body,
  dialect,
});
const thinks = (dialect: DialectName, model: string, body: Json = {}, features: readonly string[] = []): boolean =>
  thinkingOf(DIALECTS[dialect]!, call(body), model, features) !== null;

describe("models that think, by name", () => {
  test.each<readonly [DialectName, readonly string[], readonly string[]]>([
    [
      "openai",
      "o1 o3-mini o4-mini openai/o3 gpt-5 gpt-5-mini gpt-5-codex gpt-5.1 gpt-6 grok-4 grok-3-mini deepseek-reasoner deepseek/deepseek-r1 gemini-2.5-pro google/gemini-3-pro-preview gpt-oss-120b sonar-reasoning-pro qwen3-235b-thinking".split(
        " ",
      ),
      "gpt-4o gpt-4.1-mini gpt-5-chat-latest grok-2 grok-4-fast-non-reasoning deepseek-chat gemini-2.0-flash llama-3.3-70b sonar qwen3-coder m".split(
        " ",
      ),
    ],
    ["azure", ["o3", "my-gpt-5"], ["gpt-4o", "production"]],
    ["gemini", ["gemini-2.5-flash", "gemini-3-pro"], ["gemini-2.0-flash", "gemini-2.5-flash-image"]],
    [
      "bedrock",
      ["openai.gpt-oss-120b-1:0", "anthropic.claude-fable-5"],
      ["amazon.nova-pro-v1:0", "anthropic.claude-3-haiku"],
    ],
    ["anthropic", ["claude-fable-5", "claude-sonnet-5-5"], ["claude-3-5-haiku-latest", "claude-sonnet-4-5", "m"]],
    ["cohere", [], ["command-a-03-2025"]],
  ])("%s", (dialect, some, others) => {
    expect(some.filter((model) => !thinks(dialect, model))).toEqual([]);
    expect(others.filter((model) => thinks(dialect, model))).toEqual([]);
  });
});

test("the feature reasoning says so of every model of every dialect, unless thinking is turned off", () => {
  for (const dialect of ["openai", "azure", "gemini", "bedrock", "anthropic", "cohere"] as const) {
    expect([dialect, thinks(dialect, "m", {}, ["tools", "reasoning"])]).toEqual([dialect, true]);
  }
  for (const dialect of ["openai", "azure", "gemini", "anthropic"] as const) {
    for (const off of [{ reasoning_effort: "none" }, { thinking: { type: "disabled" } }]) {
      expect([dialect, off, thinks(dialect, "m", off, ["reasoning"])]).toEqual([dialect, off, false]);
    }
  }
});

test("a model that cannot stop thinking thinks whatever it is told, and others think when they are asked", () => {
  expect(thinks("openai", "o3", { reasoning_effort: "none" })).toBe(true);
  expect(thinks("openai", "gpt-5.1", { reasoning_effort: "none" })).toBe(false);
  expect(thinks("gemini", "gemini-2.5-flash", { reasoning_effort: "none" })).toBe(false);
  expect(thinks("gemini", "gemini-2.5-pro", { reasoning_effort: "none" })).toBe(true);
  expect(thinks("anthropic", "claude-sonnet-4-5", { thinking: { type: "enabled", budget_tokens: 2_000 } })).toBe(true);
  expect(thinks("anthropic", "claude-sonnet-4-5", { reasoning_effort: "high" })).toBe(true);
  // Thoughts that a client does not want to see are made all the same.
  expect(thinks("openai", "m", { reasoning: { exclude: true } })).toBe(true);
  expect(thinks("openai", "m", { include_reasoning: false })).toBe(true);
});

const effortOf = (body: Json) => thinkingOf(DIALECTS.openai!, call(body), "o3", [])?.effort;
const isWhole = (dialect: DialectName) => thinkingOf(DIALECTS[dialect]!, call({}), "m", ["reasoning"])?.whole;

test("efforts are few, whatever clients write, and thoughts of some dialects are summaries", () => {
  expect(effortOf({ reasoning_effort: "high" })).toBe("high");
  expect(effortOf({ reasoning_effort: "x".repeat(100) })).toBe("");
  expect(effortOf({ thinking: { type: "enabled", budget_tokens: 3_000 } })).toBe(" budget 2^12");
  expect(effortOf({ thinking: { type: "enabled", budget_tokens: 1e300 } })).toBe(" budget 2^20");
  expect((["openai", "anthropic", "gemini", "bedrock"] as const).map(isWhole)).toEqual([true, false, false, false]);
});
