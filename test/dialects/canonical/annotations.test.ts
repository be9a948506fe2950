import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, streamText } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chatFormat, readChat } from "../../../src/dialects/chat/client.ts";
import { messagesFormat, readMessages } from "../../../src/dialects/messages/client/format.ts";
import type { AnswerExtras, AnswerFormat, Bill, Json, StreamEvent, StreamFormat } from "../../../src/kit/index.ts";

/* Sources that a provider names, for clients of every format: none may meet one that its schema does not know. */

const bill: Bill = { usage: { prompt: 7, completion: 5, cached: 0, reasoning: 0 }, estimated: true, charge: 1n };
const extras: AnswerExtras = { id: "x-1", created: 1, provider: "P", latencyMs: 1, bill };
const page = { url: "https://a.example/", title: "A", start_index: 0, end_index: 2 };
const PAGE = { type: "url_citation", url_citation: page };
const FILE = { type: "file_citation", file_citation: { filename: "a.pdf", index: 0, start_index: 0, end_index: 2 } };
const BARE = { type: "url_citation", url_citation: { url: "https://b.example/", content: "quoted" } };
const WHOLE = {
  type: "url_citation",
  url_citation: { ...BARE.url_citation, title: "https://b.example/", start_index: 0, end_index: 0 },
};
const ALL = [PAGE, FILE, { type: "container_file_citation" }, BARE, null];

const message = (more: Json): Json => ({
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "up",
  choices: [{ index: 0, message: { role: "assistant", content: "hi", ...more }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});
function chunk(delta: Json, finish: string | null = null): StreamEvent {
  const data = {
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "up",
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
  return { data, raw: JSON.stringify(data), text: "" };
}
const EVENTS = [
  chunk({ role: "assistant", content: "" }),
  chunk({ content: "hi" }),
  chunk({ annotations: ALL }),
  chunk({}, "stop"),
];

type Format = AnswerFormat & { readonly stream: StreamFormat };
const ASKED = { model: "route/a", max_tokens: 99, messages: [{ role: "user", content: "hi" }] };
const chat = (): Format => chatFormat(readChat(ASKED));
const messages = (): Format => messagesFormat(readMessages(ASKED));
const written = (format: Format): string =>
  EVENTS.map((event) => format.stream.event(event)).join("") + format.stream.done(bill);

const server = createServer((request, response) => {
  void answer(request, response);
});
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { stream } = (await json(request)) as Json;
  const format = request.url?.endsWith("/messages") === true ? messages() : chat();
  const [type, text] =
    stream === true
      ? ["text/event-stream", written(format)]
      : ["application/json", format.answer(message({ annotations: ALL }), extras)];
  response.writeHead(200, { "content-type": type }).end(text);
}
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

/** A message as a chat client gets it. */
const shown = (more: Json): unknown => {
  const { choices } = JSON.parse(chat().answer(message(more), extras)) as { choices: { message: Json }[] };
  return choices[0]?.message;
};

describe("a chat client gets citations of pages only, each with all of its fields", () => {
  test("of a complete answer", () => {
    expect(shown({ annotations: ALL })).toEqual({ role: "assistant", content: "hi", annotations: [PAGE, WHOLE] });
    expect(shown({ annotations: [FILE] })).toEqual({ role: "assistant", content: "hi" });
    expect(shown({ annotations: [] })).toEqual({ role: "assistant", content: "hi", annotations: [] });
    expect(shown({ annotations: null })).toEqual({ role: "assistant", content: "hi", annotations: null });
  });

  test("no order of blocks, which only the Messages format has", () => {
    expect(shown({ block_order: ["content", "reasoning"] })).toEqual({ role: "assistant", content: "hi" });
  });

  test("of a stream, whose other chunks pass as they came", () => {
    const frames = EVENTS.map((event) => chat().stream.event(event));
    expect(frames[1]).toBe(`data: ${EVENTS[1]!.raw!.replace('"model":"up"', '"model":"route/a"')}\n\n`);
    const { choices } = JSON.parse(frames[2]!.slice("data: ".length)) as { choices: unknown };
    expect(choices).toEqual([{ index: 0, delta: { annotations: [PAGE, WHOLE] }, finish_reason: null }]);
    const passed = chunk({ annotations: [PAGE] });
    expect(chat().stream.event(passed)).toBe(`data: ${passed.raw!.replace('"model":"up"', '"model":"route/a"')}\n\n`);
  });

  test("so that the SDK with the strictest schema reads them", async () => {
    const model = createOpenAI({ baseURL: `${origin}/v1`, apiKey: "k" }).chat("route/a");
    const { text, sources } = await generateText({ model, prompt: "hi", maxRetries: 0 });
    expect([text, sources.map((source) => "url" in source && source.url)]).toEqual([
      "hi",
      [page.url, "https://b.example/"],
    ]);
    const streamed = streamText({ model, prompt: "hi", maxRetries: 0 });
    expect([await streamed.text, (await streamed.sources).length]).toEqual(["hi", 2]);
  });
});

const cited = (url: string, title: string, cited_text: string): Json => ({
  type: "web_search_result_location",
  url,
  title,
  cited_text,
  encrypted_index: "",
});
const HISTORY = (content: readonly Json[]): Json => ({
  ...ASKED,
  messages: [...ASKED.messages, { role: "assistant", content }],
});

describe("a Messages client gets citations of pages with the text", () => {
  const CITATIONS = [cited(page.url, "A", ""), cited("https://b.example/", "https://b.example/", "quoted")];
  const TEXT = { type: "text", text: "hi", citations: CITATIONS };

  test("as its SDK puts them together", async () => {
    const client = new Anthropic({ baseURL: origin, apiKey: "k", maxRetries: 0 });
    const ask = { ...ASKED, messages: [{ role: "user" as const, content: "hi" }] };
    expect((await client.messages.create(ask)).content).toEqual([TEXT]);
    expect((await client.messages.stream(ask).finalMessage()).content).toEqual([TEXT]);
  });

  test("and as Vercel's checks them", async () => {
    const model = createAnthropic({ baseURL: `${origin}/v1`, apiKey: "k" })("route/a");
    const { text, sources } = await generateText({ model, prompt: "hi", maxOutputTokens: 9, maxRetries: 0 });
    expect([text, sources.length]).toEqual(["hi", 2]);
    const streamed = streamText({ model, prompt: "hi", maxOutputTokens: 9, maxRetries: 0 });
    expect([await streamed.text, (await streamed.sources).length]).toEqual(["hi", 2]);
  });

  test("which are no provider's own: they go no further when they come back", () => {
    const own = { ...cited("https://c.example/", "C", "c"), encrypted_index: "Eo8BCioI" };
    const HO = { type: "text", text: "ho" };
    const read = (citations: readonly Json[]): unknown => {
      const { body } = readMessages(HISTORY([{ ...TEXT, citations }, HO]));
      return (body["messages"] as readonly Json[])[1]?.["content"];
    };
    expect(read(CITATIONS)).toEqual([{ type: "text", text: "hi" }, HO]);
    expect(read([...CITATIONS, own])).toEqual([{ type: "text", text: "hi", native: { citations: [own] } }, HO]);
  });

  test("and have no place where no text is open", () => {
    const { stream } = messages();
    const call = { index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } };
    const text =
      stream.event(chunk({ tool_calls: [call] })) + stream.event(chunk({ annotations: ALL })) + stream.done(bill);
    expect(text).not.toContain("citations_delta");
  });
});
