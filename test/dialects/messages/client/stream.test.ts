import { describe, expect, test } from "vitest";
import { GatewayError, type Json, type StreamEvent, streamBroken } from "../../../../src/kit/index.ts";
import { type Cases, casesOf } from "../../cases.ts";
import {
  args,
  assembled,
  begun,
  bill,
  chunk,
  finish,
  frames,
  ROUTE,
  said,
  streamFormat,
  usage,
  written,
} from "./support.ts";

const native = (event: Json): StreamEvent => chunk({ native: { dialect: "messages", event } });

const content = (...events: readonly StreamEvent[]): readonly Json[] => assembled(frames(written(events))).content;
const types = (text: string): readonly unknown[] => frames(text).map(({ type }) => type);
const text = (text: string, more: Json = {}): Json => ({ type: "text", text, ...more });
const call = (index: number, name: string, input: Json, more: Json = {}): Json => ({
  type: "tool_use",
  id: `call_${index}`,
  name,
  input,
  ...more,
});

describe("a stream", () => {
  test("frames its events in Messages' order and with the route's name", () => {
    const payloads = frames(
      written([chunk({ role: "assistant", content: "" }), said("Hel"), said("lo"), finish("stop")]),
    );
    expect(payloads).toEqual([
      {
        type: "message_start",
        message: {
          id: "msg_c1",
          type: "message",
          role: "assistant",
          model: ROUTE,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: {
            input_tokens: 0,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 0,
            output_tokens: 0,
          },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hel" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "lo" } },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { input_tokens: 7, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 },
      },
      { type: "message_stop" },
    ]);
  });

  test("says what its upstream counted, at the start where it is known and the last count at the end", () => {
    const first = usage(100, 1, { cached: 60, cacheWrite: 30 });
    const last = usage(100, 9, { cached: 60, cacheWrite: 30, reasoning: 4 });
    const payloads = frames(written([chunk({ content: "a" }, {}, first), chunk({}, { finish_reason: "stop" }, last)]));
    const counts = { input_tokens: 10, cache_creation_input_tokens: 30, cache_read_input_tokens: 60 };
    expect(payloads[0]).toMatchObject({ message: { usage: { ...counts, output_tokens: 1 } } });
    expect(payloads.at(-2)).toMatchObject({
      usage: { ...counts, output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } },
    });
  });

  test("takes a count in a chunk of its own", () => {
    const counted: StreamEvent = { data: { id: "c1", choices: [] }, text: "", usage: usage(3, 2) };
    expect(frames(written([said("a"), finish("stop"), counted])).at(-2)).toMatchObject({
      usage: { input_tokens: 3, output_tokens: 2 },
    });
  });

  test.each([
    ["msg_01Ab", "msg_01Ab"],
    ["chatcmpl-9", "msg_chatcmpl-9"],
    ["a b\n", "msg_ab"],
  ])("the id %j is shown as %j", (id, shown) => {
    const { data } = said("a");
    expect(frames(written([{ data: { ...data, id }, text: "a" }]))[0]).toMatchObject({ message: { id: shown } });
  });

  test("makes an id where the upstream has none", () => {
    expect(frames(written([{ data: { choices: [] }, text: "" }]))[0]).toMatchObject({
      message: { id: expect.stringMatching(/^msg_[\da-f]{32}$/) as unknown },
    });
  });

  test("an answer without anything is whole", () => {
    expect(types(written([]))).toEqual(["message_start", "message_delta", "message_stop"]);
  });

  test("only the first choice is the answer", () => {
    const { data } = said("a");
    const other = { index: 1, delta: { content: "x" }, finish_reason: "length" };
    const both = { ...data, choices: [...(data["choices"] as readonly Json[]), other] };
    const whole = assembled(frames(written([{ data: both, text: "ax" }])));
    expect(whole.content).toEqual([text("a")]);
    expect(whole.message).toMatchObject({ stop_reason: "end_turn" });
  });

  test.each([
    [finish("stop"), "end_turn", null],
    [finish("length"), "max_tokens", null],
    [finish("tool_calls"), "tool_use", null],
    [finish("function_call"), "tool_use", null],
    [finish("content_filter"), "refusal", null],
    [finish("eos"), "end_turn", null],
    [finish("stop", { native_finish_reason: "stop_sequence", stop_sequence: "END" }), "stop_sequence", "END"],
    [finish("stop", { stop_sequence: "END" }), "stop_sequence", "END"],
    [finish("stop", { native_finish_reason: "pause_turn" }), "pause_turn", null],
    [
      finish("length", { native_finish_reason: "model_context_window_exceeded" }),
      "model_context_window_exceeded",
      null,
    ],
    [finish("content_filter", { native_finish_reason: "SAFETY" }), "refusal", null],
  ])("ends: %#", (last, stop_reason, stop_sequence) => {
    const { message } = assembled(frames(written([said("a"), last])));
    expect(message).toMatchObject({ stop_reason, stop_sequence });
  });

  test("a stop after tool calls is tool_use, after a refusal refusal", () => {
    expect(assembled(frames(written([begun(0, "f"), finish("stop")]))).message).toMatchObject({
      stop_reason: "tool_use",
    });
    expect(assembled(frames(written([chunk({ refusal: "no" }), finish("stop")]))).message).toMatchObject({
      stop_reason: "refusal",
      content: [text("no")],
    });
  });

  test("the heartbeat is a ping, also before anything", () => {
    const format = streamFormat();
    expect(frames(format.heartbeat)).toEqual([{ type: "ping" }]);
    const whole = format.heartbeat + format.event(said("a")) + format.heartbeat + format.done(bill);
    expect(assembled(frames(whole)).content).toEqual([text("a")]);
  });

  test.each([[[]], [[said("a")]], [[begun(0, "f", "{")]]])(
    "breaks off with an error event and nothing behind: %#",
    (events) => {
      const format = streamFormat();
      for (const event of events) format.event(event);
      expect(frames(format.failure(streamBroken('upstream "x"\nfailed')))).toEqual([
        { type: "error", error: { type: "api_error", message: 'upstream "x"\nfailed' } },
      ]);
    },
  );

  test.each([
    ["nothing", [], []],
    ["a text", [said("a")], [text("a")]],
    ["a whole call", [begun(0, "f", "{}")], [call(0, "f", {})]],
    ["half a call", [begun(0, "f", '{"a":')], [call(0, "f", { _raw: '{"a":' })]],
    ["a call and what waits behind it", [begun(0, "f", "{"), begun(1, "g", "{}")], [call(0, "f", { _raw: "{" })]],
  ])("killed after %s it closes what is open and ends", (_, events, expected) => {
    const format = streamFormat();
    const { content, message } = assembled(
      frames(events.map((event) => format.event(event)).join("") + format.killed(bill)),
    );
    expect(content).toEqual(expected);
    const usage = { input_tokens: bill.usage.prompt, output_tokens: bill.usage.completion };
    expect(message).toMatchObject({ stop_reason: "end_turn", stop_sequence: null, usage });
  });
});

