import { describe, expect, test } from "vitest";
import { decimal } from "../../src/kit/index.ts";
import { Bench, type BenchParts, type RequestParts } from "../support/bench.ts";
import { testModel, testTier } from "../support/snapshot.ts";
import { answers, hangs, streamsFrom } from "../support/upstream.ts";
import { FakeSource } from "../support/source.ts";
import { CHECKS, limited, refusalOf } from "./checks.ts";
import { PROMPT } from "./outcome-cases.ts";

/** This check and all later ones fail. */
function failingFrom(index: number): { readonly parts: BenchParts; readonly request: RequestParts } {
  const later = CHECKS.slice(index);
  const limits = Object.fromEntries(
    later.flatMap(({ parts }) => Object.entries(parts?.tiers?.[0]?.limits ?? {}).filter(([, limit]) => limit === 0)),
  );
  const access = index <= 3 ? [] : ["Free"];
  const requests = later.map(({ request }) => request ?? {});
  return {
    parts: {
      ...(later.some(({ code }) => code === "INSUFFICIENT_CREDITS") ? { credits: 0n } : {}),
      tiers: [testTier("Free", { access, ...limits }), testTier("Max")],
    },
    request: {
      ...Object.assign({}, ...requests.toReversed()),
      body: Object.assign({}, ...requests.toReversed().map(({ body }) => body ?? {})) as Record<string, unknown>,
    },
  };
}

describe("the order of checks", () => {
  test.each(CHECKS.map((check, index) => ({ ...check, index })))(
    "$message comes before all later refusals",
    async ({ index, code, message }) => {
      const { parts, request } = failingFrom(index);
      const bench = await Bench.create(parts);
      expect(refusalOf(await bench.serve(request))).toMatchObject({ code, message });
      expect(bench.upstream.attempts).toEqual([]);
      await bench.audit();
    },
  );
});

describe("a refusal changes nothing", () => {
  test.each(CHECKS)("$message", async ({ code, message, request, parts }) => {
    const bench = await Bench.create(parts);
    const before = await bench.balance();
    const client = await bench.serve(request);
    expect(refusalOf(client)).toMatchObject({ code, message });
    expect(await bench.used()).toEqual({ day: 0, hour: 0, minute: 0 });
    expect(await bench.balance()).toBe(before);
    expect(await bench.store.ledger("ann")).toEqual([]);
    expect(bench.upstream.attempts).toEqual([]);
    await bench.audit();
  });

  test("every breaker open: 503, and all is given back", async () => {
    const bench = await Bench.create();
    for (const breaker of bench.host.breakers.values()) {
      breaker.state = "open";
      breaker.retryAt = bench.clock.now() + 2_500;
    }
    const client = await bench.serve();
    expect(refusalOf(client)).toEqual({
      code: "CIRCUIT_BREAKER_OPEN",
      message: "Circuit breaker open for an upstream",
      retryAfter: 3,
    });
    expect(await bench.used()).toEqual({ day: 0, hour: 0, minute: 0 });
    expect(await bench.store.ledger("ann")).toEqual([]);
    expect(bench.observer.finishes[0]?.outcome).toMatchObject({
      kind: "refused",
      giveBack: true,
      status: 503,
      attempts: 0,
    });
    await bench.audit();
  });
});

describe("credentials", () => {
  test.each([
    [{ kind: "none" as const }, "AUTHENTICATION_REQUIRED", "Authentication required"],
    [{ kind: "token" as const, value: "no.such.token" }, "INVALID_TOKEN", "Invalid or expired token"],
    [{ kind: "token" as const, value: "a.good.token" }, "AUTHENTICATION_ERROR", "Authentication failed"],
    [{ kind: "key" as const, value: "" }, "AUTHENTICATION_ERROR", "Invalid API key"],
  ])("%j: the body is not even read", async (credentials, code, message) => {
    const bench = await Bench.create();
    let reads = 0;
    const client = await bench.serve({
      credentials,
      read: () => {
        reads += 1;
        return Promise.reject(new Error("read"));
      },
    });
    expect(refusalOf(client)).toMatchObject({ code, message });
    expect(reads).toBe(0);
    expect(client.refused?.headers).toEqual({});
    await bench.audit();
  });
});

