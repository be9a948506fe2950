import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readRerank, rerank, rerankFormat } from "../../../src/dialects/endpoints/rerank.ts";
import type { Call, Json } from "../../../src/kit/index.ts";
import { RUNS } from "../../properties/runs.ts";
import { attempt, bytes, expected, extras, play, target, wireCases } from "../wire-cases.ts";

const cases = wireCases("endpoints/rerank");

test("there are cases", () => {
  expect(cases.length).toBeGreaterThan(30);
});

test.each(cases.map((one) => [`${one.name}: ${one.about}`, one] as const))("%s", (_, one) => {
  expect(play(one, readRerank, rerankFormat)).toEqual(expected(one));
});

const ask = (documents: readonly unknown[], more: Json = {}): Json => ({
  model: "route/r",
  query: "q",
  documents,
  ...more,
});

describe("the call", () => {
  test("is the body with documents as texts, and what the gateway routes and counts by", () => {
    const call = readRerank(ask(["é", { text: "b", title: "t" }], { later: { x: 1 }, top_n: 9 }));
    expect(call).toEqual({
      kind: "rerank",
      model: "route/r",
      stream: false,
      body: { ...ask(["é", "b"]), later: { x: 1 }, top_n: 2 },
      promptBytes: 4,
      maxOutput: 0,
    });
    expect(Object.isFrozen(call.body)).toBe(true);
  });

  test("the body as it came is left as it was", () => {
    const body = Object.freeze(ask([{ text: "a" }], { top_n: 9, return_documents: null }));
    const before = structuredClone(body);
    rerank.request(readRerank(body), target, "k");
    expect(body).toEqual(before);
  });

  test("the text for a tokenizer: query and documents", () => {
    const format = rerankFormat(readRerank(ask(["a", { text: "b" }])));
    expect(format.promptText()).toBe("q\na\nb");
    expect(format.producedText({ results: [] })).toBe("");
  });

  test("a client's field named __proto__ travels as a field", () => {
    const body = JSON.parse(
      '{"model":"route/r","query":"q","documents":["a"],"top_n":null,"return_documents":true,"__proto__":{"x":1}}',
    ) as Json;
    expect(rerank.request(readRerank(body), target, "k").body).toBe(
      '{"model":"up","query":"q","documents":["a"],"__proto__":{"x":1}}',
    );
  });
});

interface Answered {
  readonly results: readonly { readonly index: number; readonly relevance_score: number; readonly document?: Json }[];
}

/** Whether a client gets scored results of an upstream's answer, or the name of the error. */
function scoredOr(answer: unknown, call: Call): string {
  const { value, error } = attempt(() => rerank.answer(bytes(answer), call));
  if (value === undefined) return String(error?.name);
  if (!Number.isSafeInteger(value.usage?.prompt ?? 0)) return "a count that is none";
  const { results } = JSON.parse(rerankFormat(call).answer(value.body, extras)) as Answered;
  const scored = results.every(({ relevance_score }) => Number.isFinite(relevance_score));
  return scored && results.length > 0 ? "scored" : "no result or no score";
}

const score = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(0, 1, 0.5, -1));
const name = fc.constantFrom("relevance_score", "relevanceScore", "score");

