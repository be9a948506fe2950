import { describe, expect, test } from "vitest";
import { decimal, GatewayError, invalidRequest, storeUnavailable } from "../../src/kit/index.ts";
import { Bench, type BenchParts, type RequestParts } from "../support/bench.ts";
import { testModel, testTier } from "../support/snapshot.ts";
import type { TestClient } from "../support/client.ts";
import { answers, hangs, streamsFrom } from "../support/upstream.ts";
import { FakeSource } from "../support/source.ts";

function refusalOf({ refused }: TestClient): { readonly code: string; readonly message: string; readonly retryAfter?: number } {
  const error = refused?.error;
  if (!(error instanceof GatewayError)) throw new Error(`not refused by a GatewayError: ${String(error)}`);
  return { code: error.code, message: error.message, retryAfter: error.details.retryAfter };
}

/** Each check, in the order of the decisions, with what fails it; a request fails its own check and every later one. */
const CHECKS: readonly {
  readonly code: string;
  readonly message: string;
  readonly request?: RequestParts;
  readonly parts?: BenchParts;
}[] = [
  { code: "AUTHENTICATION_ERROR", message: "Invalid API key", request: { credentials: { kind: "key", value: "rk_wrong" } } },
  {
    code: "INVALID_REQUEST",
    message: "Invalid request: /messages is missing",
    request: { read: () => Promise.reject(invalidRequest("/messages", "is missing")) },
  },
  { code: "INVALID_MODEL", message: "Invalid model: 'route/none'", request: { body: { model: "route/none" } } },
  {
    code: "MODEL_NOT_ALLOWED",
    message: "Model 'route/max' is not available on your plan",
    request: { body: { model: "route/max" } },
  },
  { code: "INSUFFICIENT_CREDITS", message: "Insufficient credits for this request", parts: { credits: 0n } },
  { code: "DAILY_REQUEST_LIMIT_EXCEEDED", message: "Daily request limit exceeded", parts: limited({ day: 0 }) },
  { code: "RATE_LIMIT_ERROR", message: "Hourly request limit exceeded", parts: limited({ hour: 0 }) },
  { code: "RATE_LIMIT_ERROR", message: "Per-minute request limit exceeded", parts: limited({ minute: 0 }) },
  { code: "RATE_LIMIT_ERROR", message: "Concurrent stream limit exceeded", parts: limited({ streams: 0 }), request: { body: { stream: true } } },
];

type LimitNames = "day" | "hour" | "minute" | "streams";

function limited(limits: Partial<Record<LimitNames, number>>): BenchParts {
  return { tiers: [testTier("Free", { access: ["Free"], ...limits }), testTier("Max")] };
}

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
  test.each(CHECKS.map((check, index) => ({ ...check, index })))("$message comes before all later refusals", async ({ index, code, message }) => {
    const { parts, request } = failingFrom(index);
    const bench = await Bench.create(parts);
    expect(refusalOf(await bench.serve(request))).toMatchObject({ code, message });
    expect(bench.upstream.attempts).toEqual([]);
    await bench.audit();
  });
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
    expect(bench.observer.finishes[0]?.outcome).toMatchObject({ kind: "refused", giveBack: true, status: 503, attempts: 0 });
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
    expect(refusalOf(refused)).toEqual({ code: "RATE_LIMIT_ERROR", message: "Concurrent stream limit exceeded", retryAfter: 1 });
    expect((await bench.serve()).answered?.status).toBe(200);
    source.finish();
    await first.done;
    await bench.audit();
  });

  test("a hold that is running counts against the next admission", async () => {
    // 1024 output tokens at 2 per million: each holds 2,049,000 nano-units and a little prompt.
    const bench = await Bench.create({ credits: 4_000_000n });
    bench.upstream.play(hangs);
    const first = bench.request();
    await expect.poll(() => bench.upstream.attempts.length).toBe(1);
    expect(refusalOf(await bench.serve())).toMatchObject({ code: "INSUFFICIENT_CREDITS" });
    first.client.abort("client_gone");
    await bench.audit();
    expect(await bench.balance()).toBe(4_000_000n);
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
    expect(refusalOf(await bench.serve({ body: { max_tokens, n: 1e300 } }))).toMatchObject({ code: "INSUFFICIENT_CREDITS" });
    await bench.audit();
  });
});

describe("rate-limit headers", () => {
  // The clock stands at 12:00:00 UTC.
  const full = (remaining: { day: number; hour: number; minute: number }): object => ({
    "X-RateLimit-Limit-Day": "1000",
    "X-RateLimit-Remaining-Day": String(remaining.day),
    "X-RateLimit-Reset-Day": "43200",
    "X-RateLimit-Limit-Hour": "500",
    "X-RateLimit-Remaining-Hour": String(remaining.hour),
    "X-RateLimit-Reset-Hour": "3600",
    "X-RateLimit-Limit-Minute": "100",
    "X-RateLimit-Remaining-Minute": String(remaining.minute),
    "X-RateLimit-Reset-Minute": "60",
  });
  const untouched = full({ day: 1000, hour: 500, minute: 100 });
  const one = full({ day: 999, hour: 499, minute: 99 });

  test("on an answer and on a stream: after this request", async () => {
    const bench = await Bench.create();
    bench.upstream.play(answers());
    expect((await bench.serve()).answered?.headers).toEqual(one);
    const other = await Bench.create();
    const { client, done } = other.stream();
    await done;
    expect(client.stream).toEqual({ contentType: "text/event-stream; charset=utf-8", headers: one });
    await other.audit();
  });

  test.each(CHECKS.slice(1, 5))("on $message: as if it had not been", async ({ request, parts }) => {
    const bench = await Bench.create(parts);
    expect((await bench.serve(request)).refused?.headers).toEqual(untouched);
  });

  test.each([
    ["Day", limited({ day: 0 }), 43_200],
    ["Hour", limited({ hour: 0 }), 3_600],
    ["Minute", limited({ minute: 0 }), 60],
  ])("on a refusal of the %s: nothing remains, and when to come back", async (name, parts, seconds) => {
    const bench = await Bench.create(parts);
    bench.clock.advance(1);
    const client = await bench.serve();
    expect(client.refused?.headers).toMatchObject({
      [`X-RateLimit-Limit-${name}`]: "0",
      [`X-RateLimit-Remaining-${name}`]: "0",
      [`X-RateLimit-Reset-${name}`]: String(seconds),
    });
    expect(refusalOf(client).retryAfter).toBe(seconds);
  });

  test("a tier without an hourly cap has no Hour headers", async () => {
    const bench = await Bench.create({ tiers: [testTier("Free", { hour: null })] });
    bench.upstream.play(answers());
    const names = Object.keys((await bench.serve()).answered!.headers);
    expect(names.filter((name) => name.endsWith("Hour"))).toEqual([]);
    expect(names).toHaveLength(6);
  });

  test("a store that is away is 503 without counters, not 401 or 402", async () => {
    const away = (): never => {
      throw storeUnavailable(new Error("away"));
    };
    const bench = await Bench.create({ override: () => ({ admit: away, windows: away }) });
    const client = await bench.serve();
    expect(refusalOf(client)).toEqual({ code: "STORE_UNAVAILABLE", message: "Store unavailable", retryAfter: 1 });
    expect(client.refused?.headers).toEqual({});
    await bench.audit();
  });
});
