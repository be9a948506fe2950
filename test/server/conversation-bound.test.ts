import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/kit/index.ts";
import { validateBody } from "../../src/server/body-schemas.ts";
import { MAX_ARGUMENT_CHARACTERS, MAX_CONVERSATION_VALUES } from "../../src/server/conversation-bound.ts";

const NUM_RUNS = Number(process.env["NUM_RUNS"] ?? 300);

type Conversation = "chat" | "messages" | "count_tokens" | "responses";

const repeated = <T>(count: number, one: T): readonly T[] => Array.from({ length: Math.floor(count) }, () => one);
const VALUES = "makes it more than 50000 values in one conversation: send fewer messages, parts and tool calls";
const CHARACTERS =
  "makes it more than 4194304 characters of tool calls in one conversation: send fewer or shorter ones";

const message = { role: "user", content: "hi" };
const part = { type: "text", text: "hi" };
const called = (text: string): Json => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: text } }],
});
const use = (input: Json): Json => ({ role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input }] });

describe("a conversation is no larger than is read in one turn", () => {
  const cases: readonly (readonly [
    name: string,
    of: Conversation,
    body: (values: number) => Json,
    pointer: string,
    what: string,
  ])[] = [
    ["messages", "chat", (n) => ({ messages: repeated(n / 3, message) }), "/messages", VALUES],
    ["messages", "messages", (n) => ({ max_tokens: 1, messages: repeated(n / 3, message) }), "/messages", VALUES],
    ["messages", "count_tokens", (n) => ({ messages: repeated(n / 3, message) }), "/messages", VALUES],
    ["items", "responses", (n) => ({ input: repeated(n / 3, message) }), "/input", VALUES],
    ["parts", "chat", (n) => ({ messages: [{ role: "user", content: repeated(n / 3, part) }] }), "/messages", VALUES],
    [
      "a system prompt beside messages",
      "messages",
      (n) => ({ max_tokens: 1, messages: repeated(n / 6, message), system: repeated(n / 6, part) }),
      "/system",
      VALUES,
    ],
    ["tools", "chat", (n) => ({ messages: [message], tools: repeated(n / 4, { type: "function" }) }), "/tools", VALUES],
    ["values in a text", "chat", (n) => ({ messages: [called(`[${"{},".repeat(n / 2)}0]`)] }), "/messages", VALUES],
    [
      "values in an input",
      "messages",
      (n) => ({ max_tokens: 1, messages: [use({ a: repeated(n, 0) })] }),
      "/messages",
      VALUES,
    ],
    [
      "the text of an argument",
      "chat",
      (n) => ({ messages: [called(`{"a":"${"x".repeat((n / MAX_CONVERSATION_VALUES) * MAX_ARGUMENT_CHARACTERS)}"}`)] }),
      "/messages",
      CHARACTERS,
    ],
    [
      "a text in an input",
      "messages",
      (n) => ({
        max_tokens: 1,
        messages: [use({ a: { b: "x".repeat((n / MAX_CONVERSATION_VALUES) * MAX_ARGUMENT_CHARACTERS) } })],
      }),
      "/messages",
      CHARACTERS,
    ],
  ];
  test.each(cases)("%s (%s)", (_name, of, body, pointer, what) => {
    const check = (body: Json, bytes?: number) => validateBody(of, body, bytes);
    expect(check({ model: "m", ...body(MAX_CONVERSATION_VALUES - 50) })).toBeNull();
    expect(check({ model: "m", ...body(MAX_CONVERSATION_VALUES + 50) })).toEqual({ pointer, what });
  });

  test("texts, schemas and unknown fields are not counted", () => {
    const long = "[{,".repeat(100_000);
    const parameters = {
      type: "object",
      properties: Object.fromEntries(repeated(100, 0).map((_, n) => [`p${n}`, {}])),
    };
    const tools = repeated(1000, { type: "function", function: { name: "f", parameters } });
    const messages = [{ role: "user", content: long }, called(JSON.stringify({ text: long }))];
    expect(validateBody("chat", { model: "m", messages, tools, x: repeated(500_000, 0) })).toBeNull();
  });
});

test("the values of a text of arguments count as they do in an object", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()), (args) => {
      // One call more than what fits beside as many objects does not fit beside as many texts.
      const count = (value: unknown): number =>
        typeof value === "object" && value !== null
          ? Object.values(value).reduce<number>((sum, inner) => sum + count(inner), 1)
          : 1;
      const text = called(JSON.stringify(args));
      const calls = Math.ceil(MAX_CONVERSATION_VALUES / (9 + count(args)));
      expect(validateBody("chat", { model: "m", messages: repeated(calls + 1, text) })).toMatchObject({ what: VALUES });
    }),
    { numRuns: Math.min(NUM_RUNS, 50) },
  );
});
