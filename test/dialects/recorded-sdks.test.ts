import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chatFormat, readChat } from "../../src/dialects/chat/client.ts";
import { messagesFormat, readMessages } from "../../src/dialects/messages/client/format.ts";
import { type Bill, type Call, isJson, type Json } from "../../src/kit/index.ts";
import { assemble } from "./assemble.ts";
import { codecFor, of, PAYLOADS, payloadsOf, recorded, type Recording, WIRES } from "./recordings.ts";

/*
 * The same bytes, read by the gateway and by the SDK of who made them. Of Gemini and Cohere no SDK is at hand: their
 * streams are read by hand in their own suites.
 */

const BILL: Bill = { usage: { prompt: 7, completion: 5, cached: 0, reasoning: 0 }, estimated: true, charge: 1n };
const USER = [{ role: "user" as const, content: "hi" }];
const CHAT = readChat({ model: "route/a", messages: USER, stream: true });
const MESSAGES = readMessages({ model: "route/a", max_tokens: 99, messages: USER, stream: true });

/** Sent to whoever asks. */
let bytes: Uint8Array = new Uint8Array();
const server = createServer((_request, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" }).end(bytes);
});
let origin: string;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
});

const eventsOf = (recording: Recording, call: Call) => {
  const decoder = codecFor(recording).decoder!(call);
  return [...decoder.feed(recording.bytes()), ...decoder.finish()];
};

const words = (value: unknown): string => (typeof value === "string" ? value : "");

interface Said {
  readonly text: string;
  readonly thought: string;
  readonly calls: readonly (readonly [id: string, name: string, input: unknown])[];
  readonly finish: unknown;
}

/** What the gateway makes of a recording. */
const canonical = (recording: Recording): Said => said(assemble(eventsOf(recording, CHAT).map(({ data }) => data)));

function said({ message, finish_reason }: Json): Said {
  const { content, reasoning_content, tool_calls = [] } = message as Json;
  const calls = tool_calls as readonly { id: string; function: { name: string; arguments: string } }[];
  return {
    text: (content ?? "") as string,
    thought: (reasoning_content ?? "") as string,
    calls: calls.map(({ id, function: called }) => [id, called.name, parsed(called.arguments)]),
    finish: finish_reason,
  };
}

/** A call that was cut off has no input yet. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return "cut";
  }
}

/** What Vercel's SDK makes of the provider's own bytes: its recordings are these. */
async function vercel(): Promise<Said> {
  const model = createOpenAICompatible({ name: "p", baseURL: `${origin}/v1` }).chatModel("m");
  const { stream } = await model.doStream({ prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }] });
  let [text, thought] = ["", ""];
  const calls: [string, string, unknown][] = [];
  let finish: unknown;
  for await (const part of stream) {
    if (part.type === "error") throw part.error;
    if (part.type === "text-delta") text += part.delta;
    if (part.type === "reasoning-delta") thought += part.delta;
    if (part.type === "tool-call") calls.push([part.toolCallId, part.toolName, parsed(part.input)]);
    if (part.type === "finish") finish = part.finishReason.raw;
  }
  return { text, thought, calls, finish };
}

describe.skipIf(!recorded)("OpenAI-style streams", () => {
  test.each(of(PAYLOADS, "openai"))("%s is what Vercel's SDK reads", async (_, recording) => {
    bytes = recording.bytes();
    expect(canonical(recording)).toEqual(await vercel());
  });

  test.each(of(PAYLOADS))("%s is what OpenAI's stream() reads of the gateway", async (_, recording) => {
    const { stream } = chatFormat(CHAT);
    const text = eventsOf(recording, CHAT).map((event) => stream.event(event));
    bytes = new TextEncoder().encode(text.join("") + stream.done(BILL));
    const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: "any", maxRetries: 0 });
    const { choices } = await client.chat.completions
      .stream({ model: "route/a", messages: USER, stream: true })
      .finalChatCompletion();
    const { message, finish_reason } = choices[0]!;
    const calls = (message.tool_calls ?? []).flatMap((call) =>
      call.type === "function" ? [[call.id, call.function.name, parsed(call.function.arguments)]] : [],
    );
    const { thought: _thought, ...rest } = canonical(recording);
    expect({ text: message.content ?? "", calls, finish: finish_reason }).toEqual(rest);
  });
});

