import * as fc from "fast-check";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { embedding, embeddingFormat, readEmbedding } from "../../../src/dialects/endpoints/embedding.ts";
import type { Call, Json } from "../../../src/kit/index.ts";
import { RUNS } from "../../properties/runs.ts";
import { attempt, bytes, expected, extras, play, target, wireCases } from "../wire-cases.ts";

const cases = wireCases("endpoints/embeddings");

test("there are cases", () => {
  expect(cases.length).toBeGreaterThan(50);
});

test.each(cases.map((one) => [`${one.name}: ${one.about}`, one] as const))("%s", (_, one) => {
  expect(play(one, readEmbedding, embeddingFormat)).toEqual(expected(one));
});

const ask = (input: unknown, more: Json = {}): Json => ({ model: "route/e", input, ...more });

describe("the call", () => {
  test("is the body, with what the gateway routes and counts by", () => {
    const body = ask(["é", "b"], { later: { x: 1 }, encoding_format: "base64" });
    const call = readEmbedding(body);
    expect(call).toEqual({
      kind: "embedding",
      model: "route/e",
      stream: false,
      body,
      promptBytes: 3,
      maxOutput: 0,
    });
    expect(Object.isFrozen(call.body)).toBe(true);
  });

  test.each([
    ["a text", "héllo", 6],
    ["texts", ["a", "🌍"], 5],
    ["tokens", [1, 2, 3], 12],
    ["lists of tokens", [[1, 2], [3]], 12],
  ])("%s: %j are %d bytes of prompt", (_, input, count) => {
    expect(readEmbedding(ask(input)).promptBytes).toBe(count);
  });

  test.each([
    ["a", "a"],
    [["a", "b"], "a\nb"],
    [[1, 2], ""],
    [[[1], [2]], ""],
  ])("the text of %j for a tokenizer is %j", (input, text) => {
    const format = embeddingFormat(readEmbedding(ask(input)));
    expect(format.promptText()).toBe(text);
    expect(format.producedText({ data: [] })).toBe("");
  });

  test("a client's field named __proto__ travels as a field", () => {
    const body = JSON.parse('{"model":"route/e","input":"a","user":null,"__proto__":{"x":1}}') as Json;
    expect(embedding.request(readEmbedding(body), target, "k").body).toBe(
      '{"model":"up","input":"a","__proto__":{"x":1}}',
    );
  });
});

/** What one input's vector is, and how the upstream writes it. */
const vectors = fc.integer({ min: 1, max: 8 }).chain((length) =>
  fc.array(
    fc.record({
      values: fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: length, maxLength: length }),
      base64: fc.boolean(),
    }),
    { minLength: 1, maxLength: 20 },
  ),
);

interface Listed {
  readonly data: readonly Json[];
}

const base64Of = (values: readonly number[]): string =>
  Buffer.from(Float32Array.from(values).buffer).toString("base64");

function floatsOf(embedding: unknown): readonly number[] {
  if (typeof embedding !== "string") return Array.from(Float32Array.from(embedding as readonly number[]));
  return [...new Float32Array(Uint8Array.from(Buffer.from(embedding, "base64")).buffer)];
}

/** How many vectors a client gets of an upstream's answer, or the name of the error. */
function vectorsOr(answer: unknown, call: Call): number | string {
  const { value, error } = attempt(() => embedding.answer(bytes(answer), call));
  if (value === undefined) return String(error?.name);
  if (!Number.isSafeInteger(value.usage?.prompt ?? 0)) return "a count that is none";
  return (JSON.parse(embeddingFormat(call).answer(value.body, extras)) as Listed).data.length;
}

/** JSON has no -0. */
function zeros(values: readonly number[]): readonly number[] {
  return values.map((one) => (one === 0 ? 0 : one));
}

