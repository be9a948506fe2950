import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scriptedOrigin, scriptedUrl, startSimulator } from "../../../src/simulator/server.ts";
import type { Simulator } from "../../../src/simulator/server.ts";
import { call } from "../support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

interface Result {
  readonly index: number;
  readonly relevance_score: number;
  readonly document?: unknown;
}
interface Ranking {
  readonly results?: readonly Result[];
  readonly data?: readonly Result[];
  readonly usage?: object;
}

const BODY = { model: "m", query: "big cat", documents: ["a dog", "a big cat", "one cat"] };
const ORDER = [1, 2, 0];
const any = { index: expect.any(Number) as number, relevance_score: expect.any(Number) as number };

async function rank(body: object, script = "-"): Promise<Ranking> {
  const seen = await call(`${scriptedUrl(simulator.origin, script)}/rerank`, { body });
  expect(seen.status).toBe(200);
  return JSON.parse(seen.text) as Ranking;
}

describe("shapes", () => {
  const plain = [any, any, any];
  const texts = ORDER.map((index) => ({ ...any, index, document: { text: BODY.documents[index] } }));
  test.each<[string, object, object]>([
    ["-", {}, { model: "m", results: plain, usage: { total_tokens: 9 } }],
    ["-", { return_documents: true }, { model: "m", results: texts, usage: { total_tokens: 9 } }],
    ["-", { top_k: 3 }, { object: "list", data: plain, model: "m", usage: { total_tokens: 9 } }],
    ["shape=openai", { top_k: 3 }, { model: "m", results: plain, usage: { total_tokens: 9 } }],
    ["shape=jina", {}, { model: "m", results: texts, usage: { total_tokens: 9 } }],
    ["shape=jina", { return_documents: false }, { model: "m", results: plain, usage: { total_tokens: 9 } }],
    ["shape=voyage", {}, { object: "list", data: plain, model: "m", usage: { total_tokens: 9 } }],
    [
      "shape=voyage",
      { return_documents: true },
      {
        object: "list",
        data: ORDER.map((index) => ({ ...any, index, document: BODY.documents[index] })),
        model: "m",
        usage: { total_tokens: 9 },
      },
    ],
    [
      "shape=together",
      {},
      {
        object: "rerank",
        id: expect.any(String),
        model: "m",
        results: plain.map((one) => ({ ...one, document: {} })),
        usage: { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 },
      },
    ],
    [
      "shape=cohere",
      { return_documents: true },
      {
        id: expect.any(String),
        results: texts,
        meta: { api_version: { version: "1" }, billed_units: { search_units: 1 } },
      },
    ],
  ])("%s %j", async (script, more, expected) => {
    expect(await rank({ ...BODY, ...more }, script)).toEqual(expected);
    expect(simulator.ledger().at(-1)).toMatchObject({ model: "m", units: { prompt: 9 } });
  });

  test("the second version of Cohere's never has documents, and counts searches of 100", async () => {
    const documents = Array.from({ length: 101 }, (_, index) => `document ${index}`);
    const body = { model: "m", query: "document", documents, return_documents: true };
    const seen = await call(`${scriptedOrigin(simulator.origin, "-")}/v2/rerank`, { body });
    expect(JSON.parse(seen.text)).toEqual({
      id: expect.any(String) as string,
      results: documents.map(() => any),
      meta: { api_version: { version: "2" }, billed_units: { search_units: 2 } },
    });
    expect(simulator.ledger().at(-1)?.claimed).toBeNull();
  });

  test.each([
    ["usage=none", undefined, null],
    ["usage.prompt=7", { total_tokens: 7 }, { prompt: 7 }],
  ])("%s", async (script, usage, claimed) => {
    expect((await rank(BODY, script)).usage).toEqual(usage);
    expect(simulator.ledger().at(-1)?.claimed).toEqual(claimed);
  });
});

describe("results", () => {
  test("are ordered by shared words, the same each time", async () => {
    const first = await rank(BODY);
    expect(first.results?.map(({ index }) => index)).toEqual(ORDER);
    expect(await rank(BODY)).toEqual(first);
  });

  test("equal documents keep their order", async () => {
    const { results } = await rank({ ...BODY, documents: ["big", "big", "cat cat", "big"] });
    const equals = (results ?? []).map(({ index }) => index).filter((index) => index !== 2);
    expect(equals).toEqual([0, 1, 3]);
  });

  test("documents may be objects with a text", async () => {
    const documents = BODY.documents.map((text) => ({ text, title: "x" }));
    expect(await rank({ ...BODY, documents })).toEqual(await rank(BODY));
  });

  test("are a permutation cut to top_n, best first, whatever the texts", async () => {
    const texts = fc.array(fc.string(), { minLength: 1, maxLength: 20 });
    const property = fc.asyncProperty(texts, fc.string({ minLength: 1 }), fc.nat(25), async (documents, query, n) => {
      const { results = [] } = await rank({ model: "m", query, documents, ...(n > 0 && { top_n: n }) });
      expect(results).toHaveLength(Math.min(n || Infinity, documents.length));
      expect(new Set(results.map(({ index }) => index)).size).toBe(results.length);
      expect(results.every(({ index }) => index >= 0 && index < documents.length)).toBe(true);
      const scores = results.map(({ relevance_score }) => relevance_score);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
    });
    await fc.assert(property, { numRuns: 40 });
  });
});

describe("refusals", () => {
  const wrong: readonly (readonly [object, string])[] = [
    [{ ...BODY, model: "" }, "model"],
    [{ ...BODY, query: 7 }, "query"],
    [{ ...BODY, query: "" }, "query"],
    [{ ...BODY, documents: "a" }, "documents"],
    [{ ...BODY, documents: [] }, "documents"],
    [{ ...BODY, documents: ["a", 7] }, "documents[1]"],
    [{ ...BODY, documents: [{ title: "a" }] }, "documents[0]"],
    [{ ...BODY, top_n: 0 }, "top_n"],
    [{ ...BODY, top_k: "2" }, "top_k"],
  ];

  test.each(wrong)("%j at %s", async (body, param) => {
    const seen = await call(`${simulator.origin}/v1/rerank`, { body });
    expect(seen.status).toBe(400);
    expect(JSON.parse(seen.text)).toMatchObject({ error: { param } });
  });

  test.each([
    ["/v2/rerank", "-", { message: expect.any(String) as string }],
    ["/v1/rerank", "shape=jina", { detail: expect.any(String) as string }],
    ["/v1/rerank", "shape=voyage", { detail: expect.any(String) as string }],
  ])("%s %s are in the provider's own shape", async (path, script, expected) => {
    const url = `${scriptedOrigin(simulator.origin, script)}${path}`;
    const refused = await call(url, { body: { model: "m" } });
    expect([refused.status, JSON.parse(refused.text)]).toEqual([400, expected]);
    const failing = await call(url, { body: { ...BODY, sim: "status=503&message=Away" } });
    expect([failing.status, Object.values(JSON.parse(failing.text) as object)]).toEqual([503, ["Away"]]);
  });
});
