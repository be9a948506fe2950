import { sign } from "../../../src/simulator/answer.ts";
import type { Json } from "../../../src/kit/index.ts";
import type { ClientDialect } from "../../../src/kit/index.ts";

/*
 * Requests that clients send to one model and that must be taken by every other of Claude's and of Bedrock's: one or more a
 * rule, in each client's format. Models refuse most of them as they come.
 */

export interface RuleCase {
  readonly format: ClientDialect;
  readonly about: string;
  readonly body: Json;
  readonly headers?: Readonly<Record<string, string>>;
  /** Words that are sent, whatever the model is. */
  readonly said?: readonly string[];
}

const QUESTION = "weather in Oslo?";
const user = (content: unknown): Json => ({ role: "user", content });
const assistant = (content: unknown): Json => ({ role: "assistant", content });
const text = (said: string, more: Json = {}): Json => ({ type: "text", text: said, ...more });
const schema = { type: "object", properties: { q: { type: "string" } }, required: ["q"], additionalProperties: false };
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const chatTool = (name: string): Json => ({ type: "function", function: { name, parameters: schema } });
const chatCall = (id: string, name = "f"): Json => ({
  id,
  type: "function",
  function: { name, arguments: '{"q":"a"}' },
});
const chatCalls = (...calls: readonly Json[]): Json => ({ role: "assistant", content: null, tool_calls: calls });
const chatResult = (tool_call_id: string, content: unknown = "rain"): Json => ({ role: "tool", tool_call_id, content });

const ownTool = (name: string): Json => ({ name, input_schema: schema });
const use = (id: string, name = "f"): Json => ({ type: "tool_use", id, name, input: { q: "a" } });
const given = (tool_use_id: string, content: unknown = "rain"): Json => ({ type: "tool_result", tool_use_id, content });
const signed = (thinking: string): Json => ({ type: "thinking", thinking, signature: sign("claude", "0", thinking) });

const itemTool = (name: string): Json => ({ type: "function", name, parameters: schema, strict: false });
const itemCall = (call_id: string, name = "f"): Json => ({
  type: "function_call",
  call_id,
  name,
  arguments: '{"q":"a"}',
});
const itemResult = (call_id: string, output: unknown = "rain"): Json => ({
  type: "function_call_output",
  call_id,
  output,
});

const chat = (about: string, body: Json, ...said: readonly string[]): RuleCase => ({
  format: "chat",
  about,
  body: { messages: [user(QUESTION)], ...body },
  said,
});
const messages = (about: string, body: Json, ...said: readonly string[]): RuleCase => ({
  format: "messages",
  about,
  body: { max_tokens: 32_000, messages: [user(QUESTION)], ...body },
  headers: { "anthropic-beta": "context-management-2025-06-27" },
  said,
});
const responses = (about: string, body: Json, ...said: readonly string[]): RuleCase => ({
  format: "responses",
  about,
  body: { input: QUESTION, ...body },
  said,
});

/** A tool loop whose last calls another model made, or this one without thinking. */
const CHAT_LOOP = { messages: [user(QUESTION), chatCalls(chatCall("c1")), chatResult("c1")], tools: [chatTool("f")] };
const OWN_LOOP = { messages: [user(QUESTION), assistant([use("t1")]), user([given("t1")])], tools: [ownTool("f")] };
const ITEM_LOOP = { input: [user(QUESTION), itemCall("c1"), itemResult("c1")], tools: [itemTool("f")] };
const FOREIGN = [
  { type: "thinking", thinking: "hm", signature: "gemini1.h.abc" },
  { type: "thinking", thinking: "hm", signature: "" },
];
const CLEARING = { context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] } };
const MODES: readonly Json[] = [
  { type: "enabled", budget_tokens: 1_024 },
  { type: "enabled", budget_tokens: 10_000 },
  { type: "enabled", budget_tokens: 31_999, display: "omitted" },
  { type: "adaptive" },
  { type: "adaptive", display: "summarized" },
  { type: "disabled" },
  { type: "between_tools" },
];
const EFFORTS = ["low", "medium", "high", "xhigh", "max"];

