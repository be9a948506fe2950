import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { Json } from "../../../src/kit/index.ts";
import { eventFrame } from "../../../src/simulator/dialects/bedrock.ts";

/** Tokens that every answer thinks before its first word, and shows nowhere. */
export const THOUGHT = 3_000;
/** The prompt of every request, in tokens: "Hello there" and its role. */
export const PROMPT = countTokens("Hello there\nuser");
const WORDS = ["Once ", "upon ", "a ", "time ", "there ", "was ", "an ", "end."];
const COMPLETION = THOUGHT + countTokens(WORDS.join(""));

/** What the provider has written so far, and what it would bill if it were ended now. */
interface Piece {
  readonly bytes: Buffer;
  /** The word that it brings; "" for none. */
  readonly word: string;
}

/** The upstream dialects of chats, by the names that the test's models have. */
export const WORKS = {
  chat: { dialect: "openai", api: "chat" },
  responses: { dialect: "openai", api: "responses" },
  anthropic: { dialect: "anthropic" },
  gemini: { dialect: "gemini" },
  bedrock: { dialect: "bedrock" },
  cohere: { dialect: "cohere" },
} as const;
export type WorkName = keyof typeof WORKS;

const sse = (data: Json, event?: string): Buffer =>
  Buffer.from(`${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
const frame = (name: string, payload: Json): Buffer => Buffer.from(eventFrame(name, payload));
const typed = (data: Json & { readonly type: string }): Buffer => sse(data, data.type);

interface Script {
  readonly contentType: string;
  readonly before: readonly Buffer[];
  readonly word: (word: string) => Buffer;
  readonly after: readonly Buffer[];
  readonly whole: Json;
}

const TEXT = WORDS.join("");
const CHUNK = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_768_478_400, model: "m" };
const CHAT_USAGE = {
  prompt_tokens: PROMPT,
  completion_tokens: COMPLETION,
  total_tokens: PROMPT + COMPLETION,
  completion_tokens_details: { reasoning_tokens: THOUGHT },
};
const RESPONSE_USAGE = {
  input_tokens: PROMPT,
  output_tokens: COMPLETION,
  total_tokens: PROMPT + COMPLETION,
  output_tokens_details: { reasoning_tokens: THOUGHT },
};
const GEMINI_USAGE = {
  promptTokenCount: PROMPT,
  candidatesTokenCount: COMPLETION - THOUGHT,
  thoughtsTokenCount: THOUGHT,
  totalTokenCount: PROMPT + COMPLETION,
};
const MESSAGE = { type: "message", id: "msg_1", status: "completed", role: "assistant" };
const RESPONSE = { id: "resp_1", object: "response", created_at: 1_768_478_400, model: "m" };
const PART = { type: "output_text", annotations: [] };
const delta = (fields: Json, finish: string | null = null): Json => ({
  ...CHUNK,
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});

const SCRIPTS: Readonly<Record<WorkName, Script>> = {
  chat: {
    contentType: "text/event-stream",
    before: [sse(delta({ role: "assistant", content: "" }))],
    word: (content) => sse(delta({ content })),
    after: [sse(delta({}, "stop")), sse({ ...CHUNK, choices: [], usage: CHAT_USAGE }), Buffer.from("data: [DONE]\n\n")],
    whole: {
      ...CHUNK,
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: TEXT }, finish_reason: "stop" }],
      usage: CHAT_USAGE,
    },
  },
  responses: {
    contentType: "text/event-stream",
    before: [
      typed({ type: "response.created", response: { ...RESPONSE, status: "in_progress", output: [] } }),
      typed({ type: "response.output_item.added", output_index: 0, item: { ...MESSAGE, content: [] } }),
    ],
    word: (word) => typed({ type: "response.output_text.delta", output_index: 0, content_index: 0, delta: word }),
    after: [
      typed({
        type: "response.completed",
        response: {
          ...RESPONSE,
          status: "completed",
          output: [{ ...MESSAGE, content: [{ ...PART, text: TEXT }] }],
          usage: RESPONSE_USAGE,
        },
      }),
    ],
    whole: {
      ...RESPONSE,
      status: "completed",
      output: [{ ...MESSAGE, content: [{ ...PART, text: TEXT }] }],
      usage: RESPONSE_USAGE,
    },
  },
  anthropic: {
    contentType: "text/event-stream",
    before: [
      typed({
        type: "message_start",
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "m",
          content: [],
          usage: { input_tokens: PROMPT, output_tokens: 1 },
        },
      }),
      typed({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    ],
    word: (text) => typed({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
    after: [
      typed({ type: "content_block_stop", index: 0 }),
      typed({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: COMPLETION } }),
      typed({ type: "message_stop" }),
    ],
    whole: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: TEXT }],
      stop_reason: "end_turn",
      usage: { input_tokens: PROMPT, output_tokens: COMPLETION },
    },
  },
  gemini: {
    contentType: "text/event-stream",
    before: [],
    word: (text) => sse({ candidates: [{ index: 0, content: { role: "model", parts: [{ text }] } }] }),
    after: [
      sse({
        candidates: [{ index: 0, content: { role: "model", parts: [{ text: "" }] }, finishReason: "STOP" }],
        usageMetadata: GEMINI_USAGE,
      }),
    ],
    whole: {
      candidates: [{ index: 0, content: { role: "model", parts: [{ text: TEXT }] }, finishReason: "STOP" }],
      usageMetadata: GEMINI_USAGE,
    },
  },
  bedrock: {
    contentType: "application/vnd.amazon.eventstream",
    before: [frame("messageStart", { role: "assistant" })],
    word: (text) => frame("contentBlockDelta", { contentBlockIndex: 0, delta: { text } }),
    after: [
      frame("contentBlockStop", { contentBlockIndex: 0 }),
      frame("messageStop", { stopReason: "end_turn" }),
      frame("metadata", { usage: { inputTokens: PROMPT, outputTokens: COMPLETION } }),
    ],
    whole: {
      output: { message: { role: "assistant", content: [{ text: TEXT }] } },
      stopReason: "end_turn",
      usage: { inputTokens: PROMPT, outputTokens: COMPLETION },
    },
  },
  cohere: {
    contentType: "text/event-stream",
    before: [typed({ type: "message-start", id: "m1", delta: { message: { role: "assistant" } } })],
    word: (text) => typed({ type: "content-delta", index: 0, delta: { message: { content: { text } } } }),
    after: [
      typed({
        type: "message-end",
        delta: {
          finish_reason: "COMPLETE",
          usage: { billed_units: { input_tokens: PROMPT, output_tokens: COMPLETION } },
        },
      }),
    ],
    whole: {
      id: "m1",
      finish_reason: "COMPLETE",
      message: { role: "assistant", content: [{ type: "text", text: TEXT }] },
      usage: { billed_units: { input_tokens: PROMPT, output_tokens: COMPLETION } },
    },
  },
};

const bare = (bytes: Buffer): Piece => ({ bytes, word: "" });

/** What an answer is made of; a whole one is made before its first byte is sent. */
export function piecesOf(name: WorkName, stream: boolean): readonly Piece[] {
  const { before, word, after, whole } = SCRIPTS[name];
  if (!stream) return [{ bytes: Buffer.from(JSON.stringify(whole)), word: TEXT }];
  return [...before.map(bare), ...WORDS.map((one) => ({ bytes: word(one), word: one })), ...after.map(bare)];
}

/** A provider of which it is known at each byte what it would bill: it writes so many bytes, then waits. */
export class WorkedUpstream {
  readonly origin: string;
  /** Bytes of the next answer after which it waits; Infinity: it does not. */
  stopAfter = Infinity;
  asked = 0;
  #rest: (() => void) | null = null;
  readonly #server;

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<WorkedUpstream> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const upstream = new WorkedUpstream(server);
    server.on("request", (request, response: ServerResponse) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += String(chunk)));
      request.on("end", () => {
        const { url = "" } = request;
        upstream.#answer(
          url.split("/")[1]!.slice("of-".length) as WorkName,
          /stream/i.test(url) || body.includes('"stream":true'),
          response,
        );
      });
    });
    return upstream;
  }

  /** Writes what is left of the answer that waits. */
  goOn(): void {
    this.#rest?.();
    this.#rest = null;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #answer(work: WorkName, stream: boolean, response: ServerResponse): void {
    const bytes = Buffer.concat(piecesOf(work, stream).map((piece) => piece.bytes));
    response.writeHead(200, { "content-type": stream ? SCRIPTS[work].contentType : "application/json" });
    response.flushHeaders();
    const first = bytes.subarray(0, this.stopAfter);
    if (first.length > 0) response.write(first);
    this.asked += 1;
    if (first.length === bytes.length) return void response.end();
    this.#rest = () => void response.end(bytes.subarray(first.length));
  }
}
