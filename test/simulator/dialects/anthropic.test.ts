import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scriptedOrigin, type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { call, type Seen } from "../support.ts";

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
describe("streams", () => {
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
});
