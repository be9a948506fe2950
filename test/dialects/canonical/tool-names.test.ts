import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anthropic } from "../../../src/dialects/messages/index.ts";
import { bedrock } from "../../../src/dialects/bedrock/index.ts";
import type { AnswerCodec } from "../../../src/dialects/dialect.ts";
import { gemini } from "../../../src/dialects/gemini/index.ts";
import { readChat } from "../../../src/dialects/chat/client.ts";
import { ToolNames } from "../../../src/dialects/canonical/tool-names.ts";
import type { Call, Json } from "../../../src/kit/index.ts";
import { testTarget } from "../../support/snapshot.ts";

const LONG = `mcp__${"plugin_".repeat(20)}look.up`;

const body: Json = {
  model: "route/m",
  messages: [
    { role: "user", content: "hi" },
    { role: "assistant", tool_calls: [{ id: "c1", type: "function", function: { name: LONG, arguments: "{}" } }] },
    { role: "tool", tool_call_id: "c1", content: "done" },
  ],
  tools: [
    { type: "function", function: { name: LONG, parameters: { type: "object", properties: {} } } },
    { type: "function", function: { name: "short", parameters: { type: "object", properties: {} } } },
  ],
  tool_choice: { type: "function", function: { name: LONG } },
};
const call: Call = readChat(body);

/** What each dialect answers when it calls the tool that it knows by this name. */
const DIALECTS: readonly (readonly [
  string,
  AnswerCodec,
  model: string,
  most: number,
  answer: (name: string) => Json,
])[] = [
  [
    "bedrock",
    bedrock.codecs.chat as AnswerCodec,
    "anthropic.claude-sonnet-4-5-20250929-v1:0",
    64,
    (name) => ({
      output: { message: { role: "assistant", content: [{ toolUse: { toolUseId: "t1", name, input: {} } }] } },
      stopReason: "tool_use",
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    }),
  ],
  [
    "gemini",
    gemini.codecs.chat as AnswerCodec,
    "gemini-2.5-flash",
    64,
    (name) => ({
      candidates: [{ content: { role: "model", parts: [{ functionCall: { name, args: {} } }] }, finishReason: "STOP" }],
    }),
  ],
  [
    "anthropic",
    anthropic.codecs.chat as AnswerCodec,
    "claude-sonnet-4-5",
    128,
    (name) => ({
      id: "m",
      type: "message",
      role: "assistant",
      model: "c",
      content: [{ type: "tool_use", id: "t1", name, input: {} }],
      stop_reason: "tool_use",
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  ],
];

describe.each(DIALECTS)("%s", (_, codec, model, most, answer) => {
  const target = { ...testTarget("alpha"), model };
  const { body: written, form } = codec.request(call, target, "key");
  const sent = typeof written === "string" ? written : "";
  const names = [...sent.matchAll(/"name":"(mcp__[^"]*)"/g)].map(([, name]) => name!);

  test("sends one shorter name wherever the tool is named, and reports nothing", () => {
    expect(new Set(names).size).toBe(1);
    expect(sent.split(names[0]!).length - 1).toBeGreaterThanOrEqual(3);
    expect(names[0]!.length).toBeLessThanOrEqual(most);
    expect(sent).not.toContain(LONG);
    expect(codec.request(call, target, "key").dropped ?? []).toEqual([]);
  });

  test("puts the client's own name back in the answer", () => {
    for (const [called, own] of [
      [names[0]!, LONG],
      ["short", "short"],
    ] as const) {
      const { body: read } = form!.answer(Buffer.from(JSON.stringify(answer(called))), call);
      expect(JSON.stringify(read)).toContain(JSON.stringify(own));
    }
  });

  test("leaves a request whose names fit to the dialect alone", () => {
    const { tools, messages } = JSON.parse(JSON.stringify(body).replaceAll(LONG, "fits")) as Json;
    const fitting = readChat({ ...body, tools, messages, tool_choice: "auto" });
    expect(codec.request(fitting, target, "key").form).toBeUndefined();
  });
});

test("different names stay different, equal ones equal, and each comes back", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 90 }), { maxLength: 30 }), (own) => {
      const names = new ToolNames({ toolName: 64, toolNameCharacters: "word" });
      const sent = own.map((name) => names.written(name));
      expect(new Set(sent.filter((_, index) => own[index] !== sent[index])).size).toBe(
        own.filter((name, index) => name !== sent[index]).length,
      );
      for (const [index, name] of own.entries()) {
        expect(sent[index]).toMatch(/^[\w-]{1,64}$/);
        expect(names.written(name)).toBe(sent[index]);
        expect(names.read(sent[index]!)).toBe(name);
      }
    }),
  );
});
