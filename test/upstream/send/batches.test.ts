import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DIALECTS } from "../../../src/dialects/capabilities.ts";
import { readEmbedding } from "../../../src/dialects/endpoints/embedding.ts";
import type { AnswerReply, Call, DialectName, Json } from "../../../src/kit/index.ts";
import { scriptedOrigin, type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { createUpstreams, type UpstreamSet } from "../../../src/upstream/upstreams.ts";
import { exchange, failure, silent, snapshot, target, until, upstream } from "../support/build.ts";
import { closedAfterEach } from "../support/serve.ts";
import { PATIENCE, RUNS } from "../../properties/runs.ts";

const VERTEX = "/v1/projects/p/locations/l/publishers/google";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const open = closedAfterEach();

async function at(dialect: DialectName, path = "", script = "-"): Promise<UpstreamSet> {
  const registry = createUpstreams({ dialects: DIALECTS, now: Date.now, log: silent });
  open.push(registry);
  return registry.lease(snapshot(upstream(scriptedOrigin(simulator.origin, script) + path, { dialect })));
}

function embed(input: unknown): Call {
  return readEmbedding({ model: "route/e", input });
}

async function vectors(set: UpstreamSet, input: unknown, model = "m"): Promise<AnswerReply> {
  const reply = await set.send(target({ model }), embed(input), exchange());
  if (reply.type !== "answer") throw new Error("not an answer");
  return reply;
}

const asked = (model: string): number => simulator.ledger().filter((entry) => entry.model === model).length;
const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => `text number ${index}`);

describe("embeddings", () => {
  it.each<[DialectName, string, string, number, number]>([
    ["gemini", "", "gemini-embedding-001", 2_048, 21],
    ["gemini", VERTEX, "text-embedding-005", 600, 3],
    ["gemini", VERTEX, "gemini-embedding-2", 9, 9],
    ["cohere", "", "embed-v4.0", 200, 3],
    ["voyage", "", "voyage-3.5", 2_048, 3],
    ["openai", "/v1", "text-embedding-3-small", 2_048, 1],
  ])("%s%s, %s: %d inputs in %d requests, as one answer", async (dialect, path, model, count, requests) => {
    const set = await at(dialect, path);
    const before = simulator.ledger().length;
    const { body, usage } = await vectors(set, texts(count), model);
    const entries = simulator.ledger().slice(before);
    expect(entries).toHaveLength(requests);
    const data = body["data"] as readonly Json[];
    expect(data.map(({ index }) => index)).toEqual(texts(count).map((_, index) => index));
    const units = entries.reduce((sum, entry) => sum + entry.units.prompt, 0);
    expect([units, null]).toContain(usage?.prompt ?? null);
    // Each in its place: the simulator's vectors are those of their texts.
    for (const index of [0, 1, Math.floor(count / 2), count - 1]) {
      const alone = await vectors(set, `text number ${index}`, model);
      expect(data[index]!["embedding"]).toEqual((alone.body["data"] as readonly Json[])[0]!["embedding"]);
    }
  });

  it("on Vertex AI tokens are those that it counts, text by text", async () => {
    const set = await at("gemini", VERTEX);
    const { usage } = await vectors(set, texts(300), "text-embedding-005");
    expect(usage?.prompt).toBe(900);
  });

  it("a request that fails ends the attempt, and those beside it", async () => {
    const set = await at("gemini", VERTEX, "?status=503&fail_times=1&name=one");
    const model = "gemini-embedding-2-failing";
    const error = await failure(set.send(target({ model }), embed(texts(50)), exchange()));
    expect(error).toMatchObject({ failure: "status", status: 503 });
    expect(asked(model)).toBeLessThan(10);
  });

  it("nobody waits any more: nothing further is asked", async () => {
    const set = await at("gemini", VERTEX, "?first_byte=1h");
    const model = "gemini-embedding-2-waiting";
    const abort = new AbortController();
    const attempt = failure(set.send(target({ model }), embed(texts(50)), exchange({ signal: abort.signal })));
    await until(() => asked(model) === 4, "the first requests");
    abort.abort();
    expect(await attempt).toMatchObject({ failure: "aborted" });
    expect(asked(model)).toBe(4);
  });
});

it(
  "however many inputs of whatever length: each has its vector, in its place",
  async () => {
    const set = await at("gemini", VERTEX);
    const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 9_000 })), {
      minLength: 1,
      maxLength: 300,
    });
    await fc.assert(
      fc.asyncProperty(lengths, async (lengths) => {
        const input = lengths.map((length, index) => `${index} ${"a ".repeat(length)}`);
        const { body } = await vectors(set, input, "text-embedding-005");
        expect((body["data"] as readonly Json[]).map(({ index }) => index)).toEqual(input.map((_, index) => index));
      }),
      { numRuns: Math.ceil(RUNS / 20) },
    );
  },
  PATIENCE,
);
