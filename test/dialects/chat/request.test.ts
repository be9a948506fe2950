import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readChat } from "../../../src/dialects/chat/client.ts";
import { withSignature } from "../../../src/dialects/canonical/tools.ts";
import { chat } from "../../../src/dialects/chat/index.ts";
import type { Call, ClientDialect, Json } from "../../../src/kit/index.ts";
import { type Cases, casesOf } from "../cases.ts";
import { testTarget } from "../../support/snapshot.ts";

const target = testTarget("alpha", { model: "up-1" });
const user: Json = { role: "user", content: "hi" };

function callOf(dialect: ClientDialect, body: Json, native?: Json): Call {
  return { ...readChat({ model: "route/a", messages: [user], ...body }), dialect, ...(native && { native }) };
}
function sent(call: Call): { readonly body: Json; readonly dropped: readonly string[] } {
  const { body, dropped } = chat.request(call, target, "k");
  return { body: JSON.parse(body as string) as Json, dropped: dropped ?? [] };
}

/** What of a request of another client dialect goes to an upstream of OpenAI's, and what is reported. */
interface Case {
  readonly dialect?: ClientDialect;
  readonly body?: Json;
  readonly native?: Json;
  /** The upstream's body without model and messages; left out: nothing else. */
  readonly sends?: Json;
  readonly messages?: readonly Json[];
  readonly dropped?: readonly string[];
}

const called = (id: string, more: Json = {}): Json => ({
  id,
  type: "function",
  function: { name: "f", arguments: "{}" },
  ...more,
});

const CASES = casesOf(new URL("requests/from-other-clients.yaml", import.meta.url)) as Cases<Case>;

describe("a request of another client dialect", () => {
  test.each(CASES)(
    "%s",
    (_, { dialect = "messages", body = {}, native, sends = {}, messages = [user], dropped = [] }) => {
      const outcome = sent(callOf(dialect, body, native));
      expect(outcome).toEqual({ body: { ...sends, model: "up-1", messages }, dropped });
    },
  );

  test("a stream is asked for its usage", () => {
    const { body } = sent(callOf("messages", { stream: true }));
    expect(body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test("the call itself is left as it was", () => {
    for (const [, { dialect = "messages", body = {}, native }] of CASES) {
      const call = callOf(dialect, body, native);
      const before = structuredClone(call);
      sent(call);
      expect(call).toEqual(before);
    }
  });

  test("malformed messages never throw", () => {
    // As parsed, so without -0.
    const anything = fc.json().map((text) => JSON.parse(text) as unknown);
    const message = fc.record({
      role: fc.constantFrom("user", "assistant", "tool", 7),
      content: anything,
      tool_calls: anything,
      tool_call_id: anything,
      native: anything,
    });
    fc.assert(
      fc.property(fc.array(fc.oneof(message, anything)), anything, anything, (messages, tools, thinking) => {
        expect(sent(callOf("messages", { messages, tools, thinking })).body["model"]).toBe("up-1");
        expect(sent(callOf("chat", { messages })).body["messages"]).toEqual(messages);
      }),
    );
  });
});

/** A conversation in which a tool was called. */
const loop = (id: string): Json => ({
  messages: [
    user,
    { role: "assistant", content: null, tool_calls: [called(id)] },
    { role: "tool", tool_call_id: id, content: "a" },
  ],
});
/** The ids that an upstream is sent. */
const ids = (call: Call): readonly unknown[] =>
  (sent(call).body["messages"] as readonly Json[]).flatMap(({ tool_calls, tool_call_id }) => [
    ...((tool_calls ?? []) as readonly Json[]).map(({ id }) => id),
    ...(tool_call_id === undefined ? [] : [tool_call_id]),
  ]);

describe("ids of tool calls", () => {
  const signed = withSignature("call_1", Buffer.from("signature".repeat(40)).toString("base64"));
  const long = "x".repeat(100);
  test.each<ClientDialect>(["chat", "messages", "responses"])(
    "a signature of Gemini's is not sent on: %s",
    (dialect) => {
      expect(signed.length).toBeGreaterThan(100);
      expect(ids(callOf(dialect, loop(signed)))).toEqual(["call_1", "call_1"]);
    },
  );

  test("one that is too long for OpenAI is shortened, alike in call and result", () => {
    const [call, result] = ids(callOf("messages", loop(long)));
    expect(call).toMatch(/^call_[0-9a-f]{32}$/);
    expect(result).toBe(call);
    expect(ids(callOf("messages", loop(`${long}y`)))).not.toContain(call);
  });

  // https://github.com/vercel/ai/issues/8132
  test("a chat client's own is shortened too", () => {
    expect(ids(callOf("chat", loop(long)))).toEqual(ids(callOf("messages", loop(long))));
    expect(ids(callOf("chat", loop("call_1")))).toEqual(["call_1", "call_1"]);
  });
});

test("a chat client's extensions travel as they came", () => {
  const body = {
    messages: [
      { role: "user", content: [{ type: "text", text: "a", cache_control: { type: "ephemeral" } }] },
      { role: "assistant", content: null, another: "Hm." },
    ],
    top_k: 5,
    thinking: { type: "enabled", budget_tokens: 1024 },
    later: { unknown: 1 },
  };
  expect(sent(callOf("chat", body))).toEqual({ body: { ...body, model: "up-1" }, dropped: [] });
});
