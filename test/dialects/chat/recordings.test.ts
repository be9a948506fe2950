import { describe, expect, test } from "vitest";
import { chatFormat, readChat } from "../../../src/dialects/chat/client.ts";
import { chat } from "../../../src/dialects/chat/index.ts";
import { producedText } from "../../../src/dialects/canonical/produced.ts";
import { isJson, type Json, type Usage } from "../../../src/kit/index.ts";
import { decode } from "../decode.ts";
import { ANSWERS, answerOf, of, PAYLOADS, payloadsOf, recorded } from "../recordings.ts";

/** Provider and model as the count of their usage must come out: what the provider's own total adds up to. */
const REASONING_APART = new Set([
  "openai-compatible/chat/xai-text",
  "openai-compatible/chat/xai-tool-call",
  "xai/xai-text",
  "xai/xai-tool-call",
]);

interface Assembled {
  text: string;
  reasoning: string;
  readonly tools: Record<number, { name: string; arguments: string }>;
  finish: unknown;
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const number = (value: unknown): number => (typeof value === "number" ? value : 0);
const words = (value: unknown): string => (typeof value === "string" ? value : "");

/** What a client puts together from chunks. */
function assemble(chunks: readonly Json[]): Assembled {
  const result: Assembled = { text: "", reasoning: "", tools: {}, finish: null };
  for (const choice of chunks.flatMap((chunk) => list(chunk["choices"]))) {
    if (!isJson(choice) || !isJson(choice["delta"])) continue;
    const { delta } = choice;
    result.text += words(delta["content"]);
    result.reasoning += words(delta["reasoning_content"]) + words(delta["reasoning"]);
    result.finish = choice["finish_reason"] ?? result.finish;
    for (const call of list(delta["tool_calls"])) {
      if (!isJson(call) || !isJson(call["function"])) continue;
      const tool = (result.tools[Number(call["index"])] ??= { name: "", arguments: "" });
      tool.name += words(call["function"]["name"]);
      tool.arguments += words(call["function"]["arguments"]);
    }
  }
  return result;
}

function rawUsage(chunks: readonly Json[]): unknown {
  return chunks.findLast((chunk) => isJson(chunk["usage"]))?.["usage"];
}

/** The provider's last count, read by hand. */
function lastUsage(chunks: readonly Json[], name: string): Usage | null {
  const raw = rawUsage(chunks);
  if (!isJson(raw)) return null;
  const details = (field: string, key: string): number => (isJson(raw[field]) ? number(raw[field][key]) : 0);
  const reasoning = details("completion_tokens_details", "reasoning_tokens");
  return {
    prompt: number(raw["prompt_tokens"]),
    completion: number(raw["completion_tokens"]) + (REASONING_APART.has(name) ? reasoning : 0),
    // Moonshot counts them beside the others.
    cached: details("prompt_tokens_details", "cached_tokens") || number(raw["cached_tokens"]),
    reasoning,
  };
}

/** All that the choices of a complete answer say and think. */
function text(body: Json): string {
  const messages = list(body["choices"]).map((choice) => (isJson(choice) ? choice["message"] : null));
  return messages.map((message) => (isJson(message) ? producedText(message) : "")).join("");
}

describe.skipIf(!recorded)("recorded streams", () => {
  test.each(of(PAYLOADS, "openai"))(
    "%s has the texts and the usage of a plain parse of its lines",
    (name, { bytes }) => {
      const chunks = payloadsOf(name);
      const whole = decode([bytes()]);
      expect(whole).toMatchObject({ fault: null, done: true, complete: true });
      const received = whole.events.map(({ data }) => data);
      expect(assemble(received)).toEqual(assemble(chunks));
      const { text, reasoning, tools } = assemble(chunks);
      const called = Object.values(tools).flatMap((tool) => [tool.name, tool.arguments]);
      const produced = [text, reasoning, ...called].join("").length;
      expect(whole.events.reduce((sum, event) => sum + event.text.length, 0)).toBe(produced);
      const counted = whole.events.findLast(({ usage }) => usage !== undefined)?.usage ?? null;
      expect(counted).toEqual(lastUsage(chunks, name));
    },
  );
});

describe.skipIf(!recorded)("recorded bodies", () => {
  test.each(of(ANSWERS, "openai"))("%s", (name, { bytes }) => {
    const { body, usage } = chat.answer(bytes());
    const reported = answerOf(name);
    expect(usage).toEqual(lastUsage([reported], name));
    expect(text(body)).toBe(text(reported));
    const bill = { usage: { prompt: 0, completion: 0, cached: 0, reasoning: 0 }, estimated: false, charge: 0n };
    const format = chatFormat(readChat({ model: "route/a", messages: [] }));
    const answer = JSON.parse(format.answer(body, { id: "e", created: 1, provider: "P", latencyMs: 1, bill })) as Json;
    expect(answer).toEqual({ object: "chat.completion", ...body, model: "route/a", latency_ms: 1, provider: "P" });
    expect(format.producedText(body).length).toBeGreaterThan(0);
  });
});
