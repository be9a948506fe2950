import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FEW_RUNS } from "../properties/runs.ts";
import { azure } from "../../src/dialects/azure/index.ts";
import { chatFormat, readChat } from "../../src/dialects/chat/client.ts";
import type { AnswerCodec } from "../../src/dialects/dialect.ts";
import { messagesFormat, readMessages } from "../../src/dialects/messages/client/format.ts";
import { responsesFormat } from "../../src/dialects/responses/client/format.ts";
import { readResponses } from "../../src/dialects/responses/client/request.ts";
import { type Bill, type Call, isJson, type Json, type StreamEvent } from "../../src/kit/index.ts";
import { testTarget } from "../support/snapshot.ts";
import { assemble } from "./assemble.ts";
import { cutAt } from "./decode.ts";
import { type Native, NATIVES, type Turn } from "./natives.ts";
import { framed } from "./recordings.ts";
import { bytes, codecOf, extras } from "./wire-cases.ts";

/*
 * What a model said goes from its provider through the canonical form to a client, and comes back as history: for every
 * dialect of chat and every client format it arrives as the provider wrote it. A stream of it, in any pieces and any
 * reads, is the complete answer.
 */

const BILL: Bill = { usage: { prompt: 7, completion: 5, cached: 0, reasoning: 0 }, estimated: true, charge: 1n };
const location = { baseUrl: "https://r.openai.azure.com/openai/v1", headers: {} };
const UPSTREAMS: readonly (readonly [name: string, Native, AnswerCodec, model: string])[] = [
  ["openai", NATIVES.openai, codecOf("openai", "chat"), "m"],
  ["azure", NATIVES.openai, azure.at!(location).codecs.chat as AnswerCodec, "m"],
  ["anthropic", NATIVES.anthropic, codecOf("anthropic", "chat"), "claude-sonnet-4-5"],
  ["gemini", NATIVES.gemini, codecOf("gemini", "chat"), "gemini-2.5-flash"],
  ["bedrock", NATIVES.bedrock, codecOf("bedrock", "chat"), "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
  ["cohere", NATIVES.cohere, codecOf("cohere", "chat"), "command-a"],
];

interface Client {
  /** The call of a conversation that asks, has this answer of the format, gives what its calls ask for. */
  readonly next: (answer: Json) => Call;
  readonly first: Call;
  readonly answer: (call: Call, body: Json) => Json;
  /** The complete answer that a stream came to. */
  readonly stream: (call: Call, events: readonly StreamEvent[]) => Json;
}

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);
const USER = { role: "user", content: "hi" };
const schema = { type: "object", properties: {} };
const NAMES = ["f", "g"];

const chatTools = NAMES.map((name) => ({ type: "function", function: { name, parameters: schema } }));
const readChatOf = (messages: readonly unknown[]): Call =>
  readChat({ model: "route/a", messages, tools: chatTools, stream: true });
const chat: Client = {
  first: readChatOf([USER]),
  next: (answer) => {
    const { message } = list(answer["choices"])[0] as { readonly message: Json };
    const results = list(message["tool_calls"]).map(({ id }) => ({ role: "tool", tool_call_id: id, content: "1" }));
    return readChatOf([USER, message, ...results, USER]);
  },
  answer: (call, body) => JSON.parse(chatFormat(call).answer(body, extras)) as Json,
  stream: (_call, events) => ({ choices: [assemble(events.map(({ data }) => data))] }),
};
/** One that brings back what OpenAI documents and nothing else. */
const plainChat: Client = {
  ...chat,
  next: (answer) => {
    const { role, content, tool_calls } = (list(answer["choices"])[0] as { readonly message: Json }).message;
    const calls = list(tool_calls).map(({ id, type, function: called }) => ({ id, type, function: called }));
    return chat.next({ choices: [{ message: { role, content, ...(calls.length > 0 && { tool_calls: calls }) } }] });
  },
};

const readMessagesOf = (messages: readonly unknown[]): Call =>
  readMessages({
    model: "route/a",
    max_tokens: 99,
    messages,
    tools: NAMES.map((name) => ({ name, input_schema: schema })),
    stream: true,
  });
const messages: Client = {
  first: readMessagesOf([USER]),
  next: ({ content }) => {
    const results = list(content)
      .filter(({ type }) => type === "tool_use")
      .map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "1" }));
    return readMessagesOf([
      USER,
      { role: "assistant", content },
      { role: "user", content: [...results, { type: "text", text: "hi" }] },
    ]);
  },
  answer: (call, body) => JSON.parse(messagesFormat(call).answer(body, extras)) as Json,
  stream: (call, events) => {
    const { stream } = messagesFormat(call);
    const text = events.map((event) => stream.event(event)).join("") + stream.done(BILL);
    return { content: blocksOf(payloadsOf(text)) };
  },
};

const payloadsOf = (text: string): readonly Json[] =>
  // Lines end with a line feed here, and not where an expression thinks: a text may hold U+2028.
  text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)) as Json);

/** The blocks that a Messages client puts together. */
function blocksOf(payloads: readonly Json[]): readonly Json[] {
  const blocks: Record<string, unknown>[] = [];
  const inputs: string[] = [];
  for (const { type, index, content_block, delta } of payloads) {
    const at = Number(index);
    if (type === "content_block_start") blocks[at] = { ...(content_block as Json) };
    if (type !== "content_block_delta") continue;
    const { type: _, partial_json, ...texts } = delta as Json;
    if (typeof partial_json === "string") inputs[at] = (inputs[at] ?? "") + partial_json;
    for (const [name, text] of Object.entries(texts)) blocks[at]![name] = String(blocks[at]![name]) + String(text);
  }
  inputs.forEach((input, at) => (blocks[at]!["input"] = JSON.parse(input)));
  return blocks;
}

