import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import { contract } from "./contract.ts";
import { answer, chunks, completion, frames, messagesOf, outputOf, stream, TOOLS } from "./support.ts";

const check = contract();

/** The messages that a second request has of the first one's answer. */
const back = (output: readonly Json[], more: Json = TOOLS): unknown =>
  (messagesOf({ ...more, input: [{ role: "user", content: "hi" }, ...output] }) as readonly Json[]).slice(1);

const called = (id: string, name: string, args: string): Json => ({
  id,
  type: "function",
  function: { name, arguments: args },
});

const piece = (index: number, fields: Json): Json => ({ reasoning_details: [{ index, ...fields }] });

describe("goes back as it came", () => {
  test.each<[string, Json]>([
    ["text", { content: "a" }],
    ["a refusal", { content: "", refusal: "no" }],
    ["calls", { content: "a", tool_calls: [called("1", "add", '{"x":1}'), called("2", "mcp__add", "{}")] }],
    [
      "calls of free text",
      {
        content: null,
        tool_calls: [called("1", "patch", '{"input":"a\\nb"}'), called("2", "mcp__say", '{"input":""}')],
      },
    ],
    [
      "signed thoughts",
      {
        content: "a",
        reasoning_content: "hm",
        reasoning_details: [{ type: "reasoning.text", text: "hm", signature: "s+/=" }],
      },
    ],
    [
      "thoughts nobody may read",
      {
        content: null,
        reasoning_content: "",
        reasoning_details: [
          { type: "reasoning.text", text: "", signature: "s" },
          { type: "reasoning.encrypted", data: "d" },
        ],
        tool_calls: [called("1", "add", "{}")],
      },
    ],
    [
      "thoughts in full",
      { content: "a", reasoning_content: "hm", reasoning_details: [{ type: "reasoning.text", text: "hm" }] },
    ],
  ])("%s", (_, message) => {
    const output = outputOf(completion(message), TOOLS);
    expect(check("Response", answer(completion(message), TOOLS))).toEqual([]);
    const { reasoning_content: text, ...rest } = message;
    const thought = text === "" || text === undefined ? {} : { reasoning_content: text };
    expect(back(output)).toEqual([{ role: "assistant", ...rest, ...thought }]);
  });

  test("a signature whose text came as deltas of its own is one of that text, streamed", () => {
    const deltas = [
      { reasoning_content: "h" },
      { reasoning_content: "m" },
      { reasoning_details: [{ type: "reasoning.text", index: 0, signature: "s" }] },
      { content: "a" },
    ];
    const { output } = frames(stream(chunks(deltas))).at(-1)!["response"] as { readonly output: readonly Json[] };
    expect(back(output)).toEqual([
      {
        role: "assistant",
        content: "a",
        reasoning_content: "hm",
        reasoning_details: [{ type: "reasoning.text", text: "hm", signature: "s" }],
      },
    ]);
  });

  test("the pieces of details, by their index", () => {
    const deltas = [
      piece(0, { type: "reasoning.text", text: "a" }),
      piece(0, { type: "reasoning.text", text: "b" }),
      piece(0, { type: "reasoning.text", signature: "s" }),
      piece(1, { type: "reasoning.encrypted", data: "d" }),
      { content: "x" },
    ];
    const { output } = frames(stream(chunks(deltas))).at(-1)!["response"] as { readonly output: readonly Json[] };
    expect(output[0]).toMatchObject({ content: [{ type: "reasoning_text", text: "ab" }] });
    expect(back(output)).toMatchObject([
      {
        reasoning_details: [
          { type: "reasoning.text", text: "ab", signature: "s" },
          { type: "reasoning.encrypted", data: "d" },
        ],
      },
    ]);
  });

  test("any thoughts and calls", () => {
    const text = fc.string({ unit: "grapheme" });
    const detail = fc.oneof(
      fc.record({ type: fc.constant("reasoning.text"), text, signature: text.filter((signature) => signature !== "") }),
      fc.record({ type: fc.constant("reasoning.encrypted"), data: text.filter((data) => data !== "") }),
    );
    const calls = fc.uniqueArray(
      fc.record({
        id: text.filter((id) => id !== ""),
        name: fc.constantFrom("add", "mcp__add"),
        args: text.map((a) => JSON.stringify({ a })),
      }),
      { selector: ({ id }) => id, minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(fc.array(detail, { minLength: 1, maxLength: 3 }), text, calls, (details, content, wanted) => {
        const tool_calls = wanted.map(({ id, name, args }) => called(id, name, args));
        const message = { content: content === "" ? null : content, reasoning_details: details, tool_calls };
        const [turn] = back(outputOf(completion(message), TOOLS)) as readonly Json[];
        const { reasoning_content: _shown, ...rest } = turn!;
        expect(rest).toEqual({ role: "assistant", ...message });
      }),
    );
  });
});
