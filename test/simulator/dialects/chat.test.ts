import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { call, chat, type Chunk, dataOf, eventsOf, type Seen, type Usage } from "../support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const ask = (body: object | string, headers: Record<string, string> = {}) =>
  call(`${simulator.origin}/v1/chat/completions`, { body, headers });

interface Completion {
  readonly choices: readonly { readonly message: Record<string, unknown>; readonly finish_reason: string }[];
  readonly usage: Usage;
}
const completionOf = (seen: Seen) => JSON.parse(seen.text) as Completion;
const callsOf = (seen: Seen) => {
  const calls = completionOf(seen).choices[0]?.message["tool_calls"] ?? [];
  return (calls as { id: string; function: { name: string; arguments: string } }[]).map((made) => made.function);
};
const errorOf = (seen: Seen) =>
  (JSON.parse(seen.text) as { error: { message: string; type: string; param: string | null; code: string | null } })
    .error;
const contentOf = (chunks: readonly Chunk[]) => chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");

describe("a JSON answer", () => {
  test("has the dialect's shape, says that it is simulated and repeats the user", async () => {
    const seen = await ask(chat("one two"), { "x-request-id": "r-1" });
    expect(seen.status).toBe(200);
    expect(seen.headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(seen.body.length),
      "x-simulated": "true",
      "x-request-id": "r-1",
    });
    expect(JSON.parse(seen.text)).toEqual({
      id: expect.stringMatching(/^chatcmpl-sim-[0-9a-f]{24}$/) as string,
      object: "chat.completion",
      created: expect.any(Number) as number,
      model: "m",
      system_fingerprint: "simulated",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "This is a simulated answer. You said: one two", refusal: null },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: {
        prompt_tokens: 2,
        completion_tokens: 9,
        total_tokens: 11,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    });
  });

  test("counts a token for each word of every message", async () => {
    const content = [
      { type: "text", text: "three words here" },
      { type: "image_url", image_url: { url: "data:," } },
    ];
    const messages = [
      { role: "system", content: "be brief" },
      { role: "user", content },
    ];
    expect(completionOf(await ask({ model: "m", messages })).usage.prompt_tokens).toBe(5);
  });

  test.each([
    ["max_tokens", { max_tokens: 3 }, "This is a", "length", 3],
    ["max_completion_tokens before max_tokens", { max_completion_tokens: 2, max_tokens: 9 }, "This is", "length", 2],
    ["a limit that is not reached", { max_tokens: 100 }, "This is a simulated answer. You said: hi", "stop", 8],
    ["a stop sequence", { stop: "simulated" }, "This is a", "stop", 3],
    ["the first of several", { stop: ["You", "answer"] }, "This is a simulated", "stop", 4],
  ])("honours %s", async (_, more, content, finish, tokens) => {
    const { choices, usage } = completionOf(await ask(chat("hi", more)));
    expect(choices[0]).toMatchObject({ message: { content }, finish_reason: finish });
    expect(usage.completion_tokens).toBe(tokens);
  });

  test("of a reasoning model spends the limit on reasoning first", async () => {
    const model = "deep-reasoner";
    const whole = completionOf(await ask(chat("hi", { model })));
    expect(whole.choices[0]?.message["reasoning_content"]).toMatch(/simulated reasoning/i);
    expect(whole.usage).toMatchObject({ completion_tokens: 15, completion_tokens_details: { reasoning_tokens: 7 } });
    const short = completionOf(await ask(chat("hi", { model, max_tokens: 5 })));
    expect(short.choices[0]).toMatchObject({
      message: { content: "", reasoning_content: "Simulated reasoning: the answer repeats" },
      finish_reason: "length",
    });
    expect(short.usage).toMatchObject({ completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 5 } });
  });

  test("repeats a bounded part of a long message, and no half characters", async () => {
    const seen = await ask(chat("😀".repeat(100_000) + "x"));
    expect(seen.body.length).toBeLessThan(10_000);
    expect(seen.text).not.toMatch(/\\ud[89a-f]/i);
  });
});

describe("a stream", () => {
  test("begins with the role, ends with the reason, repeats id, created and model", async () => {
    const seen = await ask(chat("hi", { stream: true }));
    expect(seen.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    expect(seen.headers["content-length"]).toBeUndefined();
    expect(dataOf(seen.text).at(-1)).toBe("[DONE]");
    const chunks = eventsOf(seen.text);
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: "", refusal: null });
    expect(chunks.at(-1)?.choices[0]).toMatchObject({ delta: {}, finish_reason: "stop" });
    expect(contentOf(chunks)).toBe("This is a simulated answer. You said: hi");
    expect(new Set(chunks.map(({ id, created, model, object }) => `${id} ${created} ${model} ${object}`)).size).toBe(1);
    expect(chunks.slice(0, -1).every((chunk) => chunk.choices[0]?.finish_reason === null)).toBe(true);
    expect(chunks.every((chunk) => !("usage" in chunk) && chunk.system_fingerprint === "simulated")).toBe(true);
  });

  test("has every choice with its reasoning, as the whole answer has", async () => {
    const body = chat("hi", { model: "reason", n: 2 });
    const { choices, usage } = completionOf(await ask(body));
    const streamed = eventsOf((await ask({ ...body, stream: true, stream_options: { include_usage: true } })).text);
    expect(choices).toHaveLength(2);
    for (const [index, { message, finish_reason }] of choices.entries()) {
      const own = streamed.flatMap((chunk) => chunk.choices.filter((choice) => choice.index === index));
      expect(own.map(({ delta }) => delta.content ?? "").join("")).toBe(message["content"]);
      expect(own.map(({ delta }) => delta.reasoning_content ?? "").join("")).toBe(message["reasoning_content"]);
      expect(own.at(-1)?.finish_reason).toBe(finish_reason);
    }
    expect(streamed.at(-1)).toMatchObject({ choices: [], usage });
    expect(streamed.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
  });
});

