import { describe, expect, test } from "vitest";
import { readChat } from "../../src/dialects/chat/client.ts";
import { readEmbedding } from "../../src/dialects/endpoints/embedding.ts";
import { readImage } from "../../src/dialects/endpoints/image.ts";
import { readRerank } from "../../src/dialects/endpoints/rerank.ts";
import { deepgram } from "../../src/dialects/speech/deepgram.ts";
import { transcription } from "../../src/dialects/endpoints/transcription.ts";
import {
  createTariff,
  decimal,
  type Call,
  type DialectName,
  isJson,
  type Json,
  type Usage,
} from "../../src/kit/index.ts";
import { assemble } from "./assemble.ts";
import { COMPLETE } from "./complete.ts";
import { framed, type Recorded } from "./recordings.ts";
import { bytes, codecOf } from "./wire-cases.ts";

/*
 * Where a naive reading of an upstream's count charges the wrong sum: one test a trap. A charge is in nano-units at 1 for a
 * million tokens read, 0.1 from a cache, 1.25 to a cache, 10 written, 20 thought.
 */
const tariff = createTariff(
  {
    inputPerMillion: decimal("1"),
    cachedInputPerMillion: decimal("0.1"),
    cacheWritePerMillion: decimal("1.25"),
    cacheWrite1hPerMillion: decimal(2),
    outputPerMillion: decimal("10"),
    reasoningPerMillion: decimal("20"),
  },
  [],
);
const CALL = readChat({ model: "route/a", messages: [{ role: "user", content: "hi" }], stream: true });
const used = (prompt: number, completion: number, more: Partial<Usage> = {}): Usage => ({
  prompt,
  completion,
  cached: 0,
  reasoning: 0,
  ...more,
});

const chunk = (choice: Json | null, more: Json = {}): Json => ({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "up",
  choices: choice === null ? [] : [{ index: 0, finish_reason: null, delta: {}, ...choice }],
  ...more,
});
const SAID = chunk({ delta: { role: "assistant", content: "hi" } });
const END = { finish_reason: "stop" };
const counted = (prompt_tokens: number, completion_tokens: number, more: Json = {}): Json => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
  ...more,
});
const part = (text: string, more: Json = {}): Json => ({
  candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, ...more }],
});
const STOP = { finishReason: "STOP" };
const block = { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
const started = (usage: Json): readonly Json[] => [
  { type: "message_start", message: { id: "m", role: "assistant", content: [], usage } },
  block,
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } },
  { type: "content_block_stop", index: 0 },
];
const ended = (usage: Json): readonly Json[] => [
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
  { type: "message_stop" },
];
const converse = [
  { messageStart: { role: "assistant" } },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "hi" } } },
];
const metadata = (usage: Json): Json => ({ metadata: { usage } });
const stopped: Json = { messageStop: { stopReason: "end_turn" } };

