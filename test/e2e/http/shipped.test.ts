import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Json, Model } from "../../../src/kit/index.ts";
import { ADMIN_TOKEN } from "../support/gateway-config.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";
import { type KindEndpoint, askKind, ENDPOINTS, PLACES } from "../support/kinds.ts";

const FILE = resolve(import.meta.dirname, "../../../gateway.yaml");

/** Decisions 8.1, word for word. */
const ACCESS: Readonly<Record<string, readonly string[]>> = {
  Free: ["Free"],
  Lite: ["Free", "Lite"],
  Weekly: ["Free", "Lite"],
  Premium: ["Free", "Lite", "Premium"],
  Max: ["Free", "Lite", "Premium", "Max"],
  Ultra: ["Free", "Lite", "Premium", "Max"],
};
const TIERS = Object.keys(ACCESS);

let folder: string;
let gateway: TestGateway;
let models: readonly Model[];
const users: Record<string, TestUser> = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gateway-shipped-"));
  const local = { host: "127.0.0.1", port: 0 };
  gateway = await TestGateway.start({
    base: parse(readFileSync(FILE, "utf8")) as Json,
    config: (origin) => ({
      server: { listen: [local, local], admin: { ...local, token: ADMIN_TOKEN }, ip_limit: "none" },
      store: { url: `sqlite:${join(folder, "gateway.db")}` },
      upstreams: Object.fromEntries(
        ["aurora", "borealis", "cirrus", "dune"].map((name) => [name, { base_url: `${origin}/v1`, probe: "none" }]),
      ),
    }),
  });
  models = Object.values(gateway.gateway.generation.snapshot.models);
  for (const tier of TIERS) users[tier] = await gateway.user({ tier, credits: "1000" });
});
afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true });
});

const endpointOf = ({ kind }: Model): KindEndpoint => ENDPOINTS.find((endpoint) => PLACES[endpoint].kind === kind)!;

describe("the shipped gateway.yaml over HTTP", () => {
  test("publishes what the specification counts", async () => {
    const { data } = JSON.parse((await gateway.get("/v1/models")).text) as { data: readonly { id: string }[] };
    const kinds = data.map(({ id }) => models.find((model) => model.id === id)!.kind);
    expect(
      Object.fromEntries([...new Set(kinds)].map((kind) => [kind, kinds.filter((one) => one === kind).length])),
    ).toEqual({
      chat: 11,
      embedding: 3,
      rerank: 1,
      speech: 4,
      transcription: 4,
      image: 4,
    });
    const { models: prices } = JSON.parse((await gateway.get("/v1/pricing", users["Free"])).text) as {
      models: readonly { model: string }[];
    };
    expect(prices.map(({ model }) => model)).toEqual(data.map(({ id }) => id));
  });

  test.each(TIERS)("%s: allowed is the plan's, for every model", async (tier) => {
    const shown = new Map<string, unknown>();
    for (const { id } of models)
      shown.set(id, (JSON.parse((await gateway.get(`/v1/models/${id}`, users[tier])).text) as Json)["allowed"]);
    expect(shown).toEqual(new Map(models.map((model) => [model.id, ACCESS[tier]!.includes(model.tier)])));
  });

  test.each(TIERS)("%s: what is allowed is served, all else is a 403 that costs nothing", async (tier) => {
    const user = users[tier]!;
    const wrong: unknown[] = [];
    let [served, units] = [0, 0];
    for (const model of models) {
      const { id, realtime, voices, multipliers } = model;
      const voice = voices[0] === undefined ? {} : { voice: voices[0] };
      const { status, headers, text } = await askKind(gateway, user, endpointOf(model), { model: id, ...voice });
      const allowed = ACCESS[tier]!.includes(model.tier);
      if (realtime) {
        // It is refused as wrong before the plan is asked.
        if (status !== 400) wrong.push([id, status]);
      } else if (allowed) {
        if (status !== 200) wrong.push([id, status, text]);
        served += 1;
        units += multipliers.requests;
      } else if (
        status !== 403 ||
        headers["x-error-code"] !== "MODEL_NOT_ALLOWED" ||
        text !== `Model '${id}' is not available on your plan`
      ) {
        wrong.push([id, status, text]);
      }
    }
    expect(wrong).toEqual([]);
    const { used, ledger } = await gateway.books(user);
    expect([used, ledger.length]).toEqual([{ day: units, hour: served, minute: served }, served]);
    // Six free chat models, seven Lite ones, and so on as the specification counts them.
    expect(served).toBe({ Free: 6, Lite: 13, Weekly: 13, Premium: 6 + 7 + 3 + 3 + 1 + 4 + 3 + 4 }[tier] ?? 40);
  });

  test("a plan that is raised or lowered is in force with the next request", async () => {
    const user = await gateway.user({ tier: "Free", credits: "1" });
    const paint = async () => (await askKind(gateway, user, "image", { model: "route/paint-one" })).status;
    const allowed = async () =>
      (JSON.parse((await gateway.get("/v1/models/route/paint-one", user)).text) as Json)["allowed"];
    expect([await paint(), await allowed()]).toEqual([403, false]);
    await gateway.store.setTier(user.id, "Ultra");
    await expect.poll(allowed, { timeout: 3_000 }).toBe(true);
    expect(await paint()).toBe(200);
  });

  test("the two sample incidents are shown", async () => {
    const { incidents } = JSON.parse((await gateway.get("/v1/status")).text) as { incidents: readonly Json[] };
    expect(incidents.map(({ severity, status, resolved_at }) => [severity, status, resolved_at])).toEqual([
      ["warning", "ongoing", null],
      ["error", "resolved", "2026-01-05T11:30:00Z"],
    ]);
  });
});
