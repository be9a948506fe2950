import { describe, expect, test } from "vitest";
import { DIALECTS } from "../../src/dialects/capabilities.ts";
import { producedText } from "../../src/dialects/canonical/produced.ts";
import { chatFormat } from "../../src/dialects/chat/client.ts";
import type { StreamReader } from "../../src/dialects/dialect.ts";
import { ResponsesStreamReader } from "../../src/dialects/responses/stream.ts";
import type { Call, ClientDialect, DialectName, Json, StreamEvent } from "../../src/kit/index.ts";
import { eventFrame } from "../../src/simulator/dialects/bedrock.ts";

/* What a client that leaves a stream is charged for is all that the model wrote, in fields that nobody here knows too. */

const FORMATS: readonly ClientDialect[] = ["chat", "messages", "responses"];
const callOf = (dialect: ClientDialect): Call => ({
  kind: "chat",
  model: "route/x",
  stream: true,
  promptBytes: 0,
  maxOutput: null,
  body: { messages: [] },
  dialect,
});
const sse = (event: Json): Buffer => Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
const frame = (name: string, event: Json): Uint8Array => eventFrame(name, event);
const delta = (fields: Json): Uint8Array =>
  sse({ id: "1", choices: [{ index: 0, delta: fields, finish_reason: null }] });

const decoderOf =
  (name: DialectName) =>
  (call: Call): StreamReader => {
    const codec = DIALECTS[name]?.codecs.chat;
    if (codec?.type !== "answer" || codec.decoder === null) throw new Error(`${name} streams no chats`);
    return codec.decoder(call);
  };

interface Case {
  readonly open: (call: Call) => StreamReader;
  /** What comes before, and counts nothing. */
  readonly begin: readonly Uint8Array[];
  /** Each with what it counts. */
  readonly events: readonly (readonly [event: Uint8Array, text: string])[];
}

const item = (type: string, more: Json = {}): Json => ({ type, id: "it_1", status: "in_progress", ...more });

