import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anthropic } from "../../../src/dialects/messages/index.ts";
import { isJson, type Json } from "../../../src/kit/index.ts";
import { target } from "../../upstream/support/build.ts";
import { chatCall, write } from "./support.ts";
import { RUNS } from "../../properties/runs.ts";

/*
 * A Claude model is the same wherever it is served: Bedrock sends it the thoughts and the sampling that the API would be
 * sent, and reports the same of them.
 */

const MODELS = [
  "claude-instant-1",
  "claude-v2",
  "claude-3-haiku-20240307",
  "claude-3-5-sonnet-20240620",
  "claude-3-7-sonnet-20250219",
  "claude-opus-4-20250514",
  "claude-opus-4-1-20250805",
  "claude-haiku-4-5-20251001",
  "claude-sonnet-4-6",
  "claude-opus-4-7",
];
const TOOL = { type: "function", function: { name: "f", parameters: { type: "object" } } };
const ASKED = { role: "user", content: "hi" };
const CALLED = { role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "f" } }] };
const THOUGHT = { reasoning_details: [{ type: "reasoning.text", text: "hm", signature: "S" }] };
const RESULT = { role: "tool", tool_call_id: "a", content: "1" };

const asked = fc.record(
  {
    messages: fc.constantFrom([ASKED], [ASKED, CALLED, RESULT], [ASKED, { ...CALLED, ...THOUGHT }, RESULT]),
    tools: fc.constant([TOOL]),
    tool_choice: fc.constantFrom("auto", "required", { type: "function", function: { name: "f" } }),
    max_tokens: fc.constantFrom(500, 2_000, 16_000),
    reasoning_effort: fc.constantFrom("none", "minimal", "low", "medium", "high", "xhigh", "max", "other", 5),
    thinking: fc.oneof(
      fc.constantFrom<unknown>({ type: "disabled" }, { type: "adaptive" }, true),
      fc.record({ type: fc.constant("enabled"), budget_tokens: fc.constantFrom(1, 1_024, 8_000) }),
    ),
    temperature: fc.constantFrom(0, 0.5, 1, 1.5),
    top_p: fc.constantFrom(0.5, 1),
    top_k: fc.constant(5),
  },
  { requiredKeys: ["messages", "tools"] },
);
const OF_CLAUDE = ["/thinking", "/reasoning_effort", "/temperature", "/top_p", "/top_k"];

interface Sent {
  readonly thinking: unknown;
  readonly effort: unknown;
  readonly sampling: readonly unknown[];
  readonly dropped: readonly string[];
}

function toApi(body: Json, model: string): Sent {
  const sent = anthropic.codecs.chat!.request(chatCall(body), target({ model }), "k");
  const { thinking, output_config, temperature, top_p, top_k } = JSON.parse(sent.body as string) as Json;
  return { thinking, effort: effortOf(output_config), sampling: [temperature, top_p, top_k], dropped: kept(sent) };
}

function toBedrock(given: Json, model: string): Sent {
  const { body, dropped } = write(chatCall(given), `us.anthropic.${model}-v1:0`);
  const { temperature, topP } = objectOf(body["inferenceConfig"]);
  const { thinking, output_config, top_k } = objectOf(body["additionalModelRequestFields"]);
  return {
    thinking,
    effort: effortOf(output_config),
    sampling: [temperature, topP, top_k],
    dropped: kept({ dropped }),
  };
}

function objectOf(value: unknown): Json {
  return isJson(value) ? value : {};
}

function effortOf(config: unknown): unknown {
  return objectOf(config)["effort"];
}

function kept({ dropped = [] }: { readonly dropped?: readonly string[] }): readonly string[] {
  const own = dropped.filter((pointer) => OF_CLAUDE.some((name) => pointer === name || pointer.startsWith(`${name}/`)));
  return [...new Set(own)].toSorted();
}

test.each(MODELS)("%s thinks and samples as it would at the API, with the same report", (model) => {
  fc.assert(
    fc.property(asked, (body) => {
      expect(toBedrock(body, model)).toEqual(toApi(body, model));
    }),
    { numRuns: RUNS },
  );
});
