import { describe, expect, test } from "vitest";
import { embeddingFormat, readEmbedding } from "../../../src/dialects/endpoints/embedding.ts";
import { gemini } from "../../../src/dialects/gemini/index.ts";
import { embedding, vertexEmbedding } from "../../../src/dialects/gemini/embedding.ts";
import type { Json } from "../../../src/kit/index.ts";
import { testTarget } from "../../support/snapshot.ts";
import { attempt, extras } from "../wire-cases.ts";
import { bytes } from "./support.ts";

const target = testTarget("alpha", { model: "gemini-embedding-001" });
const ask = (input: unknown, more: Json = {}) => readEmbedding({ model: "route/e", input, ...more });
const one = (text: string, more: Json = {}): Json => ({
  model: "models/gemini-embedding-001",
  content: { parts: [{ text }] },
  ...more,
});

describe("embeddings", () => {
  test.each<[string, unknown, Json, readonly Json[], readonly string[]]>([
    ["a text", "a", {}, [one("a")], []],
    ["texts", ["a", "b"], { encoding_format: "base64" }, [one("a"), one("b")], []],
    ["dimensions", "a", { dimensions: 256 }, [one("a", { outputDimensionality: 256 })], []],
    ["a task", "a", { input_type: "search_query" }, [one("a", { taskType: "RETRIEVAL_QUERY" })], []],
    [
      "Gemini's own task",
      "a",
      { task_type: "SEMANTIC_SIMILARITY" },
      [one("a", { taskType: "SEMANTIC_SIMILARITY" })],
      [],
    ],
    [
      "what has no place",
      "a",
      { user: "u", input_type: "image", truncate: "END" },
      [one("a")],
      ["/user", "/truncate", "/input_type"],
    ],
  ])("%s", (_, input, more, requests, dropped) => {
    const sent = embedding.request(ask(input, more), target, "k");
    expect({ ...sent, body: JSON.parse(sent.body as string) as Json }).toEqual({
      method: "POST",
      path: "/v1beta/models/gemini-embedding-001:batchEmbedContents",
      headers: { "x-goog-api-key": "k", "content-type": "application/json", accept: "application/json" },
      body: { requests },
      dropped,
    });
  });

  test("tokens have no form", () => {
    const { error } = attempt(() => embedding.request(ask([[1, 2]]), target, "k"));
    expect(error?.message).toBe("Invalid request: /input must be text for this model, not tokens");
  });

  test.each<[string, Json, number | null]>([
    ["without a count", {}, null],
    ["with one", { usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 } }, 4],
  ])("vectors, %s", (_, more, prompt) => {
    const call = ask(["a", "b"]);
    const { body, usage } = embedding.answer(
      bytes({ embeddings: [{ values: [0.5, 1] }, { values: [2, 3] }], ...more }),
      call,
    );
    expect(usage?.prompt ?? null).toBe(prompt);
    expect(JSON.parse(embeddingFormat(call).answer(body, extras))).toMatchObject({
      data: [
        { index: 0, embedding: [0.5, 1] },
        { index: 1, embedding: [2, 3] },
      ],
      usage: { prompt_tokens: prompt ?? 7 },
    });
  });

  test.each<[unknown, string]>([
    [{}, "an answer without embeddings"],
    [{ embeddings: [{ values: [1] }] }, "1 embeddings for 2 inputs"],
    [{ embeddings: [{ values: [1] }, { values: "x" }] }, "an embedding that is not a list of numbers"],
    [{ embeddings: [null, {}] }, "an embedding that is not a list of numbers"],
  ])("%j fails", (answer, what) => {
    const { error } = attempt(() => embedding.answer(bytes(answer), ask(["a", "b"])));
    expect(error?.message).toBe(`upstream sent ${what}`);
  });

  test("the dialect serves them", () => {
    expect(Object.keys(gemini.codecs)).toEqual(["chat", "embedding"]);
  });
});

function prediction(values: unknown, count: unknown = 3): Json {
  return { embeddings: { values, statistics: { truncated: false, token_count: count } } };
}

function split(codec: typeof embedding, model: string, input: unknown): readonly unknown[] {
  return codec.batches.split(ask(input), testTarget("alpha", { model })).map(({ body }) => body["input"]);
}

function sizes(parts: readonly unknown[]): readonly number[] {
  return parts.map((part) => (part as unknown[]).length);
}

function toVertex(model: string, input: unknown, more: Json = {}) {
  return vertexEmbedding.request(ask(input, more), testTarget("alpha", { model }), "ya29.k");
}

