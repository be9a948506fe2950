import { describe, expect, test } from "vitest";
import { AttemptError, type Call, type Json, type Usage } from "../../../src/kit/index.ts";
import { assembled, CHAT, cases, chat, decode, framed, list, MESSAGES } from "./support.ts";

interface Case {
  readonly wire: Json;
  readonly message: Json;
  readonly choice: Json;
  readonly usage?: Usage | null;
  /** The message for a Messages client, where it is another. */
  readonly native?: Json;
}

const all = cases("answers") as readonly (readonly [string, Case])[];
const BASE = { id: "msg_1", type: "message", role: "assistant", model: "claude-x-1" };

function read(wire: unknown, call: Call): ReturnType<typeof chat.answer> {
  return chat.answer(new TextEncoder().encode(typeof wire === "string" ? wire : JSON.stringify(wire)), call);
}

/** The same answer as the API would stream it. */
function streamed({ content, stop_reason, stop_sequence, usage, stop_details, ...rest }: Json): readonly Json[] {
  const start = { ...BASE, content: [], stop_reason: null, usage: { input_tokens: 1, output_tokens: 1 } };
  const blocks = list(content).flatMap((block, index) => {
    const { empty, deltas } = pieces(block);
    return [
      { type: "content_block_start", index, content_block: empty },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ];
  });
  const delta = { stop_reason, stop_sequence, ...(stop_details === undefined ? {} : { stop_details }) };
  return [
    { type: "message_start", message: start },
    { type: "ping" },
    ...blocks,
    { type: "message_delta", delta, usage, ...rest },
    { type: "message_stop" },
  ];
}

const halves = (text: unknown): readonly string[] => [String(text).slice(0, 3), String(text).slice(3)];

function pieces(block: Json): { readonly empty: Json; readonly deltas: readonly Json[] } {
  switch (block["type"]) {
    case "text":
      return {
        empty: { type: "text", text: "" },
        deltas: [
          ...list(block["citations"]).map((citation) => ({ type: "citations_delta", citation })),
          ...halves(block["text"]).map((text) => ({ type: "text_delta", text })),
        ],
      };
    case "thinking":
      return {
        empty: { ...block, thinking: "", signature: "" },
        deltas: [
          ...halves(block["thinking"]).map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: block["signature"] },
        ],
      };
    case "tool_use":
      return {
        empty: { ...block, input: {} },
        deltas: halves(JSON.stringify(block["input"]) === "{}" ? "" : JSON.stringify(block["input"])).map(
          (partial_json) => ({ type: "input_json_delta", partial_json }),
        ),
      };
    default:
      return { empty: block, deltas: [] };
  }
}

describe("a complete answer becomes canonical", () => {
  test.each(all)("%s", (_, { wire, message, choice, usage, native }) => {
    const { body, usage: counted } = read({ ...BASE, ...wire }, CHAT);
    expect(body).toMatchObject({ id: "msg_1", object: "chat.completion", model: "claude-x-1" });
    expect(body["choices"]).toEqual([{ index: 0, message, ...choice }]);
    expect(body).not.toHaveProperty("native");
    expect(counted).toEqual(usage ?? null);
    const own = read({ ...BASE, ...wire }, MESSAGES).body;
    expect(own["choices"]).toEqual([{ index: 0, message: native ?? message, ...choice }]);
    const { content: _content, stop_reason: _reason, stop_sequence: _sequence, ...beside } = wire;
    expect(own["native"]).toEqual({ dialect: "messages", message: beside });
  });

  test.each(all)("streamed it is the same: %s", (_, { wire, message, choice, usage }) => {
    const { events, ...ending } = decode([framed(streamed(wire))], CHAT);
    expect(ending).toEqual({ fault: null, done: true, complete: true });
    const put = assembled(events);
    expect(put.message).toEqual(message);
    expect(put.choice).toMatchObject(choice);
    expect(events.at(-1)?.usage ?? null).toEqual(usage ?? null);
  });

  test("its usage is written in OpenAI's form", () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 1000,
      output_tokens: 20,
    };
    expect(read({ ...BASE, content: [], stop_reason: "end_turn", usage }, CHAT).body["usage"]).toEqual({
      prompt_tokens: 1110,
      completion_tokens: 20,
      total_tokens: 1130,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 1000 },
      completion_tokens_details: { reasoning_tokens: 0 },
    });
  });
});

test.each([
  ["no JSON", "<html>", "protocol"],
  ["no object", "[]", "protocol"],
  ["no content", BASE, "protocol"],
  ["a block that is none", { ...BASE, content: [1] }, "protocol"],
  ["a block without a type", { ...BASE, content: [{}] }, "protocol"],
  ["text that is none", { ...BASE, content: [{ type: "text", text: 1 }] }, "protocol"],
  ["thinking that is no text", { ...BASE, content: [{ type: "thinking", thinking: null }] }, "protocol"],
  ["a signature that is none", { ...BASE, content: [{ type: "thinking", thinking: "", signature: 1 }] }, "protocol"],
  ["redacted thinking without data", { ...BASE, content: [{ type: "redacted_thinking" }] }, "protocol"],
  ["a call without an id", { ...BASE, content: [{ type: "tool_use", id: "", name: "f", input: {} }] }, "protocol"],
  ["a call without a name", { ...BASE, content: [{ type: "tool_use", id: "a", input: {} }] }, "protocol"],
  [
    "an input that is no object",
    { ...BASE, content: [{ type: "tool_use", id: "a", name: "f", input: "{}" }] },
    "protocol",
  ],
  ["an error", { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "status"],
])("an answer that is not the dialect's: %s", (_, wire, failure) => {
  const failed = (() => {
    try {
      return read(wire, CHAT);
    } catch (error) {
      return error;
    }
  })();
  expect(failed).toBeInstanceOf(AttemptError);
  expect(failed).toMatchObject({ failure });
});

test("an input that cannot be written is the upstream's fault, where the platform cannot write it", () => {
  const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  const outcome = (() => {
    try {
      read(`{"content":[{"type":"tool_use","id":"a","name":"f","input":${deep}}]}`, CHAT);
      return "written";
    } catch (error) {
      return String(error);
    }
  })();
  expect(["written", "AttemptError: upstream sent a tool input that is nested too deeply"]).toContain(outcome);
});