export const THINKING: readonly RuleCase[] = [
  ...["none", "minimal", ...EFFORTS].flatMap((effort) => [
    chat(`effort ${effort}`, { reasoning_effort: effort, max_completion_tokens: 30_000 }),
    chat(`effort ${effort} with little room`, { reasoning_effort: effort, max_completion_tokens: 500 }),
    chat(`effort ${effort} in a loop without a thought`, { ...CHAT_LOOP, reasoning_effort: effort }),
    responses(`effort ${effort}`, { reasoning: { effort } }),
    responses(`effort ${effort} in a loop without a thought`, { ...ITEM_LOOP, reasoning: { effort } }),
  ]),
  ...EFFORTS.flatMap((effort) => [
    messages(`effort ${effort} alone`, { output_config: { effort } }),
    messages(`effort ${effort} with thinking off`, { output_config: { effort }, thinking: { type: "disabled" } }),
    messages(`effort ${effort} between tools`, { output_config: { effort }, thinking: { type: "between_tools" } }),
  ]),
  ...MODES.flatMap((thinking) => {
    const name = JSON.stringify(thinking);
    const body = { thinking, ...(thinking["type"] === "enabled" || thinking["type"] === "adaptive" ? CLEARING : {}) };
    return [
      messages(name, body),
      messages(`${name}, a loop without a thought`, { ...OWN_LOOP, ...body }),
      messages(`${name}, a loop with the thoughts of others`, {
        ...OWN_LOOP,
        messages: [user(QUESTION), assistant([...FOREIGN, use("t1")]), user([given("t1")])],
        ...body,
      }),
      messages(`${name}, a loop that another model goes on with`, {
        ...OWN_LOOP,
        messages: [
          user(QUESTION),
          assistant([signed("hm"), use("t1")]),
          user([given("t1")]),
          assistant([use("t2")]),
          user([given("t2")]),
        ],
        ...body,
      }),
      messages(`${name}, a loop with its own thoughts`, {
        ...OWN_LOOP,
        messages: [user(QUESTION), assistant([signed("hm"), use("t1")]), user([given("t1")])],
        ...body,
      }),
      messages(`${name}, a forced tool`, { tools: [ownTool("f")], tool_choice: { type: "any" }, ...body }),
      messages(`${name}, the assistant last`, { messages: [user(QUESTION), assistant("It is")], ...body }),
      messages(`${name}, its own sampling`, { temperature: 0.5, top_p: 0.9, top_k: 5, ...body }),
      chat(name, { thinking, max_tokens: 32_000 }),
    ];
  }),
];

export const ORDER: readonly RuleCase[] = [
  chat("the assistant first", { messages: [assistant("alpha"), user("beta")] }, "alpha", "beta"),
  chat("the assistant last", { messages: [user("alpha"), assistant("beta ")] }, "alpha", "beta"),
  chat(
    "two of each in a row",
    { messages: [user("a1"), user("a2"), assistant("b1"), assistant("b2"), user("c1")] },
    "b2",
  ),
  chat("instructions everywhere", {
    messages: [user("a1"), { role: "system", content: "s1" }, assistant("b1"), { role: "developer", content: "s2" }],
  }),
  chat("instructions alone", { messages: [{ role: "system", content: "alpha" }] }, "alpha"),
  chat("nothing said", { messages: [user("")] }),
  chat("blank turns", { messages: [user("a1"), assistant(""), user(" \n"), assistant([text(" ")]), user("c1")] }, "c1"),
  chat("a call without a result", { messages: [user("a1"), chatCalls(chatCall("1"), chatCall("2")), chatResult("2")] }),
  chat("a call at the end", { messages: [user("a1"), chatCalls(chatCall("1"))] }),
  chat("a result without a call", { messages: [chatResult("1", "alpha"), user("beta")] }, "alpha", "beta"),
  chat(
    "two results of one call",
    { messages: [user("a1"), chatCalls(chatCall("1")), chatResult("1"), chatResult("1", "alpha")] },
    "alpha",
  ),
  chat(
    "a late result",
    { messages: [user("a1"), chatCalls(chatCall("1")), user("b1"), assistant("c1"), chatResult("1", "alpha")] },
    "alpha",
  ),
  chat(
    "ids that come again",
    {
      messages: [
        user("a1"),
        chatCalls(chatCall("1")),
        chatResult("1"),
        chatCalls(chatCall("1")),
        chatResult("1", "alpha"),
      ],
    },
    "alpha",
  ),
  chat("strange ids", {
    messages: [user("a1"), chatCalls(chatCall("functions.f:0/ü")), chatResult("functions.f:0/ü")],
  }),
  chat("very long ids", { messages: [user("a1"), chatCalls(chatCall("x".repeat(300))), chatResult("x".repeat(300))] }),
  chat(
    "functions of old",
    {
      messages: [
        user("a1"),
        { role: "assistant", content: null, function_call: { name: "f", arguments: '{"q":"a"}' } },
        { role: "function", name: "f", content: "alpha" },
      ],
    },
    "alpha",
  ),
  messages(
    "instructions in the middle",
    {
      messages: [
        user("a1"),
        { role: "system", content: "alpha" },
        assistant("b1"),
        user("c1"),
        { role: "system", content: "beta" },
      ],
    },
    "alpha",
    "beta",
  ),
  messages(
    "instructions where no model takes them",
    {
      messages: [user("a1"), assistant("b1"), { role: "system", content: "alpha" }, user("c1")],
    },
    "alpha",
  ),
  messages("a turn of thoughts alone", { messages: [user("a1"), assistant([signed("hm")]), user("c1")] }),
  messages("the assistant last", { messages: [user("alpha"), assistant([text("beta ")])] }, "beta"),
  messages(
    "empty texts",
    { system: [text("")], messages: [user([text(""), text("alpha")]), assistant([text("")]), user("c1")] },
    "alpha",
  ),
  messages(
    "an interrupted loop",
    {
      tools: [ownTool("f")],
      messages: [user("a1"), assistant([use("t1"), use("t2")]), user([given("t1"), text("alpha")])],
    },
    "alpha",
  ),
  messages(
    "a result without a call",
    { tools: [ownTool("f")], messages: [user([given("t1", "alpha"), text("beta")])] },
    "alpha",
    "beta",
  ),
  responses(
    "an interrupted loop",
    { input: [user("a1"), itemCall("1"), user("alpha")], tools: [itemTool("f")] },
    "alpha",
  ),
  responses("parallel calls, results in another order", {
    input: [user("a1"), itemCall("1"), itemCall("2"), itemResult("2"), itemResult("1")],
    tools: [itemTool("f")],
  }),
  responses("the assistant last", { input: [user("alpha"), assistant("beta")] }, "alpha", "beta"),
];