/** https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api */
describe("Vertex AI", () => {
  test.each<[string, unknown, Json, Json]>([
    ["a text", "a", {}, { instances: [{ content: "a" }] }],
    ["texts", ["a", "b"], {}, { instances: [{ content: "a" }, { content: "b" }] }],
    [
      "a task and dimensions",
      ["a", "b"],
      { input_type: "query", dimensions: 256 },
      {
        instances: [
          { content: "a", task_type: "RETRIEVAL_QUERY" },
          { content: "b", task_type: "RETRIEVAL_QUERY" },
        ],
        parameters: { outputDimensionality: 256 },
      },
    ],
  ])("%s", (_, input, more, body) => {
    const request = toVertex("text-embedding-005", input, more);
    expect({ ...request, body: JSON.parse(request.body as string) as Json }).toEqual({
      method: "POST",
      path: "/v1beta/models/text-embedding-005:predict",
      headers: { authorization: "Bearer ya29.k", "content-type": "application/json", accept: "application/json" },
      body,
      dropped: [],
    });
  });

  test("models from Gemini Embedding 2 on take one text, by a method of their own", () => {
    const request = toVertex("gemini-embedding-2-preview", "a", { dimensions: 256, input_type: "document" });
    expect(request.path).toBe("/v1beta/models/gemini-embedding-2-preview:embedContent");
    expect(JSON.parse(request.body as string)).toEqual({
      content: { parts: [{ text: "a" }] },
      taskType: "RETRIEVAL_DOCUMENT",
      outputDimensionality: 256,
    });
    expect(toVertex("gemini-embedding-001", "a").path).toContain(":predict");
  });

  test.each<[string, Json, Json, number | null]>([
    ["of predictions", { predictions: [prediction([0.5, 1]), prediction([2, 3], 4)] }, ["a", "b"] as never, 7],
    ["without a count", { predictions: [prediction([0.5, 1]), prediction([2, 3], null)] }, ["a", "b"] as never, null],
    ["of one content", { embedding: { values: [0.5, 1] }, usageMetadata: { promptTokenCount: 5 } }, "a" as never, 5],
  ])("an answer %s", (_, answer, input, prompt) => {
    const { body, usage } = vertexEmbedding.answer(bytes(answer), ask(input));
    expect((body["data"] as Json[]).map(({ embedding }) => embedding)[0]).toEqual([0.5, 1]);
    expect(usage?.prompt ?? null).toBe(prompt);
  });

  test.each<[unknown, string]>([
    [{ predictions: [] }, "0 embeddings for 2 inputs"],
    [{ predictions: [prediction([1]), {}] }, "an embedding that is not a list of numbers"],
    [{ predictions: "x" }, "an answer without embeddings"],
    [{ embedding: { values: [1] } }, "1 embeddings for 2 inputs"],
  ])("%j fails", (answer, what) => {
    const { error } = attempt(() => vertexEmbedding.answer(bytes(answer), ask(["a", "b"])));
    expect(error?.message).toBe(`upstream sent ${what}`);
  });
});

describe("more texts than a request takes", () => {
  test.each([
    ["the Gemini API", embedding, "m", 2_048, [...Array<number>(20).fill(100), 48]],
    ["Vertex AI", vertexEmbedding, "text-embedding-005", 501, [250, 250, 1]],
    ["its later models", vertexEmbedding, "gemini-embedding-2", 3, [1, 1, 1]],
    ["no more than fit", vertexEmbedding, "gemini-embedding-001", 250, [250]],
  ] as const)("%s", (_, codec, model, count, expected) => {
    const input = Array.from({ length: count }, (_, at) => `${at}`);
    const parts = split(codec, model, input);
    expect(sizes(parts)).toEqual(expected);
    expect(parts.flat()).toEqual(input);
  });

  test("or more tokens; a text alone is sent whatever its length", () => {
    const input = ["x".repeat(90_000), "a", "é".repeat(15_000), "b".repeat(10_000), "c"];
    expect(split(vertexEmbedding, "text-embedding-005", input)).toEqual([[input[0]], ["a", input[2]], [input[3], "c"]]);
  });

  test("a call that fits is not copied", () => {
    for (const input of ["a", ["a", "b"], [1, 2], [[1], [2]]]) {
      const call = ask(input);
      expect(embedding.batches.split(call, target)).toEqual([call]);
      expect(embedding.batches.split(call, target)[0]).toBe(call);
    }
  });
});