describe("models", () => {
  test.each(["constructor", "__proto__", "toString", "hasOwnProperty", "", "route/free ", "ROUTE/FREE"])(
    "%j is no model",
    async (model) => {
      const bench = await Bench.create();
      expect(refusalOf(await bench.serve({ body: { model } }))).toMatchObject({
        code: "INVALID_MODEL",
        message: `Invalid model: '${model}'`,
      });
      await bench.audit();
    },
  );

  test("a model of another kind than the endpoint's is no model of it", async () => {
    const bench = await Bench.create({ models: [testModel("route/embed", { kind: "embedding" })] });
    expect(refusalOf(await bench.serve({ body: { model: "route/embed" } }))).toMatchObject({ code: "INVALID_MODEL" });
    await bench.audit();
  });

  test("a plan that the configuration no longer has may call nothing", async () => {
    for (const tier of ["Gone", "constructor"]) {
      const bench = await Bench.create({ tier });
      const client = await bench.serve();
      expect(refusalOf(client)).toMatchObject({ code: "MODEL_NOT_ALLOWED" });
      await bench.audit();
    }
  });
});

describe("limits", () => {
  test("the multiplier counts for the day only; too few units left refuses", async () => {
    const bench = await Bench.create({
      ...limited({ day: 9 }),
      models: [testModel("route/free", { multipliers: { requests: 5, cost: decimal(1) } })],
    });
    bench.upstream.play(answers());
    expect((await bench.serve()).answered?.status).toBe(200);
    expect(await bench.used()).toEqual({ day: 5, hour: 1, minute: 1 });
    expect(refusalOf(await bench.serve())).toMatchObject({ code: "DAILY_REQUEST_LIMIT_EXCEEDED" });
    expect(await bench.used()).toEqual({ day: 5, hour: 1, minute: 1 });
    await bench.audit();
  });

  test("streams take slots and free them, other requests take none", async () => {
    const bench = await Bench.create(limited({ streams: 1 }));
    const source = new FakeSource();
    bench.upstream.play(streamsFrom(source), answers());
    const first = bench.stream();
    await expect.poll(() => source.opened).toBe(true);
    const refused = await bench.stream().done.then(() => bench.requests[1]!.client);
    expect(refusalOf(refused)).toEqual({
      code: "RATE_LIMIT_ERROR",
      message: "Concurrent stream limit exceeded",
      retryAfter: 1,
    });
    expect((await bench.serve()).answered?.status).toBe(200);
    source.finish();
    await first.done;
    await bench.audit();
  });

  test("a hold that is running counts against the next admission", async () => {
    // Less than the longest answer costs: all of it is held.
    const bench = await Bench.create({ credits: 4_000_000n });
    bench.upstream.play(hangs);
    const first = bench.request();
    await expect.poll(() => bench.upstream.attempts.length).toBe(1);
    expect(refusalOf(await bench.serve())).toMatchObject({ code: "INSUFFICIENT_CREDITS" });
    first.client.abort("client_gone");
    await bench.audit();
    expect(await bench.balance()).toBe(4_000_000n - PROMPT);
  });

  test("credits are recorded, not enforced, where billing says so", async () => {
    const bench = await Bench.create({ credits: 0n, billing: { enforce: false } });
    bench.upstream.play(answers());
    expect((await bench.serve()).answered?.status).toBe(200);
    expect(await bench.balance()).toBe(-20_000n);
    await bench.audit();
  });

  test.each([[1e308], [1e18], [2 ** 53]])("max_tokens %d is refused for credits, not a failure", async (max_tokens) => {
    const bench = await Bench.create();
    expect(refusalOf(await bench.serve({ body: { max_tokens, n: 1e300 } }))).toMatchObject({
      code: "INSUFFICIENT_CREDITS",
    });
    await bench.audit();
  });
});
