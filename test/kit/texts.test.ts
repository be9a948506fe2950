import { describe, expect, test } from "vitest";
import { type Call, type Json, withAnswerTexts, withCallTexts } from "../../src/kit/index.ts";
import { testExchange } from "../support/exchange.ts";
import { deepFreeze, testSnapshot } from "../support/snapshot.ts";

const { call } = testExchange(testSnapshot());
const upper = (text: string): string => text.toUpperCase();

function changed(body: Json, more: Partial<Call> = {}): Call {
  return withCallTexts(deepFreeze({ ...call, ...more, body }), upper);
}

function choice(content: string): Json {
  return { message: { content }, logprobs: { content: [{ token: content }] } };
}

describe("texts", () => {
  test.each<readonly [string, Json, Json]>([
    [
      "a rerank's",
      { query: "q", documents: ["d", { text: "t", id: "i" }] },
      { query: "Q", documents: ["D", { text: "T", id: "i" }] },
    ],
    ["speech", { input: "a", voice: "b", instructions: "c" }, { input: "A", voice: "b", instructions: "C" }],
    [
      "tools, but no names and expressions",
      {
        tools: [
          {
            type: "function",
            function: { name: "f", description: "d", parameters: { pattern: "p", required: ["r"] } },
          },
        ],
      },
      {
        tools: [
          {
            type: "function",
            function: { name: "f", description: "D", parameters: { pattern: "p", required: ["r"] } },
          },
        ],
      },
    ],
    [
      "arguments, what is around them to the letter",
      { arguments: '{ "a" : ["b\\u00e9", 1.0] }' },
      { arguments: '{ "A" : ["BÉ", 1.0] }' },
    ],
    ["arguments that are no JSON", { arguments: '{"a' }, { arguments: '{"A' }],
    [
      "settings of the API, which are none",
      { tool_choice: "auto", reasoning_effort: "low", encoding_format: "base64", response_format: "json" },
      { tool_choice: "auto", reasoning_effort: "low", encoding_format: "base64", response_format: "json" },
    ],
    ["vectors in base64, which are none", { data: [{ embedding: "AB+x/A==" }] }, { data: [{ embedding: "AB+x/A==" }] }],
    ["numbers and nothing", { n: 1, stop: null, seed: true, text: "" }, { n: 1, stop: null, seed: true, text: "" }],
  ])("%s", (_, body, expected) => {
    expect(changed(body).body).toEqual(expected);
  });

  test("names of JavaScript's own stay plain fields", () => {
    const body = JSON.parse('{"__proto__": {"text": "a"}, "constructor": "b"}') as Json;
    expect(JSON.stringify(changed(body).body)).toBe('{"__proto__":{"text":"A"},"constructor":"B"}');
  });

  test("what is the same object stays one, and what nothing changes in is the very same", () => {
    const messages = [
      { role: "user", content: "a" },
      { role: "user", content: "A" },
    ];
    const more: object = { canonical: { messages } };
    const written = changed({ messages }, more) as Call & { readonly canonical: Json };
    expect(written.body["messages"]).toBe(written.canonical["messages"]);
    expect((written.body["messages"] as readonly Json[])[1]).toBe(messages[1]);
    expect(withCallTexts(call, (text) => text)).toBe(call);
  });

  test("a body that is nested too deeply is refused, not the end of the stack", () => {
    let body: Json = {};
    for (let depth = 0; depth < 10_000; depth += 1) body = { body };
    expect(() => withCallTexts({ ...call, body }, upper)).toThrow("must not be nested so deeply");
  });

  test("probabilities of tokens go with the text that they are of, and stay with one that is the same", () => {
    const part = { output: [{ text: "a", logprobs: [{ token: "a" }] }] };
    expect(withAnswerTexts({ choices: [choice("a"), choice("A")], native: part }, upper)).toEqual({
      choices: [{ message: { content: "A" }, logprobs: null }, choice("A")],
      native: { output: [{ text: "A", logprobs: [] }] },
    });
  });
});
