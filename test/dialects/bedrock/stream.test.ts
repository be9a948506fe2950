import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { assemble } from "../assemble.ts";
import { type Cases, casesOf } from "../cases.ts";
import { decode, eventFrame, exceptionFrame, frame, stream } from "./support.ts";

const START = { messageStart: { role: "assistant" } };
const delta = (index: number, delta: Json): Json => ({ contentBlockDelta: { contentBlockIndex: index, delta } });
const text = (words: string, index = 0): Json => delta(index, { text: words });
const stop = (index: number): Json => ({ contentBlockStop: { contentBlockIndex: index } });
const tool = (index: number, id = "t", name = "find"): Json => ({
  contentBlockStart: { contentBlockIndex: index, start: { toolUse: { toolUseId: id, name } } },
});
const input = (index: number, words: string): Json => delta(index, { toolUse: { input: words } });
const end = (stopReason: unknown, more: Json = {}): Json => ({ messageStop: { stopReason, ...more } });
const usage = (inputTokens: unknown, outputTokens: unknown, more: Json = {}): Json => ({
  metadata: { usage: { inputTokens, outputTokens, ...more } },
});

function choice(...events: readonly Json[]): Json {
  return assemble(decode([stream(...events)]).events.map(({ data }) => data));
}

interface Case {
  readonly events: readonly Json[];
  /** Fields of the choice that a client puts together. */
  readonly choice: Json;
}

test.each(casesOf(new URL("streams/choices.yaml", import.meta.url)) as Cases<Case>)(
  "%s",
  (_, { events, choice: due }) => {
    const whole = choice(...events);
    expect(Object.fromEntries(Object.keys(due).map((name) => [name, whole[name]]))).toEqual(due);
  },
);

describe("answers", () => {
  test("the first piece brings the role; nothing is an answer before it", () => {
    const { events } = decode([stream(START, text(""), text("a"), text("b"))]);
    expect(events.map(({ data }) => data["choices"])).toEqual([
      [{ index: 0, delta: { role: "assistant", content: "a" }, finish_reason: null }],
      [{ index: 0, delta: { content: "b" }, finish_reason: null }],
    ]);
    expect(decode([stream(START)])).toMatchObject({ events: [], complete: false });
  });

  test.each([
    ["stopped", [tool(0), input(0, ""), stop(0), end("tool_use")], "{}"],
    ["not stopped", [tool(0), end("tool_use")], "{}"],
    ["cut off by the limit", [tool(0), input(0, '{"a'), end("max_tokens")], '{"a'],
    ["cut off before they began", [tool(0), end("max_tokens")], ""],
  ])("a call without arguments has an empty object: %s", (_, events, args) => {
    const [call] = (choice(...events)["message"] as Record<string, readonly Json[]>)["tool_calls"]!;
    expect(call).toMatchObject({ function: { name: "find", arguments: args } });
  });

  test("what was produced is told for estimates", () => {
    const { events } = decode([
      stream(delta(0, { reasoningContent: { text: "hm" } }), text("a", 1), tool(2), input(2, "{}")),
    ]);
    expect(events.map(({ text }) => text)).toEqual(["hm", "a", "find", "{}"]);
  });
});

