import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FEW_RUNS } from "../../properties/runs.ts";
import { chatFormat, readChat } from "../../../src/dialects/chat/client.ts";
import { openai } from "../../../src/dialects/chat/index.ts";
import type { AnswerForm, Codec } from "../../../src/dialects/dialect.ts";
import { messagesFormat, readMessages } from "../../../src/dialects/messages/client/format.ts";
import { responsesFormat } from "../../../src/dialects/responses/client/format.ts";
import { readResponses } from "../../../src/dialects/responses/client/request.ts";
import { type Call, isJson, type Json, type StreamEvent } from "../../../src/kit/index.ts";
import { testTarget } from "../../support/snapshot.ts";
import { assemble } from "../assemble.ts";
import { cutAt } from "../decode.ts";
import { type Native, NATIVES, type Turn } from "../natives.ts";
import { framed } from "../recordings.ts";
import { bytes, codecOf, extras } from "../wire-cases.ts";

/*
 * Models without structured output of their own are asked by a tool; what a client gets is the text that the call stands
 * for, in every client format, whole and streamed.
 */

const SCHEMA = { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false };
const USER = { role: "user", content: "hi" };

interface Client {
  readonly call: Call;
  /** The texts and the names of the calls of a complete answer. */
  readonly read: (body: Json) => { readonly text: string; readonly calls: readonly unknown[]; readonly end: unknown };
  readonly answer: (call: Call, body: Json) => string;
}

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);
const texts = (parts: readonly Json[]): string =>
  parts.map(({ text }) => (typeof text === "string" ? text : "")).join("");

const CLIENTS: Readonly<Record<string, Client>> = {
  chat: {
    call: readChat({
      model: "route/a",
      messages: [USER],
      tools: [{ type: "function", function: { name: "f", parameters: SCHEMA } }],
      response_format: { type: "json_schema", json_schema: { name: "a", schema: SCHEMA } },
      stream: true,
    }),
    answer: (call, body) => chatFormat(call).answer(body, extras),
    read(body) {
      const { message, finish_reason: end } = list(body["choices"])[0] as { message: Json; finish_reason: unknown };
      const calls = list(message["tool_calls"]).map((call) => (call["function"] as Json)["name"]);
      return { text: typeof message["content"] === "string" ? message["content"] : "", calls, end };
    },
  },
  messages: {
    call: readMessages({
      model: "route/a",
      max_tokens: 99,
      messages: [USER],
      tools: [{ name: "f", input_schema: SCHEMA }],
      output_config: { format: { type: "json_schema", schema: SCHEMA } },
      stream: true,
    }),
    answer: (call, body) => messagesFormat(call).answer(body, extras),
    read({ content, stop_reason: end }) {
      const calls = list(content).flatMap(({ type, name }) => (type === "tool_use" ? [name] : []));
      return { text: texts(list(content)), calls, end };
    },
  },
  responses: {
    call: readResponses({
      model: "route/a",
      input: "hi",
      tools: [{ type: "function", name: "f", parameters: SCHEMA }],
      text: { format: { type: "json_schema", name: "a", schema: SCHEMA } },
      stream: true,
    }),
    answer: (call, body) => responsesFormat(call).answer(body, extras),
    read({ output, status: end }) {
      const calls = list(output).flatMap(({ type, name }) => (type === "function_call" ? [name] : []));
      return { text: texts(list(output).flatMap(({ content }) => list(content))), calls, end };
    },
  },
};
const ENDS: Readonly<Record<string, readonly [stopped: string, called: string]>> = {
  chat: ["stop", "tool_calls"],
  messages: ["end_turn", "tool_use"],
  responses: ["completed", "completed"],
};

const FORMATS = { chat: "/response_format", messages: "/output_config/format", responses: "/text/format" };
const UPSTREAMS: readonly (readonly [name: string, Native, model: string])[] = [
  ["Claude before 4.5", NATIVES.anthropic, "claude-3-haiku-20240307"],
  ["Claude of Bedrock", NATIVES.bedrock, "anthropic.claude-3-5-sonnet-20240620-v1:0"],
  ["Nova", NATIVES.bedrock, "amazon.nova-pro-v1:0"],
  ["Llama, which cannot be made to call", NATIVES.bedrock, "meta.llama3-3-70b-instruct-v1:0"],
  ["Gemini before 3, beside functions", NATIVES.gemini, "gemini-2.5-flash"],
  ["DeepSeek", NATIVES.openai, "deepseek-chat"],
  ["Cohere, beside tools", NATIVES.cohere, "command-a-03-2025"],
];

