import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NO_CALL, NO_RESULT, pairedMessages } from "../../../src/dialects/canonical/tool-pairs.ts";
import type { Json } from "../../../src/kit/index.ts";
import { RUNS } from "../../properties/runs.ts";

const user = (content: string): Json => ({ role: "user", content });
const says = (content: string): Json => ({ role: "assistant", content });
const calls = (...ids: readonly string[]): Json => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
});
const result = (tool_call_id: string, content: unknown = `of ${tool_call_id}`): Json => ({
  role: "tool",
  tool_call_id,
  content,
});
const missing = (id: string): Json => result(id, NO_RESULT);

const paired = (messages: readonly unknown[]) => pairedMessages(messages).map(({ message }) => message);

/** `[what, the client's messages, those that are sent]` */
const CASES: readonly (readonly [string, readonly Json[], readonly Json[]])[] = [
  [
    "a whole loop stays as it is",
    [user("a"), calls("1", "2"), result("2"), result("1"), says("b")],
    [user("a"), calls("1", "2"), result("2"), result("1"), says("b")],
  ],
  [
    "results come first in their turn",
    [user("a"), calls("1", "2"), result("1"), user("b"), result("2")],
    [user("a"), calls("1", "2"), result("1"), result("2"), user("b")],
  ],
  [
    "a call without a result gets one",
    [user("a"), calls("1", "2"), result("2"), user("b")],
    [user("a"), calls("1", "2"), result("2"), missing("1"), user("b")],
  ],
  ["also at the end", [user("a"), calls("1")], [user("a"), calls("1"), missing("1")]],
  [
    "a late result moves to its call",
    [user("a"), calls("1"), user("b"), says("c"), result("1")],
    [user("a"), calls("1"), result("1"), user("b"), says("c")],
  ],
  [
    "a result without a call is what the user says",
    [result("1"), user("a")],
    [{ role: "user", content: `of 1\n\n${NO_CALL}` }, user("a")],
  ],
  [
    "a second result of one call is another one without a call",
    [user("a"), calls("1"), result("1"), result("1", [{ type: "text", text: "again" }])],
    [
      user("a"),
      calls("1"),
      result("1"),
      {
        role: "user",
        content: [
          { type: "text", text: "again" },
          { type: "text", text: NO_CALL },
        ],
      },
    ],
  ],
  [
    "an id that comes again is another call",
    [user("a"), calls("1"), result("1"), calls("1"), result("1"), calls("1", "1"), result("1", "x"), result("1", "y")],
    [
      user("a"),
      calls("1"),
      result("1"),
      calls("1_2"),
      { ...result("1"), tool_call_id: "1_2" },
      calls("1_3", "1_4"),
      result("1_3", "x"),
      result("1_4", "y"),
    ],
  ],
  [
    "what the assistant says behind its calls stays before the results",
    [user("a"), calls("1"), says("b"), result("1")],
    [user("a"), calls("1"), says("b"), result("1")],
  ],
];

describe("calls and results", () => {
  test.each(CASES)("%s", (_, messages, sent) => {
    expect(paired(messages)).toEqual(sent);
    expect(paired(sent), "once is enough").toEqual(sent);
  });
});

test("messages without tools are the same ones", () => {
  const messages = [user("a"), says("b"), null, 5];
  expect(paired(messages)).toEqual(messages);
});

const id = fc.constantFrom("1", "2", "3");
const message = fc.oneof(
  fc.constantFrom(user("u"), says("s"), { role: "system", content: "y" }),
  fc.array(id, { minLength: 1, maxLength: 3 }).map((ids) => calls(...ids)),
  id.map((one) => result(one)),
);

/** What a provider that wants pairs would say of the messages; empty: nothing. */
function faults(messages: readonly Json[]): readonly string[] {
  const found: string[] = [];
  const seen = new Set<unknown>();
  let open: readonly unknown[] = [];
  let isAnswering = false;
  for (const one of messages) {
    const { role, tool_call_id } = one;
    if (role === "assistant") {
      if (isAnswering && open.length > 0) found.push("a call without a result");
      isAnswering = false;
      const ids = ((one["tool_calls"] ?? []) as readonly Json[]).map(({ id }) => id);
      if (ids.some((id) => seen.has(id)) || new Set(ids).size < ids.length) found.push("an id that came before");
      for (const id of ids) seen.add(id);
      open = [...open, ...ids];
    } else if (role === "tool") {
      if (!open.includes(tool_call_id)) found.push("a result without a call");
      open = open.filter((id) => id !== tool_call_id);
      isAnswering = true;
    } else if (role === "user" && open.length > 0) found.push("words before the results");
  }
  return open.length === 0 ? found : [...found, "a call at the end"];
}

test("every call is answered in the next turn, once, and nothing else is", () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
      expect(faults(paired(messages) as readonly Json[])).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

test("ten thousand calls of one id take no longer than others", () => {
  const messages = Array.from({ length: 10_000 }, () => [calls("1"), result("1")]).flat();
  expect(new Set(paired(messages).map((one) => JSON.stringify(one))).size).toBe(20_000);
});
