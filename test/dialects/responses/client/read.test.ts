import { describe, expect, test } from "vitest";
import { readResponses } from "../../../../src/dialects/responses/client/request.ts";
import type { Json } from "../../../../src/kit/index.ts";
import { request, ROUTE } from "./support.ts";
import { read, user } from "./wire.ts";

test("the call is chat's of the canonical body, and remembers the client's", () => {
  const body = request({ stream: true, max_output_tokens: 50, instructions: "be" });
  const canonical = {
    model: ROUTE,
    messages: [
      { role: "system", content: "be" },
      { role: "user", content: "hi" },
    ],
    max_completion_tokens: 50,
    stream: true,
  };
  expect(readResponses(body)).toEqual({
    kind: "chat",
    dialect: "responses",
    model: ROUTE,
    stream: true,
    body: canonical,
    promptBytes: "systembeuserhi".length,
    maxOutput: 50,
    answers: 1,
    sourceMap: {
      messages: [
        { at: "/instructions", lists: { content: ["/instructions"] } },
        { at: "/input", lists: { content: ["/input"] } },
      ],
      tools: [],
      records: [],
    },
    request: body,
    canonical,
    sources: [[], []],
  });
});

/** Fields, the canonical fields they become, the native ones. */
const FIELDS: readonly (readonly [Json, Json, Json | undefined])[] = [
  [{ temperature: 0.5, top_p: 1 }, { temperature: 0.5, top_p: 1 }, undefined],
  [{ temperature: null, tools: null, text: null, reasoning: null, include: null, metadata: null }, {}, undefined],
  [
    { user: "u", prompt_cache_key: "k", safety_identifier: "s", service_tier: "flex" },
    { user: "u", prompt_cache_key: "k", safety_identifier: "s", service_tier: "flex" },
    undefined,
  ],
  [{ reasoning: { effort: "low", summary: "auto", generate_summary: null } }, { reasoning_effort: "low" }, undefined],
  [{ reasoning: { context: "all_turns" } }, {}, { reasoning: { context: "all_turns" } }],
  [{ text: { format: { type: "text" }, verbosity: "low" } }, { verbosity: "low" }, undefined],
  [{ text: { format: { type: "json_object" } } }, { response_format: { type: "json_object" } }, undefined],
  [
    { text: { format: { type: "json_schema", name: "n", strict: true, schema: { type: "object" } } } },
    { response_format: { type: "json_schema", json_schema: { name: "n", strict: true, schema: { type: "object" } } } },
    undefined,
  ],
  [{ include: ["reasoning.encrypted_content"] }, {}, undefined],
  [
    { include: ["message.output_text.logprobs", "file_search_call.results"] },
    { logprobs: true },
    { include: ["file_search_call.results"] },
  ],
  [{ top_logprobs: 3 }, { logprobs: true, top_logprobs: 3 }, undefined],
  [{ top_logprobs: 0 }, {}, undefined],
  [
    {
      store: false,
      truncation: "disabled",
      background: false,
      previous_response_id: null,
      metadata: { a: "b" },
      stream_options: { include_obfuscation: false },
    },
    {},
    undefined,
  ],
  [{ store: true, truncation: "auto" }, {}, { store: true, truncation: "auto" }],
  [{ max_tool_calls: 5, moderation: null, later: [1] }, {}, { max_tool_calls: 5, later: [1] }],
  // Reported by its own pointer; no other provider could read it.
  [{ input: [{ type: "web_search_call", id: "ws_1", status: "completed" }, user("hi")] }, {}, undefined],
  // How to call tools where there are none is an error upstream.
  [{ tools: [], tool_choice: "auto", parallel_tool_calls: false }, {}, undefined],
];

test.each(FIELDS)("fields: %j", (more, fields, native) => {
  const { body, native: kept } = read(more);
  const { model: _model, messages: _messages, ...rest } = body;
  expect(rest).toEqual(fields);
  expect(kept).toEqual(native);
});

const FUNCTION = { type: "function", name: "f", description: "d", parameters: { type: "object" }, strict: true };
const SEARCH = { type: "web_search", search_context_size: "low" };

const toolsOf = (...tools: readonly Json[]) => read({ tools }).body["tools"] as readonly Json[];