/** By trap: the stream's payloads, what is billed, the charge. */
const STREAMS: readonly (readonly [trap: string, Recorded, readonly Json[], Usage, charge: bigint])[] = [
  [
    "2b OpenAI: cached tokens are part of the prompt, reasoning tokens of the completion",
    "openai",
    [
      SAID,
      chunk(END),
      chunk(null, {
        usage: counted(100, 20, {
          prompt_tokens_details: { cached_tokens: 60 },
          completion_tokens_details: { reasoning_tokens: 8 },
        }),
      }),
    ],
    used(100, 20, { cached: 60, reasoning: 8 }),
    40_000n + 6_000n + 120_000n + 160_000n,
  ],
  [
    "2b OpenAI: `usage: null` on earlier chunks is no count",
    "openai",
    [{ ...SAID, usage: null }, chunk(END, { usage: null }), chunk(null, { usage: counted(9, 2) })],
    used(9, 2),
    29_000n,
  ],
  [
    "2c DeepSeek, Moonshot, Mistral: the count rides on the last chunk with choices",
    "openai",
    [SAID, chunk(END, { usage: counted(9, 2) })],
    used(9, 2),
    29_000n,
  ],
  [
    "2c Perplexity: every chunk counts all so far; the last counts, not the sum",
    "openai",
    [
      { ...SAID, usage: counted(9, 1) },
      chunk({ delta: { content: "!" } }, { usage: counted(9, 2) }),
      chunk(END, { usage: counted(9, 3) }),
    ],
    used(9, 3),
    39_000n,
  ],
  [
    "2c Groq: the count is under `x_groq`",
    "openai",
    [SAID, chunk(END, { x_groq: { id: "r", usage: counted(9, 2) } })],
    used(9, 2),
    29_000n,
  ],
  [
    "2c Groq: a count under `x_groq` and at top level is one",
    "openai",
    [SAID, chunk(END, { x_groq: { id: "r", usage: counted(9, 2) }, usage: counted(9, 2) })],
    used(9, 2),
    29_000n,
  ],
  [
    "2c xAI: completion_tokens leave reasoning out, the total does not (291 + 26 + 196 = 513)",
    "openai",
    [
      SAID,
      chunk(END),
      chunk(null, {
        usage: { ...counted(291, 26), total_tokens: 513, completion_tokens_details: { reasoning_tokens: 196 } },
      }),
    ],
    used(291, 222, { reasoning: 196 }),
    291_000n + 260_000n + 3_920_000n,
  ],
  [
    "2d Anthropic: input_tokens leave out what was read from and written to a cache",
    "anthropic",
    [
      ...started({ input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 60, cache_creation_input_tokens: 30 }),
      ...ended({ output_tokens: 20 }),
    ],
    used(100, 20, { cached: 60, cacheWrite: 30 }),
    10_000n + 6_000n + 37_500n + 200_000n,
  ],
  [
    "2d Anthropic: message_delta counts all so far and may restate the input; the last word counts",
    "anthropic",
    [
      ...started({ input_tokens: 10, output_tokens: 4, cache_read_input_tokens: 0 }),
      { type: "message_delta", delta: {}, usage: { output_tokens: 7 } },
      ...ended({ input_tokens: 12, cache_read_input_tokens: 5, output_tokens: 20 }),
    ],
    used(17, 20, { cached: 5 }),
    12_000n + 500n + 200_000n,
  ],
  [
    "2d Anthropic: thinking tokens are part of output_tokens",
    "anthropic",
    [
      ...started({ input_tokens: 10, output_tokens: 1 }),
      ...ended({ output_tokens: 20, output_tokens_details: { thinking_tokens: 8 } }),
    ],
    used(10, 20, { reasoning: 8 }),
    10_000n + 120_000n + 160_000n,
  ],
  [
    "2e Gemini: candidatesTokenCount leaves thoughts out (29 + 15 + 804 = 848)",
    "gemini",
    [
      {
        ...part("hi", STOP),
        usageMetadata: {
          promptTokenCount: 29,
          candidatesTokenCount: 15,
          thoughtsTokenCount: 804,
          totalTokenCount: 848,
        },
      },
    ],
    used(29, 819, { reasoning: 804 }),
    29_000n + 150_000n + 16_080_000n,
  ],
  [
    "2e Gemini: promptTokenCount includes what was cached",
    "gemini",
    [
      {
        ...part("hi", STOP),
        usageMetadata: { promptTokenCount: 100, cachedContentTokenCount: 60, candidatesTokenCount: 2 },
      },
    ],
    used(100, 2, { cached: 60 }),
    40_000n + 6_000n + 20_000n,
  ],
  [
    "2e Gemini: every chunk counts all so far; the last counts, not the sum",
    "gemini",
    [
      { ...part("h"), usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1 } },
      { ...part("i", STOP), usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2 } },
    ],
    used(9, 2),
    29_000n,
  ],
  [
    "2f Bedrock: inputTokens leave out what was read from and written to a cache",
    "bedrock",
    [
      ...converse,
      stopped,
      metadata({ inputTokens: 10, outputTokens: 20, cacheReadInputTokens: 60, cacheWriteInputTokens: 30 }),
    ],
    used(100, 20, { cached: 60, cacheWrite: 30 }),
    10_000n + 6_000n + 37_500n + 200_000n,
  ],
  [
    "2f Bedrock: cacheDetails tell what is kept for an hour",
    "bedrock",
    [
      ...converse,
      stopped,
      metadata({
        inputTokens: 10,
        outputTokens: 20,
        cacheReadInputTokens: 60,
        cacheWriteInputTokens: 30,
        cacheDetails: [
          { ttl: "1h", inputTokens: 20 },
          { ttl: "5m", inputTokens: 10 },
        ],
      }),
    ],
    used(100, 20, { cached: 60, cacheWrite: 30, cacheWrite1h: 20 }),
    10_000n + 6_000n + 12_500n + 40_000n + 200_000n,
  ],
  [
    "2f Bedrock: the count comes after the stop",
    "bedrock",
    [...converse, stopped, metadata({ inputTokens: 9, outputTokens: 2 })],
    used(9, 2, { cacheWrite: 0 }),
    29_000n,
  ],
  [
    "2f Bedrock: the count comes before the stop",
    "bedrock",
    [...converse, metadata({ inputTokens: 9, outputTokens: 2 }), stopped],
    used(9, 2, { cacheWrite: 0 }),
    29_000n,
  ],
  [
    "Cohere bills less than its model reads and writes",
    "cohere",
    [
      { type: "message-start", id: "m", delta: { message: { role: "assistant", content: [] } } },
      { type: "content-start", index: 0, delta: { message: { content: { type: "text", text: "hi" } } } },
      { type: "content-end", index: 0 },
      {
        type: "message-end",
        delta: {
          finish_reason: "COMPLETE",
          usage: {
            billed_units: { input_tokens: 12, output_tokens: 7 },
            tokens: { input_tokens: 507, output_tokens: 10 },
            cached_tokens: 448,
          },
        },
      },
    ],
    used(12, 7),
    82_000n,
  ],
];

