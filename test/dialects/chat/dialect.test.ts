import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readChat } from "../../../src/dialects/chat/client.ts";
import { chat, openai } from "../../../src/dialects/chat/index.ts";
import { AttemptError, type Json } from "../../../src/kit/index.ts";
import { testTarget } from "../../support/snapshot.ts";

const target = testTarget("alpha", { model: "up-1" });
const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
const sent = (body: Json): Json => JSON.parse(chat.request(readChat(body), target, "sk-1").body as string) as Json;
const body = (more: Json = {}): Json => ({ model: "route/a", messages: [{ role: "user", content: "hi" }], ...more });

describe("request", () => {
  test("path and headers", () => {
    const { path, headers } = chat.request(readChat(body()), target, "sk-1");
    expect(path).toBe("/chat/completions");
    expect(headers).toEqual({
      authorization: "Bearer sk-1",
      "content-type": "application/json",
      accept: "application/json",
    });
    expect(chat.request(readChat(body({ stream: true })), target, "sk-1").headers["accept"]).toBe("text/event-stream");
  });

  test("without a key there is no authorization", () => {
    const { headers } = chat.request(readChat(body()), target, "");
    expect(headers).toEqual({ "content-type": "application/json", accept: "application/json" });
  });

  test("only the model changes in a body that does not stream", () => {
    // As parsed, so without -0; no backslashes, because V8 14.6 misreads keys with an escape after one that ends in `\`.
    const json = fc
      .dictionary(fc.string(), fc.jsonValue())
      .map((value) => JSON.stringify(value))
      .filter((text) => !text.includes("\\\\"))
      .map((text) => JSON.parse(text) as Json);
    fc.assert(
      fc.property(json, (unknown) => {
        const whole = { ...unknown, ...body({ stream: false }) };
        expect(sent(whole)).toEqual({ ...whole, model: "up-1" });
      }),
    );
  });

  test("a stream is asked for its usage, whatever the client asked", () => {
    expect(sent(body({ stream: true }))["stream_options"]).toEqual({ include_usage: true });
    expect(sent(body({ stream: true, stream_options: null }))["stream_options"]).toEqual({ include_usage: true });
    const options = { include_usage: false, include_obfuscation: false, later: { x: 1 } };
    expect(sent(body({ stream: true, stream_options: options }))["stream_options"]).toEqual({
      include_usage: true,
      include_obfuscation: false,
      later: { x: 1 },
    });
  });

  test("the call itself is left as it was", () => {
    const call = readChat(body({ stream: true, stream_options: { include_usage: false } }));
    const before = structuredClone(call);
    chat.request(call, target, "sk-1");
    expect(call).toEqual(before);
  });

  test("a field named __proto__ travels as a field", () => {
    const body = JSON.parse('{"model":"route/a","messages":[],"__proto__":{"x":1}}') as Json;
    expect(chat.request(readChat(body), target, "sk-1").body).toContain('"__proto__":{"x":1}');
  });

  test("nesting too deep to be written is the client's fault, where Node cannot write it", () => {
    const depth = 200_000;
    const body = JSON.parse(`{"model":"route/a","messages":[],"x":${"[".repeat(depth)}${"]".repeat(depth)}}`) as Json;
    let outcome: string;
    try {
      const { body: sent } = chat.request(readChat(body), target, "sk-1");
      outcome = typeof sent === "string" && sent.length > depth ? "written" : "cut";
    } catch (error) {
      outcome = String(error);
    }
    expect(["written", "GatewayError: Invalid request: / is nested too deeply"]).toContain(outcome);
  });
});

describe("answer", () => {
  const body = {
    id: "1",
    choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  };

  test("a body with its usage", () => {
    const whole = { ...body, usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } };
    expect(chat.answer(bytes(whole))).toEqual({
      body: whole,
      usage: { prompt: 3, completion: 2, cached: 0, reasoning: 0 },
    });
  });

  test.each([
    ["none", undefined],
    ["null", null],
    ["half", { prompt_tokens: 3 }],
    ["negative", { prompt_tokens: -3, completion_tokens: 2 }],
    ["fractions", { prompt_tokens: 3.5, completion_tokens: 2 }],
    ["text", { prompt_tokens: "3", completion_tokens: 2 }],
    ["more than any model can", { prompt_tokens: 3, completion_tokens: 1e9 }],
  ])("usage that is missing or absurd is none: %s", (_, usage) => {
    expect(chat.answer(bytes({ ...body, usage })).usage).toBeNull();
  });

  test.each([
    ["nothing", "", "upstream sent a body that is not JSON"],
    ["HTML", "<html></html>", "upstream sent a body that is not JSON"],
    ["an array", "[]", "upstream sent a body that is not JSON"],
    ["no choices", {}, "upstream sent an answer without choices"],
    ["choices that are none", { choices: [1] }, "upstream sent an answer without choices"],
    ["a choice without a message", { choices: [{ delta: {} }] }, "upstream sent an answer without choices"],
    ["a cut body", JSON.stringify(body).slice(0, -5), "upstream sent a body that is not JSON"],
  ])("%s is not an answer", (_, sentBody, message) => {
    expect(() => chat.answer(bytes(sentBody))).toThrow(new AttemptError("protocol", message));
  });

  test.each([
    [{ error: { message: "model is <i>loading</i>" } }, "upstream reported an error: model is loading"],
    [{ error: "busy" }, "upstream reported an error: busy"],
    [{ error: {} }, "upstream reported an error"],
    [{ error: 1, choices: body.choices }, "upstream reported an error"],
  ])("an error inside a 200 is an error: %j", (sentBody, message) => {
    expect(() => chat.answer(bytes(sentBody))).toThrow(
      expect.objectContaining({ failure: "status", message }) as Error,
    );
  });

  test("error: null is no error", () => {
    expect(chat.answer(bytes({ ...body, error: null })).usage).toBeNull();
  });
});

describe("errorMessage", () => {
  test.each([
    [{ error: { message: "Unsupported parameter: 'max_tokens'" } }, "Unsupported parameter: 'max_tokens'"],
    [{ error: "bad" }, "bad"],
    [{ message: "bad <b>thing</b> at https://x.example/y" }, "bad thing at [url]"],
    [{ error: { message: { deep: 1 } } }, ""],
    [{ error: null, message: "why" }, "why"],
    [{}, ""],
    ["<html>413</html>", ""],
    ["", ""],
    ["[1]", ""],
  ])("%j", (body, message) => {
    expect(openai.errorMessage(bytes(body))).toBe(message);
  });
});
