import Anthropic, { BadRequestError, InternalServerError, RateLimitError } from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scriptedOrigin, startSimulator } from "../../src/simulator/server.ts";
import type { Simulator } from "../../src/simulator/server.ts";
import { call, eventually } from "./support.ts";
import type { Seen } from "./support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const OLD = { "anthropic-version": "2023-06-01", "x-api-key": "any", authorization: "" };
const NEW = { "anthropic-version": "2026-10-21" };
const tool = {
  name: "get_weather",
  input_schema: { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] },
};
const user = (content: unknown) => ({ role: "user", content });
const said = (text: string, more: object = {}) => ({ model: "m", max_tokens: 4_000, messages: [user(text)], ...more });

const ask = (body: object | string, script = "-", headers: Record<string, string> = OLD, path = "/v1/messages") =>
  call(`${scriptedOrigin(simulator.origin, script)}${path}`, { body, headers });
const bodyOf = (seen: Seen) =>
  JSON.parse(seen.text) as Record<string, unknown> & { content: Record<string, unknown>[] };
const client = (script = "-") =>
  new Anthropic({ apiKey: "any", baseURL: scriptedOrigin(simulator.origin, script), maxRetries: 0 });
const message = (content: string, more: object = {}) => ({
  model: "m",
  max_tokens: 4_000,
  messages: [{ role: "user" as const, content }],
  ...more,
});

/** What differs from one request to the next, as its type. */
const masked = (content: object) =>
  JSON.parse(
    JSON.stringify(content, (key, value: unknown) => (/^(?:id|signature|data)$/.test(key) ? typeof value : value)),
  ) as object;

/** Names of events and their data. */
function eventsOf(text: string): readonly (readonly [string, Record<string, unknown>])[] {
  return text
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => {
      const [, name = "", data = ""] = /^event: (\S+)\ndata: (.*)$/.exec(frame) ?? [];
      return [name, JSON.parse(data) as Record<string, unknown>];
    });
}

describe("the official SDK", () => {
  test("reads a message", async () => {
    const made = await client().messages.create(message("hi"));
    expect(made.content).toEqual([{ type: "text", text: "This is a simulated answer. You said: hi" }]);
    expect(made).toMatchObject({ stop_reason: "end_turn", usage: { input_tokens: 1, output_tokens: 8 } });
  });

  test.each([
    ["text", "hi", {}],
    ["thinking and text", "hi", { model: "reason" }],
    ["redacted thinking", "hi", { model: "reason-redact" }],
    ["omitted thinking", "hi", { thinking: { type: "adaptive", display: "omitted" } }],
    ["a call with thinking", "get_weather", { tools: [tool], thinking: { type: "enabled", budget_tokens: 1_024 } }],
    ["a call without arguments", "now", { tools: [{ name: "now", input_schema: { type: "object" } }] }],
    ["two calls", "get_weather and now", { tools: [tool, { name: "now", input_schema: { type: "object" } }] }],
    ["a cut", "hi", { max_tokens: 2 }],
    ["a stop sequence", "hi", { stop_sequences: ["answer"] }],
  ])("assembles from a stream what comes as one: %s", async (_, text, more) => {
    const whole = await client().messages.create(message(text, more));
    const streamed = await client().messages.stream(message(text, more)).finalMessage();
    const { content, stop_reason, stop_sequence, usage } = whole;
    expect(masked(streamed.content)).toMatchObject(masked(content));
    expect(streamed).toMatchObject({ stop_reason, stop_sequence });
    expect({ ...streamed.usage, output_tokens_details: null }).toMatchObject({ ...usage, output_tokens_details: null });
  });

  test("counts tokens and lists models", async () => {
    const { messages } = message("one two three");
    expect(await client().messages.countTokens({ model: "m", system: "four", messages })).toEqual({ input_tokens: 4 });
    const ids = [];
    for await (const model of client().models.list()) ids.push(model.id);
    expect(ids).toContain("simulated-chat");
  });

  test.each([
    ["status=400", BadRequestError],
    ["status=429", RateLimitError],
    ["status=529", InternalServerError],
  ])("%s is the SDK's own error", async (script, kind) => {
    await expect(client(script).messages.create(message("hi"))).rejects.toBeInstanceOf(kind);
  });

  test("an error in a stream is thrown with its type", async () => {
    const stream = client("error_after=3&message=Busy").messages.stream(message("hi"));
    await expect(stream.finalMessage()).rejects.toThrow("Busy");
    expect((await ask(said("hi", { stream: true }), "error_after=3")).text).toContain(
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"',
    );
  });

  test("a tool loop with thinking runs to its end", async () => {
    const asked = message("get_weather", { tools: [tool], thinking: { type: "enabled", budget_tokens: 1_024 } });
    const first = await client().messages.create(asked);
    const [, call] = first.content;
    if (call?.type !== "tool_use") throw new Error("no call");
    const messages = [
      ...asked.messages,
      { role: "assistant" as const, content: first.content },
      { role: "user" as const, content: [{ type: "tool_result" as const, tool_use_id: call.id, content: "sunny" }] },
    ];
    const second = await client().messages.create({ ...asked, messages });
    expect(second.stop_reason).toBe("end_turn");
    expect(call.input).toEqual({ city: "simulated" });
  });
});

