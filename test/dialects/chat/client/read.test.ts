import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chatFormat, readChat } from "../../../../src/dialects/chat/client.ts";
import type { Json } from "../../../../src/kit/index.ts";

const chat = (more: Json = {}): Json => ({ model: "route/a", messages: [{ role: "user", content: "hi" }], ...more });

test("the call is the body, with what the gateway routes and counts by", () => {
  const body = chat({ stream: true, later: { unknown: 1 } });
  expect(readChat(body)).toEqual({
    kind: "chat",
    model: "route/a",
    stream: true,
    body,
    promptBytes: "user".length + "hi".length,
    maxOutput: null,
    answers: 1,
  });
});

test.each([
  [undefined, false],
  [null, false],
  [false, false],
  [true, true],
])("stream %s", (stream, expected) => {
  expect(readChat(chat({ stream })).stream).toBe(expected);
});

const bytes = (messages: unknown, tools?: unknown): number => readChat(chat({ messages, tools })).promptBytes;

describe("promptBytes", () => {
  test("counts UTF-8 bytes of all texts of messages, and of tools the names too", () => {
    expect(bytes([{ content: "é🌍" }])).toBe(6);
    expect(bytes([{ content: [{ text: "ab" }, { text: "c" }] }])).toBe(3);
    expect(bytes([], [{ function: { name: "f", description: "gh", parameters: { a: { title: "i" } } } }])).toBe(
      "f".length + "gh".length + "i".length + "functionnamedescriptionparametersatitle".length,
    );
    expect(bytes(null)).toBe(0);
  });

  test("is at least the text of any message", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" })), (contents) => {
        const total = contents.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
        expect(bytes(contents.map((content) => ({ content })))).toBe(total);
      }),
    );
  });

  test("an inlined picture counts as a picture, not as its base64", () => {
    const url = `data:image/png;base64,${"A".repeat(1_000_000)}`;
    expect(bytes([{ content: [{ image_url: { url } }] }])).toBe(6_400);
  });

  test("names of properties in a schema are text", () => {
    const name = "n".repeat(320_000);
    const properties = { [name]: { type: "string" } };
    expect(bytes([], [{ function: { parameters: { properties } } }])).toBeGreaterThan(320_000);
    const response_format = { json_schema: { schema: { properties } } };
    expect(readChat(chat({ messages: [], response_format })).promptBytes).toBeGreaterThan(320_000);
  });

  test("text that merely begins with data: is text", () => {
    expect(bytes([{ content: `data: ${"x".repeat(50_000)}` }])).toBe(50_006);
    expect(bytes([{ content: `data:,${"x".repeat(50_000)}` }])).toBe(50_006);
    const prose = `data:;base64, ${"prose ".repeat(50_000)}`;
    expect(bytes([{ content: prose }])).toBe(prose.length);
    expect(bytes([{ content: [{ type: "text", text: prose }] }])).toBe("text".length + prose.length);
    expect(chatFormat(readChat(chat({ messages: [{ content: prose }] }))).promptText()).toBe(prose);
  });

  test("a body nested deeper than the call stack does not throw", () => {
    const deep = JSON.parse(`${"[".repeat(200_000)}"x"${"]".repeat(200_000)}`) as unknown;
    expect(bytes(deep)).toBe(1);
    expect(chatFormat(readChat(chat({ messages: deep }))).promptText()).toBe("x");
  });
});

test.each([
  [undefined, 1],
  [null, 1],
  [1, 1],
  [4, 4],
  // The API's schema refuses these; a hold must be computable all the same.
  [0, 1],
  [-3, 1],
  ["4", 1],
  [2.5, 3],
  [NaN, 1],
  [Infinity, 1_000_000],
])("n = %j asks for %d answers", (n, expected) => {
  expect(readChat(chat({ n })).answers).toBe(expected);
});

const max = (more: Json): number | null => readChat(chat(more)).maxOutput;

describe("maxOutput", () => {
  test.each([
    [{}, null],
    [{ max_tokens: null }, null],
    [{ max_tokens: 100 }, 100],
    [{ max_completion_tokens: 50 }, 50],
    [{ max_completion_tokens: 50, max_tokens: 100 }, 50],
    [{ max_completion_tokens: null, max_tokens: 100 }, 100],
    [{ max_tokens: 100, n: 3 }, 300],
    [{ max_tokens: 100, n: null }, 100],
  ])("%j", (more, expected) => {
    expect(max(more)).toBe(expected);
  });

  test("is always a count that money can be computed with: the hold of an absurd limit must not be a 500", () => {
    const anything = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(1e308, -5, Infinity, NaN, "7", null, true));
    fc.assert(
      fc.property(anything, anything, anything, (max_tokens, max_completion_tokens, n) => {
        const limit = max({ max_tokens, max_completion_tokens, n });
        expect(limit === null || (Number.isSafeInteger(limit) && limit >= 0)).toBe(true);
      }),
    );
  });
});