describe("tools", () => {
  test("functions", () => {
    const { type: _, ...rest } = FUNCTION;
    expect(toolsOf(FUNCTION, { type: "function", name: "g", parameters: null, strict: null })).toEqual([
      { type: "function", function: rest },
      { type: "function", function: { name: "g" } },
    ]);
  });

  test("free text is a function of one text, its grammar told in words", () => {
    const format = { type: "grammar", syntax: "lark", definition: "start: X" };
    const [tool] = toolsOf({ type: "custom", name: "p", description: "Patches.", format });
    expect(tool).toMatchObject({
      type: "function",
      function: {
        name: "p",
        description: "Patches.\n\nThe input must match this lark grammar:\nstart: X",
        parameters: { properties: { input: { type: "string" } }, required: ["input"] },
      },
    });
  });

  test("those of a namespace under one flat name", () => {
    const space = { type: "namespace", name: "mcp", description: "", tools: [FUNCTION, { type: "custom", name: "c" }] };
    expect(toolsOf(space).map((tool) => (tool["function"] as Json)["name"])).toEqual(["mcp__f", "mcp__c"]);
  });

  test("those that run at a provider stand in their place as native", () => {
    expect(toolsOf(SEARCH, FUNCTION)).toMatchObject([
      { type: "native", dialect: "responses", block: SEARCH },
      { type: "function" },
    ]);
  });

  test("the API's own that run at the client are functions", () => {
    const skills = [{ name: "pdf", description: "Reads PDFs.", path: "/skills/pdf" }];
    const tools = toolsOf(
      { type: "local_shell" },
      { type: "shell", environment: { type: "local", skills } },
      { type: "apply_patch" },
    );
    expect(tools).toMatchObject([
      { type: "function", function: { name: "local_shell", parameters: { required: ["command"] } } },
      { type: "function", function: { name: "shell", parameters: { required: ["commands"] } } },
      { type: "function", function: { name: "apply_patch", parameters: { required: ["type", "path"] } } },
    ]);
    expect(JSON.stringify(tools)).toContain("- pdf (/skills/pdf): Reads PDFs.");
  });

  test.each([{ type: "shell" }, { type: "shell", environment: { type: "container_auto" } }])(
    "%j runs at the provider",
    (tool) => {
      expect(toolsOf(tool)).toEqual([{ type: "native", dialect: "responses", block: tool }]);
    },
  );

  test("a function of the same name stands", () => {
    const tools = toolsOf({ type: "function", name: "apply_patch" }, { type: "apply_patch" });
    expect(tools.map(({ type }) => type)).toEqual(["function", "native"]);
  });

  const patch = { tools: [{ type: "apply_patch" }, FUNCTION] };
  const both = { tools: [SEARCH, FUNCTION, { ...FUNCTION, name: "g" }] };
  const named = { type: "function", function: { name: "f" } };
  test.each([
    ["auto", both, "auto", undefined],
    ["none", both, "none", undefined],
    ["required", both, "required", undefined],
    [{ type: "function", name: "f" }, both, named, undefined],
    [{ type: "custom", name: "f" }, both, named, undefined],
    [{ type: "web_search" }, both, undefined, { tool_choice: { type: "web_search" } }],
    ["required", { tools: [SEARCH] }, undefined, { tool_choice: "required" }],
    ["auto", { tools: [SEARCH] }, undefined, undefined],
    ["auto", {}, undefined, undefined],
    [{ type: "apply_patch" }, patch, { type: "function", function: { name: "apply_patch" } }, undefined],
    [{ type: "allowed_tools", mode: "auto", tools: [{ type: "apply_patch" }] }, patch, "auto", undefined],
  ] as const)("choice %j", (tool_choice, tools, expected, native) => {
    const call = read({ ...tools, tool_choice });
    expect(call.body["tool_choice"]).toEqual(expected);
    expect(call.native).toEqual(native);
  });

  test("allowed tools are the tools there are", () => {
    const tools = [{ type: "function", name: "g" }, { type: "web_search" }];
    const { body } = read({ ...both, tool_choice: { type: "allowed_tools", mode: "required", tools } });
    expect(body).toMatchObject({ tool_choice: "required", tools: [{ block: SEARCH }, { function: { name: "g" } }] });
  });
});

test("a grammar whose parts are no text has none, and is no fault", () => {
  const format = { type: "grammar", syntax: { toString: [] }, definition: { toString: [] } };
  const call = readResponses({ model: "route/a", input: "hi", tools: [{ type: "custom", name: "g", format }] });
  expect(JSON.stringify(call.body["tools"])).not.toContain("grammar");
});
