import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scriptedOrigin, startSimulator } from "../../src/simulator/server.ts";
import type { Simulator } from "../../src/simulator/server.ts";
import { call } from "./support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const tools = [{ type: "function", function: { name: "get_weather", parameters } }];
const user = (content: unknown) => ({ role: "user", content });
const said = (text: string, more: object = {}) => ({ model: "m", messages: [user(text)], ...more });
const ask = (body: object, script = "-") => call(`${scriptedOrigin(simulator.origin, script)}/v2/chat`, { body });
const made = async (body: object, script = "-") => JSON.parse((await ask(body, script)).text) as Answer;

interface Answer {
  readonly message: {
    readonly content: readonly object[];
    readonly tool_plan?: string;
    readonly tool_calls?: readonly object[];
  };
  readonly finish_reason: string;
  readonly usage?: object;
}
interface Event {
  readonly type: string;
  readonly index?: number;
  readonly delta?: {
    readonly finish_reason?: string;
    readonly usage?: object;
    readonly message?: {
      readonly content?: Record<string, string>;
      readonly tool_calls?: {
        readonly id?: string;
        readonly function: { readonly name?: string; readonly arguments: string };
      };
    };
  };
}
async function eventsOf(body: object, script = "-"): Promise<readonly Event[]> {
  const { text } = await ask({ ...body, stream: true }, script);
  return text
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => {
      const [, name, data = ""] = /^event: (\S+)\ndata: (.*)$/.exec(frame) ?? [];
      const event = JSON.parse(data) as Event;
      expect(event.type).toBe(name);
      return event;
    });
}

test.each([
  ["COMPLETE", {}],
  ["MAX_TOKENS", { max_tokens: 2 }],
  ["STOP_SEQUENCE", { stop_sequences: ["simulated"] }],
  ["TOOL_CALL", { tools, tool_choice: "REQUIRED" }],
])("an answer ends with %s", async (finish_reason, more) => {
  expect(await made(said("hi", more))).toMatchObject({ finish_reason });
  expect((await eventsOf(said("hi", more))).at(-1)).toMatchObject({ type: "message-end", delta: { finish_reason } });
});

test.each([
  ["text", "hi", {}],
  ["thinking", "hi", { model: "reason" }],
  ["thinking that is asked for", "hi", { thinking: { type: "enabled" } }],
])("a stream brings what comes as one: %s", async (_, text, more) => {
  const whole = await made(said(text, more));
  const events = await eventsOf(said(text, more));
  const pieces = whole.message.content.map((_, index) =>
    events
      .filter((event) => event.type === "content-delta" && event.index === index)
      .reduce<Record<string, string>>((all, { delta }) => {
        const [[name, piece] = ["", ""]] = Object.entries(delta?.message?.content ?? {});
        return { type: name, [name]: (all[name] ?? "") + piece };
      }, {}),
  );
  expect(pieces).toEqual(whole.message.content);
  expect(events.at(-1)?.delta?.usage).toEqual(whole.usage);
  const [one, stream] = simulator.ledger().slice(-2);
  expect(stream?.tokens).toBe(one?.tokens);
});

test("a call is planned, begun, continued and ended", async () => {
  const events = await eventsOf(said("get_weather", { tools }));
  const [, ...types] = events.map(({ type }) => type);
  expect(types[0]).toBe("tool-plan-delta");
  expect(types.slice(1)).toEqual([
    "tool-call-start",
    "tool-call-delta",
    "tool-call-delta",
    "tool-call-end",
    "message-end",
  ]);
  const deltas = events.flatMap(({ delta }) => delta?.message?.tool_calls ?? []).filter((one) => "function" in one);
  expect(deltas[0]).toMatchObject({ type: "function", function: { name: "get_weather", arguments: "" } });
  expect(JSON.parse(deltas.map((one) => one.function.arguments).join(""))).toEqual({ city: "simulated" });
  expect(await made(said("get_weather", { tools }))).toMatchObject({
    message: {
      content: [],
      tool_plan: expect.any(String) as string,
      tool_calls: [{ function: { name: "get_weather", arguments: '{"city":"simulated"}' } }],
    },
  });
});

test("a tool's answer ends the loop", async () => {
  const tool_calls = [{ id: "c1", type: "function", function: { name: "get_weather", arguments: "{}" } }];
  const messages = (id: string) => [
    user("get_weather"),
    { role: "assistant", tool_plan: "x", tool_calls },
    { role: "tool", tool_call_id: id, content: [{ type: "document", document: { data: { text: "sunny day" } } }] },
  ];
  expect(await made({ model: "m", messages: messages("c1"), tools })).toMatchObject({
    finish_reason: "COMPLETE",
    usage: { tokens: { input_tokens: 3 } },
  });
  expect((await ask({ model: "m", messages: messages("c2"), tools })).status).toBe(400);
});

test("counts, of a cache too", async () => {
  const answer = await made(said("hi"), "usage.cached=10");
  expect(answer.usage).toMatchObject({ tokens: { input_tokens: 11, output_tokens: 8 }, cached_tokens: 10 });
  expect(await made(said("hi"), "no_usage")).not.toHaveProperty("usage");
});

test("an error in a stream is its end, for the reason ERROR", async () => {
  const events = await eventsOf(said("hi"), "error_after=2&message=Busy");
  expect(events.at(-1)).toEqual({ type: "message-end", delta: { error: "Busy", finish_reason: "ERROR" } });
});

describe("refusals", () => {
  test.each<[string, object, string]>([
    ["no model", { messages: [user("x")] }, "model is required"],
    ["no messages", { model: "m" }, "messages"],
    ["an unknown role", said("x", { messages: [{ role: "robot", content: "x" }] }), "invalid role"],
    ["an empty content", said("x", { messages: [user("")] }), "non-empty content"],
    ["an unknown part", said("x", { messages: [user([{ type: "input_audio" }])] }), "content block of an unknown type"],
    ["an OpenAI field", said("x", { top_p: 1 }), "parameter 'top_p'"],
    ["an OpenAI choice", said("x", { tools, tool_choice: "required" }), "REQUIRED, NONE"],
    ["a choice without tools", said("x", { tool_choice: "REQUIRED" }), "requires tools"],
    ["six stops", said("x", { stop_sequences: ["1", "2", "3", "4", "5", "6"] }), "maximum is 5"],
  ])("%s", async (_, body, what) => {
    const seen = await ask(body);
    expect([seen.status, JSON.parse(seen.text)]).toEqual([400, { message: expect.stringContaining(what) as string }]);
  });
});
