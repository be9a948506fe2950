import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AttemptError, GatewayError, type Json } from "../../../src/kit/index.ts";
import { target } from "../../upstream/support/build.ts";
import { FIELDS, MESSAGES, MODEL_FIELDS, REFUSED, type RequestCase } from "./request-cases.ts";
import { chatCall, CLAUDE, codec, outcome, write, WRITTEN } from "./support.ts";
import { RUNS } from "../../properties/runs.ts";

function check({ model, body, call, has = {}, lacks = [], dropped = [] }: RequestCase): void {
  const written = write(chatCall(body, call), model);
  for (const [name, value] of Object.entries(has)) expect(written.body[name]).toEqual(value);
  for (const name of lacks) expect(written.body).not.toHaveProperty(name);
  expect(written.dropped).toEqual(dropped);
}

describe("messages", () => {
  test.each(MESSAGES)("$name", check);
});

describe("fields", () => {
  test.each(FIELDS)("$name", check);
});

describe("fields of the model's family", () => {
  test.each(MODEL_FIELDS)("$name", check);
});

describe("refused, with the place", () => {
  test.each(REFUSED)("%s", (_, body, message) => {
    expect(() => write(chatCall(body))).toThrow(new GatewayError("INVALID_REQUEST", `Invalid request: ${message}`));
  });

  // How deep JSON can be written is the engine's affair.
  test.each([
    ["an answer's schema", (schema: Json) => ({ response_format: { type: "json_schema", json_schema: { schema } } })],
    [
      "a tool's schema",
      (schema: Json) => ({ tools: [{ type: "function", function: { name: "a", parameters: schema } }] }),
    ],
  ])("%s that is nested very deeply is written or refused", (_, body) => {
    let schema: Json = {};
    for (let depth = 0; depth < 200_000; depth++) schema = { a: schema };
    const call = chatCall(body(schema));
    const ended = outcome(() => codec.request(call, target({ model: CLAUDE }), "key"));
    expect(ended).toMatch(/^(done|GatewayError: Invalid request: .* is nested too deeply)$/);
  });
});

test("an image on the web as the whole question is for another step of the chain", () => {
  const content = [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }];
  const call = chatCall({ messages: [{ role: "user", content }] });
  const attempt = (): unknown => write(call);
  expect(attempt).toThrow(AttemptError);
  expect(attempt).toThrow(
    expect.objectContaining({
      failure: "unsupported",
      message: "/messages/0/content cannot be expressed for this model",
    }),
  );
});

describe("addresses", () => {
  test.each([
    ["anthropic.claude-v2:1", "/model/anthropic.claude-v2%3A1/converse"],
    [
      "arn:aws:bedrock:us-east-1:1:inference-profile/us.a",
      "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.a/converse",
    ],
  ])("%s: %s", (model, path) => {
    expect(write(chatCall({}), model).request).toMatchObject({
      method: "POST",
      path,
      headers: { authorization: "Bearer key", "content-type": "application/json", accept: "application/json" },
    });
  });

  test("a stream is asked for as an event stream", () => {
    const { request, body } = write(chatCall({}, { stream: true }));
    expect(request.path).toBe("/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream");
    expect(request.headers["accept"]).toBe("application/vnd.amazon.eventstream");
    expect(codec.streamType).toBe("application/vnd.amazon.eventstream");
    expect(Object.keys(body)).toEqual(["messages"]);
  });

  test("a key that signs is no bearer token", () => {
    expect(write(chatCall({}), CLAUDE, "AKID:secret").request.headers).not.toHaveProperty("authorization");
  });
});

/** Anything a client might put where a message's, part's or tool's fields belong. */
const anything = fc.jsonValue({ maxDepth: 2 });
const partly = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 6, arbitrary: fc.record(fields, { requiredKeys: [] }) }, { weight: 1, arbitrary: anything });
const oneOf = (...values: readonly string[]): fc.Arbitrary<unknown> => fc.oneof(fc.constantFrom(...values), anything);
const part = partly({
  type: oneOf("text", "image_url", "file", "input_audio", "refusal", "native"),
  text: fc.oneof(fc.string(), anything),
  image_url: partly({ url: oneOf("data:image/png;base64,AA==", "https://x", "s3://a/b.png"), detail: anything }),
  file: partly({ file_data: oneOf("data:text/plain;base64,AA=="), filename: anything, citations: anything }),
  cache_control: anything,
  native: anything,
});
const message = partly({
  role: oneOf("system", "user", "assistant", "tool", "developer"),
  content: fc.oneof(fc.string(), fc.array(part, { maxLength: 3 }), anything),
  tool_call_id: oneOf("a", "b"),
  tool_calls: fc.oneof(
    fc.array(partly({ id: oneOf("a", "b"), function: partly({ name: oneOf("f"), arguments: oneOf("{}", "{") }) })),
    anything,
  ),
  reasoning_details: fc.oneof(
    fc.array(partly({ type: oneOf("reasoning.text", "reasoning.encrypted"), text: anything, signature: anything })),
    anything,
  ),
  block_order: anything,
});

test("whatever a client sends is written or refused with its place: never another error", () => {
  const body = fc.record(
    {
      messages: fc.array(message, { maxLength: 4 }),
      tools: fc.oneof(fc.array(partly({ type: oneOf("function"), function: partly({ name: oneOf("f") }) })), anything),
      tool_choice: oneOf("auto", "none", "required"),
      stop: anything,
      response_format: anything,
      thinking: anything,
      reasoning_effort: anything,
      metadata: anything,
      parallel_tool_calls: anything,
    },
    { requiredKeys: ["messages"] },
  );
  fc.assert(
    fc.property(body, fc.constantFrom(CLAUDE, "meta.llama3", "amazon.nova-2-lite-v1:0"), (given, model) => {
      let dropped: readonly string[] = [];
      const ended = outcome(() => ({ dropped } = write(chatCall(given), model)));
      expect(ended).toMatch(WRITTEN);
      expect(dropped.filter((pointer) => !pointer.startsWith("/"))).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});