describe("tools", () => {
  const parameters = {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer", minimum: 2 } },
    required: ["city", "days"],
  };
  const weather = { type: "function", function: { name: "get_weather", parameters } };
  const clock = { type: "function", function: { name: "get_time" } };
  const tools = [weather, clock];

  test.each([
    ["required", chat("hi", { tools, tool_choice: "required" }), ["get_weather"]],
    [
      "a function",
      chat("hi", { tools, tool_choice: { type: "function", function: { name: "get_time" } } }),
      ["get_time"],
    ],
    ["the user names one", chat("run get_time now", { tools }), ["get_time"]],
    ["the user names both", chat("get_time and get_weather", { tools }), ["get_weather", "get_time"]],
    ["both, not in parallel", chat("get_time and get_weather", { tools, parallel_tool_calls: false }), ["get_weather"]],
    ["the user speaks of a tool", chat("use a tool", { tools, tool_choice: "auto" }), ["get_weather"]],
    ["nobody asks", chat("hi", { tools }), []],
    ["none", chat("use a tool", { tools, tool_choice: "none" }), []],
    ["no room for a call", chat("use a tool", { tools, max_tokens: 1 }), []],
  ])("%s", async (_, body, names) => {
    const seen = await ask(body);
    expect(callsOf(seen).map((made) => made.name)).toEqual(names);
    const [choice] = completionOf(seen).choices;
    expect(choice?.message["content"] === null).toBe(names.length > 0);
    expect(choice?.finish_reason === "tool_calls").toBe(names.length > 0);
  });

  test("streamed calls have a dense index, an id and a type first, then pieces of arguments", async () => {
    const chunks = eventsOf((await ask(chat("get_weather get_time", { tools, stream: true }))).text);
    const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    const firsts = deltas.filter((delta) => delta.id !== undefined);
    expect(firsts.map(({ index, type }) => ({ index, type }))).toEqual(
      [0, 1].map((index) => ({ index, type: "function" })),
    );
    const joined = deltas.filter((delta) => delta.index === 0).map((delta) => delta.function.arguments);
    expect(joined.length).toBeGreaterThan(2);
    expect(JSON.parse(joined.join(""))).toEqual({ city: "simulated", days: 2 });
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("tool_calls");
  });
});

describe("refusals have the dialect's error shape", () => {
  test.each<[string, object | string, string | null]>([
    ["no JSON", "{", null],
    ["no object", "[]", null],
    ["no model", { messages: [] }, "model"],
    ["no messages", { model: "m" }, "messages"],
    ["empty messages", { model: "m", messages: [] }, "messages"],
    ["a message that is none", { model: "m", messages: ["hi"] }, "messages[0]"],
    ["an unknown role", { model: "m", messages: [{ role: "robot", content: "hi" }] }, "messages[0].role"],
    ["no content", { model: "m", messages: [{ role: "user" }] }, "messages[0].content"],
    ["max_tokens 0", chat("hi", { max_tokens: 0 }), "max_tokens"],
    ["n beyond 128", chat("hi", { n: 129 }), "n"],
    ["stream as text", chat("hi", { stream: "yes" }), "stream"],
    ["stream_options without stream", chat("hi", { stream_options: {} }), "stream_options"],
    ["five stops", chat("hi", { stop: ["a", "b", "c", "d", "e"] }), "stop"],
    ["tools that are no array", chat("hi", { tools: {} }), "tools"],
    ["a tool without a name", chat("hi", { tools: [{ type: "function", function: {} }] }), "tools[0].function.name"],
    ["a choice of no tool", chat("hi", { tool_choice: { type: "function", function: { name: "x" } } }), "tool_choice"],
    ["required without tools", chat("hi", { tool_choice: "required" }), "tool_choice"],
  ])("%s", async (_, body, param) => {
    const seen = await ask(body);
    expect(seen.status).toBe(400);
    expect(errorOf(seen)).toMatchObject({
      type: "invalid_request_error",
      param,
      message: expect.stringMatching(/./) as string,
    });
  });

  test.each([
    ["no key", "POST", "/v1/chat/completions", { authorization: "" }, 401, null],
    ["no Bearer", "POST", "/v1/chat/completions", { authorization: "Basic eA==" }, 401, null],
    ["no key for the list", "GET", "/v1/models", { authorization: "" }, 401, null],
    ["an unknown path", "POST", "/v1/unknown", {}, 404, "unknown_url"],
    ["the wrong method", "GET", "/v1/chat/completions", {}, 405, null],
    ["the wrong method for the list", "POST", "/v1/models", {}, 405, null],
  ])("%s", async (_, method, path, headers, status, code) => {
    const seen = await call(`${simulator.origin}${path}`, {
      method,
      headers,
      body: method === "POST" ? chat("hi") : undefined,
    });
    expect(seen.status).toBe(status);
    expect(errorOf(seen).code).toBe(code);
  });

  test("a body beyond 64 MiB is 413", async () => {
    const seen = await ask("x".repeat(64 * 1024 * 1024 + 1));
    expect(seen.status).toBe(413);
  });
});
