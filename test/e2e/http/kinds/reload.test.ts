import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import { eventually } from "../../support/http.ts";
import { TestGateway, type TestUser } from "../../support/in-process.ts";
import { type KindEndpoint, askKind, ENDPOINTS, KIND_CHAINS, openKind, PLACES } from "../../support/kinds.ts";

let gateway: TestGateway;
let user: TestUser;
beforeEach(async () => {
  gateway = await TestGateway.start({ chains: KIND_CHAINS });
  user = await gateway.user({ credits: "1000" });
});
afterEach(() => gateway.close());

/** Ten times as dear. */
const DEARER: Readonly<Record<Exclude<KindEndpoint, "chat">, Json>> = {
  embeddings: { input_per_million: 10 },
  rerank: { per_request: 0.01 },
  speech: { per_million_characters: 100 },
  transcription: { per_second: 0.01 },
  image: { per_image: 0.2 },
};
const KINDS = ENDPOINTS.filter((endpoint) => endpoint !== "chat");

describe("a reload", () => {
  test.each(KINDS)("%s under way keeps the price it began with; the next one has the new one", async (endpoint) => {
    const { model } = PLACES[endpoint];
    const call = openKind(gateway, user, endpoint, { sim: "?first_byte=300ms" });
    await eventually(() => gateway.simulator.ledger().length === 1);
    expect(await gateway.reload({ models: { [model]: { price: DEARER[endpoint] } } })).toMatchObject({ ok: true });
    expect((await askKind(gateway, user, endpoint)).status).toBe(200);
    expect((await call.whole()).status).toBe(200);
    const { ledger } = await gateway.books(user);
    const [first, second] = ledger.toSorted((a, b) => a.receivedAt - b.receivedAt).map(({ charge }) => charge);
    expect(first).toBeGreaterThan(0n);
    expect(second).toBe(10n * first!);
    const { models } = JSON.parse((await gateway.get("/v1/pricing", user)).text) as { models: readonly Json[] };
    expect(models.find((entry) => entry["model"] === model)).toMatchObject(DEARER[endpoint]);
  });

  test("that removes model and upstream lets audio that is under way finish", async () => {
    const call = openKind(gateway, user, "speech", { sim: "?chunks=60&chunk_delay=10ms" });
    await call.head();
    expect(await gateway.reload({ models: { "route/voice": null }, upstreams: { "voice-1": null } })).toMatchObject({
      ok: true,
    });
    expect((await askKind(gateway, user, "speech")).text).toBe("Invalid model: 'route/voice'");
    expect((await call.whole()).whole).toBe(true);
    const { text } = await gateway.get("/v1/status");
    expect(text).not.toContain("voice");
    await eventually(async () => (await gateway.books(user)).ledger.length === 1);
    expect((await gateway.books(user)).ledger).toMatchObject([{ outcome: "served", charge: 70_000n }]);
  });

  test("no request of any kind fails while configurations follow one another", async () => {
    const statuses: (readonly [KindEndpoint, number])[] = [];
    const stopping = new AbortController();
    const lanes = ENDPOINTS.map(async (endpoint) => {
      while (!stopping.signal.aborted) statuses.push([endpoint, (await askKind(gateway, user, endpoint)).status]);
    });
    for (let cost = 1; cost <= 20; cost += 1) {
      expect(await gateway.reload({ billing: { cost_multiplier: cost } })).toMatchObject({ ok: true });
    }
    stopping.abort();
    await Promise.all(lanes);
    expect(statuses.filter(([, status]) => status !== 200)).toEqual([]);
    expect(new Set(statuses.map(([endpoint]) => endpoint))).toEqual(new Set(ENDPOINTS));
    expect((await gateway.get("/v1/settings")).text).toMatch(/^\{"cost_multiplier":20,/);
  });
});

test("a model may become one of another kind", async () => {
  expect((await askKind(gateway, user, "image", { model: "route/rank" })).status).toBe(404);
  const image = { kind: "image", price: { per_request: null, per_image: 0.02 } };
  expect(await gateway.reload({ models: { "route/rank": image } })).toMatchObject({ ok: true });
  expect((await askKind(gateway, user, "image", { model: "route/rank" })).status).toBe(200);
  expect((await askKind(gateway, user, "rerank")).text).toBe("Invalid model: 'route/rank'");
});
