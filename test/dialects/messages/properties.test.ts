import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RUNS } from "../../properties/runs.ts";
import { isJson, type Json } from "../../../src/kit/index.ts";
import { attempt } from "../wire-cases.ts";
import { callOf, CHAT, chat, decode, framed, list, MESSAGES, target } from "./support.ts";

const word = fc.string({ minLength: 1, maxLength: 8 });
const said = word.filter((text) => text.trim() !== "");
const id = fc.stringMatching(/^[\w-]{1,12}$/);
const json = fc.jsonValue({ maxDepth: 3, noUnicodeString: false });
const object = fc.dictionary(word, json, { maxKeys: 3 });

function sent(body: Json, dialect: "chat" | "messages" = "chat"): Json {
  return JSON.parse(chat.request(callOf(body, { dialect }), target("claude-x"), "k").body as string) as Json;
}

const detail = fc.oneof(
  fc.record({ type: fc.constant("reasoning.text"), text: word, signature: id }),
  fc.record({ type: fc.constant("reasoning.encrypted"), data: id }),
);
const toolCall = fc.record({
  id,
  type: fc.constant("function"),
  function: fc.record({ name: id, arguments: object.map((value) => JSON.stringify(value)) }),
});

describe("an assistant's message", () => {
  test("that was carried to the API and back is the same", () => {
    fc.assert(
      fc.property(
        fc.array(detail, { maxLength: 3 }),
        fc.option(said, { nil: null }),
        fc.uniqueArray(toolCall, { maxLength: 3, selector: (call) => call.id }),
        (details, content, calls) => {
          fc.pre(details.length + calls.length > 0 || content !== null);
          const thoughts = details.flatMap((each) => ("text" in each ? [each.text] : [])).join("");
          const message = {
            role: "assistant",
            content: content ?? (calls.length > 0 ? null : ""),
            ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
            ...(details.length > 0 ? { reasoning_details: details } : {}),
            ...(calls.length > 0 ? { tool_calls: calls } : {}),
          };
          // The API takes no thought back that nothing follows.
          fc.pre(calls.length > 0 || (content ?? "").trim() !== "");
          const results = calls.map((call) => ({ role: "tool", tool_call_id: call.id, content: "r" }));
          const turns = [{ role: "user", content: "hi" }, message, ...results, { role: "user", content: "and" }];
          const { messages } = sent({ messages: turns });
          const back = list(messages)[1]?.["content"];
          const blocks = typeof back === "string" ? [{ type: "text", text: back }] : back;
          const bytes = new TextEncoder().encode(JSON.stringify({ content: blocks, stop_reason: "end_turn" }));
          expect(list(chat.answer(bytes, CHAT).body["choices"])[0]?.["message"]).toEqual(message);
        },
      ),
    );
  });
});

describe("whatever a client writes", () => {
  test("turns of a chat client alternate, begin with the user and are never empty", () => {
    const role = fc.constantFrom("system", "user", "assistant");
    const plain = fc.record({ role, content: fc.oneof(word, fc.constant("")) });
    fc.assert(
      fc.property(fc.array(plain, { minLength: 1, maxLength: 8 }), (messages) => {
        fc.pre(messages.some(({ content }) => content.trim() !== ""));
        const turns = list(sent({ messages })["messages"]);
        expect(turns.length).toBeGreaterThan(0);
        turns.forEach((turn, index) => expect(turn["role"]).toBe(index % 2 === 0 ? "user" : "assistant"));
        expect(turns.every(({ content }) => (content as string | readonly unknown[]).length > 0)).toBe(true);
      }),
    );
  });

  test("no text of a chat client is lost", () => {
    const role = fc.constantFrom("system", "developer", "user", "assistant");
    fc.assert(
      fc.property(fc.array(role, { minLength: 1, maxLength: 8 }), (roles) => {
        const messages = roles.map((each, index) => ({ role: each, content: `text-${index}.` }));
        const { system, messages: turns } = sent({ messages });
        const wire = JSON.stringify([system, turns]);
        for (const { content } of messages) expect(wire.split(content).length).toBe(2);
      }),
    );
  });
});

describe("whatever an upstream writes", () => {
  const type = fc.constantFrom(
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
    "error",
    "constructor",
  );
  const blockType = fc.constantFrom(
    "text",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "server_tool_use",
    "constructor",
  );
  const block = fc.record(
    {
      type: blockType,
      text: json,
      thinking: json,
      signature: json,
      data: json,
      id: json,
      name: json,
      input: json,
      citations: json,
    },
    { requiredKeys: ["type"] },
  );
  const deltaType = fc.constantFrom(
    "text_delta",
    "thinking_delta",
    "signature_delta",
    "input_json_delta",
    "citations_delta",
    "x",
  );
  const delta = fc.record(
    {
      type: deltaType,
      text: json,
      thinking: json,
      signature: json,
      partial_json: json,
      citation: json,
      stop_reason: json,
    },
    { requiredKeys: ["type"] },
  );
  const event = fc.record(
    {
      type: fc.oneof(type, json),
      index: fc.oneof(fc.nat(2), json),
      message: fc.oneof(object, json),
      content_block: fc.oneof(block, json),
      delta: fc.oneof(delta, json),
      usage: fc.oneof(json, fc.record({ input_tokens: json, output_tokens: json })),
      error: json,
    },
    { requiredKeys: ["type"] },
  );

  test("a stream ends in chunks or a fault", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), fc.boolean(), (events, native) => {
        const start = { type: "message_start", message: {} };
        const { fault, events: chunks, complete } = decode([framed([start, ...events])], native ? MESSAGES : CHAT);
        expect(["protocol", "status", undefined]).toContain(fault?.failure);
        const finished = chunks
          .flatMap(({ data }) => list(data["choices"]))
          .filter((choice) => choice["finish_reason"] !== null);
        expect(finished.length).toBe(complete && !fault ? 1 : 0);
      }),
      { numRuns: RUNS },
    );
  });

  test("a body is an answer or a protocol failure", () => {
    const wire = fc.record({
      content: fc.oneof(json, fc.array(fc.oneof(block, json), { maxLength: 4 })),
      usage: json,
      stop_reason: json,
      error: fc.constantFrom(null, {}),
    });
    fc.assert(
      fc.property(fc.oneof(wire, json), fc.boolean(), (made, native) => {
        const bytes = new TextEncoder().encode(JSON.stringify(made));
        const { value, error } = attempt(() => chat.answer(bytes, native ? MESSAGES : CHAT));
        expect(error !== undefined || isJson(list(value?.body["choices"])[0]?.["message"])).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});
