import { describe, expect, test } from "vitest";
import { chatFormat, readChat } from "../../../../src/dialects/chat/client.ts";
import type { AnswerExtras, AnswerFormat, Bill, Json } from "../../../../src/kit/index.ts";

const ROUTE = "route/a";
const format = (): AnswerFormat => chatFormat(readChat({ model: ROUTE, messages: [] }));
const bill: Bill = { usage: { prompt: 7, completion: 5, cached: 0, reasoning: 0 }, estimated: true, charge: 1n };

describe("complete answers", () => {
  const extras: AnswerExtras = { id: "e-1", created: 1_768_435_200, provider: "Alpha", latencyMs: 12, bill };
  const choices = [{ index: 0, message: { role: "assistant", content: '"model":"up-1"' }, finish_reason: "stop" }];

  test("byte for byte", () => {
    const body = {
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "up-1",
      choices,
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
      later: [1],
    };
    expect(format().contentType).toBe("application/json");
    expect(format().answer(body, extras)).toBe(
      '{"id":"c","object":"chat.completion","created":1,"model":"route/a","choices":[{"index":0,"message":{"role":"assistant","content":"\\"model\\":\\"up-1\\""},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3},"later":[1],"latency_ms":12,"provider":"Alpha"}',
    );
  });

  test("what the upstream left out is filled in", () => {
    expect(JSON.parse(format().answer({ choices }, extras))).toEqual({
      id: "chatcmpl-e-1",
      object: "chat.completion",
      created: 1_768_435_200,
      model: ROUTE,
      choices,
      usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
      latency_ms: 12,
      provider: "Alpha",
    });
  });

  test.each([null, {}, "many", { prompt_tokens: 5 }, { prompt_tokens: -1, completion_tokens: 1 }])(
    "usage %j is no usage: what was billed is shown",
    (usage) => {
      expect(JSON.parse(format().answer({ choices, usage }, extras))).toMatchObject({
        usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
      });
    },
  );

  test.each([
    [{ prompt_tokens: 1, completion_tokens: 2 }, 3],
    [{ prompt_tokens: 1, completion_tokens: 2, total_tokens: null }, 3],
    [{ prompt_tokens: 1, completion_tokens: 2, total_tokens: "3" }, 3],
    [{ prompt_tokens: 1, completion_tokens: 2, total_tokens: 9 }, 9],
  ])("usage %j has a total of %d", (usage, total) => {
    const shown = JSON.parse(format().answer({ choices, usage }, extras)) as Json;
    expect(shown["usage"]).toEqual({ ...usage, total_tokens: total });
  });

  test.each([
    { id: null, object: null, created: null },
    { id: 7, object: "text", created: "now" },
    { id: "", created: 1.5 },
  ])("%j are not the fields of the specification", (wrong) => {
    expect(JSON.parse(format().answer({ ...wrong, choices }, extras))).toMatchObject({
      id: "chatcmpl-e-1",
      object: "chat.completion",
      created: 1_768_435_200,
    });
  });

  test("the upstream's own words for the gateway's fields do not pass", () => {
    const body = { choices, provider: "https://secret.example", latency_ms: -1 };
    expect(JSON.parse(format().answer(body, extras))).toMatchObject({ provider: "Alpha", latency_ms: 12 });
  });
});

describe("texts for the tokenizer", () => {
  test("the prompt: messages and tools, without inlined files", () => {
    const call = readChat({
      model: ROUTE,
      messages: [
        {
          role: "user",
          content: [{ type: "text", text: "look" }, { image_url: { url: "data:image/png;base64,AAAA" } }],
        },
        { role: "user", content: "data: is text" },
      ],
      tools: [{ type: "function", function: { name: "weather" } }],
    });
    const text = chatFormat(call).promptText();
    for (const part of ["look", "weather", "data: is text"]) expect(text).toContain(part);
    expect(text).not.toContain("AAAA");
  });

  test("what was produced: content, reasoning, refusal, tool calls of every choice", () => {
    const body = {
      choices: [
        {
          message: { content: "a", reasoning_content: "b", tool_calls: [{ function: { name: "f", arguments: "{}" } }] },
        },
        { message: { content: null, refusal: "no" } },
        { message: null },
        null,
      ],
    };
    expect(format().producedText(body)).toBe("abf{}no");
    expect(format().producedText({})).toBe("");
  });
});