describe("streams", () => {
  test.each(STREAMS)("%s", (_, dialect, payloads, usage, charge) => {
    const decoder = codecOf(dialect, "chat").decoder!(CALL);
    const lines = payloads.map((payload) => JSON.stringify(payload));
    const events = [...decoder.feed(framed(dialect, lines)), ...decoder.finish()];
    expect(decoder).toMatchObject({ fault: null, complete: true });
    expect(assemble(events.map(({ data }) => data))).toMatchObject({ finish_reason: "stop" });
    // What has been counted so far stands, until more has; a client is shown the last.
    const count = events.findLast((event) => event.usage !== undefined)?.usage;
    expect(count).toEqual(usage);
    expect(tariff.charge(count!)).toBe(charge);
    const shown = events.filter(({ data }) => isJson(data["usage"]));
    expect(shown.map(({ data }) => data["usage"])).toMatchObject([
      { prompt_tokens: usage.prompt, completion_tokens: usage.completion },
    ]);
  });
});

describe("complete answers", () => {
  test.each(STREAMS.filter(([, dialect]) => dialect !== "anthropic"))("%s", (_, dialect, payloads, usage, charge) => {
    const body = COMPLETE[dialect as keyof typeof COMPLETE](payloads);
    const decoded = codecOf(dialect, "chat").answer(bytes(body), CALL);
    expect(decoded.usage).toEqual(usage);
    expect(tariff.charge(decoded.usage!)).toBe(charge);
  });

  test("2d Anthropic: the cache is apart from the input, thinking part of the output", () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 20,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 30,
      output_tokens_details: { thinking_tokens: 8 },
    };
    const body = { content: [{ type: "text", text: "hi" }], stop_reason: "end_turn", usage };
    expect(codecOf("anthropic", "chat").answer(bytes(body), CALL).usage).toEqual(
      used(100, 20, { cached: 60, cacheWrite: 30, reasoning: 8 }),
    );
  });
});

const ranking = { results: [{ index: 0, relevance_score: 1 }] };
const rerank = readRerank({ model: "route/a", query: "q", documents: ["a"] });
const embedding = readEmbedding({ model: "route/a", input: "a" });
const vector = { data: [{ embedding: [1], index: 0 }] };
const image = readImage({ model: "route/a", prompt: "a" });

/** By trap: the answer's body, and the tokens that are billed; null for none. */
const OTHERS: readonly (readonly [trap: string, DialectName, Call, Json, tokens: number | null])[] = [
  [
    "2g Cohere rerank: search units are no tokens",
    "cohere",
    rerank,
    { ...ranking, meta: { billed_units: { search_units: 7 } } },
    null,
  ],
  ["2g Jina rerank: only a total", "jina", rerank, { ...ranking, usage: { total_tokens: 12 } }, 12],
  [
    "2g Voyage rerank: results under `data`, only a total",
    "voyage",
    rerank,
    { data: ranking.results, usage: { total_tokens: 12 } },
    12,
  ],
  ["2g Together rerank: prompt tokens are the total", "openai", rerank, { ...ranking, usage: counted(12, 0) }, 12],
  ["Voyage embeddings: only a total", "voyage", embedding, { ...vector, usage: { total_tokens: 12 } }, 12],
  [
    "Cohere embeddings: billed units",
    "cohere",
    embedding,
    { embeddings: { float: [[1]] }, meta: { billed_units: { input_tokens: 12 } } },
    12,
  ],
];

describe("the other kinds", () => {
  test.each(OTHERS)("%s", (_, dialect, call, body, tokens) => {
    const { usage } = codecOf(dialect, call.kind).answer(bytes(body), call);
    expect(usage?.prompt ?? null).toBe(tokens);
  });

  test("2b images: no more are billed than were asked for", () => {
    const body = { created: 1, data: [{ b64_json: "aGk=" }, { b64_json: "aGk=" }] };
    expect(codecOf("openai", "image").answer(bytes(body), image).usage).toMatchObject({ images: 1 });
  });

  test.each([
    ["seconds", { text: "hi", usage: { type: "duration", seconds: 2 } }, { milliseconds: 2000 }],
    [
      "tokens",
      { text: "hi", usage: { type: "tokens", input_tokens: 9, output_tokens: 2 } },
      { prompt: 9, completion: 2 },
    ],
  ])("2b transcription: a count in %s", (_, body, expected) => {
    expect(transcription.answer(bytes(body)).usage).toMatchObject(expected);
  });

  test("2g Deepgram: seconds are those of the audio, in the metadata", () => {
    const body = { metadata: { duration: 1.5 }, results: { channels: [{ alternatives: [{ transcript: "hi" }] }] } };
    const codec = deepgram.codecs.transcription!;
    expect(codec.type === "answer" && codec.answer(bytes(body), CALL).usage).toMatchObject({ milliseconds: 1500 });
  });
});
