import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RUNS } from "../../properties/runs.ts";
import type { Json } from "../../../src/kit/index.ts";
import { parseMessages } from "../../../src/simulator/dialects/anthropic-request.ts";
import { scriptedOrigin, type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { assembled, callOf, chat, decoderOf, list, target } from "./support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

async function post(body: Json, model: string, script: string): Promise<Response> {
  const { path, headers, body: text } = chat.request(callOf(body), target(model), "key");
  return fetch(scriptedOrigin(simulator.origin, script) + path, { method: "POST", headers, body: text as string });
}

/** The message of an answer that came as one, or as events. */
async function ask(body: Json, model = "m", script = "-"): Promise<Json> {
  const response = await post(body, model, script);
  const call = callOf(body);
  const bytes = await response.bytes();
  expect({ status: response.status, text: response.ok ? "" : new TextDecoder().decode(bytes) }).toEqual({
    status: 200,
    text: "",
  });
  if (body["stream"] !== true) return list(chat.answer(bytes, call).body["choices"])[0]?.["message"] as Json;
  const decoder = decoderOf(call);
  const events = [...decoder.feed(bytes), ...decoder.finish()];
  expect(decoder).toMatchObject({ fault: null, complete: true });
  return assembled(events).message;
}

const tools = [
  {
    type: "function",
    function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
  },
];
const question = { role: "user", content: "get_weather please" };

describe.each([false, true])("an upstream that minds its rules, streamed: %s", (stream) => {
  test("answers", async () => {
    expect(await ask({ messages: [{ role: "user", content: "hi" }], stream })).toEqual({
      role: "assistant",
      content: "This is a simulated answer. You said: hi",
    });
  });

  test.each([
    ["claude-sonnet-4-5", "high"],
    ["claude-opus-5", "high"],
    ["m", "low"],
  ])("takes its own thinking back in a tool loop: %s", async (model, reasoning_effort) => {
    const body = { messages: [question], tools, reasoning_effort, max_tokens: 8000, stream };
    const called = await ask(body, model);
    expect(called).toMatchObject({
      reasoning_details: [{ type: "reasoning.text" }],
      tool_calls: [{ function: { name: "get_weather" } }],
    });
    const [call] = list(called["tool_calls"]);
    const result = { role: "tool", tool_call_id: call?.["id"], content: "rain" };
    const answered = await ask({ ...body, messages: [question, called, result] }, model);
    expect(answered).toMatchObject({ role: "assistant", content: expect.any(String) as unknown });
  });

  test("takes its own encrypted thinking back", async () => {
    const called = await ask({ messages: [question], tools, stream }, "reason-redact");
    expect(called).toMatchObject({ reasoning_details: [{ type: "reasoning.encrypted" }] });
    const [call] = list(called["tool_calls"]);
    const result = { role: "tool", tool_call_id: call?.["id"], content: "rain" };
    await ask({ messages: [question, called, result], tools, stream }, "reason-redact");
  });

  test("is left without thinking where a tool loop began without it", async () => {
    const called = {
      role: "assistant",
      tool_calls: [{ id: "call.1", type: "function", function: { name: "get_weather", arguments: "{}" } }],
    };
    const result = { role: "tool", tool_call_id: "call.1", content: "rain" };
    const body = { messages: [question, called, result], tools, reasoning_effort: "high", stream };
    expect(await ask(body, "claude-sonnet-4-5")).toMatchObject({
      role: "assistant",
      content: expect.any(String) as unknown,
    });
  });
});

describe("no well-formed chat request is refused by name of a rule of the API", () => {
  const text = fc.constantFrom("a", "hello", "", " ", "\n", "get_weather");
  const part = fc.oneof(
    text.map((value) => ({ type: "text", text: value })),
    fc.constant({ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }),
    fc.constant({ type: "file", file: { file_data: "data:application/pdf;base64,AAAA" } }),
    fc.constant({ type: "input_audio", input_audio: { data: "A", format: "wav" } }),
  );
  const content = fc.oneof(text, fc.array(part, { maxLength: 3 }));
  const plain = fc.record({ role: fc.constantFrom("system", "developer", "user", "assistant"), content });
  const toolIds = fc.uniqueArray(fc.constantFrom("call_1", "functions.f:0", "a b", "functions_f_0"), {
    minLength: 1,
    maxLength: 3,
  });
  const loop = fc
    .tuple(toolIds, content, fc.constantFrom("", "{}", '{"a":1}', "{", "[]"))
    .map(([ids, result, args]) => [
      {
        role: "assistant",
        content: null,
        tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "get_weather", arguments: args } })),
      },
      ...ids.map((id) => ({ role: "tool", tool_call_id: id, content: result })),
    ]);
  // A conversation that ends with the user, and says something: the rest is the client's own fault.
  const conversation = fc
    .tuple(fc.array(plain, { maxLength: 4 }), fc.option(loop, { nil: [] }), fc.array(plain, { maxLength: 2 }))
    .map(([before, calls, after]) => [...before, ...calls, ...after, { role: "user", content: "hi" }]);
  const body = fc.record(
    {
      messages: conversation,
      tools: fc.constantFrom([], tools),
      tool_choice: fc.constantFrom("auto", "none", null),
      parallel_tool_calls: fc.boolean(),
      reasoning_effort: fc.constantFrom("none", "minimal", "low", "medium", "high", "xhigh", "max", null, "odd"),
      thinking: fc.constantFrom(
        { type: "enabled", budget_tokens: 2000 },
        { type: "enabled", budget_tokens: 1 },
        { type: "adaptive" },
        { type: "disabled" },
      ),
      max_tokens: fc.constantFrom(1, 100, 1500, 5000, null),
      temperature: fc.constantFrom(0, 0.5, 1, 1.9, null),
      top_p: fc.constantFrom(0.1, 1, null),
      top_k: fc.constantFrom(1, null),
      stop: fc.constantFrom("x", "\n", ["a", " "], null),
      response_format: fc.constantFrom(
        { type: "json_object" },
        { type: "text" },
        { type: "json_schema", json_schema: { name: "n", schema: { type: "object" } } },
      ),
      n: fc.constantFrom(1, 2),
      seed: fc.constant(1),
      user: fc.constant("ann"),
      logit_bias: fc.constant({ 1: 1 }),
      stream: fc.boolean(),
      stream_options: fc.constant({ include_usage: true }),
    },
    { requiredKeys: ["messages"] },
  );
  const forcedBody = body.map((made) => ({ ...made, tools, tool_choice: "required" }));
  const models = fc.constantFrom(
    "m",
    "claude-3-haiku-20240307",
    "claude-sonnet-4-5",
    "claude-opus-4-6",
    "claude-opus-5",
    "claude-fable-5",
  );

  test("as the simulator judges it", () => {
    fc.assert(
      fc.property(fc.oneof(body, forcedBody), models, (made, model) => {
        const { body: sent, headers } = chat.request(callOf(made), target(model), "k");
        parseMessages(JSON.parse(sent as string) as Json, headers["anthropic-version"]);
        expect(headers["anthropic-version"]).toBe("2023-06-01");
      }),
      { numRuns: RUNS },
    );
  });
});
