import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scriptedUrl, startSimulator } from "../../../src/simulator/server.ts";
import type { Simulator } from "../../../src/simulator/server.ts";
import { encodeVector, vectorOf } from "../../../src/simulator/endpoints/vector.ts";
import { call } from "../support.ts";
import type { Seen } from "../support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const ask = (body: object, script = "-") => call(`${scriptedUrl(simulator.origin, script)}/embeddings`, { body });
const embed = (body: object, path = "/v2/embed") => call(`${simulator.origin}${path}`, { body });

interface List {
  readonly data: readonly { readonly embedding: readonly number[] | string; readonly index: number }[];
  readonly usage?: { readonly prompt_tokens: number; readonly total_tokens: number };
}
const listOf = (seen: Seen) => JSON.parse(seen.text) as List;
const floatsOf = (base64: unknown) => {
  const bytes = Buffer.from(String(base64), "base64");
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
};

describe("OpenAI's embeddings", () => {
  test("have the dialect's shape", async () => {
    const seen = await ask({ model: "m", input: ["one two", "three"] });
    expect(seen).toMatchObject({ status: 200, headers: { "content-type": "application/json", "x-simulated": "true" } });
    expect(listOf(seen)).toEqual({
      object: "list",
      data: [0, 1].map((index) => ({ object: "embedding", index, embedding: expect.any(Array) as unknown })),
      model: "m",
      usage: { prompt_tokens: 3, total_tokens: 3 },
    });
  });

  test("depend on each text alone", async () => {
    const [a, b] = listOf(await ask({ model: "m", input: ["same", "other"] })).data;
    const [again] = listOf(await ask({ model: "n", input: "same" })).data;
    expect(again?.embedding).toEqual(a?.embedding);
    expect(b?.embedding).not.toEqual(a?.embedding);
  });

  test.each([undefined, 1, 3, 256])("dimensions %s", async (dimensions) => {
    const [made] = listOf(await ask({ model: "m", input: "hi", dimensions })).data;
    expect(made?.embedding).toHaveLength(dimensions ?? 16);
  });

  test("are the same numbers as base64", async () => {
    const asked = { model: "m", input: "hi", dimensions: 50 };
    const [float] = listOf(await ask({ ...asked, encoding_format: "float" })).data;
    const [base64] = listOf(await ask({ ...asked, encoding_format: "base64" })).data;
    expect(floatsOf(base64?.embedding)).toEqual(float?.embedding);
  });

  test.each([
    [[1, 2, 3], 1, 3],
    [[[1, 2], [3]], 2, 3],
    ["one", 1, 1],
    [["one", "two words"], 2, 3],
  ])("input %j makes %d vectors of %d tokens", async (input, count, tokens) => {
    const list = listOf(await ask({ model: "m", input }));
    expect(list.data).toHaveLength(count);
    expect(list.usage?.prompt_tokens).toBe(tokens);
    expect(simulator.ledger().at(-1)).toMatchObject({ model: "m", units: { prompt: tokens }, stream: false });
  });

  test.each([
    ["{", null],
    [{ input: "hi" }, "model"],
    [{ model: "m" }, "input"],
    [{ model: "m", input: "" }, "input"],
    [{ model: "m", input: [] }, "input"],
    [{ model: "m", input: ["a", ""] }, "input[1]"],
    [{ model: "m", input: ["a", 7] }, "input[1]"],
    [{ model: "m", input: [1, "a"] }, "input"],
    [{ model: "m", input: [[1], [-1]] }, "input[1]"],
    [{ model: "m", input: [[]] }, "input[0]"],
    [{ model: "m", input: { a: 1 } }, "input"],
    [{ model: "m", input: "a", dimensions: 0 }, "dimensions"],
    [{ model: "m", input: "a", encoding_format: "hex" }, "encoding_format"],
  ])("%j is refused at %s", async (body, param) => {
    const seen = await call(`${simulator.origin}/v1/embeddings`, { body });
    expect(seen.status).toBe(400);
    expect(JSON.parse(seen.text)).toMatchObject({ error: { type: "invalid_request_error", param } });
  });

  test.each([
    ["embedding=base64", {}, "string"],
    ["embedding=float", { encoding_format: "base64" }, "object"],
  ])("%s decides", async (script, more, type) => {
    const [made] = listOf(await ask({ model: "m", input: "hi", ...more }, script)).data;
    expect(typeof made?.embedding).toBe(type);
  });

  test.each([
    ["usage=none", undefined, null],
    ["usage.prompt=99", { prompt_tokens: 99, total_tokens: 99 }, { prompt: 99 }],
    ["shape=voyage", { total_tokens: 1 }, { prompt: 1 }],
  ])("%s", async (script, usage, claimed) => {
    expect(listOf(await ask({ model: "m", input: "hi" }, script)).usage).toEqual(usage);
    expect(simulator.ledger().at(-1)).toMatchObject({ claimed, units: { prompt: 1 } });
  });
});

describe("Cohere's embeddings", () => {
  test("of the second version come by type", async () => {
    const seen = await embed({ model: "m", texts: ["one two", "x"], embedding_types: ["float", "base64"] });
    const made = JSON.parse(seen.text) as { embeddings: { float: number[][]; base64: string[] } };
    expect(made).toMatchObject({
      id: expect.stringMatching(/./) as string,
      response_type: "embeddings_by_type",
      texts: ["one two", "x"],
      meta: { api_version: { version: "2" }, billed_units: { input_tokens: 3 } },
    });
    expect(made.embeddings.base64.map(floatsOf)).toEqual(made.embeddings.float);
    expect(simulator.ledger().at(-1)).toMatchObject({ units: { prompt: 3 }, claimed: { prompt: 3 } });
  });

  test("of the first version are bare, or by type when types are asked for", async () => {
    const bare = JSON.parse((await embed({ model: "m", texts: ["x"] }, "/v1/embed")).text) as object;
    expect(bare).toMatchObject({ response_type: "embeddings_floats", embeddings: [expect.any(Array)] });
    const typed = await embed({ model: "m", texts: ["x"], embedding_types: ["float"] }, "/sim/-/v1/embed");
    expect(JSON.parse(typed.text)).toMatchObject({ embeddings: { float: [expect.any(Array)] } });
  });

  test.each([
    [{ model: "m" }, "texts"],
    [{ model: "m", texts: ["a"], embedding_types: ["int8"] }, "embedding_types"],
  ])("refuses %j in Cohere's words", async (body, word) => {
    const seen = await embed(body);
    expect(seen.status).toBe(400);
    expect(JSON.parse(seen.text)).toEqual({ message: expect.stringContaining(word) as string });
  });
});

test("every vector has length 1, and both encodings are the same numbers", () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 600 }), (text, dimensions) => {
      const vector = vectorOf(text, dimensions);
      const floats = encodeVector(vector, "float") as readonly number[];
      expect(floats).toHaveLength(dimensions);
      expect(Math.hypot(...floats)).toBeCloseTo(1, 5);
      expect(floatsOf(encodeVector(vector, "base64"))).toEqual(floats);
    }),
  );
});
