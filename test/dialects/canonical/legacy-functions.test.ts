import { describe, expect, test } from "vitest";
import { DIALECTS } from "../../../src/dialects/capabilities.ts";
import { readChat } from "../../../src/dialects/chat/client.ts";
import type { AnswerCodec, UpstreamRequest } from "../../../src/dialects/dialect.ts";
import type { Json } from "../../../src/kit/index.ts";
import { testTarget } from "../../support/snapshot.ts";

/* Clients that send `functions` are answered by `function_call`, whatever the upstream knows. */

const FUNCTION = {
  name: "find",
  description: "d",
  parameters: { type: "object", properties: { q: { type: "string" } } },
};
const BODY = {
  messages: [
    { role: "user", content: "alpha" },
    { role: "assistant", content: null, function_call: { name: "find", arguments: '{"q":"a"}' } },
    { role: "function", name: "find", content: "beta" },
  ],
  functions: [FUNCTION],
  function_call: { name: "find" },
};
const CALL = { id: "call_1", type: "function", function: { name: "find", arguments: '{"q":"b"}' } };
const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

const DIALECT_MODELS = [
  ["openai", "gpt-4o"],
  ["azure", "gpt-4o"],
  ["anthropic", "claude-sonnet-4-5"],
  ["bedrock", "amazon.nova-pro-v1:0"],
  ["gemini", "gemini-2.5-flash"],
  ["cohere", "command-a-03-2025"],
] as const;

function codecOf(name: (typeof DIALECT_MODELS)[number][0]): AnswerCodec {
  const own = name === "openai" ? { vendor: "mistral" as const } : {};
  const dialect = DIALECTS[name]!;
  return (dialect.at?.({ baseUrl: "", headers: {}, ...own }) ?? dialect).codecs.chat as AnswerCodec;
}

function ask(codec: AnswerCodec, model: string, body: Json): UpstreamRequest {
  return codec.request(readChat({ model: "route/a", ...body }), testTarget("alpha", { model }), "k");
}

function chunk(delta: Json, finish_reason: string | null = null): Json {
  return {
    id: "a",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
  };
}

/** The body of a request that is sent whole. */
function textOf({ body }: UpstreamRequest): string {
  if (typeof body !== "string") throw new Error("the body is no text");
  return body;
}

describe.each(DIALECT_MODELS)("%s", (name, model) => {
  test("functions become tools, and nothing is lost", () => {
    const request = ask(codecOf(name), model, BODY);
    expect(request.dropped ?? []).toEqual([]);
    const text = textOf(request);
    for (const word of ["alpha", "beta", "find"]) expect(text).toContain(word);
    expect(text).not.toMatch(/"functions"|"function_call"|"role":"function"/);
  });

  test("a history of functions alone is one of tools", () => {
    const request = ask(codecOf(name), model, { messages: BODY.messages });
    expect(request.dropped ?? []).toEqual([]);
    expect(textOf(request)).not.toMatch(/"function_call"|"role":"function"/);
  });
});

describe("an answer", () => {
  const codec = codecOf("openai");
  const call = readChat({ model: "route/a", ...BODY });
  const form = ask(codec, "mistral-large-latest", BODY).form!;

  test("that is whole has the call as the message's function_call", () => {
    const choice = {
      index: 0,
      message: { role: "assistant", content: null, tool_calls: [CALL] },
      finish_reason: "tool_calls",
    };
    const { body } = form.answer(bytes({ id: "a", choices: [choice] }), call);
    expect(body["choices"]).toEqual([
      {
        index: 0,
        message: { role: "assistant", content: null, function_call: CALL.function },
        finish_reason: "function_call",
      },
    ]);
  });

  test("that is streamed has it in its deltas", () => {
    const chunks = [
      chunk({ role: "assistant", tool_calls: [{ index: 0, ...CALL, function: { name: "find", arguments: "" } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"q":' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '"b"}' } }] }),
      chunk({}, "tool_calls"),
    ];
    const text = [...chunks.map((one) => JSON.stringify(one)), "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
    const events = form.decoder!({ ...call, stream: true }).feed(new TextEncoder().encode(text));
    const choices = events.flatMap(({ data }) => data["choices"] as readonly Json[]);
    const deltas = choices.map(({ delta }) => (delta as Json)["function_call"] as Json | undefined);
    const args = deltas.map((one) => one?.["arguments"]).filter((one) => typeof one === "string");
    expect(args.join("")).toBe('{"q":"b"}');
    expect(deltas[0]).toMatchObject({ name: "find" });
    expect(JSON.stringify(choices)).not.toContain("tool_calls");
    expect(choices.at(-1)).toMatchObject({ finish_reason: "function_call" });
    // What is relayed as it came says the same.
    for (const { data, raw = JSON.stringify(data) } of events) expect(JSON.parse(raw)).toEqual(data);
  });

  test("that calls nothing is left alone", () => {
    const choice = { index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" };
    expect(form.answer(bytes({ id: "a", choices: [choice] }), call).body["choices"]).toEqual([choice]);
  });
});

test("at a server of which nothing is known they travel as they came", () => {
  const request = ask(DIALECTS.openai!.codecs.chat as AnswerCodec, "any", BODY);
  expect(JSON.parse(textOf(request))).toMatchObject(BODY);
});

test("what a function cannot say is told in the client's words", () => {
  const functions = [{ ...FUNCTION, strict: true, parameters: { type: "string" } }];
  const { dropped } = ask(codecOf("azure"), "gpt-4o", { ...BODY, functions });
  expect(dropped).toEqual(["/functions/0/strict"]);
});
