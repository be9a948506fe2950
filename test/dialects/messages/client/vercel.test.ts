import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { LanguageModel } from "ai";
import type { Json } from "../../../../src/kit/index.ts";
import { Loopback } from "./loopback.ts";
import { answer, args, begun, chunk, finish, ROUTE, said, thought, usage } from "./support.ts";

const server = new Loopback();
let model: LanguageModel;

beforeAll(async () => {
  model = createAnthropic({ baseURL: `${await server.start()}/v1`, apiKey: "rk_1" })(ROUTE);
});

afterAll(() => server.stop());

beforeEach(() => {
  server.script = {};
  server.calls = [];
});

const add = tool({
  inputSchema: jsonSchema<{ a: number }>({ type: "object", properties: { a: { type: "number" } } }),
  execute: ({ a }) => a + 1,
});

describe("the Vercel SDK's Anthropic provider", () => {
  test("generateText", async () => {
    server.script = { body: answer({ content: "hi", reasoning_content: "hm" }, { finish_reason: "length" }) };
    const { text, reasoningText, finishReason } = await generateText({ model, prompt: "hi", maxRetries: 0 });
    expect({ text, reasoningText, finishReason }).toEqual({ text: "hi", reasoningText: "hm", finishReason: "length" });
  });

  test("streamText: reasoning, text, a tool loop, counts", async () => {
    const rounds = [
      [
        thought(0, { text: "hm" }),
        thought(0, { signature: "S" }),
        said("I add."),
        begun(0, "add"),
        args(0, '{"a":'),
        args(0, "1}"),
        finish("tool_calls"),
        { data: { id: "c1", choices: [] }, text: "", usage: usage(9, 6) },
      ],
      [chunk({ content: "2" }), finish("stop")],
    ];
    const result = streamText({
      model,
      prompt: "hi",
      tools: { add },
      maxRetries: 0,
      stopWhen: stepCountIs(2),
      prepareStep: () => {
        server.script = { events: rounds[server.calls.length]! };
        return {};
      },
    });
    await result.consumeStream();
    const [first, second] = await result.steps;
    expect(first).toMatchObject({ reasoningText: "hm", text: "I add.", finishReason: "tool-calls" });
    expect(first?.usage).toMatchObject({ inputTokens: 9, outputTokens: 6 });
    expect(second).toMatchObject({ text: "2", finishReason: "stop" });
    const messages = server.calls[1]?.body["messages"] as readonly Json[] | undefined;
    expect(messages?.slice(1)).toMatchObject([
      {
        role: "assistant",
        content: "I add.",
        reasoning_details: [{ type: "reasoning.text", text: "hm", signature: "S" }],
        tool_calls: [{ id: "call_0", function: { name: "add", arguments: '{"a":1}' } }],
      },
      { role: "tool", tool_call_id: "call_0", content: "2" },
    ]);
  });

  test("a stream that breaks off is an error", async () => {
    server.script = { events: [said("par")], ending: "failure" };
    const errors: unknown[] = [];
    const result = streamText({ model, prompt: "hi", maxRetries: 0, onError: ({ error }) => void errors.push(error) });
    await result.consumeStream();
    expect(errors).toHaveLength(1);
  });
});
