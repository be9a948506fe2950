import { describe, expect, test } from "vitest";
import { embeddingFormat, readEmbedding } from "../../src/dialects/endpoints/embedding.ts";
import { imageFormat, readImage } from "../../src/dialects/endpoints/image.ts";
import { readRerank, rerankFormat } from "../../src/dialects/endpoints/rerank.ts";
import { errorMessage } from "../../src/dialects/canonical/errors.ts";
import type { DialectName, Json } from "../../src/kit/index.ts";
import { recorded, recordedBytes } from "./recordings.ts";
import { codecOf, extras } from "./wire-cases.ts";

const read = (file: string): Json => JSON.parse(new TextDecoder().decode(recordedBytes(file))) as Json;

/** By file: the dialect that reads it, where its vectors are, and the tokens it counts. */
const EMBEDDINGS: readonly (readonly [file: string, DialectName, (body: Json) => unknown, tokens: number])[] = [
  ["openai/embedding/openai-embedding.json", "openai", listed, 12],
  ["voyage/voyage-embedding.json", "voyage", listed, 12],
  ["cohere/cohere-embedding.json", "cohere", ({ embeddings }) => (embeddings as Json)["float"], 10],
];

function listed({ data }: Json): unknown {
  return (data as readonly Json[]).map(({ embedding }) => embedding);
}

/** By file: the dialect that reads it, the ranking, and the tokens it counts; search units are none. */
const RANKINGS: readonly (readonly [
  file: string,
  DialectName,
  readonly (readonly [number, number])[],
  number | null,
])[] = [
  [
    "cohere/reranking/cohere-reranking.1.json",
    "cohere",
    [
      [1, 0.10183054],
      [0, 0.03762639],
    ],
    null,
  ],
  [
    "voyage/reranking/voyage-reranking.1.json",
    "voyage",
    [
      [1, 0.5703125],
      [0, 0.255859375],
    ],
    12,
  ],
  [
    "togetherai/reranking/togetherai-reranking.1.json",
    "openai",
    [
      [0, 0.6475887154399037],
      [5, 0.6323295373206566],
    ],
    2966,
  ],
  [
    "amazon-bedrock/reranking/amazon-bedrock-reranking.1.json",
    "openai",
    [
      [0, 0.5110583305358887],
      [5, 0.30241215229034424],
    ],
    null,
  ],
];

describe.skipIf(!recorded)("recorded answers of the other kinds", () => {
  test.each(EMBEDDINGS)("%s", (file, dialect, vectors, tokens) => {
    const call = readEmbedding({ model: "route/e", input: ["a", "b"] });
    const { body, usage } = codecOf(dialect, "embedding").answer(recordedBytes(file), call);
    expect(usage).toMatchObject({ prompt: tokens, completion: 0 });
    const shown = JSON.parse(embeddingFormat(call).answer(body, extras)) as Json;
    expect(shown).toMatchObject({ object: "list", usage: { prompt_tokens: tokens, total_tokens: tokens } });
    expect(listed(shown)).toEqual(vectors(read(file)));
  });

  test.each(RANKINGS)("%s", (file, dialect, ranking, tokens) => {
    const call = readRerank({ model: "route/r", query: "q", documents: ["a", "b", "c", "d", "e", "f"], top_n: 2 });
    const { body, usage } = codecOf(dialect, "rerank").answer(recordedBytes(file), call);
    expect(usage?.prompt ?? null).toBe(tokens);
    const { results } = JSON.parse(rerankFormat(call).answer(body, extras)) as Json;
    expect(results).toEqual(ranking.map(([index, relevance_score]) => ({ index, relevance_score })));
  });

  test("openai/image/openai-image-edit.json", () => {
    const file = "openai/image/openai-image-edit.json";
    const call = readImage({ model: "route/i", prompt: "a cat" });
    const { body, usage } = codecOf("openai", "image").answer(recordedBytes(file), call);
    expect(usage).toMatchObject({ images: 1 });
    const [{ b64_json }] = read(file)["data"] as readonly [Json];
    expect(JSON.parse(imageFormat(call).answer(body, extras))).toMatchObject({ data: [{ url: null, b64_json }] });
  });

  test.each([
    [
      "openai/chat/reasoning-model-legacy-parameter-error.json",
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ],
    ["openai/image/gpt-image-response-format-error.json", "Unknown parameter: 'response_format'."],
  ])("%s says why", (file, message) => {
    expect(errorMessage(recordedBytes(file))).toBe(message);
  });
});
