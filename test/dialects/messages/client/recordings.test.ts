import { describe, expect, test } from "vitest";
import { chat } from "../../../../src/dialects/chat/index.ts";
import type { AnswerCodec } from "../../../../src/dialects/dialect.ts";
import { messagesFormat, readMessages } from "../../../../src/dialects/messages/client/format.ts";
import { anthropic } from "../../../../src/dialects/messages/index.ts";
import { isJson, type Json } from "../../../../src/kit/index.ts";
import { answerOf, ANSWERS, of, PAYLOADS, payloadsOf, recorded, WIRES } from "../../recordings.ts";
import { assembled, bill, extras, frames, request, ROUTE } from "./support.ts";

const codec = anthropic.codecs.chat as AnswerCodec;

function withoutNulls(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

/** What a client of the provider itself would put together. */
function original(payloads: readonly Json[]): { readonly content: readonly Json[]; readonly ending: Json } {
  const content: Record<string, unknown>[] = [];
  const inputs: string[] = [];
  let ending: Json = {};
  for (const event of payloads) {
    const index = Number(event["index"]);
    const delta = isJson(event["delta"]) ? event["delta"] : {};
    if (event["type"] === "content_block_start") content[index] = { ...(event["content_block"] as Json) };
    if (event["type"] === "message_delta") ending = event;
    if (event["type"] !== "content_block_delta") continue;
    const block = content[index]!;
    for (const name of ["text", "thinking", "signature"]) {
      if (typeof delta[name] === "string") block[name] = String(block[name]) + delta[name];
    }
    if (typeof delta["partial_json"] === "string") inputs[index] = (inputs[index] ?? "") + delta["partial_json"];
  }
  inputs.forEach((input, index) => {
    if (input !== "") content[index]!["input"] = parsed(input);
  });
  return { content, ending };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { _raw: text };
  }
}

const call = (stream: boolean) => readMessages(request(stream ? { stream } : {}));

function relayed(bytes: Uint8Array, from: AnswerCodec): string {
  const decoder = from.decoder!(call(true));
  const format = messagesFormat(call(true)).stream;
  const events = [...decoder.feed(bytes), ...decoder.finish()];
  expect(decoder).toMatchObject({ fault: null, complete: true });
  return events.map((event) => format.event(event)).join("") + format.done(bill);
}

function expectWhole(text: string, payloads: readonly Json[]): ReturnType<typeof assembled> {
  const { content, ending } = original(payloads);
  const whole = assembled(frames(text));
  expect(whole.content).toEqual(content);
  const { type: _, delta, usage, ...beside } = ending;
  expect(whole.message).toMatchObject({ ...beside, ...(delta as Json), model: ROUTE });
  expect(whole.message["usage"]).toMatchObject(usage as Json);
  return whole;
}

describe.skipIf(!recorded)("recorded streams through both halves", () => {
  test.each(of(PAYLOADS, "anthropic"))("%s", (name, { bytes }) => {
    const payloads = payloadsOf(name);
    const text = relayed(bytes(), codec);
    expectWhole(text, payloads);
    const { usage } = payloads[0]!["message"] as { usage: Json };
    expect(frames(text)[0]).toMatchObject({ message: { usage: { input_tokens: usage["input_tokens"] } } });
  });
});

describe.skipIf(!recorded)("recorded bytes through both halves", () => {
  test.each(of(WIRES, "anthropic"))("%s", (_, { bytes }) => {
    const text = new TextDecoder().decode(bytes());
    const payloads = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Json);
    const { content } = expectWhole(relayed(bytes(), codec), payloads);
    expect(content.length).toBeGreaterThan(0);
  });
});

describe.skipIf(!recorded)("recorded bodies through both halves", () => {
  test.each(of(ANSWERS, "anthropic"))("%s", (name, { bytes }) => {
    const { body } = codec.answer(bytes(), call(false));
    const answer = JSON.parse(messagesFormat(call(false)).answer(body, extras)) as Json;
    expect(answer).toMatchObject({ ...withoutNulls(answerOf(name)), model: ROUTE });
  });
});

/** What a stream of chat ends with, in this format. */
const ENDS: Readonly<Record<string, string>> = { stop: "end_turn", tool_calls: "tool_use", length: "max_tokens" };

const words = (value: unknown): string => (typeof value === "string" ? value : "");

describe.skipIf(!recorded)("recorded OpenAI-style streams reach a Messages client whole", () => {
  test.each(of(PAYLOADS, "openai"))("%s", (name, { bytes }) => {
    const choices = payloadsOf(name).flatMap((payload) => payload["choices"] as readonly Json[]);
    const deltas = choices.map(({ delta }) => delta as Json);
    const { content, message } = assembled(frames(relayed(bytes(), chat)));
    const shown = (field: string): string => content.map((block) => words(block[field])).join("");
    expect(shown("text")).toBe(deltas.map((delta) => words(delta["content"])).join(""));
    expect(shown("thinking")).toBe(
      deltas.map((delta) => words(delta["reasoning_content"] ?? delta["reasoning"])).join(""),
    );
    const calls = deltas.flatMap((delta) => (Array.isArray(delta["tool_calls"]) ? delta["tool_calls"] : []));
    const args = calls.map((call: { readonly function?: Json }) => words(call.function?.["arguments"])).join("");
    const inputs = content.filter(({ type }) => type === "tool_use").map(({ input }) => input);
    expect(inputs).toEqual(args === "" ? [] : [JSON.parse(args)]);
    const finish = choices.findLast((choice) => words(choice["finish_reason"]) !== "")?.["finish_reason"];
    expect(message).toMatchObject({ stop_reason: ENDS[String(finish)] });
  });
});
