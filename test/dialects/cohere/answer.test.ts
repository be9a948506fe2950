import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { assemble } from "../assemble.ts";
import { chatCall, outcome, OUTCOMES } from "../bedrock/support.ts";
import { codec, decode, stream, write } from "./support.ts";
import { RUNS } from "../../properties/runs.ts";

const bytes = (body: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(body));

function answer(message: unknown, reason: unknown = "COMPLETE", more: Json = {}): Json {
  return { id: "i", message, finish_reason: reason, usage: { tokens: { input_tokens: 3, output_tokens: 2 } }, ...more };
}

function choice(body: Json): Json {
  return (codec.answer(bytes(body), chatCall({})).body["choices"] as readonly Json[])[0]!;
}

const START: Json = { type: "message-start", id: "i", delta: { message: { role: "assistant" } } };
const block = (index: number, content: Json): Json => ({
  type: "content-start",
  index,
  delta: { message: { content } },
});
const piece = (index: number, content: Json): Json => ({
  type: "content-delta",
  index,
  delta: { message: { content } },
});
const plan = (tool_plan: string): Json => ({ type: "tool-plan-delta", delta: { message: { tool_plan } } });
const call = (index: number, id: string, args = ""): Json => ({
  type: "tool-call-start",
  index,
  delta: { message: { tool_calls: { id, type: "function", function: { name: "find", arguments: args } } } },
});
const args = (index: number, words: string): Json => ({
  type: "tool-call-delta",
  index,
  delta: { message: { tool_calls: { function: { arguments: words } } } },
});
const callEnd = (index: number): Json => ({ type: "tool-call-end", index });
const cite = (citations: unknown): Json => ({ type: "citation-start", index: 0, delta: { message: { citations } } });
const end = (finish_reason: unknown, more: Json = {}): Json => ({
  type: "message-end",
  delta: { finish_reason, ...more },
});

function streamed(...events: readonly Json[]): Json {
  return assemble(decode([stream(...events)]).events.map(({ data }) => data));
}

const DOCUMENT = {
  type: "document",
  id: "doc:0",
  document: { id: "doc:0", title: "benefits.txt", text: "AI provides" },
};
const PAGE = { type: "document", id: "doc:1", document: { url: "https://a", title: "A" } };
const TOOL = { type: "tool", id: "find:0", tool_output: {} };
const CITATIONS = [
  { start: 1, end: 3, text: "xy", sources: [DOCUMENT, PAGE], type: "TEXT_CONTENT", content_index: 1 },
  { start: 0, end: 1, text: "I", sources: [TOOL], type: "PLAN" },
  { start: 0, end: 1, text: "a", sources: [TOOL] },
];
const ANNOTATIONS = [
  {
    type: "file_citation",
    file_citation: { filename: "benefits.txt", file_id: "doc:0", location: "document", start_index: 4, end_index: 6 },
  },
  { type: "url_citation", url_citation: { url: "https://a", title: "A", start_index: 4, end_index: 6 } },
  { type: "file_citation", file_citation: { file_id: "find:0", location: "tool", start_index: 0, end_index: 1 } },
];

const units = (input_tokens: number, output_tokens: number): Json => ({ input_tokens, output_tokens });

