import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Call, GatewayError, type Json } from "../../../src/kit/index.ts";
import { chatCall, outcome, WRITTEN } from "../bedrock/support.ts";
import { write } from "./support.ts";
import { RUNS } from "../../properties/runs.ts";

interface Case {
  readonly name: string;
  readonly body: Json;
  readonly call?: Partial<Call>;
  readonly has?: Json;
  readonly lacks?: readonly string[];
  readonly dropped?: readonly string[];
}

const PNG = "data:image/png;base64,iVBORw0KGgo=";
const asked: Json = { role: "user", content: "hi" };
const called: Json = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "c1", type: "function", function: { name: "find", arguments: '{"q":1}' } }],
};
const CALLS = [{ id: "c1", type: "function", function: { name: "find", arguments: '{"q":1}' } }];
const tool = (name: string, more: Json = {}): Json => ({
  type: "function",
  function: { name, parameters: { a: 1 }, ...more },
});
const SCHEMA: Json = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
const plain = (name: string): Json => ({ type: "function", function: { name, parameters: { a: 1 } } });

const MESSAGES: readonly Case[] = [
  {
    name: "a text",
    body: {},
    has: { model: "command-a-reasoning-08-2025", messages: [asked], stream: false },
    lacks: ["documents", "tools", "max_tokens"],
  },
  { name: "a stream", body: {}, call: { stream: true }, has: { stream: true } },
  {
    name: "roles and parts",
    body: {
      messages: [
        { role: "developer", content: "d" },
        { role: "system", content: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }] },
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "image_url", image_url: { url: PNG, detail: "low" } },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "text", text: "b" },
            { type: "refusal", refusal: "c" },
          ],
        },
        { role: "user", content: [{ type: "image_url", image_url: "https://example.com/a.png" }] },
      ],
    },
    has: {
      messages: [
        { role: "system", content: "d" },
        { role: "system", content: "s" },
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "image_url", image_url: { url: PNG, detail: "low" } },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "text", text: "b" },
            { type: "text", text: "c" },
          ],
        },
        { role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }] },
      ],
    },
  },
  {
    name: "a call, what was planned for it, and its result",
    body: {
      messages: [
        asked,
        { ...called, reasoning_content: "plan" },
        {
          role: "tool",
          tool_call_id: "c1",
          content: [
            { type: "text", text: "x" },
            { type: "image_url", image_url: { url: PNG } },
          ],
        },
        { role: "tool", tool_call_id: "c1", content: "", is_error: true },
      ],
    },
    has: {
      messages: [
        asked,
        { role: "assistant", tool_calls: CALLS, tool_plan: "plan" },
        { role: "tool", tool_call_id: "c1", content: "x" },
        { role: "tool", tool_call_id: "c1", content: "(no output)" },
      ],
    },
    dropped: ["/messages/2/content/1", "/messages/3/is_error"],
  },
  {
    name: "thinking goes back before the text it led to",
    body: {
      messages: [
        asked,
        {
          role: "assistant",
          content: "a",
          reasoning_details: [{ type: "reasoning.text", text: "hm", signature: "s" }],
        },
        {
          role: "assistant",
          content: "b",
          reasoning_details: [{ type: "reasoning.encrypted", data: "x" }],
          reasoning: "r",
        },
        { role: "assistant", content: "", reasoning_content: "only thought" },
      ],
    },
    has: {
      messages: [
        asked,
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm" },
            { type: "text", text: "a" },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "r" },
            { type: "text", text: "b" },
          ],
        },
      ],
    },
    dropped: ["/messages/2/reasoning_details/0"],
  },
  {
    name: "text files are documents beside the client's own",
    body: {
      documents: [{ data: { text: "own" } }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "read" },
            {
              type: "file",
              file: { file_data: "data:text/plain;charset=utf-8;base64,R3LDvMOfZQ==", filename: "a.txt" },
            },
            { type: "file", file: { file_data: "data:application/json;base64,e30=", context: "c" } },
            { type: "file", file: { file_data: "data:application/pdf;base64,JVBERi0=" } },
            { type: "file", file: { file_id: "f" } },
            { type: "input_audio", input_audio: { data: "AA==", format: "wav" } },
          ],
        },
        { role: "user", content: [{ type: "file", file: { file_data: "data:text/csv;base64,YQ==" } }] },
      ],
    },
    has: {
      messages: [
        { role: "user", content: "read" },
        { role: "user", content: "(see documents)" },
      ],
      documents: [
        { data: { text: "own" } },
        { data: { title: "a.txt", text: "Grüße" } },
        { data: { text: "{}" } },
        { data: { text: "a" } },
      ],
    },
    dropped: [
      "/messages/0/content/2/file/context",
      "/messages/0/content/3",
      "/messages/0/content/4",
      "/messages/0/content/5",
    ],
  },
  {
    name: "messages that say nothing are left out",
    body: {
      messages: [
        { role: "system", content: "" },
        { role: "user", content: [] },
        { role: "assistant", content: null },
        asked,
      ],
    },
    has: { messages: [asked] },
  },
  {
    name: "arguments that were never written",
    body: {
      messages: [
        asked,
        {
          role: "assistant",
          tool_calls: [
            { id: "a", function: { name: "f", arguments: "" } },
            { id: "b", function: { name: "f" } },
          ],
        },
      ],
    },
    has: {
      messages: [
        asked,
        {
          role: "assistant",
          tool_calls: [
            { id: "a", type: "function", function: { name: "f", arguments: "{}" } },
            { id: "b", type: "function", function: { name: "f", arguments: "{}" } },
          ],
        },
      ],
    },
  },
];

