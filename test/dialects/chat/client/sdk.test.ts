import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { OpenAI } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chatFormat, readChat } from "../../../../src/dialects/chat/client.ts";
import { type Bill, isJson, type Json, streamBroken } from "../../../../src/kit/index.ts";
import { decode } from "../../decode.ts";

const bill: Bill = {
  usage: { prompt: 7, completion: 5, cached: 0, reasoning: 0 },
  estimated: true,
  charge: 1n,
};

/** What a chat client gets of the upstream's stream that the model's name is the transcript of. */
function relayed(body: Json): string {
  const call = readChat(body);
  const path = new URL(`../transcripts/${call.model.replace("route/", "")}.txt`, import.meta.url);
  const { events, fault, complete } = decode([readFileSync(path)]);
  const format = chatFormat(call).stream;
  const text = events.map((event) => format.event(event)).join("");
  return (
    text + (fault !== null || !complete ? format.failure(streamBroken(fault?.message ?? "cut")) : format.done(bill))
  );
}

let server: Server;
let client: OpenAI;
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = (await json(request)) as Json;
    response.writeHead(200, { "content-type": "text/event-stream" }).end(relayed(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  client = new OpenAI({ apiKey: "any", baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const messages = [{ role: "user" as const, content: "hi" }];
const asked = (name: string) => ({ model: `route/${name}`, messages, stream_options: { include_usage: true } });

interface Expected {
  readonly content: string | null;
  readonly reasoning?: string;
  readonly calls?: readonly (readonly [name: string, args: string])[];
  readonly finish?: string;
}

const weather: readonly [string, string] = ["weather", '{"city":"Bern"}'];
const time: readonly [string, string] = ["time", "{}"];
const CALLED = { finish: "tool_calls" } as const;

/** By defect of the upstream: what the SDK's `stream()` puts together. */
const STREAMS: readonly (readonly [name: string, expected: Expected])[] = [
  ["plain", { content: "Héllo 🌍" }],
  ["no-role", { content: "Hi!" }],
  ["no-finish", { content: "Hi!" }],
  ["no-done-finished", { content: "a" }],
  ["finish-absent", { content: "Hi!" }],
  ["finish-twice", { content: "Hi" }],
  ["tools-index-1", { content: "Looking.", calls: [weather, time], ...CALLED }],
  ["mistral-tools", { content: "", calls: [weather, time], ...CALLED }],
  ["mistral-thinking", { content: "42", reasoning: "Let me see." }],
  ["tools-repeated", { content: null, calls: [weather], ...CALLED }],
  ["tools-empty-id", { content: null, calls: [weather], ...CALLED }],
  ["tools-late-name", { content: null, calls: [weather], ...CALLED }],
  ["tools-object-arguments", { content: null, calls: [weather], ...CALLED }],
  ["tools-same-index", { content: null, calls: [["weather", "{}"], time], ...CALLED }],
  ["tools-no-id", { content: null, calls: [["weather", "{}"], time, ["date", "{}"], ["year", "{}"]], ...CALLED }],
  ["tools-no-finish", { content: null, calls: [["weather", "{}"]], ...CALLED }],
  ["tools-stop", { content: null, calls: [["weather", "{}"]], ...CALLED }],
  ["azure-first-chunk", { content: "ok" }],
  ["null-deltas", { content: "4", reasoning: "Hm." }],
  ["no-object", { content: "Hello!", reasoning: "Hm. " }],
  ["reasoning-both", { content: "4", reasoning: "Hm." }],
  ["perplexity-cumulative", { content: "abc" }],
  ["groq-x-groq", { content: "hey" }],
  ["continuous-usage", { content: "ab" }],
  ["crlf", { content: "Grüße dir" }],
  ["comments", { content: "a" }],
  ["no-space", { content: " lead" }],
];

function thoughtOf(delta: unknown): string {
  const thought = isJson(delta) ? delta["reasoning_content"] : undefined;
  return typeof thought === "string" ? thought : "";
}

describe("an upstream's defect does not reach the openai SDK's stream()", () => {
  test.each(STREAMS)("%s", async (name, { content, reasoning = "", calls = [], finish = "stop" }) => {
    const stream = client.chat.completions.stream(asked(name));
    let thoughts = "";
    // The SDK keeps only the last piece of a field that it does not know.
    stream.on("chunk", (chunk) => (thoughts += thoughtOf(chunk.choices[0]?.delta)));
    const { choices, model, usage } = await stream.finalChatCompletion();
    const [choice] = choices;
    const message = choice?.message as unknown as Json;
    expect(model).toBe(`route/${name}`);
    expect(choice?.finish_reason).toBe(finish);
    expect(message["role"]).toBe("assistant");
    expect(message["content"]).toBe(content);
    expect(thoughts).toBe(reasoning);
    const called = (choice?.message.tool_calls ?? []).map((call) =>
      call.type === "function" ? [call.function.name, call.function.arguments] : [],
    );
    expect(called).toEqual(calls);
    expect(usage?.total_tokens).toEqual(expect.any(Number));
  });
});

test.each([
  ["error-event", /./],
  ["no-done-cut", /cut/],
  ["finish-error", /broke its answer off/],
  ["one-choice-cut", /cut/],
  ["truncated-json", /not JSON/],
])("an answer that is not whole is an error to the SDK: %s", async (name, message) => {
  const read = async (): Promise<void> => {
    for await (const chunk of await client.chat.completions.create({ ...asked(name), stream: true })) void chunk;
  };
  await expect(read()).rejects.toThrow(message);
  await expect(client.chat.completions.stream(asked(name)).finalChatCompletion()).rejects.toThrow(message);
});