const readResponsesOf = (input: readonly unknown[]): Call =>
  readResponses({
    model: "route/a",
    input,
    tools: NAMES.map((name) => ({ type: "function", name, parameters: schema })),
    stream: true,
    store: false,
  });
const responses: Client = {
  first: readResponsesOf([USER]),
  next: ({ output }) => {
    const results = list(output)
      .filter(({ type }) => type === "function_call")
      .map(({ call_id }) => ({ type: "function_call_output", call_id, output: "1" }));
    return readResponsesOf([USER, ...list(output), ...results, USER]);
  },
  answer: (call, body) => JSON.parse(responsesFormat(call).answer(body, extras)) as Json,
  stream: (call, events) => {
    const { stream } = responsesFormat(call);
    const text = events.map((event) => stream.event(event)).join("") + stream.done(BILL);
    return payloadsOf(text).at(-1)!["response"] as Json;
  },
};

const CLIENTS: Readonly<Record<string, Client>> = { chat, messages, responses };

const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }).filter((text) => text.trim() !== "");
/** Base64, as Gemini's are. */
const signature = fc.uint8Array({ minLength: 1, maxLength: 9 }).map((some) => Buffer.from(some).toString("base64"));
const input = fc
  .dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .map((object) => JSON.parse(JSON.stringify(object)) as Json);
const call = (signatures: fc.Arbitrary<string>) =>
  fc.record({
    id: fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/),
    name: fc.constantFrom(...NAMES),
    input,
    signature: signatures,
  });

/** What a model of the dialect may say. */
function turns({ thoughts, dialect }: Native): fc.Arbitrary<Turn> {
  const sealed = thoughts === "signed" ? signature : fc.constant("");
  const most = { none: 0, plain: 1, signed: 3 }[thoughts];
  return fc
    .record({
      thoughts: fc.array(fc.record({ text: word, signature: sealed }), { maxLength: most }),
      text: fc.oneof(word, fc.constant("")),
      calls: fc.uniqueArray(call(dialect === "gemini" ? signature : fc.constant("")), {
        maxLength: 3,
        selector: ({ id }) => id,
      }),
    })
    .filter(({ text, calls }) => text !== "" || calls.length > 0);
}

const sent = (
  codec: AnswerCodec,
  next: Call,
  model: string,
): { readonly body: Json; readonly dropped: readonly string[] } => {
  const { body, dropped = [] } = codec.request(next, testTarget("alpha", { model }), "k");
  return { body: JSON.parse(body as string) as Json, dropped };
};

/** The turn as the provider itself would have it in the history. */
function own(native: Native, turn: Turn): unknown {
  const answer = native.answer(turn);
  switch (native.dialect) {
    case "openai":
      return (list(answer["choices"])[0] as { readonly message: Json }).message;
    case "anthropic":
      return answer["content"];
    case "gemini":
      return (list(answer["candidates"])[0] as { readonly content: Json }).content["parts"];
    case "bedrock":
      return ((answer["output"] as Json)["message"] as Json)["content"];
    case "cohere":
      return answer["message"];
  }
}

describe.each(UPSTREAMS)("%s", (_, native, codec, model) => {
  const decode = (client: Client, payloads: readonly Json[], cuts: readonly number[]): readonly StreamEvent[] => {
    const decoder = codec.decoder!(client.first);
    const whole = framed(
      native.dialect,
      payloads.map((payload) => JSON.stringify(payload)),
    );
    const places = cuts.map((cut) => cut % whole.length).toSorted((a, b) => a - b);
    const events = cutAt(whole, places).flatMap((piece) => decoder.feed(piece));
    events.push(...decoder.finish());
    expect(decoder).toMatchObject({ fault: null, complete: true });
    return events;
  };

  test.each(Object.entries(CLIENTS))("through %s an answer comes back as it was", (_, client) => {
    fc.assert(
      fc.property(turns(native), (turn) => {
        const { body } = codec.answer(bytes(native.answer(turn)), client.first);
        const next = client.next(client.answer(client.first, body));
        const { body: request, dropped } = sent(codec, next, model);
        expect(native.history(request)).toEqual(own(native, turn));
        expect(dropped).toEqual([]);
      }),
      { numRuns: FEW_RUNS },
    );
  });

  test.each(Object.entries(CLIENTS))("through %s so does its stream, in any pieces and reads", (_, client) => {
    const cuts = fc.array(fc.nat(), { maxLength: 12 });
    fc.assert(
      fc.property(turns(native), fc.integer({ min: 1, max: 9 }), cuts, (turn, size, places) => {
        const events = decode(client, native.stream(turn, size), places);
        const next = client.next(client.stream(client.first, events));
        expect(native.history(sent(codec, next, model).body)).toEqual(own(native, turn));
      }),
      { numRuns: FEW_RUNS },
    );
  });
});

test("a client that keeps nothing but ids brings the signatures of Gemini's calls back", () => {
  const [, native, codec, model] = UPSTREAMS.find(([name]) => name === "gemini")!;
  fc.assert(
    fc.property(turns(native), (turn) => {
      const bare = { ...turn, thoughts: [] };
      const { body } = codec.answer(bytes(native.answer(bare)), plainChat.first);
      const next = plainChat.next(plainChat.answer(plainChat.first, body));
      expect(native.history(sent(codec, next, model).body)).toEqual(own(native, bare));
    }),
    { numRuns: FEW_RUNS },
  );
});
