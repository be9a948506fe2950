import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GatewayError } from "../../../src/kit/index.ts";
import { casesOf, expectedOf, type RequestCase, writtenOf } from "../cases.ts";
import { chatCall, outcome, WRITTEN } from "../bedrock/support.ts";
import { write } from "./support.ts";
import { RUNS } from "../../properties/runs.ts";

const CASES = casesOf<RequestCase>(new URL("requests/sends.yaml", import.meta.url));

test.each(CASES)("%s", (_, one) => {
  expect(writtenOf(one, write(chatCall(one.body, one.call)))).toEqual(expectedOf(one));
});

test("it goes to /v2/chat with a bearer key", () => {
  const { request } = write(chatCall({}));
  expect(request).toMatchObject({
    method: "POST",
    path: "/v2/chat",
    headers: { authorization: "Bearer key", accept: "application/json" },
  });
  expect(write(chatCall({}, { stream: true })).request.headers["accept"]).toBe("text/event-stream");
});

describe("refused, with the place", () => {
  test.each([
    [{ messages: "hi" }, "/messages must be a list"],
    [{ messages: [1] }, "/messages/0 must be an object"],
    [{ messages: [] }, "/messages must have a message with content"],
    [
      { messages: [{ role: "robot", content: "x" }] },
      "/messages/0/role must be system, developer, user, assistant or tool",
    ],
    [{ messages: [{ role: "user", content: 1 }] }, "/messages/0/content must be a string or a list of parts"],
    [{ messages: [{ role: "user", content: [1] }] }, "/messages/0/content/0 must be an object"],
    [{ messages: [{ role: "user", content: [{ type: "text" }] }] }, "/messages/0/content/0/text must be a string"],
    [
      { messages: [{ role: "user", content: [{ type: "image_url" }] }] },
      "/messages/0/content/0/image_url/url must be a string",
    ],
    [{ messages: [{ role: "tool", content: "x" }] }, "/messages/0/tool_call_id must be a string that is not empty"],
    [
      { messages: [{ role: "assistant", tool_calls: [{ id: "a", function: { name: "f", arguments: {} } }] }] },
      "/messages/0/tool_calls/0/function/arguments must be a string",
    ],
    [{ tools: {} }, "/tools must be a list"],
    [{ tools: [{ type: "function", function: {} }] }, "/tools/0/function/name must be a string"],
    [{ temperature: "hot" }, "/temperature must be a number"],
    [{ stop: [1] }, "/stop must be strings"],
  ])("%j", (body, message) => {
    expect(() => write(chatCall(body))).toThrow(new GatewayError("INVALID_REQUEST", `Invalid request: ${message}`));
  });
});

test("a PDF as the whole question is for another step of the chain", () => {
  const content = [{ type: "file", file: { file_data: "data:application/pdf;base64,JVBERi0=" } }];
  expect(() => write(chatCall({ messages: [{ role: "user", content }] }))).toThrow(
    expect.objectContaining({
      failure: "unsupported",
      message: "/messages/0/content cannot be expressed for this model",
    }),
  );
});

test("whatever a client sends is written or refused with its place: never another error", () => {
  const anything = fc.jsonValue({ maxDepth: 2 });
  const oneOf = (...values: readonly string[]): fc.Arbitrary<unknown> => fc.oneof(fc.constantFrom(...values), anything);
  const partly = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 6, arbitrary: fc.record(fields, { requiredKeys: [] }) }, { weight: 1, arbitrary: anything });
  const part = partly({
    type: oneOf("text", "image_url", "file", "refusal"),
    text: fc.oneof(fc.string(), anything),
    image_url: partly({ url: anything, detail: anything }),
    file: partly({ file_data: oneOf("data:text/plain;base64,YQ=="), filename: anything }),
  });
  const message = partly({
    role: oneOf("system", "user", "assistant", "tool"),
    content: fc.oneof(fc.string(), fc.array(part, { maxLength: 3 }), anything),
    tool_call_id: oneOf("a"),
    tool_calls: fc.oneof(
      fc.array(partly({ id: oneOf("a"), function: partly({ name: oneOf("f"), arguments: anything }) })),
      anything,
    ),
    reasoning_details: fc.oneof(fc.array(anything), anything),
    reasoning_content: anything,
  });
  const body = fc.record(
    {
      messages: fc.array(message, { maxLength: 4 }),
      tools: fc.oneof(fc.array(partly({ type: oneOf("function"), function: partly({ name: oneOf("f") }) })), anything),
      tool_choice: oneOf("auto", "none", "required"),
      documents: anything,
      response_format: anything,
      thinking: anything,
      stop: anything,
    },
    { requiredKeys: ["messages"] },
  );
  fc.assert(
    fc.property(body, (given) => {
      let dropped: readonly string[] = [];
      const ended = outcome(() => ({ dropped } = write(chatCall(given))));
      expect(ended).toMatch(WRITTEN);
      expect(dropped.filter((pointer) => !pointer.startsWith("/"))).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});