describe("answers", () => {
  test("citations are annotations of the joined text, those of the plan are none", () => {
    const content = [
      { type: "text", text: "abc" },
      { type: "text", text: "wxyz" },
    ];
    expect(choice(answer({ content, citations: CITATIONS }))["message"]).toMatchObject({
      content: "abcwxyz",
      annotations: ANNOTATIONS,
    });
    const events = [
      block(0, { type: "text", text: "abc" }),
      block(1, { type: "text", text: "" }),
      piece(1, { text: "wxyz" }),
    ];
    const told = streamed(START, ...events, ...CITATIONS.map(cite), end("COMPLETE"));
    expect(told["message"]).toMatchObject({ content: "abcwxyz", annotations: ANNOTATIONS });
    expect(streamed(START, ...events, cite([CITATIONS[2]]), end("COMPLETE"))["message"]).toMatchObject({
      annotations: [ANNOTATIONS[2]],
    });
  });

  test.each([
    ["COMPLETE", "stop"],
    ["STOP_SEQUENCE", "stop"],
    ["MAX_TOKENS", "length"],
    ["TOOL_CALL", "tool_calls"],
    ["ERROR_TOXIC", "content_filter"],
    ["ERROR_LIMIT", "length"],
    ["NEW_ONE", "stop"],
  ])("%s: %s", (reason, finish) => {
    const wanted = { finish_reason: finish, native_finish_reason: reason };
    expect(choice(answer({ content: [{ type: "text", text: "a" }] }, reason))).toMatchObject(wanted);
    expect(streamed(START, piece(0, { text: "a" }), end(reason))).toMatchObject(wanted);
  });

  test.each([
    ["ERROR", "status", "upstream reported an error: it broke"],
    ["TIMEOUT", "timeout", "upstream gave its answer up"],
  ])("%s is a failure, not an end", (reason, failure, message) => {
    const read = (): unknown => codec.answer(bytes({ ...answer({ content: [] }, reason) }), chatCall({}));
    expect(read).toThrow(expect.objectContaining({ failure }));
    const failed = decode([stream(START, end(reason, { error: "it broke" }))]);
    expect(failed).toEqual({ events: [], fault: { failure, message }, done: false, complete: false });
  });

  test.each([
    ["never written", [call(0, "c"), callEnd(0)], "{}"],
    ["not ended", [call(0, "c")], "{}"],
    ["null", [call(0, "c"), args(0, "nu"), args(0, "ll"), callEnd(0)], "{}"],
    ["almost null", [call(0, "c"), args(0, "nu"), args(0, "m"), callEnd(0)], "num"],
    ["in the start", [call(0, "c", "{}"), callEnd(0)], "{}"],
    ["in pieces", [call(0, "c"), args(0, '{"a"'), args(0, ":null}"), callEnd(0)], '{"a":null}'],
  ])("arguments %s", (_, events, wanted) => {
    const [told] = (streamed(START, ...events, end("TOOL_CALL"))["message"] as Record<string, readonly Json[]>)[
      "tool_calls"
    ]!;
    expect(told).toEqual({ id: "c", type: "function", function: { name: "find", arguments: wanted } });
  });

  test("arguments of a whole answer that are null or missing", () => {
    const calls = ["null", "", undefined].map((text, index) => ({
      id: `c${index}`,
      function: { name: "f", arguments: text },
    }));
    const { tool_calls: told } = choice(answer({ tool_calls: calls }, "TOOL_CALL"))["message"] as Record<
      string,
      readonly Json[]
    >;
    expect(told!.map(({ function: called }) => (called as Json)["arguments"])).toEqual(["{}", "{}", "{}"]);
  });

  test("a call that the limit cut off stays as it is", () => {
    const [told] = (
      streamed(START, call(0, "c"), args(0, '{"a'), end("MAX_TOKENS"))["message"] as Record<string, readonly Json[]>
    )["tool_calls"]!;
    expect(told).toMatchObject({ function: { arguments: '{"a' } });
  });

  test("calls of one answer are numbered from 0, whatever their indexes", () => {
    const told = streamed(START, plan("p"), call(3, "a"), call(5, "b"), args(5, "{}"), args(3, "[]"), end("TOOL_CALL"));
    expect(told["message"]).toMatchObject({
      reasoning_content: "p",
      tool_calls: [
        { id: "a", function: { arguments: "[]" } },
        { id: "b", function: { arguments: "{}" } },
      ],
    });
  });

  // Of 507 tokens that the model reads, 495 are Cohere's own prompt and are not billed.
  test.each<readonly [string, Json, prompt: number, completion: number, cached: number]>([
    ["what is billed", { billed_units: units(12, 7), tokens: units(507, 10) }, 12, 7, 0],
    [
      "a cache of Cohere's own prompt",
      { billed_units: units(12, 7), tokens: units(507, 10), cached_tokens: 448 },
      12,
      7,
      0,
    ],
    ["a cache of more", { billed_units: units(12, 7), tokens: units(507, 10), cached_tokens: 500 }, 12, 7, 5],
    ["a cache beyond all", { billed_units: units(12, 7), tokens: units(507, 10), cached_tokens: 900 }, 12, 7, 12],
    ["more billed than read", { billed_units: units(12, 7), tokens: units(10, 7), cached_tokens: 4 }, 12, 7, 4],
    ["billed alone", { billed_units: units(12, 7), cached_tokens: 3 }, 12, 7, 0],
    ["tokens alone", { tokens: units(507, 10), cached_tokens: 448 }, 507, 10, 448],
    ["units that are none", { billed_units: { input_tokens: 12 }, tokens: units(507, 10) }, 507, 10, 0],
  ])("a count of %s", (_, usage, prompt, completion, cached) => {
    expect(codec.answer(bytes(answer({ content: [] }, "COMPLETE", { usage })), chatCall({})).usage).toEqual({
      prompt,
      completion,
      cached,
      reasoning: 0,
    });
  });

  test("a count that cannot be believed is none", () => {
    const wrong = { tokens: { input_tokens: -1, output_tokens: 5 } };
    expect(codec.answer(bytes(answer({ content: [] }, "COMPLETE", { usage: wrong })), chatCall({})).usage).toBeNull();
    expect(decode([stream(START, end("COMPLETE", { usage: wrong }))]).events.map(({ usage }) => usage)).toEqual([
      undefined,
    ]);
  });

  test("a lone text or call in a list of one is read as well", () => {
    const listed = {
      type: "tool-call-start",
      index: 0,
      delta: { message: { tool_calls: [{ id: "a", function: { name: "f" } }] } },
    };
    expect(streamed(listed, end("TOOL_CALL"))["message"]).toMatchObject({
      tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }],
    });
  });
});

