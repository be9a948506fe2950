import type { Json } from "../../../src/kit/index.ts";

/*
 * Requests that are legal in each client's own format, one each for what some vendor or model refuses as it comes: the order
 * of roles, what contents hold, choices of tools, formats, marks of caches. `said` must reach every target.
 */

export interface Case {
  readonly format: "chat" | "messages" | "responses";
  readonly about: string;
  readonly body: Json;
  /** Words that are in what is sent, wherever it goes. */
  readonly said: readonly string[];
}

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const PDF = "JVBERi0xLjQKJSVFT0YK";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQAAAAA=";

const SCHEMA = { type: "object", properties: { q: { type: "string" } }, required: ["q"], additionalProperties: false };
const user = (content: unknown): Json => ({ role: "user", content });
const assistant = (content: unknown): Json => ({ role: "assistant", content });
const system = (content: unknown): Json => ({ role: "system", content });
const text = (said: string): Json => ({ type: "text", text: said });

const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } };
const imageUrl = { type: "image_url", image_url: { url: "https://media.example/a.png", detail: "low" } };
const file = { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` } };
const audio = { type: "input_audio", input_audio: { data: WAV, format: "wav" } };

const tool = (name: string): Json => ({ type: "function", function: { name, description: "d", parameters: SCHEMA } });
const call = (id: string, name = "find"): Json => ({
  id,
  type: "function",
  function: { name, arguments: '{"q":"cats"}' },
});
const calls = (...made: readonly Json[]): Json => ({ role: "assistant", content: null, tool_calls: made });
const result = (id: string, content: unknown): Json => ({ role: "tool", tool_call_id: id, content });
const tools = [tool("find"), tool("open")];

const chat = (about: string, body: Json, ...said: readonly string[]): Case => ({ format: "chat", about, body, said });

const CHAT: readonly Case[] = [
  chat("one question", { messages: [user("alpha")] }, "alpha"),
  chat("two users in a row", { messages: [system("rules"), user("alpha"), user("beta")] }, "rules", "alpha", "beta"),
  chat(
    "two answers in a row",
    { messages: [user("alpha"), assistant("beta"), assistant("gamma"), user("delta")] },
    "beta",
    "gamma",
    "delta",
  ),
  chat("the assistant first", { messages: [system("rules"), assistant("alpha"), user("beta")] }, "alpha", "beta"),
  chat("the assistant last", { messages: [user("alpha"), assistant("beta")] }, "alpha", "beta"),
  chat(
    "the assistant last, as parts",
    { messages: [user([text("alpha")]), assistant([text("beta")])] },
    "alpha",
    "beta",
  ),
  chat("instructions alone", { messages: [system("alpha")] }, "alpha"),
  chat("several instructions", { messages: [system("alpha"), system("beta"), user("gamma")] }, "alpha", "beta"),
  chat(
    "instructions in the middle",
    { messages: [system("alpha"), user("beta"), assistant("gamma"), system("delta"), user("epsilon")] },
    "delta",
    "epsilon",
  ),
  chat("instructions last", { messages: [user("alpha"), assistant("beta"), system("gamma")] }, "beta", "gamma"),
  chat("a developer", { messages: [{ role: "developer", content: "alpha" }, user("beta")] }, "alpha", "beta"),
  chat(
    "names",
    {
      messages: [
        { ...user("alpha"), name: "ann" },
        { ...user("beta"), name: "bob" },
      ],
    },
    "alpha",
    "beta",
  ),
  chat(
    "parts of text",
    { messages: [system([text("alpha"), text("beta")]), user([text("gamma"), text("delta")])] },
    "alpha",
    "delta",
  ),
  chat("an answer without words", { messages: [user("alpha"), assistant(""), user("beta")] }, "alpha", "beta"),
  chat(
    "a refusal",
    { messages: [user("alpha"), { role: "assistant", content: null, refusal: "beta" }, user("gamma")] },
    "beta",
  ),
  chat(
    "a refusal behind words",
    { messages: [user("alpha"), { role: "assistant", content: "beta", refusal: "gamma" }, user("delta")] },
    "beta",
    "gamma",
  ),
  chat(
    "a tool loop",
    { messages: [user("alpha"), calls(call("call_1")), result("call_1", "beta")], tools },
    "alpha",
    "cats",
    "beta",
  ),
  chat(
    "parallel calls, and a user right after",
    {
      messages: [
        user("alpha"),
        calls(call("call_1"), call("call_2", "open")),
        result("call_2", "beta"),
        result("call_1", [text("gamma")]),
        user("delta"),
      ],
      tools,
    },
    "beta",
    "gamma",
    "delta",
  ),
  chat(
    "words beside a call",
    {
      messages: [
        user("alpha"),
        { ...calls(call("call_1")), content: "beta", reasoning_content: "Hm." },
        result("call_1", "gamma"),
        assistant("delta"),
        user("epsilon"),
      ],
      tools,
    },
    "beta",
    "epsilon",
  ),
  chat(
    "instructions after a result",
    { messages: [user("alpha"), calls(call("call_1")), result("call_1", "beta"), system("gamma")], tools },
    "beta",
    "gamma",
  ),
  chat(
    "a result without words",
    { messages: [user("alpha"), calls(call("call_1")), result("call_1", "")], tools },
    "alpha",
  ),
  chat(
    "a history of tools without tools",
    {
      messages: [user("alpha"), calls(call("call_1")), result("call_1", "beta"), assistant("gamma"), user("delta")],
    },
    "beta",
    "delta",
  ),
  chat(
    "long and strange ids",
    {
      messages: [user("alpha"), calls(call(`call.${"x".repeat(90)}|ä`)), result(`call.${"x".repeat(90)}|ä`, "beta")],
      tools,
    },
    "beta",
  ),
  chat("an image", { messages: [user([text("alpha"), image])] }, "alpha"),
  chat("an image by its address", { messages: [user([text("alpha"), imageUrl])] }, "alpha"),
  chat("an image alone, earlier", { messages: [user([image]), assistant("alpha"), user("beta")] }, "alpha", "beta"),
  chat("a file", { messages: [user([text("alpha"), file])] }, "alpha"),
  chat("audio", { messages: [user([text("alpha"), audio])] }, "alpha"),
  chat(
    "one tool of two allowed",
    {
      messages: [user("alpha")],
      tools,
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "find" } }] },
      },
    },
    "alpha",
  ),
  chat(
    "a named tool",
    {
      messages: [user("alpha")],
      tools,
      tool_choice: { type: "function", function: { name: "find" } },
    },
    "alpha",
  ),
  chat("a tool is demanded", { messages: [user("alpha")], tools, tool_choice: "required" }, "alpha"),
  chat(
    "140 tools",
    {
      messages: [user("alpha"), calls(call("call_1", "tool_139")), result("call_1", "beta")],
      tools: Array.from({ length: 140 }, (_, index) => tool(`tool_${index}`)),
    },
    "beta",
  ),
  chat("tools and an effort", { messages: [user("alpha")], tools, reasoning_effort: "high" }, "alpha"),
  chat("verbosity", { messages: [user("alpha")], verbosity: "low" }, "alpha"),
  chat("JSON", { messages: [user("alpha, as JSON")], response_format: { type: "json_object" } }, "alpha"),
  chat(
    "JSON beside tools",
    {
      messages: [user("alpha, as JSON")],
      tools,
      response_format: { type: "json_object" },
    },
    "alpha",
  ),
  chat(
    "a schema beside tools",
    {
      messages: [user("alpha, as JSON")],
      tools,
      response_format: { type: "json_schema", json_schema: { name: "a", strict: true, schema: SCHEMA } },
    },
    "alpha",
  ),
  chat(
    "marks of a cache",
    {
      messages: [
        system([{ ...text("alpha"), cache_control: { type: "ephemeral", ttl: "1h" } }]),
        user([{ ...text("beta"), cache_control: { type: "ephemeral" } }]),
      ],
    },
    "alpha",
    "beta",
  ),
  chat(
    "a tool without parameters, at a high temperature",
    { messages: [user("alpha")], tools: [{ type: "function", function: { name: "ping" } }], temperature: 2 },
    "alpha",
  ),
  chat(
    "functions, as before there were tools",
    {
      messages: [
        user("alpha"),
        { role: "assistant", content: null, function_call: { name: "find", arguments: '{"q":"cats"}' } },
        { role: "function", name: "find", content: "beta" },
      ],
      functions: [{ name: "find", parameters: SCHEMA }],
      function_call: "auto",
    },
    "alpha",
    "beta",
  ),
  chat("a prediction", { messages: [user("alpha")], prediction: { type: "content", content: "p" } }, "alpha"),
  chat("32,000 tokens", { messages: [user("alpha")], max_tokens: 32_000 }, "alpha"),
  chat(
    "every usual parameter",
    {
      messages: [user("alpha")],
      max_completion_tokens: 500,
      temperature: 0.5,
      top_p: 0.9,
      n: 1,
      stop: "HALT",
      seed: 7,
      presence_penalty: 0.5,
      frequency_penalty: 0.5,
      logit_bias: { "50": 1 },
      logprobs: true,
      top_logprobs: 2,
      user: "u".repeat(70),
      metadata: { a: "b" },
      store: true,
      service_tier: "auto",
      modalities: ["text"],
      prompt_cache_key: "k",
      safety_identifier: "s",
    },
    "alpha",
  ),
];

const messages = (about: string, body: Json, ...said: readonly string[]): Case => ({
  format: "messages",
  about,
  body: { max_tokens: 1_000, ...body },
  said,
});
const use = (id: string): Json => ({ type: "tool_use", id, name: "find", input: { q: "cats" } });
const found = (id: string, content: unknown, more: Json = {}): Json => ({
  type: "tool_result",
  tool_use_id: id,
  content,
  ...more,
});
const block = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
const document = { type: "document", source: { type: "base64", media_type: "application/pdf", data: PDF } };
const claudeTools = [
  { name: "find", input_schema: SCHEMA },
  { name: "open", input_schema: SCHEMA },
];

const MESSAGES: readonly Case[] = [
  messages("one question", { messages: [user("alpha")] }, "alpha"),
  messages("32,000 tokens", { messages: [user("alpha")], max_tokens: 32_000, thinking: { type: "adaptive" } }, "alpha"),
  messages("two users in a row", { messages: [user("alpha"), user("beta")] }, "alpha", "beta"),
  messages("the assistant first", { messages: [assistant("alpha"), user("beta")] }, "alpha", "beta"),
  messages("the assistant last", { messages: [user("alpha"), assistant("beta")] }, "alpha", "beta"),
  messages(
    "a result, and words behind it",
    {
      system: [{ ...text("rules"), cache_control: { type: "ephemeral", ttl: "1h" } }],
      tools: claudeTools,
      messages: [
        user("alpha"),
        assistant([text("beta"), use("toolu_1")]),
        user([found("toolu_1", "gamma"), text("[Request interrupted by user]")]),
      ],
    },
    "rules",
    "beta",
    "gamma",
    "interrupted",
  ),
  messages(
    "a result that is an image",
    {
      tools: claudeTools,
      messages: [user("alpha"), assistant([use("toolu_1")]), user([found("toolu_1", [block])])],
    },
    "alpha",
  ),
  messages(
    "a result that is a document",
    {
      tools: claudeTools,
      messages: [user("alpha"), assistant([use("toolu_1")]), user([found("toolu_1", [text("beta"), document])])],
    },
    "beta",
  ),
  messages(
    "a result without words",
    {
      tools: claudeTools,
      messages: [user("alpha"), assistant([use("toolu_1")]), user([found("toolu_1", [])])],
    },
    "alpha",
  ),
  messages(
    "a tool that failed",
    {
      tools: claudeTools,
      messages: [user("alpha"), assistant([use("toolu_1")]), user([found("toolu_1", "beta", { is_error: true })])],
    },
    "beta",
  ),
  messages(
    "two calls, two results, thoughts",
    {
      tools: claudeTools,
      thinking: { type: "enabled", budget_tokens: 1_024 },
      max_tokens: 4_000,
      messages: [
        user("alpha"),
        assistant([{ type: "thinking", thinking: "Hm.", signature: "s" }, use("toolu_1"), use("toolu_2")]),
        user([found("toolu_1", "beta"), found("toolu_2", "gamma")]),
        assistant("delta"),
        user("epsilon"),
      ],
    },
    "beta",
    "gamma",
    "epsilon",
  ),
  messages("an image", { messages: [user([block, text("alpha")])] }, "alpha"),
  messages(
    "an image by its address",
    {
      messages: [user([{ type: "image", source: { type: "url", url: "https://media.example/a.png" } }, text("alpha")])],
    },
    "alpha",
  ),
  messages("a document", { messages: [user([document, text("alpha")])] }, "alpha"),
  messages(
    "a document by its address",
    {
      messages: [
        user([{ type: "document", source: { type: "url", url: "https://media.example/a.pdf" } }, text("alpha")]),
      ],
    },
    "alpha",
  ),
  messages("any tool", { messages: [user("alpha")], tools: claudeTools, tool_choice: { type: "any" } }, "alpha"),
  messages(
    "one tool",
    {
      messages: [user("alpha")],
      tools: claudeTools,
      tool_choice: { type: "tool", name: "find", disable_parallel_tool_use: true },
    },
    "alpha",
  ),
  messages(
    "a schema",
    {
      messages: [user("alpha")],
      output_config: { format: { type: "json_schema", schema: SCHEMA }, effort: "high" },
    },
    "alpha",
  ),
];

const responses = (about: string, body: Json, ...said: readonly string[]): Case => ({
  format: "responses",
  about,
  body: { store: false, ...body },
  said,
});
const made = (id: string): Json => ({ type: "function_call", call_id: id, name: "find", arguments: '{"q":"cats"}' });
const output = (id: string, given: unknown): Json => ({ type: "function_call_output", call_id: id, output: given });
const responsesTools = [
  { type: "function", name: "find", parameters: SCHEMA, strict: true },
  { type: "function", name: "open", parameters: SCHEMA, strict: false },
];

const RESPONSES: readonly Case[] = [
  responses("one question", { input: "alpha" }, "alpha"),
  responses(
    "instructions, and a developer in the middle",
    {
      instructions: "rules",
      input: [
        { role: "developer", content: "alpha" },
        user("beta"),
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "gamma" }] },
        { role: "developer", content: "delta" },
        user("epsilon"),
      ],
    },
    "rules",
    "alpha",
    "delta",
    "epsilon",
  ),
  responses("a developer alone", { input: [{ role: "developer", content: "alpha" }] }, "alpha"),
  responses("32,000 tokens", { input: "alpha", max_output_tokens: 32_000 }, "alpha"),
  responses("two users in a row", { input: [user("alpha"), user("beta")] }, "alpha", "beta"),
  responses("the assistant first", { input: [assistant("alpha"), user("beta")] }, "alpha", "beta"),
  responses("the assistant last", { input: [user("alpha"), assistant("beta")] }, "alpha", "beta"),
  responses(
    "a refusal",
    {
      input: [
        user("alpha"),
        { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "beta" }] },
        user("gamma"),
      ],
    },
    "beta",
    "gamma",
  ),
  responses(
    "a refusal behind words",
    {
      input: [
        user("alpha"),
        {
          type: "message",
          role: "assistant",
          content: [
            { type: "output_text", text: "beta" },
            { type: "refusal", refusal: "gamma" },
          ],
        },
        user("delta"),
      ],
    },
    "beta",
    "gamma",
  ),
  responses(
    "an output behind the user",
    {
      tools: responsesTools,
      input: [user("alpha"), made("call_1"), user("beta"), output("call_1", "gamma")],
    },
    "beta",
    "gamma",
  ),
  responses(
    "parallel calls",
    {
      tools: responsesTools,
      input: [user("alpha"), made("call_1"), made("call_2"), output("call_2", "beta"), output("call_1", "gamma")],
    },
    "beta",
    "gamma",
  ),
  responses(
    "an output that is an image",
    {
      tools: responsesTools,
      input: [
        user("alpha"),
        made("call_1"),
        output("call_1", [{ type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "auto" }]),
      ],
    },
    "alpha",
  ),
  responses(
    "an image and a file",
    {
      input: [
        user([
          { type: "input_text", text: "alpha" },
          { type: "input_image", image_url: "https://media.example/a.png", detail: "low" },
          { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` },
        ]),
      ],
    },
    "alpha",
  ),
  responses(
    "verbosity and effort",
    {
      input: "alpha",
      reasoning: { effort: "high", summary: "auto" },
      text: { verbosity: "high" },
      tools: responsesTools,
    },
    "alpha",
  ),
  responses(
    "some tools allowed",
    {
      input: "alpha",
      tools: responsesTools,
      tool_choice: { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "find" }] },
    },
    "alpha",
  ),
  responses("JSON", { input: "alpha, as JSON", text: { format: { type: "json_object" } } }, "alpha"),
];

export const CASES: readonly Case[] = [...CHAT, ...MESSAGES, ...RESPONSES];
