import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readMessages } from "../../../../src/dialects/messages/client/format.ts";
import { clientPointer } from "../../../../src/dialects/canonical/parameters.ts";
import {
  AttemptError,
  type Call,
  type DialectName,
  GatewayError,
  isJson,
  type Json,
} from "../../../../src/kit/index.ts";
import { testTarget } from "../../../support/snapshot.ts";
import { codecOf } from "../../wire-cases.ts";
import { requests } from "./arbitrary.ts";

const use = (id: string, more: Json = {}): Json => ({ type: "tool_use", id, name: "f", input: {}, ...more });
const search = { type: "web_search_20250305", name: "web_search" };
const strict = (name: string): Json => ({ name, input_schema: { type: "object" }, strict: true });

const body: Json = {
  model: "route/a",
  max_tokens: 5,
  system: [
    { type: "text", text: "be kind" },
    { type: "text", text: "and short" },
  ],
  messages: [
    { role: "user", content: "hi" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "S" },
        { type: "text", text: "a", citations: [{ x: 1 }] },
        use("t1", { cache_control: { type: "ephemeral", ttl: "1h" } }),
        { type: "redacted_thinking", data: "E" },
        use("t2", { caller: { type: "direct" } }),
      ],
    },
    {
      role: "user",
      content: [
        { type: "text", text: "and?" },
        { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "a" }], is_error: true },
        { type: "tool_result", tool_use_id: "t2", content: "b" },
        { type: "document", source: { type: "file", file_id: "file_1" }, title: "t", context: "c" },
      ],
    },
    { role: "assistant", content: [use("t3")] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t3" }] },
  ],
  tools: [search, strict("f"), search, strict("g")],
};
const call = readMessages(body);

describe("a pointer into the canonical body is one into the client's", () => {
  test.each([
    ["/messages/0/content/1", "/system/1"],
    ["/messages/0/content", "/system"],
    ["/messages/0", "/system"],
    ["/messages/1/content", "/messages/0/content"],
    ["/messages/1/content/0", "/messages/0/content"],
    ["/messages/2", "/messages/1"],
    ["/messages/2/content", "/messages/1/content/1"],
    ["/messages/2/content/0/citations", "/messages/1/content/1/citations"],
    ["/messages/2/reasoning_details/0", "/messages/1/content/0"],
    ["/messages/2/reasoning_details/0/signature", "/messages/1/content/0/signature"],
    ["/messages/2/reasoning_details/1", "/messages/1/content/3"],
    ["/messages/2/reasoning_details", "/messages/1/content"],
    ["/messages/2/reasoning_content", "/messages/1/content"],
    ["/messages/2/tool_calls", "/messages/1/content"],
    ["/messages/2/tool_calls/0/cache_control/ttl", "/messages/1/content/2/cache_control/ttl"],
    ["/messages/2/tool_calls/1/caller", "/messages/1/content/4/caller"],
    ["/messages/2/tool_calls/1/id", "/messages/1/content/4/id"],
    ["/messages/2/tool_calls/1/function/name", "/messages/1/content/4/name"],
    ["/messages/2/tool_calls/1/function/arguments", "/messages/1/content/4/input"],
    ["/messages/3/content/0", "/messages/2/content/1/content/0"],
    ["/messages/3/content", "/messages/2/content/1/content/0"],
    ["/messages/3/tool_call_id", "/messages/2/content/1/tool_use_id"],
    ["/messages/3/is_error", "/messages/2/content/1/is_error"],
    ["/messages/4/content", "/messages/2/content/2/content"],
    ["/messages/5/content", "/messages/2/content"],
    ["/messages/5/content/0", "/messages/2/content/0"],
    ["/messages/5/content/1", "/messages/2/content/3"],
    ["/messages/5/content/1/file/filename", "/messages/2/content/3/title"],
    ["/messages/5/content/1/file/context", "/messages/2/content/3/context"],
    ["/messages/5/content/1/file/file_id", "/messages/2/content/3/source/file_id"],
    ["/messages/5/content/1/file/file_data", "/messages/2/content/3/source/data"],
    ["/messages/5/content/1/image_url/url", "/messages/2/content/3/source"],
    ["/messages/6/content", "/messages/3/content"],
    ["/messages/6/tool_calls/0/extra", "/messages/3/content/0/extra"],
    ["/messages/9/content", "/messages/9/content"],
    ["/messages", "/messages"],
    ["/tools/0/function/strict", "/tools/1/strict"],
    ["/tools/1/function/parameters", "/tools/3/input_schema"],
    ["/tools/1", "/tools/3"],
    ["/tools/9", "/tools/9"],
    ["/tools", "/tools"],
    ["/stop/0", "/stop_sequences/0"],
  ])("%s: %s", (canonical, place) => {
    expect(clientPointer(call, canonical)).toBe(place);
  });

  test.each([
    ["a text", "be kind", "/system"],
    ["a block", [{ type: "text", text: "be kind" }], "/system/0"],
  ])("of a system prompt that is %s", (_, system, place) => {
    expect(clientPointer(readMessages({ ...body, system }), "/messages/0/content")).toBe(place);
  });

  test.each(["constructor", "__proto__", "toString"])("a field that is called %s is one like any other", (name) => {
    const messages = [{ role: "user", content: "hi", [name]: 1 }];
    const named = readMessages({ ...body, system: [], messages });
    expect(clientPointer(named, `/messages/0/${name}`)).toBe(`/messages/0/${name}`);
  });
});

