import { describe, expect, test } from "vitest";
import { embeddingFormat, readEmbedding } from "../../../src/dialects/clients/embedding.ts";
import { gemini } from "../../../src/dialects/gemini/index.ts";
import { embedding } from "../../../src/dialects/gemini/embedding.ts";
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
    expect({ ...sent, body: JSON.parse(sent.body) as Json }).toEqual({
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
