import { describe, expect, test } from "vitest";
import { readCountTokens, readMessages } from "../../../../src/dialects/messages/client/format.ts";
import type { Json } from "../../../../src/kit/index.ts";
import { type Cases, casesOf } from "../../cases.ts";
import { request, ROUTE, unwritable } from "./support.ts";

const messages = (...list: readonly Json[]): readonly Json[] =>
  readMessages(request({ messages: list })).body["messages"] as readonly Json[];
const user = (...content: readonly Json[]): readonly Json[] => messages({ role: "user", content });
const assistant = (...content: readonly Json[]): readonly Json[] => messages({ role: "assistant", content });
const native = (block: Json): Json => ({ type: "native", dialect: "messages", block });
const ephemeral = { cache_control: { type: "ephemeral", ttl: "1h" } };
const text = (text: string, more: Json = {}): Json => ({ type: "text", text, ...more });

describe("fields", () => {
  test("a small request", () => {
    expect(readMessages(request())).toEqual({
      kind: "chat",
      model: ROUTE,
      stream: false,
      dialect: "messages",
      sourceMap: {
        messages: [{ at: "/messages/0", whole: "/messages/0/content", lists: { content: ["/messages/0/content"] } }],
        tools: [],
        records: [],
      },
      promptBytes: 6,
      maxOutput: 100,
      answers: 1,
      body: {
        model: ROUTE,
        max_tokens: 100,
        messages: [
          {
            role: "user",
            content: "hi",
          },
        ],
      },
    });
  });

  test.each<[string, Json, Json]>([
    ["stop_sequences", { stop_sequences: ["a", "b"] }, { stop: ["a", "b"] }],
    ["sampling", { temperature: 0, top_p: 0.5, top_k: 3 }, { temperature: 0, top_p: 0.5, top_k: 3 }],
    ["stream", { stream: true }, { stream: true }],
    [
      "thinking",
      { thinking: { type: "adaptive", display: "omitted" } },
      { thinking: { type: "adaptive", display: "omitted" } },
    ],
    ["user", { metadata: { user_id: "u" } }, { user: "u" }],
    ["effort", { output_config: { effort: "high" } }, { reasoning_effort: "high" }],
    [
      "format",
      { output_config: { format: { type: "json_schema", schema: { type: "object" } } } },
      { response_format: { type: "json_schema", json_schema: { name: "response", schema: { type: "object" } } } },
    ],
    ["the usual tier", { service_tier: "auto" }, { service_tier: "auto" }],
    [
      "nulls",
      { temperature: null, tools: null, system: null, thinking: null, metadata: null, stop_sequences: null },
      {},
    ],
  ])("%s", (_, given, canonical) => {
    const { body, native: own } = readMessages(request(given));
    expect(body).toEqual({ model: ROUTE, max_tokens: 100, messages: [{ role: "user", content: "hi" }], ...canonical });
    expect(own).toBeUndefined();
  });

  test.each<[string, Json, Json]>([
    ["unknown ones", { context_management: { edits: [] }, later: 5 }, { context_management: { edits: [] }, later: 5 }],
    ["of the provider", { container: "c", mcp_servers: [{}] }, { container: "c", mcp_servers: [{}] }],
    ["caching of the whole", ephemeral, ephemeral],
    ["metadata", { metadata: { user_id: "u", team: "t" } }, { metadata: { team: "t" } }],
    ["output", { output_config: { effort: "low", later: 1 } }, { output_config: { later: 1 } }],
    [
      "a format of another kind",
      { output_config: { format: { type: "x" } } },
      { output_config: { format: { type: "x" } } },
    ],
    ["a tier of its own", { service_tier: "standard_only" }, { service_tier: "standard_only" }],
  ])("native: %s", (_, given, own) => {
    expect(readMessages(request(given)).native).toEqual(own);
  });

  test("the headers that travel on", () => {
    const headers = { "anthropic-version": "2026-10-21", "anthropic-beta": "a,b", "x-api-key": "rk_1", host: "h" };
    expect(readMessages(request(), headers).headers).toEqual({
      "anthropic-version": "2026-10-21",
      "anthropic-beta": "a,b",
    });
    expect(readMessages(request(), { host: "h" }).headers).toBeUndefined();
  });

  test("a thought is counted once and its signature not at all", () => {
    const thinking = { type: "thinking", thinking: "abc", signature: "s".repeat(1000) };
    const call = readMessages(request({ messages: [{ role: "assistant", content: [thinking] }] }));
    expect(call.promptBytes).toBe("assistant".length + "abc".length);
  });
});