function codecFor({ dialect }: Native): Codec {
  if (dialect !== "openai") return codecOf(dialect, "chat");
  return openai.at!({ baseUrl: "https://api.deepseek.com", headers: {} }).codecs.chat!;
}

function formOf(native: Native, model: string, call: Call): AnswerForm {
  const request = codecFor(native).request(call, testTarget("alpha", { model }), "k");
  expect(request.form).toBeDefined();
  // That a model must call it is lost where it can only be offered the tool.
  expect(request.dropped).toEqual(model.startsWith("meta.") ? [FORMATS[call.dialect ?? "chat"]] : []);
  return request.form!;
}

function streamed(
  form: AnswerForm,
  native: Native,
  turn: Turn,
  call: Call,
  at: readonly number[],
): readonly StreamEvent[] {
  const decoder = form.decoder!(call);
  const payloads = native.stream(turn, 3).map((payload) => JSON.stringify(payload));
  const events = cutAt(framed(native.dialect, payloads), at).flatMap((piece) => [...decoder.feed(piece)]);
  events.push(...decoder.finish());
  expect([decoder.fault, decoder.complete]).toEqual([null, true]);
  // What the upstream wrote would be relayed as it is.
  expect(events.map(({ raw = "" }) => raw).join("")).not.toMatch(/tool_calls.*"json"/);
  return events;
}

const said = { thoughts: [], text: "Here it is: " };
const json = { id: "call_1", name: "json", input: { n: 7 }, signature: "" };
const own = { id: "call_2", name: "f", input: { n: 1 }, signature: "" };
const TURNS: readonly (readonly [about: string, Turn, text: string, calls: readonly string[]])[] = [
  ["a call of the tool is the answer", { ...said, text: "", calls: [json] }, '{"n":7}', []],
  ["text before it is left out", { ...said, calls: [json] }, '{"n":7}', []],
  ["text without it is the answer after all", { ...said, text: '{"n":8}', calls: [] }, '{"n":8}', []],
  ["a call of the client's own tool is the client's", { ...said, calls: [own] }, "Here it is: ", ["f"]],
  ["both", { ...said, text: "", calls: [json, own] }, '{"n":7}', ["f"]],
];

describe.each(UPSTREAMS)("%s", (_, native, model) => {
  describe.each(Object.entries(CLIENTS))("a %s client", (name, { call, answer, read }) => {
    test.each(TURNS)("%s", (_about, turn, text, calls) => {
      const form = formOf(native, model, call);
      const end = ENDS[name]![calls.length > 0 ? 1 : 0];
      const { body } = form.answer(bytes(native.answer(turn)), call);
      expect(read(JSON.parse(answer(call, body)) as Json)).toEqual({ text, calls, end });
      const events = streamed(form, native, turn, call, []);
      const whole = { choices: [assemble(events.map(({ data }) => data))] };
      expect(read(JSON.parse(answer(call, whole)) as Json)).toEqual({ text, calls, end });
    });
  });

  test("is the same however the stream is cut, and produces what it says", () => {
    const { call } = CLIENTS["chat"]!;
    const form = formOf(native, model, call);
    const cuts = fc.array(fc.nat(4_000), { maxLength: 6 }).map((all) => all.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(fc.constantFrom(...TURNS), cuts, ([, turn], at) => {
        const events = streamed(form, native, turn, call, at);
        const once = streamed(form, native, turn, call, []);
        expect(assemble(events.map(({ data }) => data))).toEqual(assemble(once.map(({ data }) => data)));
        const produced = events.map(({ text }) => text).join("");
        for (const { input } of turn.calls) expect(produced).toContain(JSON.stringify(input));
      }),
      { numRuns: FEW_RUNS },
    );
  });
});

test("a call that the limit cut off ends as one that was cut off", () => {
  const { call, read, answer } = CLIENTS["chat"]!;
  const form = formOf(NATIVES.anthropic, "claude-3-haiku-20240307", call);
  const cut = { ...NATIVES.anthropic.answer({ ...said, text: "", calls: [json] }), stop_reason: "max_tokens" };
  const { body } = form.answer(bytes(cut), call);
  expect(read(JSON.parse(answer(call, body)) as Json)).toEqual({ text: '{"n":7}', calls: [], end: "length" });
});