describe("whatever an upstream writes and in whatever order", () => {
  test("a client gets its inputs' vectors in their order, exactly, in the encoding it asked for", () => {
    const asked = fc.constantFrom("float", "base64", undefined, null);
    fc.assert(
      fc.property(vectors, asked, fc.integer(), (items, encoding_format, seed) => {
        const call = readEmbedding(
          ask(
            Array.from(items, (_, i) => `t${i}`),
            { encoding_format },
          ),
        );
        const sent = items
          .map(({ values, base64 }, index) => ({ index, embedding: base64 ? base64Of(values) : values }))
          // Any permutation: multiplied by a number odd and large, then sorted.
          .toSorted((a, b) => Math.sin(seed + a.index * 7919) - Math.sin(seed + b.index * 7919));
        const { body } = embedding.answer(bytes({ data: sent }), call);
        const { data } = JSON.parse(embeddingFormat(call).answer(body, extras)) as Listed;
        expect(data.map(({ index }) => index)).toEqual([...items.keys()]);
        expect(data.every((item) => (typeof item["embedding"] === "string") === (encoding_format === "base64"))).toBe(
          true,
        );
        expect(data.map((item) => zeros(floatsOf(item["embedding"])))).toEqual(
          items.map(({ values }) => zeros(values)),
        );
      }),
    );
  });

  test("an answer is one, or a failure of the attempt: never another error", () => {
    const junk = fc.oneof(
      fc.jsonValue(),
      fc.record({ index: fc.oneof(fc.integer({ min: -1, max: 3 }), fc.jsonValue()), embedding: fc.jsonValue() }),
    );
    const call = readEmbedding(ask(["a", "b"]));
    const upstream = fc.oneof(
      fc.jsonValue(),
      fc.record({ data: fc.array(junk, { maxLength: 3 }), usage: fc.jsonValue() }),
    );
    fc.assert(
      fc.property(upstream, (answer) => {
        expect([2, "AttemptError"]).toContain(vectorsOr(answer, call));
      }),
      { numRuns: RUNS },
    );
  });

  test("2,048 vectors of 256 values", () => {
    const values = Array.from({ length: 256 }, (_, i) => i / 256);
    const call = readEmbedding(
      ask(
        Array.from({ length: 2048 }, (_, i) => `t${i}`),
        { encoding_format: "base64" },
      ),
    );
    const data = Array.from({ length: 2048 }, (_, index) => ({ index, embedding: values }));
    const { body } = embedding.answer(bytes({ data }), call);
    const answer = JSON.parse(embeddingFormat(call).answer(body, extras)) as Listed;
    expect(answer.data.length).toBe(2048);
    expect(floatsOf(answer.data[2047]?.["embedding"])).toEqual(values);
  });
});

describe("the format", () => {
  test("byte for byte", () => {
    const call = readEmbedding(ask("a"));
    const format = embeddingFormat(call);
    expect(format.contentType).toBe("application/json");
    expect(format.stream).toBeNull();
    const { body } = embedding.answer(
      bytes({ data: [{ embedding: [0.5], index: 0, x: 1 }], model: "up", usage: { prompt_tokens: 3 }, y: 1 }),
      call,
    );
    expect(format.answer(body, extras)).toBe(
      '{"object":"list","data":[{"object":"embedding","embedding":[0.5],"index":0}],"model":"route/e","usage":{"prompt_tokens":3,"total_tokens":3},"provider":"Alpha"}',
    );
  });

  test("a plugin's change of the answer is what the client gets", () => {
    const format = embeddingFormat(readEmbedding(ask("a", { encoding_format: "base64" })));
    const body = { data: [{ embedding: [2], index: 9 }, null] };
    expect(JSON.parse(format.answer(body, extras))).toMatchObject({
      data: [
        { object: "embedding", embedding: base64Of([2]), index: 0 },
        { object: "embedding", embedding: null, index: 1 },
      ],
      usage: { prompt_tokens: 7, total_tokens: 7 },
    });
    expect(JSON.parse(format.answer({}, extras))).toMatchObject({ data: [] });
  });

  test("OpenAI's client reads its vectors, whose default is base64, from an upstream of floats", async () => {
    const client = new OpenAI({
      apiKey: "rk_x",
      baseURL: "http://127.0.0.1:9/v1",
      fetch: async (_url, init) => {
        const call = readEmbedding(JSON.parse(init?.body as string) as Json);
        expect(call.body["encoding_format"]).toBe("base64");
        const { body } = embedding.answer(bytes({ data: [{ embedding: [0.5, -1] }, { embedding: [2, 3] }] }), call);
        return new Response(embeddingFormat(call).answer(body, extras), {
          headers: { "content-type": "application/json" },
        });
      },
    });
    const { data } = await client.embeddings.create({ model: "route/e", input: ["a", "b"] });
    expect(data.map(({ embedding }) => embedding)).toEqual([
      [0.5, -1],
      [2, 3],
    ]);
  });
});