describe("system", () => {
  test.each<[string, unknown, readonly Json[]]>([
    ["a text", "be brief", [{ role: "system", content: "be brief" }]],
    ["none", "", []],
    ["no blocks", [], []],
    ["a plain block", [text("be brief")], [{ role: "system", content: "be brief" }]],
    ["blocks", [text("a", ephemeral), text("b")], [{ role: "system", content: [text("a", ephemeral), text("b")] }]],
  ])("%s", (_, system, expected) => {
    const { body } = readMessages(request({ system }));
    expect(body["messages"]).toEqual([...expected, { role: "user", content: "hi" }]);
  });

  test("a system message inside the conversation stays in its place", () => {
    const list = [
      { role: "user", content: "a" },
      { role: "system", content: [text("b")] },
      { role: "user", content: "c" },
    ];
    expect(messages(...list)).toEqual([list[0], { role: "system", content: "b" }, list[2]]);
  });
});

describe("parts", () => {
  const parts = casesOf(new URL("requests/parts.yaml", import.meta.url)) as Cases<{ block: Json; part: Json }>;
  test.each(parts)("%s", (_, { block, part }) => {
    expect(user(block, text("z"))).toEqual([{ role: "user", content: [part, text("z")] }]);
  });

  test.each<Json>([
    { type: "search_result", source: "s", title: "t", content: [text("a")] },
    { type: "document", source: { type: "content", content: [text("a")] } },
    { type: "document", source: { type: "base64", media_type: "text/csv", data: "AAAA" } },
    { type: "document", source: { type: "url", url: "a/b" } },
    { type: "image", source: { type: "file", file_id: "file_1" } },
    { type: "image", source: { type: "base64", media_type: "image/png,x", data: "AAAA" } },
    { type: "image", source: { type: "url", url: "file:x" } },
    { type: "container_upload", file_id: "file_1" },
    { type: "later" },
    { type: "text" },
    { type: "image" },
    { type: "document", source: 5 },
    { type: "tool_use", id: "a", name: "b", input: {} },
    { type: "tool_result" },
  ])("native in its place: %j", (block) => {
    expect(user(block, text("z"))).toEqual([{ role: "user", content: [native(block), text("z")] }]);
  });

  test("a lone plain text is a string", () => {
    expect(user(text("a"))).toEqual([{ role: "user", content: "a" }]);
    expect(user(text("a", ephemeral))).toEqual([{ role: "user", content: [text("a", ephemeral)] }]);
    expect(user()).toEqual([{ role: "user", content: [] }]);
  });
});

const thinking = (thought: string, signature: string): Json => ({ type: "thinking", thinking: thought, signature });

describe("an assistant turn", () => {
  const use = { type: "tool_use", id: "toolu_1", name: "f", input: { a: [1] } };
  const call = { id: "toolu_1", type: "function", function: { name: "f", arguments: '{"a":[1]}' } };

  test("thinks, says, calls", () => {
    expect(
      assistant(thinking("a", "S"), thinking("b", ""), { type: "redacted_thinking", data: "E" }, text("c"), use),
    ).toEqual([
      {
        role: "assistant",
        content: "c",
        reasoning_content: "ab",
        reasoning_details: [
          { type: "reasoning.text", text: "a", signature: "S" },
          { type: "reasoning.text", text: "b" },
          { type: "reasoning.encrypted", data: "E" },
        ],
        tool_calls: [call],
      },
    ]);
  });

  test("a text alone is a string; calls or thoughts alone have no content", () => {
    expect(messages({ role: "assistant", content: "a" })).toEqual([{ role: "assistant", content: "a" }]);
    expect(assistant(text("a"))).toEqual([{ role: "assistant", content: "a" }]);
    expect(assistant(use)).toEqual([{ role: "assistant", content: null, tool_calls: [call] }]);
    expect(assistant(thinking("", "S"))).toEqual([
      { role: "assistant", content: null, reasoning_details: [{ type: "reasoning.text", text: "", signature: "S" }] },
    ]);
  });

  test("what a call has beside", () => {
    expect(assistant({ ...use, ...ephemeral, caller: { type: "direct" }, toolset_name: null })).toEqual([
      {
        role: "assistant",
        content: null,
        tool_calls: [{ ...call, ...ephemeral, native: { caller: { type: "direct" } } }],
      },
    ]);
  });

  test("blocks of the provider's own tools stay among the texts", () => {
    const search = { type: "server_tool_use", id: "s", name: "web_search", input: {} };
    const result = { type: "web_search_tool_result", tool_use_id: "s", content: [] };
    expect(assistant(text("a"), search, result, text("b"))).toEqual([
      { role: "assistant", content: [text("a"), native(search), native(result), text("b")] },
    ]);
  });

  test("another order than the usual one is written down", () => {
    expect(assistant(text("a"), thinking("b", "S"), use, text("c"))).toEqual([
      {
        role: "assistant",
        content: [text("a"), text("c")],
        reasoning_content: "b",
        reasoning_details: [
          {
            type: "reasoning.text",
            text: "b",
            signature: "S",
          },
        ],
        tool_calls: [call],
        block_order: ["content", "reasoning", "tool_call", "content"],
      },
    ]);
  });

  test("an input that cannot be written again is refused with its place", () => {
    const input = { toJSON: () => unwritable() };
    expect(() => assistant({ ...use, input })).toThrow(
      "Invalid request: /messages/0/content/0/input is nested too deeply",
    );
  });
});