const FINISHES: Readonly<Record<string, string>> = { end_turn: "stop", tool_use: "tool_calls", max_tokens: "length" };

const read = (): Promise<Anthropic.Message> =>
  new Anthropic({ baseURL: origin, apiKey: "any", maxRetries: 0 }).messages
    .stream({ model: "m", max_tokens: 99, messages: USER })
    .finalMessage();

describe.skipIf(!recorded)("Anthropic's streams", () => {
  test.each(of([...PAYLOADS, ...WIRES], "anthropic"))("%s is what Anthropic's SDK reads", async (_, recording) => {
    bytes = recording.bytes();
    const message = await read();
    const whole = canonical(recording);
    const cut = whole.calls.some(([, , input]) => input === "cut");
    expect(cut).toBe(recording.name === "incomplete_partial_json_response.txt");
    expect(whole).toEqual({
      text: message.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
      thought: message.content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
      calls: message.content.flatMap((block) =>
        block.type === "tool_use" ? [[block.id, block.name, cut ? "cut" : block.input]] : [],
      ),
      finish: FINISHES[String(message.stop_reason)],
    });
    if (cut) return;
    // As a complete answer it says the same.
    const { body, usage } = codecFor(recording).answer(new TextEncoder().encode(JSON.stringify(message)), CHAT);
    const events = eventsOf(recording, CHAT);
    expect(said((body["choices"] as readonly [Json])[0])).toEqual(whole);
    expect(events.findLast((event) => event.usage !== undefined)?.usage).toEqual(usage);
    // Through the gateway it is the same message, but for its model.
    const { stream } = messagesFormat(MESSAGES);
    const text = eventsOf(recording, MESSAGES).map((event) => stream.event(event));
    bytes = new TextEncoder().encode(text.join("") + stream.done(BILL));
    const { content, stop_reason, stop_sequence, usage: counts } = message;
    expect(await read()).toMatchObject({ content, stop_reason, stop_sequence, usage: counts, model: "route/a" });
  });
});

describe.skipIf(!recorded)("Bedrock's streams", () => {
  const codec = new EventStreamCodec(
    (input) => (typeof input === "string" ? input : new TextDecoder().decode(input)),
    (input) => new TextEncoder().encode(input),
  );

  /** The events of a stream by AWS's own codec. */
  function smithy(stream: Uint8Array): readonly Json[] {
    const payloads: Json[] = [];
    for (let at = 0; at < stream.length;) {
      const length = new DataView(stream.buffer, stream.byteOffset + at).getUint32(0);
      const { headers, body } = codec.decode(stream.subarray(at, at + length));
      payloads.push({ [String(headers[":event-type"]?.value)]: JSON.parse(new TextDecoder().decode(body)) as unknown });
      at += length;
    }
    return payloads;
  }

  test.each(of(WIRES, "bedrock"))("%s has the frames that AWS's codec reads, and what they say", (name, recording) => {
    const payloads = smithy(recording.bytes());
    // One was recorded as bytes alone.
    const lines = name === "amazon-bedrock-json-only-text-first.1.bin" ? null : name.replace(".bin", "");
    expect(payloads).toEqual(lines === null ? payloads : payloadsOf(`amazon-bedrock/${lines}`));
    const deltas = payloads.map(({ contentBlockDelta: event }) => (isJson(event) ? (event["delta"] as Json) : {}));
    const joined = (pick: (delta: Json) => unknown): string => deltas.map((delta) => words(pick(delta))).join("");
    const { text, thought, calls } = canonical(recording);
    expect(text).toBe(joined(({ text: one }) => one));
    expect(thought).toBe(joined(({ reasoningContent: one }) => (isJson(one) ? one["text"] : "")));
    const begun = payloads.flatMap(({ contentBlockStart: event }) => {
      const start = isJson(event) ? (event["start"] as Json)["toolUse"] : undefined;
      return isJson(start) ? [[start["toolUseId"], start["name"]]] : [];
    });
    expect(calls.map(([id, called]) => [id, called])).toEqual(begun);
    const input = joined(({ toolUse: one }) => (isJson(one) ? one["input"] : ""));
    expect(calls.map(([, , each]) => each)).toEqual(begun.length === 0 ? [] : [parsed(input || "{}")]);
  });
});
