import Anthropic, { RateLimitError } from "@anthropic-ai/sdk";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { GatewayError, type StreamEvent } from "../../../../src/kit/index.ts";
import { Loopback } from "./loopback.ts";
import { answer, args, begun as calling, chunk, finish, ROUTE, usage } from "./support.ts";

const server = new Loopback();
let client: Anthropic;

beforeAll(async () => {
  client = new Anthropic({ baseURL: await server.start(), apiKey: "rk_1", maxRetries: 0 });
});

afterAll(() => server.stop());

beforeEach(() => {
  server.script = {};
  server.calls = [];
});

const ask = { model: ROUTE, max_tokens: 100, messages: [{ role: "user" as const, content: "hi" }] };
const begun = (index: number, text = ""): StreamEvent => calling(index, "f", text);

describe("the Anthropic SDK", () => {
  test("create", async () => {
    server.script = {
      body: answer({ content: "hi" }, { finish_reason: "stop" }, { usage: { prompt_tokens: 3, completion_tokens: 2 } }),
    };
    const message = await client.messages.create(ask);
    expect(message).toMatchObject({
      model: ROUTE,
      role: "assistant",
      stop_reason: "end_turn",
      content: [{ type: "text", text: "hi" }],
    });
    expect(message.usage).toMatchObject({ input_tokens: 3, output_tokens: 2 });
    expect(server.calls[0]?.headers).toEqual({
      "anthropic-version": expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as unknown,
    });
  });

  test("stream: thinking, text, calls that interleave, counts", async () => {
    server.script = {
      events: [
        chunk({ role: "assistant", content: "" }, {}, usage(9, 1)),
        chunk({ reasoning_details: [{ type: "reasoning.text", index: 0, text: "hm" }] }),
        chunk({ reasoning_details: [{ type: "reasoning.text", index: 0, signature: "S" }] }),
        chunk({ content: "Hel" }),
        chunk({ content: "lo" }),
        begun(0),
        begun(1),
        args(1, '{"b":'),
        args(0, '{"a":1}'),
        args(1, "2}"),
        begun(2),
        finish("tool_calls"),
        { data: { id: "c1", choices: [] }, text: "", usage: usage(9, 6, { cached: 4, cacheWrite: 2 }) },
      ],
    };
    const seen: string[] = [];
    const stream = client.messages.stream(ask).on("text", (text) => seen.push(text));
    const message = await stream.finalMessage();
    expect(seen).toEqual(["Hel", "lo"]);
    expect(message.content).toMatchObject([
      { type: "thinking", thinking: "hm", signature: "S" },
      { type: "text", text: "Hello" },
      { type: "tool_use", id: "call_0", name: "f", input: { a: 1 } },
      { type: "tool_use", id: "call_1", name: "f", input: { b: 2 } },
      { type: "tool_use", id: "call_2", name: "f", input: {} },
    ]);
    expect(message).toMatchObject({
      model: ROUTE,
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: {
        input_tokens: 3,
        cache_read_input_tokens: 4,
        cache_creation_input_tokens: 2,
        output_tokens: 6,
      },
    });
  });

  test("a tool loop: what the SDK sends back is read as it was said", async () => {
    server.script = {
      events: [
        chunk({ reasoning_details: [{ type: "reasoning.text", index: 0, text: "hm", signature: "S" }] }),
        begun(0, '{"a":1}'),
        finish("tool_calls"),
      ],
    };
    const { content } = await client.messages.stream(ask).finalMessage();
    server.script = { events: [chunk({ content: "done" }), finish("stop")] };
    const result = { type: "tool_result" as const, tool_use_id: "call_0", content: "1", is_error: true };
    const messages = [
      ...ask.messages,
      { role: "assistant" as const, content },
      { role: "user" as const, content: [result] },
    ];
    expect(await client.messages.stream({ ...ask, messages }).finalText()).toBe("done");
    expect(server.calls[1]?.body["messages"]).toEqual([
      { role: "user", content: "hi" },
      {
        role: "assistant",
        content: null,
        reasoning_content: "hm",
        reasoning_details: [
          {
            type: "reasoning.text",
            text: "hm",
            signature: "S",
          },
        ],
        tool_calls: [
          {
            id: "call_0",
            type: "function",
            function: {
              name: "f",
              arguments: '{"a":1}',
            },
          },
        ],
      },
      { role: "tool", tool_call_id: "call_0", content: "1", is_error: true },
    ]);
  });

  test("a killed stream is a whole message", async () => {
    server.script = { events: [chunk({ content: "par" })], ending: "killed" };
    expect(await client.messages.stream(ask).finalMessage()).toMatchObject({
      content: [{ text: "par" }],
      stop_reason: "end_turn",
    });
    server.script = { ending: "killed" };
    expect(await client.messages.stream(ask).finalMessage()).toMatchObject({ content: [], stop_reason: "end_turn" });
  });

  test.each([[[]], [[chunk({ content: "par" })]]])("a stream that breaks off is an error: %#", async (events) => {
    server.script = { events, ending: "failure" };
    await expect(client.messages.stream(ask).finalMessage()).rejects.toThrow("upstream failed");
    const raw = await client.messages.create({ ...ask, stream: true });
    await expect(
      (async () => {
        for await (const _ of raw) continue;
      })(),
    ).rejects.toThrow("upstream failed");
  });

  test("an answer cut by its limit says so", async () => {
    server.script = { events: [begun(0, '{"a":'), finish("length")] };
    expect(await client.messages.stream(ask).finalMessage()).toMatchObject({ stop_reason: "max_tokens" });
  });

  test("a refusal has its class, type and request id", async () => {
    server.script = { refusal: new GatewayError("RATE_LIMIT_ERROR", "Per-minute request limit exceeded") };
    const error: unknown = await client.messages.create(ask).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ status: 429, type: "rate_limit_error", requestID: "r-1" });
  });

  test("countTokens", async () => {
    const { input_tokens } = await client.messages.countTokens({ model: ROUTE, messages: ask.messages });
    expect(input_tokens).toBeGreaterThan(0);
  });
});