describe("streams", () => {
  test("events are in order, named as their data, with a ping and cumulative usage", async () => {
    const script = "usage.prompt=100&usage.cached=60&usage.cache_write=30";
    const seen = await ask(said("hi", { model: "reason", stream: true, max_tokens: 10 }), script);
    const events = eventsOf(seen.text);
    expect(events.map(([name]) => name).join(" ")).toMatch(
      /^message_start content_block_start ping( content_block_delta){8} content_block_stop content_block_start( content_block_delta){3} content_block_stop message_delta message_stop$/,
    );
    expect(events.every(([name, { type }]) => name === type)).toBe(true);
    const input = { input_tokens: 10, cache_read_input_tokens: 60, cache_creation_input_tokens: 30 };
    expect(events[0]?.[1]).toMatchObject({ message: { usage: { ...input, output_tokens: 1 }, content: [] } });
    expect(events.at(-2)?.[1]).toMatchObject({
      delta: { stop_reason: "max_tokens", stop_sequence: null },
      usage: { ...input, output_tokens: 10, output_tokens_details: { thinking_tokens: 7 } },
    });
    await eventually(() => simulator.ledger().at(-1)?.closedAt !== null);
    expect(simulator.ledger().at(-1)).toMatchObject({
      model: "reason",
      tokens: 10,
      events: events.length - 1,
      units: { prompt: 1 },
      claimed: { prompt: 100, completion: 10, cached: 60, cacheWrite: 30 },
    });
  });

  test.each([
    ["a call without arguments", said("now", { tools: [{ name: "now", input_schema: { type: "object" } }] }), 2],
    ["omitted thinking", said("hi", { thinking: { type: "adaptive", display: "omitted" } }), 15],
    ["redacted thinking", said("hi", { model: "reason-redact" }), 15],
  ])("every token is counted: %s", async (_, body, tokens) => {
    await ask({ ...body, stream: true });
    expect(simulator.ledger().at(-1)).toMatchObject({ tokens, claimed: { completion: tokens } });
    await ask(body);
    expect(simulator.ledger().at(-1)).toMatchObject({ tokens, claimed: { completion: tokens } });
  });

  test("the same request has the same bytes", async () => {
    const body = said("hi", { model: "reason", stream: true });
    expect((await ask(body)).text).toBe((await ask(body)).text);
  });

  test.each([
    ["no_done", /message_delta/, /message_stop/],
    ["no_usage", /message_stop/, /usage/],
    ["end_after=2", /message_start/, /message_delta/],
    [
      "malformed_after=2",
      /event: content_block_delta\ndata: \{"id":"chatcmpl-sim-malformed","choices":\[\{"index":0,\n/,
      /^$/,
    ],
    ["finish=refusal", /"stop_reason":"refusal"/, /end_turn/],
  ])("%s", async (script, has, lacks) => {
    const { text } = await ask(said("hi", { stream: true }), script);
    expect(text).toMatch(has);
    expect(text).not.toMatch(lacks);
  });
});

const signed = async (more: object = {}) =>
  bodyOf(await ask(said("get_weather", { model: "reason", tools: [tool], ...more })));
const loop = (content: unknown, more: object = {}, id = "toolu_1") => ({
  ...said("get_weather", { tools: [tool], ...more }),
  messages: [
    user("get_weather"),
    { role: "assistant", content },
    user([{ type: "tool_result", tool_use_id: id, content: "sunny" }]),
  ],
});
const use = { type: "tool_use", id: "toolu_1", name: "get_weather", input: { city: "x" } };
const mark = { type: "text", text: "x", cache_control: { type: "ephemeral" } };

describe("refusals", () => {
  test.each<[string, object, string]>([
    ["no max_tokens", { model: "m", messages: [user("hi")] }, "max_tokens: Field required"],
    ["no messages", { model: "m", max_tokens: 1 }, "messages: Field required"],
    ["no model", { max_tokens: 1, messages: [user("hi")] }, "model: Field required"],
    ["an assistant first", said("hi", { messages: [{ role: "assistant", content: "x" }] }), "first message must use"],
    ["a tool role", said("hi", { messages: [user("x"), { role: "tool", content: "x" }] }), 'Unexpected role "tool"'],
    ["an empty text", said("hi", { messages: [user([{ type: "text", text: "" }])] }), "must be non-empty"],
    ["an empty message", said("hi", { messages: [user(""), user("x")] }), "non-empty content"],
    ["an OpenAI part", said("hi", { messages: [user([{ type: "image_url" }])] }), "Input tag 'image_url'"],
    [
      "OpenAI's tool_calls",
      said("hi", { messages: [user("x"), { role: "assistant", content: "x", tool_calls: [] }] }),
      "tool_calls: Extra inputs",
    ],
    ["an OpenAI field", said("hi", { seed: 1 }), "seed: Extra inputs are not permitted"],
    ["an OpenAI tool", said("hi", { tools: [{ type: "function", function: {} }] }), "tools.0.function"],
    ["a tool without a schema", said("hi", { tools: [{ name: "x" }] }), "input_schema: Field required"],
    ["a schema of no object", said("hi", { tools: [{ name: "x", input_schema: {} }] }), "Input should be 'object'"],
    ["a bad tool name", said("hi", { tools: [{ ...tool, name: "a b" }] }), "should match pattern"],
    ["a tool twice", said("hi", { tools: [tool, tool] }), "must be unique"],
    ["a choice without tools", said("hi", { tool_choice: { type: "any" } }), "may only be specified while providing"],
    [
      "a choice of no tool",
      said("hi", { tools: [tool], tool_choice: { type: "tool", name: "x" } }),
      "not found in provided",
    ],
    ["a temperature of 2", said("hi", { temperature: 2 }), "temperature: range: 0..1"],
    [
      "a budget too small",
      said("hi", { thinking: { type: "enabled", budget_tokens: 10 } }),
      "greater than or equal to 1024",
    ],
    [
      "a budget beyond max_tokens",
      said("hi", { thinking: { type: "enabled", budget_tokens: 5_000 } }),
      "must be greater than",
    ],
    [
      "a temperature with thinking",
      said("hi", { temperature: 0.5, thinking: { type: "enabled", budget_tokens: 1_024 } }),
      "only be set to 1",
    ],
    [
      "a forced tool with thinking",
      said("hi", { tools: [tool], tool_choice: { type: "any" }, thinking: { type: "enabled", budget_tokens: 1_024 } }),
      "forces tool use",
    ],
    ["an unknown effort", said("hi", { output_config: { effort: "minimal" } }), "output_config.effort"],
    ["five marks", said("hi", { messages: [user([mark, mark, mark, mark, mark])] }), "A maximum of 4 blocks"],
    ["a stray result", loop("none"), "unexpected `tool_use_id`"],
    ["a result of another call", loop([use], {}, "toolu_2"), "without `tool_result` blocks"],
    [
      "a call without a result",
      said("hi", { messages: [user("x"), { role: "assistant", content: [use] }, user("y")] }),
      "without `tool_result` blocks",
    ],
    ["an id of other letters", loop([{ ...use, id: "a:1" }], {}, "a:1"), "String should match pattern"],
    ["arguments that are text", loop([{ ...use, input: "{}" }]), "tool_use.input"],
    [
      "a made-up signature",
      loop([{ type: "thinking", thinking: "x", signature: "c2ln" }, use]),
      "Invalid `signature` in `thinking` block",
    ],
    [
      "no thinking in a loop that thinks",
      loop([use], { thinking: { type: "enabled", budget_tokens: 1_024 } }),
      "Expected `thinking`",
    ],
  ])("%s", async (_, body, what) => {
    const seen = await ask(body);
    expect(seen.status).toBe(400);
    expect(bodyOf(seen)).toEqual({
      type: "error",
      error: { type: "invalid_request_error", message: expect.stringContaining(what) as string },
      request_id: seen.headers["request-id"],
    });
  });

  test.each([
    ["temperature", said("hi", { temperature: 1 }), /^temperature/],
    ["top_p", said("hi", { top_p: 1 }), /^top_p/],
    ["top_k", said("hi", { top_k: 5 }), /^top_k/],
    ["citations", said("hi", { messages: [user([{ type: "text", text: "x", citations: [{}] }])] }), /citations/],
    [
      "documents of the assistant",
      said("hi", { messages: [user("x"), { role: "assistant", content: [{ type: "document", source: {} }] }] }),
      /document/,
    ],
  ])("version 2026-10-21 has no %s", async (_, body, what) => {
    expect((await ask(body)).status).toBe(200);
    const seen = await ask(body, "-", NEW);
    expect([seen.status, (bodyOf(seen)["error"] as { message: string }).message]).toEqual([
      400,
      expect.stringMatching(what),
    ]);
  });

  test.each([
    ["no key", { authorization: "", "anthropic-version": "2023-06-01" }, 401, "authentication_error"],
    ["no version", { "x-api-key": "any" }, 400, "invalid_request_error"],
    ["a version that is none", { "x-api-key": "any", "anthropic-version": "now" }, 400, "invalid_request_error"],
  ])("%s", async (_, headers, status, type) => {
    const seen = await ask(said("hi"), "-", headers);
    expect(seen.status).toBe(status);
    expect(bodyOf(seen)).toMatchObject({ type: "error", error: { type } });
  });

  test.each([
    ["status=429&retry_after=3", "rate_limit_error"],
    ["status=529", "overloaded_error"],
    ["status=503", "api_error"],
    ["status=404", "not_found_error"],
    ["error_first", "api_error"],
  ])("%s is an %s", async (script, type) => {
    expect(bodyOf(await ask(said("hi"), script))).toMatchObject({ type: "error", error: { type } });
  });
});

describe("what is allowed", () => {
  test.each<[string, object]>([
    ["system messages between", said("hi", { messages: [user("x"), { role: "system", content: "y" }, user("z")] })],
    [
      "results in several messages of the user",
      {
        ...said("x", { tools: [tool] }),
        messages: [
          user("x"),
          { role: "assistant", content: [use, { ...use, id: "toolu_2" }] },
          user([{ type: "tool_result", tool_use_id: "toolu_1" }]),
          user([
            { type: "tool_result", tool_use_id: "toolu_2", content: [{ type: "text", text: "y" }], is_error: true },
          ]),
        ],
      },
    ],
    ["fields that are newer than the simulator", said("hi", { context_management: { edits: [] }, brand_new: 1 })],
    ["tools of the provider", said("hi", { tools: [{ type: "web_search_20260101", name: "web_search" }] })],
    ["four marks", said("hi", { messages: [user([mark, mark, mark, mark])] })],
  ])("%s", async (_, body) => {
    expect((await ask(body, "-", OLD, "/v1/messages?beta=true")).status).toBe(200);
  });

  test("a signature is good for its own thinking only", async () => {
    const { content } = await signed();
    const id = String(content[1]?.["id"]);
    expect((await ask(loop(content, { model: "reason" }, id))).status).toBe(200);
    const [thinking, call] = content;
    const other = [{ ...thinking, thinking: "Something else." }, call];
    expect((await ask(loop(other, { model: "reason" }, id))).status).toBe(400);
  });

  test.each([
    ["omitted", { thinking: { type: "adaptive", display: "omitted" } }, "thinking"],
    ["redacted", { model: "reason-redact" }, "redacted_thinking"],
  ])("thinking that is %s comes back as it was", async (_, more, type) => {
    const { content } = await signed(more);
    expect(content[0]?.["type"]).toBe(type);
    expect((await ask(loop(content, more, String(content[1]?.["id"])))).status).toBe(200);
    const [first, ...rest] = content;
    expect(
      (await ask(loop([{ ...first, data: "x", signature: "x" }, ...rest], more, String(content[1]?.["id"])))).status,
    ).toBe(400);
  });

  test("one tool at a time when the client wants no more", async () => {
    const tools = [tool, { ...tool, name: "get_time" }];
    const choice = { type: "auto", disable_parallel_tool_use: true };
    const { content } = bodyOf(await ask(said("get_weather get_time", { tools, tool_choice: choice })));
    expect(content.map(({ name }) => name)).toEqual(["get_weather"]);
  });
});
