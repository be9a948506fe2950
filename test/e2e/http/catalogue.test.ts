import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { openApiDocument } from "../../../src/server/openapi/document.ts";
import { send } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";
import { KIND_CHAINS } from "../support/kinds.ts";

let gateway: TestGateway;
let user: TestUser;
let free: TestUser;

beforeAll(async () => {
  gateway = await TestGateway.start({
    chains: {
      ...KIND_CHAINS,
      "route/dear": {
        scripts: ["-"],
        tier: "Max",
        display_name: "Dear One",
        owned_by: "vendor",
        created: "2026-01-15",
        price: {
          input_per_million: 0.15,
          output_per_million: 1e-7,
          cached_input_per_million: 0.075,
          per_request: 0.000000001,
        },
      },
      "route/hidden": { scripts: ["-"], published: false },
      "route/a.b-c_d:1": { scripts: [], chain: [{ upstream: "one-1", model: "x" }] },
    },
    config: {
      billing: { cost_multiplier: 1.35 },
      models: { "route/rank": { price: { input_per_million: 123456.789 } } },
    },
  });
  [user, free] = [await gateway.user(), await gateway.user({ tier: "Free" })];
});
afterAll(() => gateway.close());

const parsed = ({ text }: { readonly text: string }): Json => JSON.parse(text) as Json;
const detail = (id: string, who = user) => gateway.get(`/v1/models/${id}`, who);

const named = (id: string) => ({ model: `route/${id}`, display_name: id, tier: "free" });
const PUBLISHED = ["one", "embed", "rank", "voice", "listen", "paint", "dear", "a.b-c_d:1"].map((id) => `route/${id}`);
const DEAR = { id: "route/dear", object: "model", created: 1_768_435_200, owned_by: "vendor", tier: "Max" };

describe("GET /v1/models", () => {
  test("is the published catalogue, in the order of the configuration", async () => {
    const answer = await gateway.get("/v1/models");
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "application/json"]);
    const { object, data } = parsed(answer) as { object: string; data: readonly Json[] };
    expect([object, data.map(({ id }) => id)]).toEqual(["list", PUBLISHED]);
    expect(data.find(({ id }) => id === "route/dear")).toMatchObject(DEAR);
    expect(data[0]).toMatchObject({
      id: "route/one",
      object: "model",
      created: 0,
      owned_by: "simulator",
      tier: "Free",
    });
  });
});

describe("GET /v1/models/{model_id}", () => {
  test("a name with every letter it may have is found, and so is one that is not published", async () => {
    expect(parsed(await detail("route/a.b-c_d:1"))).toMatchObject({ id: "route/a.b-c_d:1", allowed: true });
    expect(parsed(await detail("route%2Fa.b-c_d%3A1"))).toMatchObject({ id: "route/a.b-c_d:1" });
    expect(parsed(await detail("route/hidden", free))).toMatchObject({ id: "route/hidden", allowed: true });
    expect((await gateway.chat(free, { model: "route/hidden" })).status).toBe(200);
  });

  test("counts and costs nothing", async () => {
    const before = await gateway.books(user);
    await detail("route/dear");
    await gateway.get("/v1/pricing", user);
    expect(await gateway.books(user)).toEqual(before);
  });
});

describe("GET /v1/pricing", () => {
  test("has every published model with every price it has, as the operator wrote it", async () => {
    const { models } = parsed(await gateway.get("/v1/pricing", free)) as { models: readonly Json[] };
    expect(models.map(({ model }) => model)).toEqual(PUBLISHED);
    const none = { input_per_million: 0, output_per_million: 0 };
    const of = (id: string): Json => models.find(({ model }) => model === `route/${id}`)!;
    expect(of("dear")).toEqual({
      model: "route/dear",
      display_name: "Dear One",
      tier: "max",
      input_per_million: 0.15,
      output_per_million: 1e-7,
      cached_input_per_million: 0.075,
      per_request: 1e-9,
    });
    expect(of("one")).toEqual({ ...named("one"), input_per_million: 1, output_per_million: 2 });
    expect(of("embed")).toEqual({ ...named("embed"), ...none, input_per_million: 1 });
    expect(of("rank")).toEqual({ ...named("rank"), ...none, input_per_million: 123456.789, per_request: 0.001 });
    expect(of("voice")).toEqual({ ...named("voice"), ...none, per_million_characters: 10 });
    expect(of("listen")).toEqual({ ...named("listen"), ...none, per_second: 0.001 });
    expect(of("paint")).toEqual({ ...named("paint"), ...none, per_image: 0.02 });
  });
});

test("GET /v1/settings says what the charges are multiplied by, and how to sign in", async () => {
  expect(parsed(await gateway.get("/v1/settings"))).toEqual({
    cost_multiplier: 1.35,
    currency: "USD",
    sign_in: { providers: [] },
  });
  for (const cost_multiplier of [1, 0.1, 1e-9, 1234.5]) {
    const other = await TestGateway.start({ config: { billing: { cost_multiplier } } });
    expect(parsed(await other.get("/v1/settings"))).toMatchObject({ cost_multiplier });
    await other.close();
  }
});

test("HEAD is GET without a body, on both addresses; and the document is served as it is built", async () => {
  for (const path of ["/v1/models", "/v1/settings", "/v1/status", "/openapi.json"]) {
    const [whole, head] = [await gateway.get(path), await send(gateway.secondUrl + path, { method: "HEAD" })];
    expect([whole.status, head.status, head.text]).toEqual([200, 200, ""]);
    expect(head.headers["content-type"]).toBe(whole.headers["content-type"]);
  }
  expect(parsed(await gateway.get("/openapi.json"))).toEqual(openApiDocument());
});
