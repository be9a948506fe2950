import { describe, expect, test } from "vitest";
import { refusalOf } from "../../support/refusal.ts";
import { type Cases, casesOf, expectedOf, type RequestCase, writtenOf } from "../cases.ts";
import { chatCall } from "../bedrock/support.ts";
import { write } from "./support.ts";

const CASES = casesOf(new URL("requests/sends.yaml", import.meta.url)) as Cases<RequestCase>;

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
    expect(() => write(chatCall(body))).toThrow(refusalOf(message));
  });
});

test("a PDF as the whole question leaves a text that says so", () => {
  const content = [{ type: "file", file: { file_data: "data:application/pdf;base64,JVBERi0=" } }];
  const { body, dropped } = write(chatCall({ messages: [{ role: "user", content }] }));
  const said = "[file omitted: this model takes text and images only]";
  expect(body).toMatchObject({ messages: [{ role: "user", content: said }] });
  expect(dropped).toEqual(["/messages/0/content/0"]);
});
