import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scriptedOrigin, type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { call } from "../support.ts";

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