describe("whatever an upstream sends and in whatever order", () => {
  const documents = fc.array(fc.oneof(fc.string(), fc.record({ text: fc.string() })), { minLength: 1, maxLength: 30 });
  const asked = documents.chain((docs) =>
    fc.record({
      docs: fc.constant(docs),
      ranked: fc.shuffledSubarray([...docs.keys()], { minLength: 1 }),
      scores: fc.array(score, { minLength: docs.length, maxLength: docs.length }),
      top_n: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
      return_documents: fc.boolean(),
      name,
      list: fc.constantFrom("results", "data"),
    }),
  );

  test("a client gets the best top_n of them, best first, each a document's own", () => {
    fc.assert(
      fc.property(asked, ({ docs, ranked, scores, top_n, return_documents, name, list }) => {
        const call = readRerank(ask(docs, { top_n, return_documents }));
        const sent = ranked.map((index) => ({ index, [name]: scores[index], document: { text: "other" } }));
        const { body } = rerank.answer(bytes({ [list]: sent }), call);
        const { results } = JSON.parse(rerankFormat(call).answer(body, extras)) as Answered;
        expect(results.length).toBe(Math.min(top_n ?? Infinity, ranked.length));
        const shown = results.map(({ relevance_score }) => relevance_score);
        expect(shown).toEqual(shown.toSorted((a, b) => b - a));
        expect(new Set(results.map(({ index }) => index)).size).toBe(results.length);
        for (const { index, relevance_score, document } of results) {
          expect(ranked).toContain(index);
          expect(relevance_score).toBe(scores[index]! + 0);
          const doc = docs[index]!;
          const text = typeof doc === "string" ? doc : doc.text;
          expect(document).toEqual(return_documents ? { text } : undefined);
        }
        const worst = shown.at(-1) ?? 0;
        const left = ranked.filter((index) => !results.some((result) => result.index === index));
        expect(left.every((index) => scores[index]! <= worst)).toBe(true);
      }),
    );
  });

  test("an answer is one, or a failure of the attempt: never another error", () => {
    const junk = fc.oneof(
      fc.jsonValue(),
      fc.record({ index: fc.oneof(fc.integer({ min: -1, max: 3 }), fc.jsonValue()), score: fc.jsonValue() }),
    );
    const call = readRerank(ask(["a", "b"], { return_documents: true }));
    const upstream = fc.oneof(
      fc.jsonValue(),
      fc.record({ results: fc.array(junk, { maxLength: 3 }), usage: fc.jsonValue() }),
    );
    fc.assert(
      fc.property(upstream, (answer) => {
        expect(["scored", "AttemptError"]).toContain(scoredOr(answer, call));
      }),
      { numRuns: RUNS },
    );
  });

  test("1,000 documents, all asked for back", () => {
    const docs = Array.from({ length: 1000 }, (_, i) => ({ text: `${i}`.repeat(100) }));
    const call = readRerank(ask(docs, { return_documents: true }));
    const sent = docs.map((_, index) => ({ index, score: Math.sin(index) }));
    const { body } = rerank.answer(bytes({ results: sent }), call);
    const { results } = JSON.parse(rerankFormat(call).answer(body, extras)) as Answered;
    expect(results.map(({ index }) => index)).toEqual([...docs.keys()].toSorted((a, b) => Math.sin(b) - Math.sin(a)));
    expect(results.every(({ index, document }) => document?.["text"] === docs[index]?.text)).toBe(true);
  });
});

describe("the format", () => {
  test("byte for byte", () => {
    const call = readRerank(ask(["a", "b"], { top_n: 1 }));
    const format = rerankFormat(call);
    expect(format.contentType).toBe("application/json");
    expect(format.stream).toBeNull();
    const { body } = rerank.answer(
      bytes({ id: "x", results: [{ index: 1, relevance_score: 0.5, document: {} }], meta: {} }),
      call,
    );
    expect(format.answer(body, extras)).toBe(
      '{"results":[{"index":1,"relevance_score":0.5}],"model":"route/r","provider":"Alpha"}',
    );
  });

  test("a plugin's change of the answer is what the client gets", () => {
    const format = rerankFormat(readRerank(ask(["a", "b"], { top_n: 1, return_documents: true })));
    const results = [null, { index: 1, relevance_score: 3 }];
    expect(JSON.parse(format.answer({ results }, extras))).toMatchObject({ results: [] });
    expect(JSON.parse(format.answer({ results: results.slice(1) }, extras))).toMatchObject({
      results: [{ index: 1, relevance_score: 3, document: { text: "b" } }],
    });
    expect(JSON.parse(format.answer({}, extras))).toMatchObject({ results: [] });
  });
});