const allowed = (mode: string): Json => ({
  type: "allowed_tools",
  allowed_tools: { mode, tools: [{ type: "function", function: { name: "f" } }] },
});

export const CHOICES: readonly RuleCase[] = [
  ...["auto", "required"].flatMap((mode) => [
    chat(`allowed_tools ${mode}`, { tools: [chatTool("f"), chatTool("g")], tool_choice: allowed(mode) }),
    responses(`allowed_tools ${mode}`, {
      tools: [itemTool("f"), itemTool("g")],
      tool_choice: { type: "allowed_tools", mode, tools: [{ type: "function", name: "f" }] },
    }),
  ]),
  chat("required", { tools: [chatTool("f")], tool_choice: "required", reasoning_effort: "high" }),
  chat("one of two", {
    tools: [chatTool("f"), chatTool("g")],
    tool_choice: { type: "function", function: { name: "g" } },
  }),
  chat("none, amid a loop", { ...CHAT_LOOP, tool_choice: "none" }),
  chat("one at a time, required", { tools: [chatTool("f")], tool_choice: "required", parallel_tool_calls: false }),
  chat("two tools of one name", { tools: [chatTool("f"), chatTool("f")] }),
  messages("any", { tools: [ownTool("f")], tool_choice: { type: "any", disable_parallel_tool_use: true } }),
  messages("one of two", { tools: [ownTool("f"), ownTool("g")], tool_choice: { type: "tool", name: "g" } }),
];

const AUDIO = { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } };
const IMAGE = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } };
const found = { type: "search_result", source: "https://a.example", title: "A", content: [text("alpha")] };