interface Case {
  /** The last may say how it ends instead. */
  readonly deltas: readonly Json[];
  readonly content: readonly Json[];
}

const CASES = casesOf(new URL("streams/content.yaml", import.meta.url)) as Cases<Case>;

test.each(CASES)("blocks: %s", (_, { deltas, content: blocks }) => {
  const events = deltas.map((delta) => ("finish_reason" in delta ? chunk({}, delta) : chunk(delta)));
  expect(content(...events)).toEqual(blocks);
});

describe("blocks", () => {
  test("a call without arguments sends one empty piece", () => {
    const payloads = frames(written([begun(0, "f"), finish("tool_calls")]));
    expect(payloads.slice(1, -2)).toEqual([
      { type: "content_block_start", index: 0, content_block: call(0, "f", {}) },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: "" } },
      { type: "content_block_stop", index: 0 },
    ]);
  });

  test("calls that follow one another are not held back", () => {
    const format = streamFormat();
    format.event(begun(0, "f", '{"a":"}'));
    format.event(args(0, '\\"{"}'));
    expect(types(format.event(begun(1, "g")))).toEqual(["content_block_stop", "content_block_start"]);
    expect(types(format.event(args(1, "{")))).toEqual(["content_block_delta"]);
  });

  test("what waits is bounded", () => {
    const format = streamFormat();
    format.event(begun(0, "f"));
    format.event(begun(1, "g"));
    const more = args(1, "x".repeat(1024 * 1024));
    expect(() => {
      for (let n = 0; n < 10; n++) format.event(more);
    }).toThrow(GatewayError);
  });

  test("so are the calls that wait", () => {
    const format = streamFormat();
    let begunCalls = 0;
    expect(() => {
      for (; begunCalls < 5_000; begunCalls++) format.event(begun(begunCalls, "f"));
    }).toThrow(GatewayError);
    expect(begunCalls).toBe(1_024);
  });
});

