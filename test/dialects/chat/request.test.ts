import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readChat } from "../../../src/dialects/chat/client.ts";
import { withSignature } from "../../../src/dialects/canonical/tools.ts";
import { chat } from "../../../src/dialects/chat/index.ts";
import type { Call, ClientDialect, Json } from "../../../src/kit/index.ts";
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
  readonly about: string;
  readonly dialect?: ClientDialect;
  readonly body?: Json;
  readonly native?: Json;
  /** The upstream's body without model and messages; left out: nothing else. */
  readonly sends?: Json;
  readonly messages?: readonly Json[];
  readonly dropped?: readonly string[];
}

const data = (type: string, text: string): string => `data:${type};base64,${Buffer.from(text).toString("base64")}`;
const image: Json = { type: "image_url", image_url: { url: data("image/png", "x") } };
const tool: Json = { type: "function", function: { name: "f", parameters: { type: "object" } } };
const called = (id: string, more: Json = {}): Json => ({
  id,
  type: "function",
  function: { name: "f", arguments: "{}" },
  ...more,
});

const CASES: readonly Case[] = [
  {
    about: "sampling travels",
    body: { temperature: 0.5, top_p: 0.9, stop: ["a"], max_tokens: 9, seed: null },
    sends: { temperature: 0.5, top_p: 0.9, stop: ["a"], max_tokens: 9 },
  },
  {
    // https://docs.ollama.com/api/openai-compatibility and others know no other.
    about: "the limit has the name that every server knows",
    body: { max_completion_tokens: 9 },
    sends: { max_tokens: 9 },
  },
  { about: "top_k has no place", body: { top_k: 5 }, dropped: ["/top_k"] },
  {
    about: "a budget of thought is an effort",
    body: { thinking: { type: "enabled", budget_tokens: 1024 } },
    sends: { reasoning_effort: "low" },
  },
  {
    about: "a middling budget",
    body: { thinking: { type: "enabled", budget_tokens: 10_000 } },
    sends: { reasoning_effort: "medium" },
  },
  {
    about: "a large budget",
    body: { thinking: { type: "enabled", budget_tokens: 64_000 } },
    sends: { reasoning_effort: "high" },
  },
  {
    about: "an effort speaks before a budget",
    body: { reasoning_effort: "low", thinking: { type: "enabled", budget_tokens: 64_000 } },
    sends: { reasoning_effort: "low" },
  },
  {
    about: "the highest effort that every reasoning model knows",
    body: { reasoning_effort: "max" },
    sends: { reasoning_effort: "high" },
  },
  {
    about: "adaptive thinking is what models do unasked",
    body: { thinking: { type: "adaptive", display: "omitted" } },
  },
  {
    about: "no thinking cannot be asked of every model",
    body: { thinking: { type: "disabled" } },
    dropped: ["/thinking"],
  },
  {
    about: "what only Messages knows is reported under its own names",
    native: { context_management: { edits: [] }, metadata: { a: 1 }, output_config: { x: 1 }, mcp_servers: [] },
    dropped: ["/context_management", "/metadata/a", "/output_config/x"],
  },
  {
    about: "what only Responses knows",
    dialect: "responses",
    native: { truncation: "auto", store: true },
    dropped: ["/truncation", "/store"],
  },
  {
    about: "marks of a cache are no loss",
    body: {
      messages: [
        { role: "system", content: [{ type: "text", text: "a", cache_control: { type: "ephemeral" } }] },
        { ...user, cache_control: { type: "ephemeral" } },
      ],
      tools: [{ ...tool, cache_control: { type: "ephemeral" } }],
    },
    sends: { tools: [tool] },
    messages: [{ role: "system", content: [{ type: "text", text: "a" }] }, user],
  },
  {
    about: "fields of a tool that only its dialect knows",
    body: { tools: [{ ...tool, native: { defer_loading: true } }] },
    sends: { tools: [tool] },
    dropped: ["/tools/0/defer_loading"],
  },
  {
    about: "tools that run elsewhere",
    dialect: "responses",
    body: { tools: [{ type: "native", dialect: "responses", block: { type: "web_search" } }, tool] },
    sends: { tools: [tool] },
    dropped: ["/tools/0"],
  },
  { about: "how to call tools where there are none", body: { tool_choice: "auto", parallel_tool_calls: false } },
  {
    about: "thoughts stay with the provider that had them",
    body: {
      messages: [
        user,
        {
          role: "assistant",
          content: "a",
          reasoning_content: "Hm.",
          reasoning_details: [{ type: "reasoning.text", text: "Hm.", signature: "s" }],
        },
      ],
    },
    messages: [user, { role: "assistant", content: "a" }],
    dropped: ["/messages/1/reasoning_details/0"],
  },
  {
    about: "an assistant that said nothing",
    body: { messages: [user, { role: "assistant", content: null, reasoning_content: "Hm." }] },
    messages: [user, { role: "assistant", content: "" }],
    dropped: ["/messages/1/reasoning_content"],
  },
  {
    about: "an assistant that only called",
    body: {
      messages: [
        user,
        {
          role: "assistant",
          content: null,
          tool_calls: [called("c", { extra_content: { google: {} }, native: { caller: { type: "direct" } } })],
          block_order: ["tool_call"],
        },
      ],
    },
    messages: [user, { role: "assistant", content: null, tool_calls: [called("c")] }],
    dropped: ["/messages/1/tool_calls/0/caller"],
  },
  {
    about: "several texts of an assistant are one",
    body: {
      messages: [
        user,
        {
          role: "assistant",
          content: [
            { type: "text", text: "a" },
            { type: "native", dialect: "messages", block: { type: "x" } },
            { type: "text", text: "b" },
          ],
        },
      ],
    },
    messages: [user, { role: "assistant", content: "ab" }],
    dropped: ["/messages/1/content/1"],
  },
  {
    about: "an assistant's image",
    body: { messages: [user, { role: "assistant", content: [image, { type: "text", text: "b" }] }] },
    messages: [user, { role: "assistant", content: "b" }],
    dropped: ["/messages/1/content/0"],
  },
  {
    about: "a refusal comes back",
    body: { messages: [user, { role: "assistant", content: "", refusal: "no" }] },
    messages: [user, { role: "assistant", content: "", refusal: "no" }],
  },
  {
    about: "a tool that failed says so",
    body: { messages: [{ role: "tool", tool_call_id: "c", content: "boom", is_error: true }] },
    messages: [{ role: "tool", tool_call_id: "c", content: "Error: boom" }],
  },
  {
    about: "images of tool results follow the last result",
    body: {
      messages: [
        { role: "tool", tool_call_id: "c", content: [{ type: "text", text: "a" }, image, { type: "text", text: "b" }] },
        { role: "tool", tool_call_id: "d", content: [image] },
        user,
      ],
    },
    messages: [
      { role: "tool", tool_call_id: "c", content: "a\nb" },
      { role: "tool", tool_call_id: "d", content: "The result follows." },
      { role: "user", content: [image, image] },
      user,
    ],
  },
  {
    about: "images of the very last result",
    body: { messages: [{ role: "tool", tool_call_id: "c", content: [image] }] },
    messages: [
      { role: "tool", tool_call_id: "c", content: "The result follows." },
      { role: "user", content: [image] },
    ],
  },
  {
    about: "a PDF needs a name",
    body: {
      messages: [
        {
          role: "user",
          content: [
            {
              type: "file",
              file: { file_data: data("application/pdf", "x"), context: "c", citations: { enabled: false } },
            },
          ],
        },
      ],
    },
    messages: [
      {
        role: "user",
        content: [{ type: "file", file: { filename: "document.pdf", file_data: data("application/pdf", "x") } }],
      },
    ],
    dropped: ["/messages/0/content/0/file/context"],
  },
  {
    about: "a document of text is text",
    body: {
      messages: [
        {
          role: "user",
          content: [
            { type: "file", file: { file_data: data("text/plain", "é"), filename: "a" } },
            { type: "file", file: { file_data: "data:text/plain,b%20c" } },
          ],
        },
      ],
    },
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "a\n\né" },
          { type: "text", text: "b c" },
        ],
      },
    ],
  },
  {
    about: "a document on the web is not fetched",
    body: {
      messages: [
        {
          role: "user",
          content: [
            { type: "file", file: { file_url: "https://x.example" } },
            { type: "text", text: "b" },
          ],
        },
      ],
    },
    messages: [{ role: "user", content: [{ type: "text", text: "b" }] }],
    dropped: ["/messages/0/content/0"],
  },
  {
    about: "a file kept at another provider",
    body: { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "file_1" } }] }] },
    messages: [{ role: "user", content: "" }],
    dropped: ["/messages/0/content/0"],
  },
  {
    about: "a file kept at OpenAI",
    dialect: "responses",
    body: { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "file_1" } }] }] },
    messages: [{ role: "user", content: [{ type: "file", file: { file_id: "file_1" } }] }],
  },
  {
    about: "parts that are none",
    body: { messages: [{ role: "user", content: [null, { type: "text" }, { type: "image_url" }] }] },
    messages: [{ role: "user", content: "" }],
    dropped: ["/messages/0/content/0", "/messages/0/content/1", "/messages/0/content/2"],
  },
  {
    about: "a Responses client's pointers are of its input",
    dialect: "responses",
    body: { messages: [{ role: "user", content: [{ type: "native", dialect: "responses", block: {} }] }] },
    messages: [{ role: "user", content: "" }],
    dropped: ["/input/0/content/0"],
  },
];

describe("a request of another client dialect", () => {
  test.each(CASES)(
    "$about",
    ({ dialect = "messages", body = {}, native, sends = {}, messages = [user], dropped = [] }) => {
      const outcome = sent(callOf(dialect, body, native));
      expect(outcome).toEqual({ body: { ...sends, model: "up-1", messages }, dropped });
    },
  );

  test("a stream is asked for its usage", () => {
    const { body } = sent(callOf("messages", { stream: true }));
    expect(body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test("the call itself is left as it was", () => {
    for (const { dialect = "messages", body = {}, native } of CASES) {
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
