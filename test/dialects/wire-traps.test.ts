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
import { type Cases, casesOf } from "./cases.ts";
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

const counted = (prompt_tokens: number, completion_tokens: number, more: Json = {}): Json => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
  ...more,
});
/** By trap. */
interface Trap {
  readonly dialect: Recorded;
  readonly payloads: readonly Json[];
  readonly usage: Usage;
  readonly charge: number;
}

const STREAMS = casesOf(new URL("counts/chat.yaml", import.meta.url)) as Cases<Trap>;

describe("streams", () => {
  test.each(STREAMS)("%s", (_, { dialect, payloads, usage, charge }) => {
    const decoder = codecOf(dialect, "chat").decoder!(CALL);
    const lines = payloads.map((payload) => JSON.stringify(payload));
    const events = [...decoder.feed(framed(dialect, lines)), ...decoder.finish()];
    expect(decoder).toMatchObject({ fault: null, complete: true });
    expect(assemble(events.map(({ data }) => data))).toMatchObject({ finish_reason: "stop" });
    // What has been counted so far stands, until more has; a client is shown the last.
    const count = events.findLast((event) => event.usage !== undefined)?.usage;
    expect(count).toEqual(usage);
    expect(tariff.charge(count!)).toBe(BigInt(charge));
    const shown = events.filter(({ data }) => isJson(data["usage"]));
    expect(shown.map(({ data }) => data["usage"])).toMatchObject([
      { prompt_tokens: usage.prompt, completion_tokens: usage.completion },
    ]);
  });
});

describe("complete answers", () => {
  test.each(STREAMS.filter(([, { dialect }]) => dialect !== "anthropic"))(
    "%s",
    (_, { dialect, payloads, usage, charge }) => {
      const body = COMPLETE[dialect as keyof typeof COMPLETE](payloads);
      const decoded = codecOf(dialect, "chat").answer(bytes(body), CALL);
      expect(decoded.usage).toEqual(usage);
      expect(tariff.charge(decoded.usage!)).toBe(BigInt(charge));
    },
  );

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
