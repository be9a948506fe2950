import { describe, expect, test } from "vitest";
import { messagesRefusal } from "../../../../src/dialects/messages/client/errors.ts";
import { messagesFormat, readMessages } from "../../../../src/dialects/messages/client/format.ts";
import { type ErrorCode, ERRORS, GatewayError, type Json } from "../../../../src/kit/index.ts";
import { type Cases, casesOf } from "../../cases.ts";
import { answer, answered, extras, request, ROUTE, unwritable } from "./support.ts";

const content = (message: Json): unknown => answered(answer(message))["content"];
const call = (args: unknown): Json => ({ id: "c", type: "function", function: { name: "f", arguments: args } });

describe("a complete answer", () => {
  test("is a message under the route's name", () => {
    const counted = {
      prompt_tokens: 100,
      completion_tokens: 9,
      total_tokens: 109,
      prompt_tokens_details: { cached_tokens: 60 },
      completion_tokens_details: { reasoning_tokens: 4 },
    };
    expect(answered(answer({ content: "hi" }, { finish_reason: "stop" }, { usage: counted }))).toEqual({
      id: "msg_c1",
      type: "message",
      role: "assistant",
      model: ROUTE,
      content: [
        {
          type: "text",
          text: "hi",
        },
      ],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: {
        input_tokens: 40,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 60,
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 4 },
      },
    });
  });

  test("what was written to the cache is no fresh input", () => {
    const prompt_tokens_details = { cached_tokens: 60, cache_write_tokens: 30 };
    const usage = { prompt_tokens: 100, completion_tokens: 9, prompt_tokens_details };
    expect(answered(answer({ content: "hi" }, {}, { usage }))["usage"]).toMatchObject({
      input_tokens: 10,
      cache_creation_input_tokens: 30,
      cache_read_input_tokens: 60,
    });
  });

  test("without an id and a count of its own it has the gateway's", () => {
    expect(answered({ choices: [] })).toMatchObject({
      id: "msg_x1",
      content: [],
      stop_reason: "end_turn",
      usage: {
        input_tokens: 7,
        output_tokens: 5,
      },
    });
  });

  const contents = casesOf(new URL("answers/content.yaml", import.meta.url)) as Cases<{
    message: Json;
    content: unknown;
  }>;
  test.each(contents)("%s", (_, { message, content: blocks }) => {
    expect(content(message)).toEqual(blocks);
  });

  test.each<[unknown, Json]>([
    ['{"a":1}', { a: 1 }],
    ["", {}],
    [" ", {}],
    [undefined, {}],
    ['{"a":', { _raw: '{"a":' }],
    ["[1]", { _raw: "[1]" }],
    ['"x"', { _raw: '"x"' }],
  ])("a tool's input from %j", (args, input) => {
    expect(content({ tool_calls: [call(args)] })).toEqual([{ type: "tool_use", id: "c", name: "f", input }]);
  });

  test("a stop after tool calls is tool_use, after a refusal refusal", () => {
    expect(answered(answer({ tool_calls: [call("{}")] }))).toMatchObject({ stop_reason: "tool_use" });
    expect(answered(answer({ refusal: "no" }))).toMatchObject({ stop_reason: "refusal" });
    expect(answered(answer({ tool_calls: [call("{}")] }, { finish_reason: "length" }))).toMatchObject({
      stop_reason: "max_tokens",
    });
  });

  test("what a Messages upstream said beside stays, never in place of the gateway's own", () => {
    const message = {
      id: "up",
      model: "up",
      container: { id: "k" },
      usage: {
        input_tokens: 99,
        service_tier: "standard",
      },
    };
    expect(answered(answer({ content: "a" }, {}, { native: { dialect: "messages", message } }))).toMatchObject({
      id: "msg_c1",
      model: ROUTE,
      container: { id: "k" },
      usage: {
        input_tokens: 7,
        service_tier: "standard",
      },
    });
  });

  test("what cannot be written again is the upstream's fault", () => {
    const block = { type: "later", deep: { toJSON: () => unwritable() } };
    const body = answer({ content: [{ type: "native", dialect: "messages", block }] });
    const format = messagesFormat(readMessages(request()));
    expect(() => format.answer(body, extras)).toThrow(GatewayError);
  });

  test.each<Json>([
    {},
    { choices: 5 },
    { choices: [5] },
    { choices: [{}] },
    { choices: [{ message: 5 }] },
    answer({ content: 5, tool_calls: 5, reasoning_details: 5, refusal: 5, block_order: 5 }),
    answer({
      content: [5, {}, { type: "image_url" }],
      tool_calls: [5, {}, { function: 5 }],
      reasoning_details: [5, {}],
    }),
    answer({ content: "a", block_order: [5, "x", "__proto__", "content", "content"] }),
    { native: 5, choices: [] },
  ])("never throws for what plugins or upstreams leave: %j", (body) => {
    expect(answered(body)).toMatchObject({ type: "message", role: "assistant", model: ROUTE });
  });

  test("texts for a tokenizer", () => {
    const format = messagesFormat(readMessages(request({ system: "SYS" })));
    expect(format.contentType).toBe("application/json");
    expect(format.promptText()).toContain("SYS");
    expect(format.producedText(answer({ content: "said" }))).toBe("said");
  });
});

describe("refusals", () => {
  const types: Readonly<Record<number, string>> = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    409: "invalid_request_error",
    413: "request_too_large",
    415: "invalid_request_error",
    426: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    503: "overloaded_error",
    504: "timeout_error",
  };
  test.each(Object.keys(ERRORS) as ErrorCode[])("%s", (code) => {
    const { contentType, body } = messagesRefusal(new GatewayError(code, 'what "it" is'), "r-1");
    expect(contentType).toBe("application/json");
    expect(JSON.parse(body)).toEqual({
      type: "error",
      error: { type: types[ERRORS[code].status], message: 'what "it" is' },
      request_id: "r-1",
    });
  });
});

test("an order of blocks that an upstream made up is no fault", () => {
  const message = { role: "assistant", content: "a", block_order: [{ toString: [] }, "content", 7] };
  const call = readMessages({ model: ROUTE, max_tokens: 5, messages: [{ role: "user", content: "hi" }] });
  const written = JSON.parse(messagesFormat(call).answer({ choices: [{ message, finish_reason: "stop" }] }, extras));
  expect(written.content).toEqual([{ type: "text", text: "a" }]);
});

describe("what a Messages upstream says of its end", () => {
  const called = { content: "x", tool_calls: [call("{}")] };
  const stop = (word: string, more: Json = {}): unknown =>
    answered(answer(called, { finish_reason: "stop", native_finish_reason: word }, more))["stop_reason"];
  const native = { native: { dialect: "messages", message: {} } };

  test.each(["end_turn", "pause_turn", "a_later_word"])("stands beside calls: %s", (word) => {
    expect(stop(word, native)).toBe(word);
  });

  test("is made good where it is another upstream's", () => {
    expect(stop("end_turn")).toBe("tool_use");
    expect(stop("a_later_word")).toBe("tool_use");
  });
});
