import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";
import { limitedProvider, type LimitedProvider, type Refusal } from "../support/limited-provider.ts";

const MODELS = ["large", "small", "third"] as const;

/** A model with a chain of these names at one upstream. */
const model = (...names: readonly string[]) => ({
  kind: "chat",
  tier: "Free",
  owned_by: "shared",
  price: { input_per_million: 1, output_per_million: 2 },
  chain: names.map((name) => ({ upstream: "shared", model: name })),
});

let provider: LimitedProvider;
let gateway: TestGateway;
let user: TestUser;
let other: TestUser;

beforeEach(async () => {
  provider = await limitedProvider();
  gateway = await TestGateway.start({
    config: {
      upstreams: {
        shared: { dialect: "openai", base_url: provider.url, api_keys: ["key-one"] },
        pair: { dialect: "openai", base_url: provider.url, api_keys: ["key-two", "key-three"] },
        models: {
          dialect: "openai",
          base_url: provider.url,
          api_keys: ["key-one"],
          breaker: { scope: "target", consecutive: 3, open_for: "10s" },
        },
      },
      models: {
        ...Object.fromEntries(MODELS.map((name) => [`route/${name}`, model(name)])),
        "route/fallback": model("large", "small"),
        "route/pair": { ...model("large"), chain: [{ upstream: "pair", model: "large" }] },
        "route/by-model": { ...model("large"), chain: [{ upstream: "models", model: "large" }] },
        "route/by-model-small": { ...model("large"), chain: [{ upstream: "models", model: "small" }] },
      },
    },
  });
  [user, other] = [await gateway.user(), await gateway.user()];
});
afterEach(async () => {
  await gateway.close();
  await provider.close();
});

const limit = (headers: Record<string, string> = { "retry-after": "30" }, message = "Slow down"): Refusal => ({
  status: 429,
  headers,
  body: { error: { message, type: "requests", code: "rate_limit_exceeded" } },
});

const ask = (model: string, by = user, stream = false) => gateway.chat(by, { model: `route/${model}`, stream });

async function states(upstream = "shared"): Promise<Json & { cooldowns: Json[]; can_serve: boolean }> {
  const { text } = await gateway.admin("/admin/upstreams");
  return (JSON.parse(text) as Record<string, Json & { cooldowns: Json[]; can_serve: boolean }>)[upstream]!;
}

async function modelStates(): Promise<Record<string, string>> {
  const { text } = await gateway.send("/v1/status", { method: "GET" });
  const { models } = JSON.parse(text) as { models: { id: string; status: string }[] };
  return Object.fromEntries(models.map(({ id, status }) => [id.replace("route/", ""), status]));
}

/** Seconds until then; the clock of the tests goes on by itself. */
function left(until: unknown): number {
  return (Date.parse(String(until)) - gateway.clock.now()) / 1_000;
}

function expectLeft(until: unknown, seconds: number): void {
  expect(left(until)).toBeLessThanOrEqual(seconds);
  expect(left(until)).toBeGreaterThan(seconds - 20);
}

describe("a rate limit of one model", () => {
  test.each([false, true])("leaves the others of its provider, and its own fallback; streamed: %s", async (stream) => {
    provider.refusals.set("large", limit());
    expect(await ask("large", user, stream)).toMatchObject({ status: 502 });
    expect(await states()).toMatchObject({
      can_serve: true,
      breaker: "closed",
      keys: [{ position: 1, rests_until: null }],
      cooldowns: [
        {
          scope: "key_model",
          key: 1,
          model: "large",
          reason: "rate limit (429 rate_limit_exceeded requests)",
        },
      ],
    });
    expectLeft((await states()).cooldowns[0]!["until"], 30);
    const refused = await ask("large", other, stream);
    expect(refused).toMatchObject({ status: 503, text: "Every upstream is cooling down" });
    expect(refused.headers["x-error-code"]).toBe("CIRCUIT_BREAKER_OPEN");
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(10);
    for (const model of ["small", "third", "fallback"]) expect((await ask(model, user, stream)).status).toBe(200);
    expect(provider.asked).toEqual(["key-one large", "key-one small", "key-one third", "key-one small"]);
    expect(await modelStates()).toMatchObject({ large: "offline", small: "online", fallback: "degraded" });
    gateway.clock.advance(30_000);
    provider.refusals.clear();
    expect((await ask("large", user, stream)).status).toBe(200);
    expect(await states()).toMatchObject({ cooldowns: [] });
  });

  test("rests the whole key when a second model meets one", async () => {
    for (const model of ["large", "small"]) provider.refusals.set(model, limit());
    for (const model of ["large", "small"]) await ask(model);
    const { cooldowns, can_serve } = await states();
    expect([can_serve, cooldowns.map(({ scope, model }) => [scope, model])]).toEqual([
      false,
      [
        ["key", undefined],
        ["key_model", "large"],
        ["key_model", "small"],
      ],
    ]);
    expect(await ask("third")).toMatchObject({ status: 503, text: "Every upstream is cooling down" });
    expect(provider.asked).toHaveLength(2);
  });

  test("is met with the next key", async () => {
    provider.refusals.set("key-two", limit());
    expect((await ask("pair")).status).toBe(200);
    expect((await ask("pair")).status).toBe(200);
    expect(provider.asked).toEqual(["key-two large", "key-three large", "key-three large"]);
  });
});

