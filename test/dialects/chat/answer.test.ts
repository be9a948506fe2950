import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chat } from "../../../src/dialects/chat/index.ts";
import { AttemptError, type Json } from "../../../src/kit/index.ts";
import { RUNS } from "../../properties/runs.ts";

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const message = (said: Json, choice: Json = {}): unknown => {
  const { body } = chat.answer(bytes({ id: "1", choices: [{ message: said, finish_reason: "stop", ...choice }] }));
  return (body["choices"] as readonly unknown[])[0];
};
const ID: unknown = expect.stringMatching(/^call_[0-9a-f]{24}$/);
const call = (more: Json = {}): Json => ({
  id: "call_1",
  type: "function",
  function: { name: "weather", arguments: "{}" },
  ...more,
});

describe("a complete answer is canonical", () => {
  test.each<readonly [string, Json, Json]>([
    ["no role, no content", {}, { role: "assistant", content: null }],
    ["another role", { role: "model", content: "a" }, { role: "assistant", content: "a" }],
    ["content that is none", { content: 7 }, { role: "assistant", content: null }],
    [
      "reasoning, as Groq calls it",
      { content: "4", reasoning: "Hm." },
      { role: "assistant", content: "4", reasoning_content: "Hm." },
    ],
    [
      "the same thoughts under both names",
      { content: "4", reasoning: "Hm.", reasoning_content: "Hm." },
      { role: "assistant", content: "4", reasoning_content: "Hm." },
    ],
    ["no thoughts", { content: "4", reasoning_content: null }, { role: "assistant", content: "4" }],
    [
      "Mistral: thoughts as parts of the content",
      {
        content: [
          {
            type: "thinking",
            thinking: [
              { type: "text", text: "Hm" },
              { type: "text", text: "." },
            ],
          },
          { type: "text", text: "4" },
          { type: "text", text: "2" },
        ],
      },
      { role: "assistant", content: "42", reasoning_content: "Hm." },
    ],
    ["parts that are none", { content: [null, 1, { type: "text" }] }, { role: "assistant", content: "" }],
    ["no tool calls", { content: "a", tool_calls: [] }, { role: "assistant", content: "a" }],
    ["null tool calls", { content: "a", tool_calls: null }, { role: "assistant", content: "a" }],
    [
      "fields of its own",
      { content: "a", refusal: null, audio: { id: "x" } },
      { role: "assistant", content: "a", refusal: null, audio: { id: "x" } },
    ],
  ])("%s", (_, said, canonical) => {
    expect(message(said)).toEqual({ index: 0, message: canonical, finish_reason: "stop" });
  });

  test.each<readonly [string, readonly unknown[], readonly unknown[]]>([
    ["as it is", [call()], [call()]],
    ["no type, as Mistral's", [call({ type: undefined })], [call()]],
    ["no id", [call({ id: undefined })], [call({ id: ID })]],
    ["an empty id", [call({ id: "" })], [call({ id: ID })]],
    ["the same id twice", [call(), call()], [call(), call({ id: ID })]],
    ["an index", [call({ index: 1 })], [call({ index: 1 })]],
    [
      "arguments as an object",
      [call({ function: { name: "weather", arguments: { a: 1 } } })],
      [call({ function: { name: "weather", arguments: '{"a":1}' } })],
    ],
    ["no arguments", [call({ function: { name: "weather" } })], [call()]],
    ["empty arguments", [call({ function: { name: "weather", arguments: "" } })], [call()]],
    [
      "another kind of tool",
      [{ id: "c", type: "custom", custom: { name: "patch", input: "x" } }],
      [{ id: "c", type: "custom", custom: { name: "patch", input: "x" } }],
    ],
  ])("tool calls: %s", (_, tool_calls, canonical) => {
    expect(message({ content: null, tool_calls })).toEqual({
      index: 0,
      message: { role: "assistant", content: null, tool_calls: canonical },
      // Said by the upstream was stop.
      finish_reason: "tool_calls",
    });
  });

  test.each<readonly [unknown, readonly unknown[], Json]>([
    ["stop", [], { finish_reason: "stop" }],
    ["length", [call()], { finish_reason: "length" }],
    ["content_filter", [], { finish_reason: "content_filter" }],
    ["function_call", [], { finish_reason: "function_call" }],
    [null, [], { finish_reason: "stop" }],
    [undefined, [call()], { finish_reason: "tool_calls" }],
    ["", [], { finish_reason: "stop" }],
    ["model_length", [], { finish_reason: "length", native_finish_reason: "model_length" }],
    ["eos", [], { finish_reason: "stop", native_finish_reason: "eos" }],
    ["end_turn", [call()], { finish_reason: "tool_calls", native_finish_reason: "end_turn" }],
  ])("the finish reason %j", (finish_reason, tool_calls, expected) => {
    const { finish_reason: finish, native_finish_reason: native } = message({ tool_calls }, { finish_reason }) as Json;
    expect({ finish_reason: finish, ...(native !== undefined && { native_finish_reason: native }) }).toEqual(expected);
  });
});

test.each<readonly [string, unknown, string]>([
  ["no choices at all", [], "upstream sent an answer without choices"],
  ["a tool call that is none", [{ message: { tool_calls: [1] } }], "upstream sent a tool call that is none"],
  [
    "a tool call without a name",
    [{ message: { tool_calls: [{ function: {} }] } }],
    "upstream sent a tool call without a name",
  ],
  [
    "a tool call without a function",
    [{ message: { tool_calls: [{}] } }],
    "upstream sent a tool call without a function",
  ],
])("%s is not an answer", (_, choices, text) => {
  expect(() => chat.answer(bytes({ choices }))).toThrow(new AttemptError("protocol", text));
});

test.each(["error", "insufficient_system_resource"])("an answer that broke off is a failure: %s", (finish_reason) => {
  const broken = { choices: [{ message: { content: "half" }, finish_reason }] };
  const failure = { failure: "status", message: `upstream broke its answer off: ${finish_reason}` };
  expect(() => chat.answer(bytes(broken))).toThrow(expect.objectContaining(failure) as Error);
});

const firstOf = (...choices: readonly unknown[]): unknown => {
  const { body } = chat.answer(bytes({ id: "x", choices }));
  return (body["choices"] as readonly unknown[])[0];
};

/** Up to two fields with another value. */
const changes = (of: Readonly<Record<string, readonly unknown[]>>) => {
  const each = Object.entries(of).flatMap(([name, values]) => values.map((value) => ({ [name]: value })));
  return fc.array(fc.constantFrom(...each), { maxLength: 2 });
};

test("a choice is read alike whether or not all of the answer is canonical", () => {
  const parts = {
    role: ["user", null, undefined],
    content: ["", null, undefined, [{ type: "text", text: "b" }]],
    reasoning: ["c", null],
    reasoning_content: ["d", "", null],
    refusal: ["e", null],
    tool_calls: [[], null, [{ id: "f", function: { name: "g", arguments: "{}" } }]],
  };
  const around = {
    index: [1.5, "0", undefined],
    finish_reason: ["tool_calls", "end_turn", "eos", "", null, undefined],
  };
  const message = { role: "assistant", content: "a" };
  const choice = { index: 0, logprobs: null, finish_reason: "stop" };
  fc.assert(
    fc.property(changes(parts), changes(around), (inner, outer) => {
      const one = Object.assign({}, choice, ...outer, { message: Object.assign({}, message, ...inner) }) as Json;
      expect(firstOf(one)).toEqual(firstOf(one, { message: {} }));
    }),
    { numRuns: RUNS },
  );
});
