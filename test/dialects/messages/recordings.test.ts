import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { anthropic } from "../../../src/dialects/anthropic/index.ts";
import { messagesFormat, readMessages } from "../../../src/dialects/clients/messages.ts";
import type { AnswerCodec } from "../../../src/dialects/dialect.ts";
import { chat } from "../../../src/dialects/openai/chat.ts";
import { isJson, type Json } from "../../../src/kit/index.ts";
import { sharedFixtures } from "../../support/shared.ts";
import { assembled, bill, extras, frames, request, ROUTE } from "./support.ts";

const codec = anthropic.codecs.chat as AnswerCodec;

function withoutNulls(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

const folder = sharedFixtures("vercel-ai");
const raw = sharedFixtures("anthropic-sdk-ts");
const STREAMS = [
  "anthropic-text",
  "anthropic-tool-no-args",
  "anthropic-clear-thinking.1",
  "anthropic-json-output-format.1",
];
const RAW = ["basic_response", "tool_use_response", "incomplete_partial_json_response"];
const BODIES = [
  "anthropic-text",
  "anthropic-tool-no-args",
  "anthropic-clear-thinking.1",
  "anthropic-json-output-format.1",
  "anthropic-claude-opus-5-reasoning-high.1",
  "anthropic-memory-20250818.1",
];

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

describe.skipIf(folder === null)("recorded streams through both halves", () => {
  test.each(STREAMS)("%s", (name) => {
    const lines = readFileSync(join(folder!, "anthropic", `${name}.chunks.txt`), "utf8")
      .split("\n")
      .filter((line) => line.trim() !== "");
    const payloads = lines.map((line) => JSON.parse(line) as Json);
    const body = lines.map((line, n) => `event: ${String(payloads[n]!["type"])}\ndata: ${line}\n\n`).join("");
    const text = relayed(new TextEncoder().encode(body), codec);
    expectWhole(text, payloads);
    const { usage } = payloads[0]!["message"] as { usage: Json };
    expect(frames(text)[0]).toMatchObject({ message: { usage: { input_tokens: usage["input_tokens"] } } });
  });
});

describe.skipIf(raw === null)("recorded bytes through both halves", () => {
  test.each(RAW)("%s", (name) => {
    const text = readFileSync(join(raw!, `${name}.txt`), "utf8");
    const payloads = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Json);
    const { content } = expectWhole(relayed(new TextEncoder().encode(text), codec), payloads);
    expect(content.length).toBeGreaterThan(0);
  });
});

describe.skipIf(folder === null)("recorded bodies through both halves", () => {
  test.each(BODIES)("%s", (name) => {
    const text = readFileSync(join(folder!, "anthropic", `${name}.json`), "utf8");
    const { body } = codec.answer(new TextEncoder().encode(text), call(false));
    const answer = JSON.parse(messagesFormat(call(false)).answer(body, extras)) as Json;
    expect(answer).toMatchObject({ ...withoutNulls(JSON.parse(text) as Json), model: ROUTE });
  });
});

/** OpenAI-style streams, and what their provider calls its end. */
const OTHERS: readonly (readonly [string, string])[] = [
  ["openai/chat/openai-text", "end_turn"],
  ["alibaba/alibaba-tool-call", "tool_use"],
  ["deepseek/chat/deepseek-text", "max_tokens"],
  ["deepseek/chat/deepseek-reasoning", "end_turn"],
  ["deepseek/chat/deepseek-tool-call", "tool_use"],
  ["groq/groq-tool-call", "tool_use"],
  ["xai/xai-tool-call", "tool_use"],
];

const words = (value: unknown): string => (typeof value === "string" ? value : "");

describe.skipIf(folder === null)("recorded OpenAI-style streams reach a Messages client whole", () => {
  test.each(OTHERS)("%s ends with %s", (name, stop_reason) => {
    const lines = readFileSync(join(folder!, `${name}.chunks.txt`), "utf8")
      .split("\n")
      .filter((line) => line.trim() !== "");
    const deltas = lines
      .flatMap((line) => (JSON.parse(line) as { readonly choices: readonly Json[] }).choices)
      .map(({ delta }) => delta as Json);
    const body = `${lines.map((line) => `data: ${line}\n\n`).join("")}data: [DONE]\n\n`;
    const { content, message } = assembled(frames(relayed(new TextEncoder().encode(body), chat)));
    const shown = (field: string): string => content.map((block) => words(block[field])).join("");
    expect(shown("text")).toBe(deltas.map((delta) => words(delta["content"])).join(""));
    expect(shown("thinking")).toBe(deltas.map((delta) => words(delta["reasoning_content"])).join(""));
    const calls = deltas.flatMap((delta) => (Array.isArray(delta["tool_calls"]) ? delta["tool_calls"] : []));
    const args = calls.map((call: { readonly function?: Json }) => words(call.function?.["arguments"])).join("");
    const inputs = content.filter(({ type }) => type === "tool_use").map(({ input }) => input);
    expect(inputs).toEqual(args === "" ? [] : [JSON.parse(args)]);
    expect(message).toMatchObject({ stop_reason });
  });
});