describe("what only Messages has", () => {
  test("fields of the message, its end and its usage; never in place of the gateway's own", () => {
    const { message } = assembled(
      frames(
        written([
          native({
            type: "message_start",
            message: {
              id: "up",
              model: "up",
              container: { id: "k" },
              usage: { input_tokens: 99, service_tier: "standard" },
            },
          }),
          said("a"),
          native({
            type: "message_delta",
            delta: { stop_reason: "x", stop_details: { type: "refusal" } },
            usage: { output_tokens: 99, server_tool_use: { web_search_requests: 2 } },
            context_management: { applied_edits: [] },
          }),
          finish("stop"),
        ]),
      ),
    );
    expect(message).toMatchObject({
      id: "msg_c1",
      model: ROUTE,
      container: { id: "k" },
      stop_reason: "end_turn",
      stop_details: { type: "refusal" },
      usage: {
        input_tokens: 7,
        output_tokens: 5,
        service_tier: "standard",
        server_tool_use: { web_search_requests: 2 },
      },
    });
  });

  test.each([
    null,
    5,
    {},
    { dialect: "messages" },
    { dialect: "messages", event: 5 },
    { dialect: "messages", event: { type: "content_block_start" } },
    { dialect: "messages", event: { type: "content_block_delta", index: 3 } },
    { dialect: "messages", event: { type: "content_block_delta", index: 3, delta: { type: "later" } } },
    { dialect: "messages", event: { type: "content_block_stop", index: 3 } },
    { dialect: "messages", event: { type: "message_delta" } },
  ])("a native field that is none changes nothing: %j", (native) => {
    expect(content(chunk({ native }), said("a"))).toEqual([text("a")]);
  });
});

const ended = (...events: readonly StreamEvent[]): unknown =>
  assembled(frames(written([...events, begun(0, "f", "{}"), finish("stop", { native_finish_reason: "end_turn" })])))
    .message["stop_reason"];

describe("what a Messages upstream says of its end", () => {
  const start = native({ type: "message_start", message: { id: "up", model: "up" } });
  test("stands beside calls, and is made good where it is another upstream's", () => {
    expect(ended(start)).toBe("end_turn");
    expect(ended()).toBe("tool_use");
  });
});

test("a count of a part of the answer is shown at the start, and never as the whole", () => {
  const first = {
    ...chunk({ role: "assistant", content: "" }, {}, usage(9, 1, { cached: 4 })),
    partial: true as const,
  };
  const payloads = frames(written([first, said("a"), finish("stop")]));
  expect(payloads[0]).toMatchObject({ message: { usage: { input_tokens: 5, cache_read_input_tokens: 4 } } });
  expect(payloads.at(-2)).toMatchObject({ usage: { input_tokens: 7, output_tokens: 5 } });
});