export const RESULTS: readonly RuleCase[] = [
  chat(
    "a sound in a result",
    {
      messages: [user("a1"), chatCalls(chatCall("1")), chatResult("1", [AUDIO])],
    },
    "audio omitted",
  ),
  chat("an image in a result", { messages: [user("a1"), chatCalls(chatCall("1")), chatResult("1", [IMAGE])] }),
  chat(
    "a failure with an image",
    {
      messages: [user("a1"), chatCalls(chatCall("1")), { ...chatResult("1", [text("alpha"), IMAGE]), is_error: true }],
    },
    "alpha",
  ),
  messages(
    "a search result in a result",
    {
      tools: [ownTool("f")],
      messages: [user("a1"), assistant([use("t1")]), user([given("t1", [found])])],
    },
    "alpha",
  ),
  messages("an image at an address in a result", {
    tools: [ownTool("f")],
    messages: [
      user("a1"),
      assistant([use("t1")]),
      user([given("t1", [{ type: "image", source: { type: "url", url: "https://media.example/a.png" } }])]),
    ],
  }),
  messages(
    "a failure with an image",
    {
      tools: [ownTool("f")],
      messages: [
        user("a1"),
        assistant([use("t1")]),
        user([
          {
            ...given("t1", [
              text("alpha"),
              { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
            ]),
            is_error: true,
          },
        ]),
      ],
    },
    "alpha",
  ),
  responses(
    "a file in a result",
    {
      input: [
        user("a1"),
        itemCall("1"),
        itemResult("1", [{ type: "input_file", filename: "a.zip", file_data: "data:application/zip;base64,AAAA" }]),
      ],
      tools: [itemTool("f")],
    },
    "omitted",
  ),
];

const mark = (more: Json = {}): Json => ({ cache_control: { type: "ephemeral", ...more } });

export const MARKS: readonly RuleCase[] = [
  chat("a mark a turn", {
    messages: ["a1", "a2", "a3", "a4", "a5", "a6"].map((said) => user([text(said, mark())])),
    tools: [{ ...chatTool("f"), ...mark() }],
  }),
  chat("an hour after five minutes", {
    messages: [{ role: "system", content: [text("s1", mark())] }, user([text("a1", mark({ ttl: "1h" }))])],
  }),
  chat("a day", { messages: [user([text("a1", mark({ ttl: "24h" }))])] }),
  chat("a mark of nothing", { messages: [user([text("", mark()), text("a1")])] }),
  messages("five marks and one for all", {
    ...mark(),
    tools: [{ ...ownTool("f"), ...mark() }],
    system: [text("s1", mark({ ttl: "1h" })), text("s2", mark())],
    messages: [user([text("a1", mark()), text("a2", mark({ ttl: "1h" }))])],
  }),
  messages("a mark on a thought", {
    ...OWN_LOOP,
    messages: [user("a1"), assistant([{ ...signed("hm"), ...mark() }, use("t1")]), user([given("t1")])],
  }),
  {
    ...messages("a shared cache", { system: [text("s1", mark({ scope: "global" }))] }),
    headers: { "anthropic-beta": "prompt-caching-scope-2026-01-05,claude-code-20250219" },
  },
  messages("a shared cache without its beta", { system: [text("s1", mark({ scope: "global" }))] }),
  responses("a mark a turn", {
    input: ["a1", "a2", "a3", "a4", "a5"].map((said) =>
      user([{ type: "input_text", text: said, prompt_cache_breakpoint: { mode: "explicit" } }]),
    ),
  }),
];

const format = { type: "json_schema", schema };

export const OPTIONS: readonly RuleCase[] = [
  ...[
    { temperature: 0.7, top_p: 0.9 },
    { temperature: 2 },
    { top_p: 0.5, top_k: 40 },
    { temperature: 1, top_p: 1 },
  ].flatMap((sampling) => [
    chat(`sampling ${JSON.stringify(sampling)}`, sampling),
    chat(`sampling ${JSON.stringify(sampling)}, thinking`, { ...sampling, reasoning_effort: "high" }),
  ]),
  chat("much output", { max_completion_tokens: 1_000_000 }),
  messages("much output", { max_tokens: 1_000_000 }),
  chat("stops of white space", { stop: ["\n\n", "END", ""] }),
  messages("stops of white space", { stop_sequences: ["\n", "END"] }),
  chat("a long name of the user", { user: "u".repeat(400) }),
  chat("a schema and a prefill", {
    messages: [user("a1"), assistant("{")],
    response_format: { type: "json_schema", json_schema: { name: "r", schema } },
  }),
  messages("a schema", { output_config: { format } }),
  messages("a schema as it was asked for before", { output_format: format }),
  messages("a schema with a budget", {
    output_config: { format },
    thinking: { type: "enabled", budget_tokens: 2_000 },
  }),
  chat("odd names of properties", {
    tools: [
      {
        type: "function",
        function: {
          name: "f",
          parameters: {
            type: "object",
            properties: { $filter: { type: "string" }, ok: { type: "string" } },
            required: ["$filter"],
          },
        },
      },
    ],
  }),
  chat("a long name of a tool", { tools: [chatTool("tool.".repeat(40))] }),
];