describe("endings", () => {
  test.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["tool_use", "tool_calls"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["content_filtered", "content_filter"],
    ["guardrail_intervened", "content_filter"],
    ["something_new", "stop"],
  ])("%s: %s", (reason, finish) => {
    expect(choice(text("a"), end(reason))).toMatchObject({ finish_reason: finish, native_finish_reason: reason });
  });

  test("a turn that ends with calls in it ends for them", () => {
    expect(choice(tool(0), end("end_turn"))).toMatchObject({ finish_reason: "tool_calls" });
    expect(choice(tool(0), end("max_tokens"))).toMatchObject({ finish_reason: "length" });
  });

  test.each([["malformed_model_output"], ["malformed_tool_use"], [undefined], [1]])("%s is no answer", (reason) => {
    const { fault, complete } = decode([stream(text("a"), end(reason))]);
    expect(fault?.failure).toBe("protocol");
    expect(complete).toBe(false);
  });

  test("the stop sequence is told", () => {
    const more = { additionalModelResponseFields: { delta: { stop_sequence: "END" } } };
    expect(choice(text("a"), end("stop_sequence", more))).toMatchObject({ stop_sequence: "END" });
    const none = { additionalModelResponseFields: { delta: { stop_sequence: null } } };
    expect(choice(text("a"), end("end_turn", none))).not.toHaveProperty("stop_sequence");
  });

  test.each([
    ["behind the ending", [text("a"), end("end_turn"), usage(5, 2)]],
    ["before it", [text("a"), usage(1, 1), usage(5, 2), end("end_turn")]],
  ])("the count comes last, the last one counts: %s", (_, events) => {
    const { events: read, done } = decode([stream(...events)]);
    expect(done).toBe(true);
    expect(read.map(({ usage }) => usage?.prompt)).toEqual([undefined, undefined, 5]);
  });

  test("without a count the answer is whole, and waits for one", () => {
    expect(decode([stream(text("a"), end("end_turn"))])).toMatchObject({ fault: null, done: false, complete: true });
  });

  test("cached and cache-written tokens are part of the prompt", () => {
    const more = { cacheReadInputTokens: 100, cacheWriteInputTokens: 20, totalTokens: 127 };
    const last = decode([stream(text("a"), end("end_turn"), usage(5, 2, more))]).events.at(-1)!;
    expect(last.usage).toEqual({ prompt: 125, completion: 2, cached: 100, reasoning: 0, cacheWrite: 20 });
    expect(last.data["usage"]).toEqual({
      prompt_tokens: 125,
      completion_tokens: 2,
      total_tokens: 127,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 0 },
    });
  });

  test.each([[-1], [1.5], ["5"], [null], [1e9]])("a count of %s is none", (wrong) => {
    const { events, complete } = decode([stream(text("a"), end("end_turn"), usage(wrong, 2))]);
    expect(events.every(({ usage }) => usage === undefined)).toBe(true);
    expect(complete).toBe(true);
  });

  test("what follows the ending is no part of the answer", () => {
    const bytes = [stream(text("a"), end("end_turn")), stream(text("b"), end("max_tokens"), usage(1, 1), text("c"))];
    const answer = decode(bytes);
    expect(answer.events).toHaveLength(3);
    expect(answer).toMatchObject({ fault: null, done: true });
  });
});

describe("failures", () => {
  test.each([
    ["throttlingException", "rate_limited", "upstream reported an error: slow down"],
    ["serviceQuotaExceededException", "rate_limited", "upstream reported an error: slow down"],
    ["modelTimeoutException", "timeout", "upstream reported an error: slow down"],
    ["internalServerException", "status", "upstream reported an error: slow down"],
    ["modelStreamErrorException", "status", "upstream reported an error: slow down"],
    ["serviceUnavailableException", "status", "upstream reported an error: slow down"],
    ["accessDeniedException", "credentials", "upstream refused the gateway's credentials"],
    ["validationException", "client_fault", "slow down"],
    ["neverHeardOfException", "status", "upstream reported an error: slow down"],
  ])("%s: %s", (type, failure, message) => {
    const first = decode([exceptionFrame(type, "slow down")]);
    expect(first).toEqual({ events: [], fault: { failure, message }, done: false, complete: false });
    const later = decode([
      Buffer.concat([eventFrame(text("a")), exceptionFrame(type, "slow down"), eventFrame(text("b"))]),
    ]);
    expect(later.events.map((event) => event.text)).toEqual(["a"]);
    expect(later.fault?.failure).toBe(failure);
  });

  test("words of an exception are fit for a client", () => {
    const { fault } = decode([
      exceptionFrame(
        "internalServerException",
        "see https://aws.internal/x for <b>AKIAIOSFODNN7EXAMPLEAKIAIOSFODNN7</b>",
      ),
    ]);
    expect(fault?.message).toBe("upstream reported an error: see [url] for [redacted]");
  });

  test("an error without a shape has its words in the headers", () => {
    const headers = { ":message-type": "error", ":error-code": "throttlingException", ":error-message": "later" };
    expect(decode([frame(headers, "")]).fault).toEqual({
      failure: "rate_limited",
      message: "upstream reported an error: later",
    });
  });

  test.each([
    ["no JSON", frame({ ":event-type": "contentBlockDelta" }, "{")],
    ["no object", frame({ ":event-type": "contentBlockDelta" }, "[]")],
    ["a delta of no block", frame({ ":event-type": "contentBlockDelta" }, '{"delta":{"text":"a"}}')],
    ["arguments of no call", eventFrame(input(0, "{}"))],
    [
      "a call without a name",
      eventFrame({ contentBlockStart: { contentBlockIndex: 0, start: { toolUse: { toolUseId: "a" } } } }),
    ],
    ["noise", new TextEncoder().encode("<html>an error page</html>")],
  ])("%s is a breach of the protocol", (_, bytes) => {
    const { fault, events } = decode([eventFrame(text("a")), bytes, eventFrame(text("b"))]);
    expect(fault?.failure).toBe("protocol");
    expect(events.map((event) => event.text)).toEqual(["a"]);
  });
});