describe("the whole key rests at once for", () => {
  test.each<readonly [string, Refusal]>([
    ["a limit of the organization", limit({ "retry-after": "30" }, "Organization Rate limit exceeded")],
    ["an empty account", { status: 429, body: { error: { message: "No", code: "insufficient_quota" } } }],
  ])("%s", async (_what, refusal) => {
    provider.refusals.set("large", refusal);
    await ask("large");
    expect((await states()).cooldowns).toMatchObject([{ scope: "key", key: 1 }]);
    expect(await ask("small")).toMatchObject({ status: 503, text: "Every upstream is cooling down" });
  });
});

describe("a refusal", () => {
  test.each([401, 402])("with %i rests the key for all models once a second user has met it", async (status) => {
    provider.refusals.set("large", { status });
    await ask("large");
    expect((await states()).cooldowns).toEqual([]);
    await ask("large", other);
    const { cooldowns } = await states();
    expect(cooldowns).toMatchObject([{ scope: "key", reason: expect.stringContaining(String(status)) }]);
    expectLeft(cooldowns[0]!["until"], 60);
    expect((await ask("small")).status).toBe(503);
  });

  test("with 403 rests it for the model, and for all once another model meets the same", async () => {
    for (const model of ["large", "small"]) provider.refusals.set(model, { status: 403 });
    await ask("large");
    await ask("large", other);
    expect((await states()).cooldowns).toMatchObject([{ scope: "key_model", model: "large" }]);
    expect((await ask("third")).status).toBe(200);
    await ask("small");
    expect((await states()).cooldowns.map(({ scope }) => scope)).toEqual(["key", "key_model"]);
    expect((await ask("third")).status).toBe(503);
  });
});

const operate = (method: string, path: string, body?: Json) =>
  gateway.admin(path, { method, headers: { "content-type": "application/json" }, ...(body && { body }) });

const close = () =>
  operate("POST", "/admin/upstreams/shared/manual", {
    mode: "close",
    expires_in_seconds: 60,
    reason: "quota raised",
  });

describe("an operator's act ends cooldowns at once", () => {
  beforeEach(async () => {
    provider.refusals.set("large", limit());
    await ask("large");
    const { status } = await ask("large");
    if (status !== 503) throw new Error(`the model does not rest: ${status}`);
    provider.refusals.clear();
  });

  test("closing, and clearing the override", async () => {
    expect(JSON.parse((await close()).text)).toMatchObject({ mode: "close", cooldowns_ended: 1 });
    expect((await ask("large")).status).toBe(200);
    provider.refusals.set("large", limit());
    await ask("large");
    expect((await states()).cooldowns).toHaveLength(1);
    provider.refusals.clear();
    const cleared = await operate("DELETE", "/admin/upstreams/shared/manual");
    expect(JSON.parse(cleared.text)).toEqual({ lifted: true, cooldowns_ended: 1 });
    expect((await ask("large")).status).toBe(200);
  });

  test("clearing where nothing is set", async () => {
    const cleared = await operate("DELETE", "/admin/upstreams/shared/manual");
    expect(JSON.parse(cleared.text)).toEqual({ lifted: true, cooldowns_ended: 1 });
    expect((await ask("large")).status).toBe(200);
    expect((await operate("DELETE", "/admin/upstreams/shared/manual")).status).toBe(404);
  });

  test("a reload, also one that changes nothing", async () => {
    const { text } = await operate("POST", "/admin/reload");
    expect(JSON.parse(text)).toMatchObject({ ok: true, cooldowns_ended: 1 });
    expect((await ask("large")).status).toBe(200);
    expect(JSON.parse((await operate("POST", "/admin/reload")).text)).not.toHaveProperty("cooldowns_ended");
  });

  test("a reload that changes something else", async () => {
    expect(await gateway.reload({ billing: { currency: "EUR" } })).toMatchObject({ ok: true });
    expect((await ask("large")).status).toBe(200);
  });
});

const explained = async (model: string): Promise<unknown> => {
  const body = { model: `route/${model}`, tier: "Free" };
  const headers = { "content-type": "application/json" };
  const { text } = await gateway.admin("/admin/explain", { method: "POST", headers, body });
  return (JSON.parse(text) as { chain: { targets: Json[] }[] }).chain[0]!.targets[0];
};