const CASES: Readonly<Record<string, Case>> = {
  chat: {
    open: decoderOf("openai"),
    begin: [delta({ role: "assistant", content: "" })],
    events: [
      [delta({ content: "a" }), "a"],
      [delta({ content: "a", later: "b" }), "ab"],
      [delta({ later: { deep: [{ text: "b" }, "c"] }, content: "" }), "bc"],
      [delta({ audio: { id: "audio_1", data: "AAAA", transcript: "said", expires_at: 5 } }), "said"],
      [delta({ reasoning_content: "t" }), "t"],
      [delta({ reasoning: "t" }), "t"],
      [delta({ reasoning_text: "t" }), "t"],
      [delta({ thinking: "t" }), "t"],
      [delta({ reasoning: "t", reasoning_details: [{ type: "reasoning.text", text: "t", signature: "s" }] }), "t"],
      [delta({ reasoning_details: [{ type: "reasoning.summary", summary: "t" }] }), "t"],
      [delta({ thinking_blocks: [{ type: "thinking", thinking: "t", signature: "s" }] }), "t"],
      [delta({ reasoning_details: [{ type: "reasoning.encrypted", data: "AAAA", id: "x", format: "f" }] }), ""],
      [delta({ function_call: { name: "f", arguments: "{}" } }), "f{}"],
      [delta({ images: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] }), ""],
      [delta({ annotations: [{ type: "url_citation", url_citation: { url: "u", title: "t" } }] }), ""],
    ],
  },
  responses: {
    open: (call) =>
      new ResponsesStreamReader({
        native: call.dialect === "responses",
        custom: new Set(),
        format: "f",
        nameOf: (sent) => sent,
      }),
    begin: [sse({ type: "response.created", response: { id: "r" } })],
    events: [
      [sse({ type: "response.output_audio_transcript.delta", delta: "said" }), "said"],
      [sse({ type: "response.audio.transcript.delta", delta: "said" }), "said"],
      [sse({ type: "response.audio.delta", delta: "AAAA" }), ""],
      [sse({ type: "response.output_item.added", output_index: 0, item: item("code_interpreter_call") }), ""],
      [sse({ type: "response.code_interpreter_call_code.delta", output_index: 0, delta: "1+1" }), "1+1"],
      [
        sse({
          type: "response.output_item.done",
          output_index: 0,
          item: item("code_interpreter_call", { code: "1+1" }),
        }),
        "",
      ],
      [
        sse({
          type: "response.output_item.done",
          output_index: 1,
          item: item("web_search_call", { action: { type: "search", query: "who" } }),
        }),
        "who",
      ],
      [sse({ type: "response.output_item.added", output_index: 2, item: item("mcp_call") }), ""],
      [sse({ type: "response.mcp_call_arguments.delta", output_index: 2, delta: "{}" }), "{}"],
      [
        sse({
          type: "response.output_item.done",
          output_index: 3,
          item: item("image_generation_call", { result: "AAAA" }),
        }),
        "",
      ],
    ],
  },
  anthropic: {
    open: decoderOf("anthropic"),
    begin: [sse({ type: "message_start", message: { id: "m", content: [] } })],
    events: [
      [
        sse({
          type: "content_block_start",
          index: 0,
          content_block: { type: "server_tool_use", id: "s", name: "search", input: {} },
        }),
        "search",
      ],
      [sse({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: "{}" } }), "{}"],
      [sse({ type: "content_block_stop", index: 0 }), ""],
      [
        sse({
          type: "content_block_start",
          index: 1,
          content_block: { type: "web_search_tool_result", content: [{ title: "t" }] },
        }),
        "",
      ],
      [sse({ type: "content_block_stop", index: 1 }), ""],
      [sse({ type: "content_block_start", index: 2, content_block: { type: "compaction", content: "" } }), ""],
      [sse({ type: "content_block_delta", index: 2, delta: { type: "compaction_delta", content: "short" } }), "short"],
      [sse({ type: "content_block_stop", index: 2 }), ""],
      [
        sse({
          type: "content_block_start",
          index: 3,
          content_block: { type: "thinking", thinking: "", signature: "" },
        }),
        "",
      ],
      [sse({ type: "content_block_delta", index: 3, delta: { type: "thinking_delta", thinking: "t" } }), "t"],
      [sse({ type: "content_block_delta", index: 3, delta: { type: "signature_delta", signature: "AAAA" } }), ""],
    ],
  },
  gemini: {
    open: decoderOf("gemini"),
    begin: [],
    events: [
      [
        sse({ candidates: [{ content: { parts: [{ executableCode: { language: "PYTHON", code: "1+1" } }] } }] }),
        "PYTHON1+1",
      ],
      [
        sse({
          candidates: [{ content: { parts: [{ codeExecutionResult: { outcome: "OUTCOME_OK", output: "2" } }] } }],
        }),
        "",
      ],
      [sse({ candidates: [{ content: { parts: [{ text: "t", thought: true }] } }] }), "t"],
      [sse({ candidates: [{ content: { parts: [{ text: "a" }] } }] }), "a"],
    ],
  },
  bedrock: {
    open: decoderOf("bedrock"),
    begin: [frame("messageStart", { role: "assistant" })],
    events: [
      [frame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "a" } }), "a"],
      [frame("contentBlockDelta", { contentBlockIndex: 0, delta: { later: { text: "b" } } }), "b"],
      [frame("contentBlockDelta", { contentBlockIndex: 1, delta: { reasoningContent: { text: "t" } } }), "t"],
      [frame("contentBlockDelta", { contentBlockIndex: 2, delta: { toolResult: [{ text: "given" }] } }), ""],
    ],
  },
  cohere: {
    open: decoderOf("cohere"),
    begin: [sse({ type: "message-start", id: "m" })],
    events: [
      [sse({ type: "content-delta", index: 0, delta: { message: { content: { text: "a" } } } }), "a"],
      [sse({ type: "content-delta", index: 0, delta: { message: { content: { later: "b" } } } }), "b"],
      [sse({ type: "tool-plan-delta", delta: { message: { tool_plan: "t" } } }), "t"],
      [sse({ type: "later-delta", delta: { message: { later: { text: "c" } } } }), "c"],
    ],
  },
};

const textOf = (events: readonly StreamEvent[]): string => events.map(({ text }) => text).join("");

describe.each(Object.entries(CASES))("a stream of %s", (_, { open, begin, events }) => {
  test.each(FORMATS)("counts all that the model wrote, for %s clients", (dialect) => {
    const reader = open(callOf(dialect));
    for (const event of begin) expect(textOf(reader.feed(event))).toBe("");
    const counted = events.map(([event]) => textOf(reader.feed(event)));
    expect([counted, reader.fault]).toEqual([events.map(([, text]) => text), null]);
  });
});

test("what only counts is nothing that a chat client sees", () => {
  const call = callOf("chat");
  const { stream } = chatFormat(call);
  expect(stream.event({ data: { choices: [] }, text: "counted" })).toBe("");
});

test("an answer that is nested deeper than the stack is counted", () => {
  let later: unknown = "deep";
  for (let depth = 0; depth < 100_000; depth += 1) later = [later];
  expect(producedText({ later })).toBe("deep");
});