const FIELDS: readonly Case[] = [
  {
    name: "sampling and limits under Cohere's names",
    body: {
      max_tokens: 5,
      max_completion_tokens: 7,
      temperature: 0.3,
      top_p: 0.9,
      top_k: 40,
      seed: 3,
      frequency_penalty: 0.5,
      presence_penalty: 0,
      stop: ["a", "", "b"],
    },
    has: {
      max_tokens: 7,
      temperature: 0.3,
      p: 0.9,
      k: 40,
      seed: 3,
      frequency_penalty: 0.5,
      presence_penalty: 0,
      stop_sequences: ["a", "b"],
    },
    lacks: ["top_p", "top_k", "stop", "max_completion_tokens"],
  },
  {
    name: "values beyond Cohere's are the nearest, and reported",
    body: { top_k: 1000, frequency_penalty: -1, presence_penalty: 2, stop: ["1", "2", "3", "4", "5", "6"] },
    has: { k: 500, frequency_penalty: 0, presence_penalty: 1, stop_sequences: ["1", "2", "3", "4", "5"] },
    dropped: ["/top_k", "/frequency_penalty", "/presence_penalty", "/stop"],
  },
  { name: "top_p of 1 is the highest p", body: { top_p: 1, stop: "x" }, has: { p: 0.99, stop_sequences: ["x"] } },
  {
    name: "what Cohere has no field for is reported",
    body: {
      n: 2,
      logprobs: true,
      user: "u",
      logit_bias: { a: 1 },
      parallel_tool_calls: false,
      metadata: { a: "b" },
      store: false,
    },
    dropped: ["/n", "/logprobs", "/user", "/logit_bias", "/parallel_tool_calls", "/metadata"],
  },
  {
    name: "Cohere's own fields travel",
    body: { safety_mode: "NONE", citation_options: { mode: "off" }, priority: 1 },
    has: { safety_mode: "NONE", citation_options: { mode: "off" }, priority: 1 },
  },
  {
    name: "a Responses client's own fields are reported under its names",
    body: { user: "u", max_completion_tokens: 3, response_format: { type: "grammar" } },
    call: { dialect: "responses", native: { tools: [{ type: "web_search" }], include: [] } },
    has: { max_tokens: 3 },
    dropped: ["/text/format", "/user", "/tools"],
  },
  ...(
    [
      ["auto", { tools: [plain("a"), plain("b")] }, ["tool_choice"]],
      ["required", { tools: [plain("a"), plain("b")], tool_choice: "REQUIRED" }, []],
      ["none", { tools: [plain("a"), plain("b")], tool_choice: "NONE" }, []],
      [{ type: "function", function: { name: "b" } }, { tools: [plain("b")], tool_choice: "REQUIRED" }, []],
    ] as const
  ).map(([choice, has, lacks]): Case => ({
    name: `tool_choice ${JSON.stringify(choice)}`,
    body: { tools: [tool("a"), tool("b")], tool_choice: choice },
    has,
    lacks,
  })),
  {
    name: "a choice that cannot be made",
    body: { tools: [tool("a")], tool_choice: { type: "function", function: { name: "x" } } },
    has: { tools: [plain("a")] },
    lacks: ["tool_choice"],
    dropped: ["/tool_choice"],
  },
  {
    name: "a choice among none",
    body: { tool_choice: "required" },
    lacks: ["tools", "tool_choice"],
    dropped: ["/tool_choice"],
  },
  {
    name: "all tools strict",
    body: {
      tools: [tool("a", { strict: true, description: "d", parameters: { ...SCHEMA, additionalProperties: false } })],
    },
    has: {
      tools: [{ type: "function", function: { name: "a", description: "d", parameters: SCHEMA } }],
      strict_tools: true,
    },
  },
  {
    name: "a strict tool whose calls cannot be held to its schema",
    body: { tools: [tool("a", { strict: true })] },
    has: { tools: [plain("a")] },
    lacks: ["strict_tools"],
    dropped: ["/tools/0/function/strict"],
  },
  {
    name: "some tools strict, some none of Cohere's",
    body: { tools: [tool("a", { strict: true }), tool("b"), { type: "custom" }] },
    has: { tools: [plain("a"), plain("b")] },
    lacks: ["strict_tools"],
    dropped: ["/tools/2", "/tools/0/function/strict"],
  },
  {
    name: "JSON",
    body: { response_format: { type: "json_object" } },
    has: { response_format: { type: "json_object" } },
  },
  {
    name: "JSON with a schema",
    body: {
      response_format: {
        type: "json_schema",
        json_schema: { name: "n", schema: { ...SCHEMA, properties: { a: { type: "string", minLength: 2 } } } },
      },
    },
    has: { response_format: { type: "json_object", json_schema: SCHEMA } },
    dropped: ["/response_format/json_schema/schema/properties/a/minLength"],
  },
  {
    name: "JSON beside tools, of which Cohere takes one",
    body: { tools: [tool("a")], response_format: { type: "json_object" } },
    has: { tools: [plain("a")] },
    lacks: ["response_format"],
    dropped: ["/response_format"],
  },
  {
    name: "JSON with a schema beside tools is asked for by a tool",
    body: { tools: [tool("a")], response_format: { type: "json_schema", json_schema: { name: "n", schema: SCHEMA } } },
    has: {
      tools: [
        plain("a"),
        {
          type: "function",
          function: { name: "json", description: "Respond with a JSON object.", parameters: SCHEMA },
        },
      ],
      tool_choice: "REQUIRED",
    },
    lacks: ["response_format"],
  },
  { name: "text", body: { response_format: { type: "text" } }, lacks: ["response_format"] },
  ...(
    [
      [{ thinking: { type: "enabled", budget_tokens: 100 } }, { thinking: { type: "enabled", token_budget: 100 } }, []],
      [{ thinking: { type: "adaptive" } }, { thinking: { type: "enabled" } }, []],
      [{ thinking: { type: "disabled" } }, { thinking: { type: "disabled" } }, []],
      [{ thinking: "on" }, {}, ["/thinking"]],
      [{ reasoning_effort: "none" }, { thinking: { type: "disabled" } }, []],
      [{ reasoning_effort: "high" }, {}, ["/reasoning_effort"]],
    ] as readonly (readonly [Json, Json, readonly string[]])[]
  ).map(([body, has, dropped]): Case => ({
    name: JSON.stringify(body),
    body,
    has,
    lacks: "thinking" in has ? [] : ["thinking"],
    dropped,
  })),
];

test.each([...MESSAGES, ...FIELDS])("$name", ({ body, call, has = {}, lacks = [], dropped = [] }) => {
  const written = write(chatCall(body, call));
  for (const [name, value] of Object.entries(has)) expect(written.body[name]).toEqual(value);
  for (const name of lacks) expect(written.body).not.toHaveProperty(name);
  expect(written.dropped).toEqual(dropped);
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