const UPSTREAMS: readonly (readonly [DialectName, model: string])[] = [
  ["openai", "m"],
  ["azure", "m"],
  ["anthropic", "claude-3-5-haiku-latest"],
  ["anthropic", "claude-sonnet-4-5"],
  ["gemini", "gemini-2.5-flash"],
  ["bedrock", "us.anthropic.claude-sonnet-4-6"],
  ["bedrock", "meta.llama3-70b-instruct-v1:0"],
  ["cohere", "command-a"],
];

/** What is reported of a call as dropped, and as what it failed for. */
function reported(call: Call, dialect: DialectName, model: string): readonly string[] {
  try {
    return codecOf(dialect, "chat").request(call, testTarget("alpha", { model }), "k").dropped ?? [];
  } catch (error) {
    const said = error instanceof GatewayError || error instanceof AttemptError ? error.message : "";
    const [pointer] = /(?<= |^)\/\S*/.exec(said) ?? [];
    if (pointer === undefined) throw error;
    return [pointer];
  }
}

function stands(pointer: string, body: unknown): boolean {
  const steps = pointer.split("/").slice(1);
  const found = steps.reduce<unknown>((at, step) => {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    return (isJson(at) || Array.isArray(at)) && Object.hasOwn(at, name) ? (at as Json)[name] : undefined;
  }, body);
  return found !== undefined;
}

describe("what is reported stands in the client's body", () => {
  const CITED = "/messages/1/content/1/citations";
  const CALLER = "/messages/1/content/4/caller";
  const FILE = "/messages/2/content/3";
  const SEALED = "/messages/1/content/3";
  const MARK = "/messages/1/content/2/cache_control";
  const FAILED = "/messages/2/content/1/is_error";
  const SEARCHES = ["/tools/0", "/tools/2"];
  const STRICT = ["/tools/1/strict", "/tools/3/strict"];

  test.each<readonly [DialectName, model: string, readonly string[]]>([
    ["openai", "m", [MARK, "/messages/1/content/0", SEALED, CITED, CALLER, FILE, ...SEARCHES]],
    ["anthropic", "claude-sonnet-4-5", SEARCHES],
    [
      "gemini",
      "gemini-2.5-flash",
      [
        MARK,
        "/messages/1/content/0/signature",
        SEALED,
        CITED,
        CALLER,
        `${FILE}/context`,
        `${FILE}/source/file_id`,
        ...SEARCHES,
      ],
    ],
    ["bedrock", "us.anthropic.claude-sonnet-4-6", [CITED, CALLER, FILE, ...STRICT, ...SEARCHES]],
    [
      "bedrock",
      "meta.llama3-70b-instruct-v1:0",
      [CITED, "/messages/1/content/0", SEALED, MARK, CALLER, FAILED, FILE, ...STRICT, ...SEARCHES],
    ],
    ["cohere", "command-a", [MARK, CITED, SEALED, CALLER, FAILED, FILE, ...STRICT, ...SEARCHES]],
  ])("%s, %s", (dialect, model, expected) => {
    expect(reported(call, dialect, model)).toEqual(expected);
  });

  test.each(UPSTREAMS)("%s, %s: of any request", (dialect, model) => {
    fc.assert(
      fc.property(requests, (body) => {
        const pointers = reported(readMessages(body), dialect, model);
        expect(pointers.filter((pointer) => !stands(pointer, body))).toEqual([]);
      }),
    );
  });
});
