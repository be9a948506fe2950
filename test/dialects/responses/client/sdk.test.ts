import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import OpenAI, { APIError, BadRequestError } from "openai";
import { afterEach, describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import { type Play, type Stage, stage } from "./server.ts";

/* The unmodified clients, against a server that is nothing but this format. */
let open: Stage | null = null;
afterEach(() => open?.close());

async function client(
  ...plays: readonly [Play, ...Play[]]
): Promise<{ readonly openai: OpenAI; readonly stage: Stage }> {
  open = await stage((_call, turn) => plays[Math.min(turn, plays.length - 1)]!);
  return { openai: new OpenAI({ baseURL: `${open.origin}/v1`, apiKey: "k", maxRetries: 0 }), stage: open };
}

const called = (index: number, id: string, name: string, args: string): Json => ({
  tool_calls: [{ index, id, type: "function", function: { name, arguments: args } }],
});
const TEXT: Play = {
  deltas: [
    { role: "assistant", content: "" },
    { reasoning_content: "Hm." },
    { content: "Hello " },
    { content: "there" },
  ],
};
const CALLS: Play = {
  deltas: [
    { reasoning_content: "Sum." },
    { reasoning_details: [{ type: "reasoning.text", index: 0, signature: "sig" }] },
    { content: "Adding." },
    called(0, "c1", "add", '{"a":1,"b":2}'),
    called(1, "c2", "patch", '{"input":"*** Begin"}'),
  ],
  finish: "tool_calls",
};
const TOOLS: OpenAI.Responses.Tool[] = [
  { type: "function", name: "add", parameters: { type: "object" }, strict: false },
  { type: "custom", name: "patch" },
];
const ask = { model: "route/a", input: "hi" } as const;

describe("openai", () => {
  test("create", async () => {
    const { openai } = await client(TEXT);
    const response = await openai.responses.create(ask);
    expect(response).toMatchObject({ output_text: "Hello there", model: "route/a", status: "completed" });
    expect(response.usage?.total_tokens).toBe(12);
  });

  test.each([{}, { reasoning: { summary: "auto" } }] as const)(
    "stream %j: text, reasoning, the final response",
    async (more) => {
      const { openai } = await client(TEXT);
      const stream = openai.responses.stream({ ...ask, ...more });
      let text = "";
      let thoughts = "";
      for await (const event of stream) {
        if (event.type === "response.output_text.delta") text += event.delta;
        if (event.type === "response.reasoning_text.delta" || event.type === "response.reasoning_summary_text.delta") {
          thoughts += event.delta;
        }
      }
      expect([text, thoughts]).toEqual(["Hello there", "Hm."]);
      expect(await stream.finalResponse()).toMatchObject({ output_text: "Hello there", usage: { total_tokens: 7 } });
    },
  );

  test("parse", async () => {
    const { openai, stage } = await client({ deltas: [{ content: '{"city":"Bonn"}' }] });
    const schema = { type: "object", properties: { city: { type: "string" } } };
    const text = { format: { type: "json_schema", name: "place", schema } } as const;
    const { output_parsed } = await openai.responses.parse({ ...ask, text });
    expect(output_parsed).toEqual({ city: "Bonn" });
    expect(stage.calls[0]!.body["response_format"]).toMatchObject({
      type: "json_schema",
      json_schema: { name: "place" },
    });
  });

  test.each([true, false])("a loop of tools, streamed: %s: outputs and signatures come back", async (streamed) => {
    const { openai, stage } = await client(CALLS, TEXT);
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: "add" }];
    const run = async () => {
      const body = { ...ask, input, tools: TOOLS, include: ["reasoning.encrypted_content" as const] };
      return streamed ? openai.responses.stream(body).finalResponse() : openai.responses.create(body);
    };
    const { output } = await run();
    expect(output.map(({ type }) => type)).toEqual(["reasoning", "message", "function_call", "custom_tool_call"]);
    input.push(...(output as OpenAI.Responses.ResponseInputItem[]));
    for (const item of output) {
      if (item.type === "function_call")
        input.push({ type: "function_call_output", call_id: item.call_id, output: item.arguments });
      if (item.type === "custom_tool_call") {
        input.push({ type: "custom_tool_call_output", call_id: item.call_id, output: item.input });
      }
    }
    expect((await run()).output_text).toBe("Hello there");
    expect(stage.calls[1]!.body["messages"]).toEqual([
      { role: "user", content: "add" },
      {
        role: "assistant",
        content: "Adding.",
        reasoning_content: "Sum.",
        reasoning_details: [{ type: "reasoning.text", text: "Sum.", signature: "sig" }],
        tool_calls: [
          { id: "c1", type: "function", function: { name: "add", arguments: '{"a":1,"b":2}' } },
          { id: "c2", type: "function", function: { name: "patch", arguments: '{"input":"*** Begin"}' } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: '{"a":1,"b":2}' },
      { role: "tool", tool_call_id: "c2", content: "*** Begin" },
    ]);
  });

  test("a failure mid-stream throws, by both ways of reading", async () => {
    const { openai } = await client({ deltas: [{ content: "half" }], ending: "failure" });
    const raw = await openai.responses.create({ ...ask, stream: true });
    const read = async (): Promise<void> => {
      for await (const _ of raw);
    };
    await expect(read()).rejects.toThrow(APIError);
    await expect(openai.responses.stream(ask).finalResponse()).rejects.toMatchObject({ code: "server_error" });
  });

  test.each([
    [{ deltas: [{ content: "half" }], ending: "killed" }, null],
    [{ deltas: [{ content: "half" }], finish: "length" }, { reason: "max_output_tokens" }],
  ] as const)("what was cut is incomplete: %j", async (play, incomplete_details) => {
    const { openai } = await client(play);
    const response = await openai.responses.stream(ask).finalResponse();
    expect(response).toMatchObject({ status: "incomplete", incomplete_details, output_text: "half" });
  });

  test("a stored response is refused by name", async () => {
    const { openai } = await client(TEXT);
    const asked = openai.responses.create({ ...ask, previous_response_id: "resp_1" });
    await expect(asked).rejects.toThrow(BadRequestError);
    await expect(asked).rejects.toThrow("/previous_response_id needs stored responses");
  });
});

const model = (origin: string) => createOpenAI({ baseURL: `${origin}/v1`, apiKey: "k" }).responses("route/a");

describe("the AI SDK", () => {
  const add = tool({
    description: "adds",
    inputSchema: jsonSchema<{ a: number; b: number }>({
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
    }),
    execute: ({ a, b }) => String(a + b),
  });
  const STEP: Play = { deltas: CALLS.deltas.slice(0, 4), finish: "tool_calls" };
  const openai = { store: false, reasoningSummary: "auto", forceReasoning: true } as const;

  test("generateText", async () => {
    const { stage } = await client(TEXT);
    const got = await generateText({ model: model(stage.origin), prompt: "hi", maxRetries: 0 });
    expect([got.text, got.finishReason, got.usage.totalTokens]).toEqual(["Hello there", "stop", 12]);
  });

  test.each([true, false])("a loop of tools, streamed: %s", async (streamed) => {
    const { stage } = await client(STEP, TEXT);
    const options = {
      model: model(stage.origin),
      prompt: "hi",
      tools: { add },
      stopWhen: stepCountIs(3),
      providerOptions: { openai },
      maxRetries: 0,
    };
    const got = streamed ? streamText(options) : await generateText(options);
    expect([await got.text, await got.finishReason]).toEqual(["Hello there", "stop"]);
    expect((await got.steps)[0]!.reasoningText).toBe("Sum.");
    expect(stage.calls[1]!.body["messages"]).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: "Adding.",
        reasoning_details: [{ type: "reasoning.text", text: "Sum.", signature: "sig" }],
        tool_calls: [{ id: "c1", function: { name: "add" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "3" },
    ]);
  });

  test("with its default, store, a second step refers to what is not kept: the error says what to do", async () => {
    const { stage } = await client(STEP, TEXT);
    const asked = generateText({
      model: model(stage.origin),
      prompt: "hi",
      tools: { add },
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    });
    await expect(asked).rejects.toMatchObject({
      statusCode: 400,
      responseBody: expect.stringContaining("send store: false and the items themselves"),
    });
  });

  test.each([
    [{ deltas: [{ content: "half" }], finish: "length" }, "length"],
    [{ deltas: [{ content: "half" }], ending: "failure" }, "error"],
  ] as const)("what was cut does not look whole: %j", async (play, reason) => {
    const { stage } = await client(play);
    const errors: unknown[] = [];
    const got = streamText({
      model: model(stage.origin),
      prompt: "hi",
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    });
    expect(await got.finishReason).toBe(reason);
    expect(errors).toHaveLength(reason === "error" ? 1 : 0);
  });
});