const result = (id: string, more: Json = {}): Json => ({ type: "tool_result", tool_use_id: id, ...more });
const tool = (id: string, content: unknown, more: Json = {}): Json => ({
  role: "tool",
  tool_call_id: id,
  content,
  ...more,
});

describe("tool results", () => {
  test("are messages of their own, before what the user says", () => {
    expect(user(result("a", { content: "1" }), text("hi"), result("b", { content: "2", is_error: true }))).toEqual([
      tool("a", "1"),
      tool("b", "2", { is_error: true }),
      { role: "user", content: "hi" },
    ]);
    expect(user(result("a"))).toEqual([tool("a", "")]);
  });

  test("keep images, marks and what only Messages has", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
    const reference = { type: "tool_reference", tool_name: "f" };
    expect(user(result("a", { content: [text("1"), image, reference], ...ephemeral, toolset_name: "x" }))).toEqual([
      tool(
        "a",
        [text("1"), { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }, native(reference)],
        {
          ...ephemeral,
          native: { toolset_name: "x" },
        },
      ),
    ]);
  });

  test("one within another is native", () => {
    expect(user(result("a", { content: [result("b")] }))).toEqual([tool("a", [native(result("b"))])]);
  });
});

describe("tools", () => {
  const f = { name: "f", description: "d", input_schema: { type: "object" } };
  const g = { name: "g", input_schema: {}, type: "custom", strict: true, defer_loading: true, ...ephemeral };
  const search = { type: "web_search_20250305", name: "web_search", max_uses: 1 };
  const canonical = [
    { type: "function", function: { name: "f", description: "d", parameters: { type: "object" } } },
    {
      type: "function",
      function: { name: "g", parameters: {}, strict: true },
      ...ephemeral,
      native: { type: "custom", defer_loading: true },
    },
  ];

  test("those with a schema are functions, the provider's own are native", () => {
    const { body, native: own } = readMessages(request({ tools: [f, search, g] }));
    expect(body["tools"]).toEqual(canonical);
    expect(own).toEqual({ tools: [search] });
  });

  test.each<[Json, Json, Json | undefined]>([
    [{ type: "auto" }, { tool_choice: "auto" }, undefined],
    [{ type: "any" }, { tool_choice: "required" }, undefined],
    [{ type: "none" }, { tool_choice: "none" }, undefined],
    [{ type: "tool", name: "f" }, { tool_choice: { type: "function", function: { name: "f" } } }, undefined],
    [{ type: "auto", disable_parallel_tool_use: true }, { tool_choice: "auto", parallel_tool_calls: false }, undefined],
    [
      { type: "any", disable_parallel_tool_use: false },
      { tool_choice: "required", parallel_tool_calls: true },
      undefined,
    ],
    [{ type: "tool", name: "web_search" }, {}, { tool_choice: { type: "tool", name: "web_search" } }],
    [{ type: "later" }, {}, { tool_choice: { type: "later" } }],
    [{ type: "auto", later: 1 }, {}, { tool_choice: { type: "auto", later: 1 } }],
  ])("choice %j", (tool_choice, chosen, own) => {
    const call = readMessages(request({ tools: [f], tool_choice }));
    const { model: _m, max_tokens: _t, messages: _c, tools: _f, ...rest } = call.body;
    expect(rest).toEqual(chosen);
    expect(call.native).toEqual(own);
  });

  test("a choice without functions is the dialect's own", () => {
    const call = readMessages(request({ tools: [search], tool_choice: { type: "any" } }));
    expect(call.body).not.toHaveProperty("tool_choice");
    expect(call.native).toEqual({ tools: [search], tool_choice: { type: "any" } });
  });
});

describe("count_tokens", () => {
  test("counts instructions, messages and tools as text, media not", () => {
    const { model, text: counted } = readCountTokens({
      model: ROUTE,
      system: "SYS",
      messages: [
        {
          role: "user",
          content: [text("USER"), { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }],
        },
        { role: "assistant", content: [{ type: "thinking", thinking: "THOUGHT", signature: "SIGNED" }] },
      ],
      tools: [{ name: "TOOL", input_schema: { type: "object" } }],
    });
    expect(model).toBe(ROUTE);
    for (const word of ["SYS", "USER", "TOOL"]) expect(counted).toContain(word);
    expect(counted.split("THOUGHT")).toHaveLength(2);
    for (const word of ["AAAA", "SIGNED"]) expect(counted).not.toContain(word);
  });

  test.each([{ messages: "x" }, { messages: [5, { role: "user" }, { content: 5 }] }, { tools: [5, {}], system: 5 }])(
    "never throws: %j",
    (body) => {
      expect(readCountTokens({ model: ROUTE, messages: [], ...body })).toMatchObject({ model: ROUTE });
    },
  );
});
