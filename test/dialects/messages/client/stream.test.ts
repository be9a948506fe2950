import { describe, expect, test } from "vitest";
import { GatewayError, type Json, type StreamEvent } from "../../../../src/kit/index.ts";
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
  thought,
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
      expect(frames(format.failure('upstream "x"\nfailed'))).toEqual([
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

describe("blocks", () => {
  test("thinking is closed by its signature, then text, then calls, each in turn", () => {
    expect(
      content(
        thought(0, { text: "hm" }),
        thought(0, { text: "m" }),
        thought(0, { signature: "S" }),
        chunk({ reasoning_details: [{ type: "reasoning.encrypted", index: 1, data: "E" }] }),
        said("text"),
        begun(0, "f"),
        args(0, '{"a"'),
        args(0, ":1}"),
        finish("tool_calls"),
      ),
    ).toEqual([
      { type: "thinking", thinking: "hmm", signature: "S" },
      { type: "redacted_thinking", data: "E" },
      text("text"),
      call(0, "f", { a: 1 }),
    ]);
  });

  test("two thoughts are two blocks, with an index or without", () => {
    const two = [
      { type: "thinking", thinking: "a", signature: "S" },
      { type: "thinking", thinking: "b", signature: "T" },
    ];
    const none = { index: undefined };
    expect(
      content(
        thought(0, { text: "a", ...none }),
        thought(0, { signature: "S", ...none }),
        thought(0, { text: "b", signature: "T", ...none }),
      ),
    ).toEqual(two);
    expect(
      content(thought(0, { text: "a", signature: "S" }), thought(1, { text: "b" }), thought(1, { signature: "T" })),
    ).toEqual(two);
    expect(content(thought(0, { text: "a" }), thought(1, { text: "b" }))).toEqual([
      { type: "thinking", thinking: "a", signature: "" },
      { type: "thinking", thinking: "b", signature: "" },
    ]);
  });

  test("with display omitted a thought is its signature alone", () => {
    expect(content(thought(0, { signature: "S" }), said("a"))).toEqual([
      { type: "thinking", thinking: "", signature: "S" },
      text("a"),
    ]);
  });

  test("reasoning_content is a thought; told in details as well it is not told twice", () => {
    expect(content(chunk({ reasoning_content: "a" }), chunk({ reasoning_content: "b" }), said("c"))).toEqual([
      { type: "thinking", thinking: "ab", signature: "" },
      text("c"),
    ]);
    const both = { reasoning_content: "a", reasoning_details: [{ type: "reasoning.text", index: 0, text: "a" }] };
    expect(content(chunk(both))).toEqual([{ type: "thinking", thinking: "a", signature: "" }]);
    expect(content(chunk({ reasoning_content: "a" }), thought(0, { signature: "S" }))).toEqual([
      { type: "thinking", thinking: "a", signature: "S" },
    ]);
  });

  test("a summary is a thought", () => {
    expect(content(chunk({ reasoning_details: [{ type: "reasoning.summary", summary: "s", index: 0 }] }))).toEqual([
      { type: "thinking", thinking: "s", signature: "" },
    ]);
  });

  test("empty deltas begin nothing", () => {
    expect(content(chunk({ content: "", reasoning_content: "", refusal: null }), chunk({ content: null }))).toEqual([]);
  });

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

  test("calls that interleave wait for one another", () => {
    expect(
      content(
        begun(0, "f"),
        begun(1, "g"),
        args(1, '{"b":'),
        args(0, '{"a":'),
        said("late"),
        args(1, "2}"),
        begun(2, "h"),
        args(0, "1}"),
        finish("tool_calls"),
      ),
    ).toEqual([call(0, "f", { a: 1 }), call(1, "g", { b: 2 }), text("late"), call(2, "h", {})]);
  });

  test("several calls in one delta", () => {
    const tool_calls = [0, 1].map((index) => ({
      index,
      id: `call_${index}`,
      type: "function",
      function: {
        name: "f",
        arguments: '{"n":1}',
      },
    }));
    expect(content(chunk({ tool_calls }))).toEqual([call(0, "f", { n: 1 }), call(1, "f", { n: 1 })]);
  });

  test("a call that was whole takes no more", () => {
    expect(content(begun(0, "f", "{}"), said("a"), args(0, " \n"), said("b"))).toEqual([call(0, "f", {}), text("ab")]);
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
  const search = { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} };
  const result = { type: "web_search_tool_result", tool_use_id: "srv_1", content: [{ url: "https://a.example" }] };

  test("blocks of the upstream arrive in their place, numbered anew", () => {
    expect(
      content(
        said("a"),
        native({ type: "content_block_start", index: 7, content_block: search }),
        native({ type: "content_block_delta", index: 7, delta: { type: "input_json_delta", partial_json: '{"q":1}' } }),
        native({ type: "content_block_stop", index: 7 }),
        native({ type: "content_block_start", index: 8, content_block: result }),
        native({ type: "content_block_stop", index: 8 }),
        said("b"),
        native({ type: "content_block_delta", index: 9, delta: { type: "citations_delta", citation: { url: "u" } } }),
        native({ type: "content_block_stop", index: 9 }),
        said("c"),
      ),
    ).toEqual([text("a"), { ...search, input: { q: 1 } }, result, text("b", { citations: [{ url: "u" }] }), text("c")]);
  });

  test("a text block that the upstream begins is continued by text", () => {
    const start = native({
      type: "content_block_start",
      index: 1,
      content_block: { type: "text", text: "", citations: [] },
    });
    expect(content(said("a"), start, said("b"))).toEqual([text("a"), text("b", { citations: [] })]);
  });

  test("fields of a call", () => {
    expect(content(begun(0, "f", "{}", { native: { caller: { type: "direct" } } }))).toEqual([
      call(0, "f", {}, { caller: { type: "direct" } }),
    ]);
  });

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

  test("nothing of another dialect", () => {
    const other = chunk({
      native: { dialect: "responses", event: { type: "content_block_start", content_block: search } },
    });
    expect(content(other)).toEqual([]);
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
