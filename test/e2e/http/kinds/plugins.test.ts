import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import { TestGateway, type TestUser } from "../../support/in-process.ts";
import { type KindEndpoint, askKind, ENDPOINTS, KIND_CHAINS } from "../../support/kinds.ts";

/** Marks what is sent and what is answered, and turns lists around. */
const MARK = `export default {
  name: "mark", stage: "transform", schema: new URL("./mark.schema.json", import.meta.url),
  setup() {
    return {
      transform: (call) => ({ ...call, body: { ...call.body, marked: call.kind } }),
      response: (body) => ({ ...body, marked: true, data: body.data?.toReversed() }),
    };
  },
};`;

const set = (model: string, set: Json) => ({ use: "transform", options: { set }, when: { models: [model] } });

let gateway: TestGateway;
let user: TestUser;
beforeAll(async () => {
  gateway = await TestGateway.start({
    chains: { ...KIND_CHAINS, "route/overlooked": { kind: "rerank", scripts: ["-"] } },
    config: {
      pipeline: [
        "auth",
        "plan-check",
        "quota",
        "breaker",
        set("route/embed", { "/dimensions": 4 }),
        set("route/rank", { "/top_n": 1 }),
        set("route/voice", { "/response_format": "wav" }),
        set("route/listen", { "/language": "de", "/prompt": "names" }),
        set("route/paint", { "/size": "8x8", "/response_format": "b64_json" }),
        { use: "transform", options: { remove: ["/mine"] }, when: { tiers: ["Max"] } },
        { use: "transform", options: { remove: ["/top_n"] }, when: { models: ["route/overlooked"] } },
        { use: "./mark.ts" },
        "stream-relay",
        "meter",
      ],
    },
    files: { "mark.ts": MARK, "mark.schema.json": '{"type":"object","additionalProperties":false}' },
  });
  user = await gateway.user();
});
afterAll(() => gateway.close());

const ask = async (endpoint: KindEndpoint, changes: Json = {}): Promise<Json> =>
  JSON.parse((await askKind(gateway, user, endpoint, changes)).text) as Json;

describe("plugins see requests of every kind", () => {
  test("what they set reaches the upstream", async () => {
    const { data } = (await ask("embeddings", { input: ["a", "b"] })) as {
      data: readonly { embedding: readonly number[] }[];
    };
    expect(data.map(({ embedding }) => embedding.length)).toEqual([4, 4]);
    expect((await ask("rerank"))["results"]).toHaveLength(1);
    expect((await askKind(gateway, user, "speech")).headers["content-type"]).toBe("audio/wav");
    expect((await ask("transcription"))["language"]).toBe("en");
    const { fields } = gateway.simulator.ledger().at(-1)!.upload!;
    expect(fields).toMatchObject({ language: ["de"], prompt: ["names"], marked: ["transcription"] });
    const [image] = (await ask("image"))["data"] as readonly { b64_json: string }[];
    expect(Buffer.from(image!.b64_json, "base64").readUInt32BE(16)).toBe(8);
  });

  test("what they remove does not", async () => {
    await ask("transcription", { mine: "secret", yours: "kept" });
    const { fields } = gateway.simulator.ledger().at(-1)!.upload!;
    expect(fields["mine"]).toBeUndefined();
    expect(fields["yours"]).toEqual(["kept"]);
  });

  test("a limit that the upstream does not hear of is kept all the same", async () => {
    const [all, some] = [
      await ask("rerank", { model: "route/overlooked" }),
      await ask("rerank", { model: "route/overlooked", top_n: 2 }),
    ];
    expect(all["results"]).toHaveLength(3);
    expect(some["results"]).toEqual((all["results"] as readonly Json[]).slice(0, 2));
  });

  test("their changes to an answer stay within the endpoint's shape; audio passes by", async () => {
    // The document is checked with every answer: nothing is there that it does not describe.
    for (const endpoint of ENDPOINTS) expect((await askKind(gateway, user, endpoint)).status).toBe(200);
    expect(await ask("chat")).toMatchObject({ marked: true });
    const { data } = (await ask("embeddings", { input: ["a", "b"] })) as { data: readonly Json[] };
    expect(data.map(({ index }) => index)).toEqual([0, 1]);
  });
});