describe("what is no answer", () => {
  test.each([
    ["no JSON", "x"],
    ["no message", {}],
    ["no finish reason", { message: { content: [] } }],
    ["content that is none", answer({ content: "x" })],
    ["a block that is none", answer({ content: [1] })],
    ["a text that is none", answer({ content: [{ type: "text" }] })],
    ["a thought that is none", answer({ content: [{ type: "thinking" }] })],
    ["a call without a name", answer({ tool_calls: [{ id: "a", function: {} }] })],
    ["a call without an id", answer({ tool_calls: [{ function: { name: "a" } }] })],
    ["arguments that are none", answer({ tool_calls: [{ id: "a", function: { name: "a", arguments: {} } }] })],
  ])("%s", (_, body) => {
    expect(() => codec.answer(bytes(body), chatCall({}))).toThrow(expect.objectContaining({ failure: "protocol" }));
  });

  test.each([
    ["no JSON", new TextEncoder().encode("event: content-delta\ndata: {\n\n"), "protocol"],
    ["a call without a name", stream({ ...call(0, ""), index: 0 }), "protocol"],
    ["arguments of no call", stream(args(0, "{}")), "protocol"],
    ["an index that is none", stream(piece(-1, { text: "b" })), "protocol"],
    ["an error event", new TextEncoder().encode('event: error\ndata: {"message":"it broke"}\n\n'), "status"],
    ["an ending without a reason", stream(end(null)), "protocol"],
    [
      "an event that is too large",
      new TextEncoder().encode(`data: {"type":"${"x".repeat(1024 * 1024)}"}\n\n`),
      "protocol",
    ],
  ])("in a stream: %s", (_, wrong, failure) => {
    const broken = decode([
      stream(START, piece(0, { text: "a" })),
      wrong,
      stream(piece(0, { text: "b" }), end("COMPLETE")),
    ]);
    expect(broken).toMatchObject({ fault: { failure }, complete: false });
    expect(broken.events.map(({ text }) => text)).toEqual(["a"]);
  });

  test("events that are not known, and what follows the ending, are passed over", () => {
    const known = stream(START, { type: "debug" }, piece(0, { text: "a" }), { type: "citation-end" }, end("COMPLETE"));
    const told = decode([known, stream(piece(0, { text: "b" })), new TextEncoder().encode("data: [DONE]\n\n")]);
    expect(told).toMatchObject({ fault: null, done: true });
    expect(told.events).toHaveLength(2);
  });

  test("whatever comes is an answer or a failure of the upstream", () => {
    const content = fc.oneof(
      fc.array(
        fc.record({ type: fc.constantFrom("text", "thinking"), text: fc.jsonValue(), thinking: fc.jsonValue() }),
      ),
      fc.jsonValue(),
    );
    const message = fc.oneof(
      fc.record({
        content,
        tool_calls: fc.jsonValue(),
        citations: fc.array(fc.jsonValue()),
        tool_plan: fc.jsonValue(),
      }),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(
        message,
        fc.oneof(fc.constant("COMPLETE"), fc.jsonValue()),
        fc.jsonValue(),
        (given, reason, usage) => {
          expect(outcome(() => codec.answer(bytes(answer(given, reason, { usage })), chatCall({})))).toMatch(OUTCOMES);
          const delta = { message: given, finish_reason: reason, usage };
          const types = [
            "message-start",
            "content-start",
            "content-delta",
            "tool-plan-delta",
            "tool-call-start",
            "tool-call-delta",
            "tool-call-end",
            "citation-start",
            "message-end",
          ];
          for (const type of types) decode([stream({ type, index: 0, delta })]);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

test("a streamed answer is the whole answer of the same content, and goes back as it came", () => {
  const words = fc.string({ minLength: 1, maxLength: 30, unit: "grapheme" }).filter((text) => text.trim() !== "");
  const shape = fc.record({
    thought: fc.option(words),
    text: fc.option(words),
    plan: fc.option(words),
    calls: fc.array(fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 }), { maxLength: 3 }),
  });
  fc.assert(
    fc.property(shape, ({ thought, text, plan: planned, calls }) => {
      const reason = calls.length > 0 ? "TOOL_CALL" : "COMPLETE";
      const blocks = [
        ...(thought ? [{ type: "thinking", thinking: thought }] : []),
        ...(text ? [{ type: "text", text }] : []),
      ];
      const tool_calls = calls.map((input, index) => ({
        id: `c${index}`,
        type: "function",
        function: { name: "find", arguments: JSON.stringify(input) },
      }));
      const whole = choice(
        answer({ role: "assistant", content: blocks, tool_plan: planned ?? "", tool_calls }, reason),
      );
      const events = [
        START,
        ...blocks.flatMap(({ type, ...content }, index) => [
          block(index, { type }),
          piece(index, content),
          { type: "content-end", index },
        ]),
        ...(planned ? [plan(planned)] : []),
        ...tool_calls.flatMap(({ id, function: called }, index) => [
          call(index, id),
          args(index, called.arguments),
          callEnd(index),
        ]),
        end(reason),
      ];
      expect(streamed(...events)).toEqual(whole);
      if (!text && calls.length === 0) return;
      const { body, dropped } = write(
        chatCall({ messages: [{ role: "user", content: "q" }, whole["message"] as Json] }),
      );
      expect(dropped).toEqual([]);
      const back = (body["messages"] as readonly Json[])[1]!;
      const reasoning = `${thought ?? ""}${planned ?? ""}`;
      expect(back["tool_plan"] ?? "").toBe(calls.length > 0 ? reasoning : "");
      expect(back["tool_calls"] ?? []).toEqual(tool_calls);
      const said = text ? [{ type: "text", text }] : [];
      const parts = calls.length > 0 || reasoning === "" ? said : [{ type: "thinking", thinking: reasoning }, ...said];
      expect(back["content"]).toEqual(parts.length === 1 ? text : parts.length === 0 ? undefined : parts);
    }),
  );
});
