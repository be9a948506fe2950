import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import { TestGateway, type TestUser } from "../../support/in-process.ts";
import { askKind, KIND_CHAINS } from "../../support/kinds.ts";

let gateway: TestGateway;
let user: TestUser;

const upstream = (dialect: string, base_url: string) => ({ dialect, base_url, api_keys: ["k"] });
const model = (kind: string, name: string, price: Json) => {
  return { kind, tier: "Free", owned_by: "x", price, chain: [{ upstream: name, model: `${name}-model` }] };
};

/** Rerankers of four providers; the same embeddings in two encodings. */
const others = (origin: string): Json => {
  return {
    upstreams: {
      cohere: { ...upstream("cohere", origin), display_name: "Cohere of the test" },
      jina: upstream("jina", `${origin}/sim/shape%3Djina/v1`),
      voyage: upstream("voyage", `${origin}/v1`),
      together: upstream("openai", `${origin}/sim/shape%3Dtogether/v1`),
      "cohere-picky": upstream(
        "cohere",
        `${origin}/sim/${encodeURIComponent("shape=cohere&status=422&message=too long")}`,
      ),
      "jina-down": upstream("jina", `${origin}/sim/${encodeURIComponent("shape=jina&html")}/v1`),
      "cohere-down": upstream("cohere", `${origin}/sim/${encodeURIComponent("shape=cohere&status=500")}`),
    },
    models: {
      ...Object.fromEntries(
        ["cohere", "jina", "voyage", "together", "cohere-picky"].flatMap((name) => [
          [`route/rank-${name}`, model("rerank", name, { per_request: 0.001 })],
          ...(name === "together" ? [] : [[`route/embed-${name}`, model("embedding", name, { input_per_million: 1 })]]),
        ]),
      ),
      "route/mixed": {
        ...model("rerank", "cohere-down", { per_request: 0.001 }),
        chain: ["cohere-down", "jina-down", "voyage"].map((name) => ({ upstream: name, model: "x" })),
      },
    },
  };
};

beforeAll(async () => {
  gateway = await TestGateway.start({ chains: KIND_CHAINS, config: others });
  user = await gateway.user();
});
afterAll(() => gateway.close());

const parsed = (text: string): Json => JSON.parse(text) as Json;
/** Numbers of base64 float32. */
const floatsOf = (base64: string): readonly number[] => {
  const bytes = Buffer.from(base64, "base64");
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
};

async function vectors(changes: Json): Promise<readonly unknown[]> {
  const { status, text } = await askKind(gateway, user, "embeddings", changes);
  expect(status).toBe(200);
  return (parsed(text)["data"] as readonly Json[]).map(({ embedding }) => embedding);
}

describe("embeddings", () => {
  test("are the specification's object, field by field", async () => {
    const { status, headers, text } = await askKind(gateway, user, "embeddings", { dimensions: 3 });
    expect([status, headers["content-type"]]).toEqual([200, "application/json"]);
    const number = expect.any(Number) as number;
    expect(parsed(text)).toEqual({
      object: "list",
      data: [{ object: "embedding", embedding: [number, number, number], index: 0 }],
      model: "route/embed",
      usage: { prompt_tokens: 3, total_tokens: 3 },
      provider: "embed-1",
    });
    expect(Object.keys(parsed(text))).toEqual(["object", "data", "model", "usage", "provider"]);
  });

  test.each(["route/embed-cohere", "route/embed-jina", "route/embed-voyage"])(
    "%s gives the same vectors",
    async (model) => {
      const input = ["one", "two words", "one"];
      expect(await vectors({ model, input })).toEqual(await vectors({ input }));
      const { text } = await askKind(gateway, user, "embeddings", { model, input });
      const provider = model.endsWith("cohere") ? "Cohere of the test" : model.replace("route/embed-", "");
      expect(parsed(text)).toMatchObject({ model, provider, usage: { prompt_tokens: 4, total_tokens: 4 } });
    },
  );

  test.each(["float", "base64", undefined])("asked as %s, whatever the upstream writes", async (encoding_format) => {
    for (const embedding of ["float", "base64"]) {
      const written = await vectors({ encoding_format, input: ["a", "b"], sim: { embedding } });
      const plain = await vectors({ input: ["a", "b"] });
      const read = encoding_format === "base64" ? written.map((one) => floatsOf(one as string)) : written;
      expect(read).toEqual(plain);
    }
  });

  test("of tokens count the tokens", async () => {
    const { text } = await askKind(gateway, user, "embeddings", { input: [[1, 2, 3], [4]] });
    expect(parsed(text)).toMatchObject({
      usage: { prompt_tokens: 4, total_tokens: 4 },
      data: [{ index: 0 }, { index: 1 }],
    });
    const refused = await askKind(gateway, user, "embeddings", { model: "route/embed-cohere", input: [1, 2] });
    expect([refused.status, refused.text]).toEqual([
      400,
      "Invalid request: /input must be text for this model, not tokens",
    ]);
  });
});

describe("rerank", () => {
  const RANKS = ["route/rank", "route/rank-cohere", "route/rank-jina", "route/rank-voyage", "route/rank-together"];

  test.each(RANKS)("%s: indexes of the request, best first, no more than top_n", async (model) => {
    const whole = parsed((await askKind(gateway, user, "rerank", { model })).text);
    const provider = { "route/rank": "rank-1", "route/rank-cohere": "Cohere of the test" }[model] ?? model.slice(11);
    expect(Object.keys(whole)).toEqual(["results", "model", "provider"]);
    expect(whole).toMatchObject({ model, provider });
    const results = whole["results"] as readonly { index: number; relevance_score: number }[];
    for (const result of results) expect(Object.keys(result)).toEqual(["index", "relevance_score"]);
    expect(new Set(results.map(({ index }) => index))).toEqual(new Set([0, 1, 2]));
    expect(results).toHaveLength(3);
    expect(results[0]!.index).toBe(1);
    expect(results).toEqual(results.toSorted((a, b) => b.relevance_score - a.relevance_score));
    for (const top_n of [1, 2, 3, 99]) {
      const some = parsed((await askKind(gateway, user, "rerank", { model, top_n })).text)["results"];
      expect(some).toEqual(results.slice(0, top_n));
    }
  });

  test("the words of another provider's refusal reach the client", async () => {
    for (const endpoint of ["rerank", "embeddings"] as const) {
      const model = endpoint === "rerank" ? "route/rank-cohere-picky" : "route/embed-cohere-picky";
      const { status, text } = await askKind(gateway, user, endpoint, { model });
      expect([status, text]).toEqual([400, "Invalid request: too long"]);
    }
  });

  test("a chain may go on in another provider's dialect", async () => {
    const { status, text } = await askKind(gateway, user, "rerank", { model: "route/mixed", top_n: 1 });
    expect([status, parsed(text)]).toMatchObject([
      200,
      { model: "route/mixed", provider: "voyage", results: [{ index: 1 }] },
    ]);
  });

  test.each(RANKS)("%s: return_documents gives the request's own texts", async (model) => {
    const documents = ["green tea", { text: "black coffee", id: 7 }];
    const { text } = await askKind(gateway, user, "rerank", { model, documents, return_documents: true });
    for (const { index, document } of parsed(text)["results"] as readonly { index: number; document: Json }[])
      expect(document).toEqual({ text: ["green tea", "black coffee"][index] });
  });
});