describe("breaker.scope: target", () => {
  beforeEach(async () => {
    provider.refusals.set("large", { status: 503 });
    for (let time = 0; time < 3; time += 1) await ask("by-model");
  });

  test("keeps one for each model", async () => {
    expect(await ask("by-model")).toMatchObject({ status: 503, text: "Circuit breaker open for an upstream" });
    expect((await ask("by-model-small")).status).toBe(200);
    const { breaker, can_serve, breakers, cooldowns, history } = await states("models");
    expect({ breaker, can_serve, breakers }).toEqual({
      breaker: "half_open",
      can_serve: true,
      breakers: { large: "open", small: "closed" },
    });
    expect(cooldowns).toMatchObject([
      { scope: "target", model: "large", reason: expect.stringContaining("3 in a row") },
    ]);
    expect(history).toMatchObject([{ state: "open", model: "large" }]);
    expect(await gateway.metric("gateway_breaker_state", { upstream: "models", target: "large" })).toBe(2);
    expect(await gateway.metric("gateway_breaker_state", { upstream: "models", target: "small" })).toBe(0);
    expect(await modelStates()).toMatchObject({ "by-model": "offline", "by-model-small": "online" });
    const { text } = await gateway.admin("/admin/models");
    const { data } = JSON.parse(text) as { data: { id: string; chain: { targets: Json[] }[] }[] };
    const shown = data.map(({ id, chain }) => [id, chain[0]!.targets[0]!["breaker"]]);
    expect(Object.fromEntries(shown)).toMatchObject({ "route/by-model": "open", "route/by-model-small": "closed" });
  });

  test("lets the model try again after its time, and the upstream be closed by hand for all", async () => {
    provider.refusals.clear();
    gateway.clock.advance(13_000);
    expect((await ask("by-model")).status).toBe(200);
    expect(await states("models")).toMatchObject({ breaker: "closed", cooldowns: [] });
  });

  test("explains which model is left alone", async () => {
    expect(await explained("by-model")).toMatchObject({
      decision: "skipped",
      reason: expect.stringContaining("its breaker is open until"),
    });
    expect(await explained("by-model-small")).toMatchObject({ decision: "served" });
    provider.refusals.set("large", limit());
    await ask("large");
    expect(await explained("large")).toMatchObject({
      decision: "skipped",
      reason: expect.stringMatching(
        /^its key is resting until 2\S+Z: rate limit \(429 rate_limit_exceeded requests\)$/,
      ),
    });
    expect(await explained("small")).toMatchObject({ decision: "served" });
  });
});

const DIALECTS = ["openai", "anthropic", "gemini", "azure", "bedrock", "cohere"] as const;

describe("over the wire of every dialect", () => {
  let own: TestGateway;

  beforeEach(async () => {
    const upstreams = DIALECTS.flatMap((dialect) =>
      ["whole", "streamed"].map((how) => {
        const name = `${dialect}-${how}`;
        const base_url = `sim:?status=429&retry_after=30&fail_times=1&name=${name}`;
        return [name, { dialect, base_url, api_keys: ["upstream-key"] }] as const;
      }),
    );
    const models = upstreams.flatMap(([upstream]) =>
      ["large", "small"].map((name) => {
        const chain = [{ upstream, model: name }];
        return [`route/${upstream}-${name}`, { ...model(), chain }] as const;
      }),
    );
    own = await TestGateway.start({
      config: { upstreams: Object.fromEntries(upstreams), models: Object.fromEntries(models) },
    });
  });
  afterEach(() => own.close());

  test("a 429 rests the key for its model until the told end, and for no other", async () => {
    const caller = await own.user();
    const seen: Record<string, unknown> = {};
    for (const dialect of DIALECTS) {
      for (const stream of [false, true]) {
        const name = `${dialect}-${stream ? "streamed" : "whole"}`;
        const statuses = [];
        for (const one of ["large", "large", "small"]) {
          statuses.push((await own.chat(caller, { model: `route/${name}-${one}`, stream })).status);
        }
        const shown = JSON.parse((await own.admin("/admin/upstreams")).text) as Record<string, { cooldowns: Json[] }>;
        const rests = shown[name]!.cooldowns.map(({ scope, model: of }) => `${String(scope)} ${String(of)}`);
        own.clock.advance(31_000);
        statuses.push((await own.chat(caller, { model: `route/${name}-large`, stream })).status);
        seen[name] = [...statuses, ...rests];
      }
    }
    const expected = [502, 503, 200, 200, "key_model large"];
    expect(seen).toEqual(Object.fromEntries(Object.keys(seen).map((name) => [name, expected])));
    expect(Object.keys(seen)).toHaveLength(2 * DIALECTS.length);
  });
});
