import { describe, expect, test } from "vitest";
import { DIALECTS } from "../../../src/dialects/capabilities.ts";
import { readChat } from "../../../src/dialects/chat/client.ts";
import { readMessages } from "../../../src/dialects/messages/client/format.ts";
import type { AnswerCodec } from "../../../src/dialects/dialect.ts";
import { withSignature } from "../../../src/dialects/canonical/tools.ts";
import type { DialectName } from "../../../src/kit/index.ts";
import { testTarget } from "../../support/snapshot.ts";

/* Gemini's signatures ride in the ids of tool calls: no other provider is to see them, or to refuse an id for its length. */

const [A, B] = ["call_1", "call_2"].map((id) =>
  withSignature(id, Buffer.from(`signature of ${id}`).toString("base64")),
);
const ASKED = { model: "route/a", max_tokens: 99 };

const CLIENTS = {
  chat: readChat({
    ...ASKED,
    messages: [
      { role: "user", content: "hi" },
      {
        role: "assistant",
        content: null,
        tool_calls: [A, B].map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
      },
      ...[A, B].map((id) => ({ role: "tool", tool_call_id: id, content: "done" })),
    ],
  }),
  messages: readMessages({
    ...ASKED,
    messages: [
      { role: "user", content: "hi" },
      { role: "assistant", content: [A, B].map((id) => ({ type: "tool_use", id, name: "f", input: {} })) },
      { role: "user", content: [A, B].map((id) => ({ type: "tool_result", tool_use_id: id, content: "done" })) },
    ],
  }),
};

const UPSTREAMS: readonly (readonly [DialectName, model: string])[] = [
  ["openai", "gpt-4.1"],
  ["azure", "gpt-4.1"],
  ["anthropic", "claude-sonnet-4-5"],
  ["bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
  ["cohere", "command-a-03-2025"],
];

describe.each(Object.entries(CLIENTS))("the history of a client of %s", (_, call) => {
  test.each(UPSTREAMS)("reaches %s with the ids alone, each with its result", (dialect, model) => {
    const codec = DIALECTS[dialect]!.codecs.chat as AnswerCodec;
    const body = codec.request(call, testTarget("up", { model }), "k").body as string;
    expect(body).not.toContain("__ts1_");
    for (const id of ["call_1", "call_2"]) expect(body.split(`"${id}"`)).toHaveLength(3);
  });
});
