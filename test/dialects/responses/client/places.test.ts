import { describe, expect, test } from "vitest";
import { bedrock } from "../../../../src/dialects/bedrock/index.ts";
import { readResponses } from "../../../../src/dialects/responses/client/request.ts";
import { cohere } from "../../../../src/dialects/cohere/index.ts";
import type { UpstreamDialect } from "../../../../src/dialects/dialect.ts";
import { gemini } from "../../../../src/dialects/gemini/index.ts";
import { anthropic } from "../../../../src/dialects/messages/index.ts";
import { openai } from "../../../../src/dialects/chat/index.ts";
import { clientPointer } from "../../../../src/dialects/canonical/parameters.ts";
import { testTarget } from "../../../support/snapshot.ts";

const call = readResponses({
  model: "route/a",
  instructions: "be kind",
  input: [
    {
      role: "user",
      content: [
        { type: "input_text", text: "hi" },
        { type: "input_image", image_url: "https://x/y" },
      ],
    },
    { type: "web_search_call", id: "w1" },
    { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "sealed elsewhere" },
    {
      role: "assistant",
      content: [
        { type: "refusal", refusal: "no" },
        { type: "output_text", text: "one" },
      ],
    },
    { role: "assistant", content: [{ type: "output_text", text: "two" }] },
    { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
    { type: "function_call", call_id: "c2", name: "f", arguments: "{}" },
    { type: "function_call_output", call_id: "c2", output: "2" },
    {
      type: "function_call_output",
      call_id: "c1",
      output: [
        { type: "input_text", text: "1" },
        { type: "input_text", text: "1" },
      ],
    },
    { role: "user", content: "and?" },
  ],
  tools: [
    { type: "web_search" },
    {
      type: "namespace",
      name: "mcp",
      tools: [
        { type: "function", name: "a", strict: true },
        { type: "function", name: "b", strict: true },
      ],
    },
    { type: "function", name: "f", strict: true },
  ],
  tool_choice: {
    type: "allowed_tools",
    mode: "auto",
    tools: [
      { type: "function", name: "b", namespace: "mcp" },
      { type: "function", name: "f" },
    ],
  },
});

describe("a pointer into the canonical body is one into the client's", () => {
  test.each([
    ["/messages/0", "/instructions"],
    ["/messages/0/content", "/instructions"],
    ["/messages/1/content/1", "/input/0/content/1"],
    ["/messages/1/content/1/image_url/url", "/input/0/content/1/image_url"],
    ["/messages/1/content/1/image_url/detail", "/input/0/content/1/detail"],
    ["/messages/1/content/0/cache_control/ttl", "/input/0/content/0/prompt_cache_breakpoint"],
    ["/messages/1/content", "/input/0"],
    ["/messages/2", "/input/2"],
    ["/messages/2/reasoning_details/0", "/input/2/summary/0"],
    ["/messages/2/reasoning_details/1/signature", "/input/2/encrypted_content"],
    ["/messages/2/reasoning_content", "/input/2"],
    ["/messages/2/content/0/text", "/input/3/content/1/text"],
    ["/messages/2/content/1", "/input/4/content/0"],
    ["/messages/2/tool_calls/0", "/input/5"],
    ["/messages/2/tool_calls/1/function/name", "/input/6/name"],
    ["/messages/2/tool_calls/1/id", "/input/6/call_id"],
    ["/messages/3/content", "/input/7/output"],
    ["/messages/3/tool_call_id", "/input/7/call_id"],
    ["/messages/4/content/1", "/input/8/output/1"],
    ["/messages/5/content", "/input/9/content"],
    ["/messages/9/content", "/input/9/content"],
    ["/messages", "/input"],
    ["/tools/0/function/strict", "/tools/1/tools/1/strict"],
    ["/tools/1", "/tools/2"],
    ["/tools", "/tools"],
    ["/response_format", "/text/format"],
    ["/stop", "/stop"],
  ])("%s: %s", (canonical, place) => {
    expect(clientPointer(call, canonical)).toBe(place);
  });

  test("one text for an input: it is the message", () => {
    const plain = readResponses({ model: "route/a", input: "hi" });
    expect(clientPointer(plain, "/messages/0/content")).toBe("/input");
    expect(clientPointer(plain, "/messages/0")).toBe("/input");
  });

  test("parts of one text are counted too", () => {
    const { body } = call;
    expect(body["messages"]).toHaveLength(call.sourceMap.messages.length);
    expect(body["tools"]).toHaveLength(call.sourceMap.tools.length);
  });
});

const SEALED = "/input/2/encrypted_content";
const STRICT = ["/tools/1/tools/1/strict", "/tools/2/strict"];
const SUMMARY = "/input/2/summary/0";
/** The record of a search at a provider. */
const RECORD = "/input/1";

describe("what a dialect cannot express of it is named as the client wrote it", () => {
  test.each<readonly [UpstreamDialect["name"], UpstreamDialect, readonly string[]]>([
    ["openai", openai, [SUMMARY, SEALED, RECORD]],
    ["anthropic", anthropic, [SUMMARY, SEALED, ...STRICT, RECORD]],
    ["gemini", gemini, [SEALED, RECORD]],
    ["bedrock", bedrock, ["/input/0/content/1", SUMMARY, SEALED, ...STRICT, RECORD]],
    ["cohere", cohere, [SUMMARY, SEALED, ...STRICT, RECORD]],
  ])("%s", (_, dialect, expected) => {
    const { dropped } = dialect.codecs.chat!.request(call, testTarget("alpha", { model: "m" }), "k");
    expect(dropped).toEqual(expected);
  });
});
