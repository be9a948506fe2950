import { expect, test } from "vitest";
import { bodyValidator } from "../../src/config/bodies.ts";

const check = bodyValidator("chat");
const ok = { model: "route/one", messages: [{ role: "user", content: "hi" }] };

test.for<[object]>([
  [ok],
  [{ ...ok, temperature: null, top_p: 1, max_tokens: 1, stream: null, stream_options: null, stop: null, user: null }],
  [{ ...ok, stream: true, stream_options: { include_usage: true }, stop: ["a", "b"], n: 2, seed: -1 }],
  [{ ...ok, max_completion_tokens: 5, response_format: { type: "json_object" }, future_field: { any: [1] } }],
  [
    {
      ...ok,
      tools: [
        { type: "function", function: { name: "f", parameters: {} } },
        { type: "custom", custom: {} },
      ],
    },
  ],
  [{ ...ok, tool_choice: { type: "function", function: { name: "f" } } }],
  [
    {
      ...ok,
      messages: [
        {
          role: "developer",
          content: [
            { type: "text", text: "a" },
            { type: "image_url", image_url: {} },
          ],
        },
      ],
    },
  ],
  [
    {
      ...ok,
      messages: [
        { role: "assistant", content: null, tool_calls: [{ id: "1" }] },
        { role: "tool", content: "x", tool_call_id: "1" },
      ],
    },
  ],
  [{ ...ok, messages: [{ role: "assistant" }, { role: "function", name: "f", content: "x" }] }],
])("a good body: %j", ([body]) => {
  expect(check(body)).toBeNull();
});

test.for<[unknown, string, string]>([
  [null, "/", "must be an object"],
  [[], "/", "must be an object"],
  ["text", "/", "must be an object"],
  [{}, "/model", "is required"],
  [{ model: "route/one" }, "/messages", "is required"],
  [{ ...ok, model: "" }, "/model", "must not be empty"],
  [{ ...ok, model: 5 }, "/model", "must be a string"],
  [{ ...ok, model: null }, "/model", "must be a string"],
  [{ ...ok, messages: [] }, "/messages", "must not be empty"],
  [{ ...ok, messages: "hi" }, "/messages", "must be an array"],
  [{ ...ok, messages: {} }, "/messages", "must be an array"],
  [{ ...ok, messages: ["hi"] }, "/messages/0", "must be an object"],
  [{ ...ok, messages: [{ content: "hi" }] }, "/messages/0/role", "is required"],
  [{ ...ok, messages: [{ role: 7 }] }, "/messages/0/role", "must be a string"],
  [{ ...ok, messages: [{ role: "user", content: 7 }] }, "/messages/0/content", "must be a string, an array or null"],
  [{ ...ok, messages: [{ role: "user", content: [{}] }] }, "/messages/0/content/0/type", "is required"],
  [{ ...ok, temperature: "1" }, "/temperature", "must be a number or null"],
  [{ ...ok, max_tokens: 0 }, "/max_tokens", "must be at least 1"],
  [{ ...ok, max_tokens: 1.5 }, "/max_tokens", "must be an integer or null"],
  [{ ...ok, max_completion_tokens: "5" }, "/max_completion_tokens", "must be an integer or null"],
  [{ ...ok, stream: "true" }, "/stream", "must be a boolean or null"],
  [{ ...ok, stream_options: { include_usage: 1 } }, "/stream_options/include_usage", "must be a boolean or null"],
  [{ ...ok, tools: {} }, "/tools", "must be an array or null"],
  [{ ...ok, tools: [1] }, "/tools/0", "must be an object"],
  [{ ...ok, tools: [{ type: "function", function: {} }] }, "/tools/0/function/name", "is required"],
  [{ ...ok, tool_choice: 1 }, "/tool_choice", "must be a string, an object or null"],
  [{ ...ok, stop: [1] }, "/stop/0", "must be a string"],
  [{ ...ok, logit_bias: 5 }, "/logit_bias", "must be an object or null"],
  [{ ...ok, user: 1 }, "/user", "must be a string or null"],
])("a bad body: %j", ([body, pointer, what]) => {
  expect(check(body)).toEqual({ pointer, what });
});

test("a good body leaves no trace of the bad one before it", () => {
  expect(check({})).not.toBeNull();
  expect(check(ok)).toBeNull();
});
