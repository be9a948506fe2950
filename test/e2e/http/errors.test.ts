import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { CHAT, MESSAGES, TestGateway, type TestUser } from "../support/in-process.ts";
import { type Answer, type Exchange, send, type Sent } from "../support/http.ts";

const TEXT = "text/plain; charset=utf-8";
const JSON_TYPE = "application/json";
const none = "none";

let gateway: TestGateway;

beforeAll(async () => {
  const limits = (changes: Json): Json => ({
    access: "all",
    limits: { day: none, hour: none, minute: none, streams: none, ...changes },
  });
  gateway = await TestGateway.start({
    chains: {
      "route/max": ["-"],
      "route/broken": ["?status=500", "?status=503"],
      "route/slow": ["?first_byte=1h", "?first_byte=1h"],
      "route/mixed": ["?first_byte=1h", "?status=500"],
      "route/open": ["?status=500"],
      "route/picky": ["?status=400&message=max_tokens%20is%20too%20large", "-"],
    },
    config: {
      defaults: { upstream: { timeouts: { first_byte: "100ms" } } },
      upstreams: {
        "open-1": { breaker: { consecutive: 1, minimum: 1, ratio: 1, window: "30s", open_for: "1h", max_open_for: "1h" } },
        media: { dialect: "openai", base_url: "sim:", api_keys: ["k"] },
      },
      models: {
        "route/max": { tier: "Max" },
        "route/dear": {
          kind: "chat",
          tier: "Free",
          owned_by: "simulator",
          price: { input_per_million: 1_000_000, output_per_million: 1_000_000 },
          chain: [{ upstream: "one-1", model: "dear" }],
        },
        "route/five": {
          kind: "chat",
          tier: "Free",
          owned_by: "simulator",
          price: { input_per_million: 0, output_per_million: 0 },
          multipliers: { requests: 5 },
          chain: [{ upstream: "one-1", model: "five" }],
        },
        "route/embed": {
          kind: "embedding",
          tier: "Free",
          owned_by: "simulator",
          price: { input_per_million: 1 },
          chain: [{ upstream: "media", model: "embed" }],
        },
      },
      tiers: {
        Limited: { access: ["Free"], limits: { day: 100, hour: 50, minute: 20, streams: 5 } },
        Day: limits({ day: 3 }),
        Hour: limits({ hour: 2 }),
        Minute: limits({ minute: 2 }),
        Streams: limits({ streams: 1 }),
      },
      pipeline: [
        "auth",
        "plan-check",
        "quota",
        "breaker",
        { use: "./throws.ts", when: { models: ["route/max"] } },
        "stream-relay",
        "meter",
      ],
    },
    files: {
      "throws.ts": `export default {
        name: "throws", stage: "transform", schema: new URL("./throws.schema.json", import.meta.url),
        setup() { return { transform() { throw new Error("secret /etc/passwd of the plugin"); } }; },
      };`,
      "throws.schema.json": '{"type":"object","additionalProperties":false}',
    },
  });
});
afterAll(() => gateway.close());

interface Row {
  readonly name: string;
  readonly tier?: string;
  readonly credits?: string;
  readonly body?: Json;
  readonly sent?: Sent;
  /** Uses the windows up first. */
  readonly before?: (user: TestUser) => Promise<void>;
  readonly status: number;
  readonly code?: string;
  readonly type?: string;
  readonly text: string;
  readonly headers?: (() => Record<string, string>) | Record<string, string>;
}

const use = (times: number, body: Json = {}) => async (user: TestUser): Promise<void> => {
  for (let count = 0; count < times; count += 1) expect((await gateway.chat(user, body)).status).toBe(200);
};

const ROWS: readonly Row[] = [
  { name: "a broken-off JSON text", sent: { body: '{"model":' }, status: 400, code: "INVALID_REQUEST", text: "Invalid request: / must be valid JSON" },
  { name: "an unknown model", body: { model: "route/none" }, status: 400, code: "INVALID_MODEL", text: "Invalid model: 'route/none'" },
  { name: "a model without the prefix", body: { model: "one" }, status: 400, code: "INVALID_MODEL", text: "Invalid model: 'one'" },
  { name: "a model of another case", body: { model: "Route/One" }, status: 400, code: "INVALID_MODEL", text: "Invalid model: 'Route/One'" },
  { name: "a model of another kind", body: { model: "route/embed" }, status: 400, code: "INVALID_MODEL", text: "Invalid model: 'route/embed'" },
  { name: "no credits for a dear model", body: { model: "route/dear" }, credits: "10", status: 402, code: "INSUFFICIENT_CREDITS", text: "Insufficient credits for this request" },
  { name: "no credits at all", credits: "0", status: 402, code: "INSUFFICIENT_CREDITS", text: "Insufficient credits for this request" },
  { name: "a plan without the model", tier: "Free", body: { model: "route/max" }, status: 403, code: "MODEL_NOT_ALLOWED", text: "Model 'route/max' is not available on your plan" },
  { name: "a body that is announced as too long", sent: { body: JSON.stringify({ pad: "x".repeat(262_144) }) }, status: 413, code: "REQUEST_TOO_LARGE", text: "Request body exceeds the limit of 262144 bytes" },
  { name: "another content type", sent: { headers: { "content-type": "text/plain" } }, status: 415, code: "UNSUPPORTED_MEDIA_TYPE", text: "Content-Type must be application/json" },
  { name: "a compressed body", sent: { headers: { "content-encoding": "gzip" } }, status: 415, code: "UNSUPPORTED_MEDIA_TYPE", text: "Content-Encoding must be identity" },
  { name: "the daily limit", tier: "Day", before: use(3), status: 429, code: "DAILY_REQUEST_LIMIT_EXCEEDED", text: "Daily request limit exceeded", headers: () => ({ "retry-after": left("day"), "x-ratelimit-limit-day": "3", "x-ratelimit-remaining-day": "0", "x-ratelimit-reset-day": left("day") }) },
  { name: "fewer units left than a request needs", tier: "Day", body: { model: "route/five" }, status: 429, code: "DAILY_REQUEST_LIMIT_EXCEEDED", text: "Daily request limit exceeded", headers: () => ({ "x-ratelimit-remaining-day": "3" }) },
  { name: "the hourly limit", tier: "Hour", before: use(2), status: 429, code: "RATE_LIMIT_ERROR", text: "Hourly request limit exceeded", headers: () => ({ "retry-after": left("hour"), "x-ratelimit-remaining-hour": "0" }) },
  { name: "the limit per minute", tier: "Minute", before: use(2), status: 429, code: "RATE_LIMIT_ERROR", text: "Per-minute request limit exceeded", headers: () => ({ "retry-after": left("minute"), "x-ratelimit-remaining-minute": "0" }) },
  { name: "a plugin that throws", tier: "Max", body: { model: "route/max" }, status: 500, text: "Internal server error" },
  { name: "every upstream failed", body: { model: "route/broken" }, status: 502, code: "PROVIDER_ERROR", text: "Every upstream failed: upstream answered 500; upstream answered 503", headers: { "x-should-retry": "false" } },
  { name: "every upstream failed before a stream began", body: { model: "route/broken", stream: true }, status: 502, code: "PROVIDER_ERROR", text: "Every upstream failed: upstream answered 500; upstream answered 503", headers: { "x-should-retry": "false" } },
  { name: "one upstream timed out, another failed", body: { model: "route/mixed" }, status: 502, code: "PROVIDER_ERROR", text: "Every upstream failed: upstream timed out waiting for the first byte; upstream answered 500", headers: { "x-should-retry": "false" } },
  { name: "every upstream timed out", body: { model: "route/slow" }, status: 504, code: "PROVIDER_TIMEOUT", text: "Every upstream timed out: upstream timed out waiting for the first byte", headers: { "x-should-retry": "false" } },
];

function left(window: "day" | "hour" | "minute"): string {
  return String(gateway.clock.secondsLeft(window));
}

function shown({ status, headers, text }: Answer): Pick<Row, "status" | "code" | "type" | "text"> {
  return { status, code: headers["x-error-code"] as string | undefined, type: headers["content-type"], text };
}

describe("every error of a chat request", () => {
  test.each(ROWS)("$status $code: $name", async (row) => {
    const user = await gateway.user({ tier: row.tier ?? "Limited", credits: row.credits });
    await row.before?.(user);
    const before = await gateway.books(user);
    // Timeouts need a running clock; everything else is exact on one that stands still.
    if (row.status < 500) gateway.clock.stop();
    const answer = await gateway.chat(user, row.body, { ...row.sent, headers: { "x-request-id": "req-1", ...row.sent?.headers } });
    const expected = typeof row.headers === "function" ? row.headers() : (row.headers ?? {});
    gateway.clock.start();
    expect(shown(answer)).toEqual({ status: row.status, code: row.code, type: row.type ?? TEXT, text: row.text });
    expect(answer.headers).toMatchObject({ "x-request-id": "req-1", ...expected });
    expect(answer.headers["content-length"]).toBe(String(Buffer.byteLength(row.text)));
    if (row.status < 429) expect(answer.headers).not.toHaveProperty("retry-after");
    if (row.status !== 502 && row.status !== 504) expect(answer.headers).not.toHaveProperty("x-should-retry");
    if ((row.tier ?? "Limited") === "Limited") expect(answer.headers).toMatchObject(untouched);
    expect(await gateway.books(user)).toEqual(before);
  });

  /** Of a request that was refused, or given back: nothing is used. */
  const untouched = {
    "x-ratelimit-limit-day": "100",
    "x-ratelimit-remaining-day": "100",
    "x-ratelimit-limit-hour": "50",
    "x-ratelimit-remaining-hour": "50",
    "x-ratelimit-limit-minute": "20",
    "x-ratelimit-remaining-minute": "20",
  };

  test("429 RATE_LIMIT_ERROR: the limit of concurrent streams; requests that do not stream go on", async () => {
    const user = await gateway.user({ tier: "Streams" });
    const stream = gateway.open(user, { stream: true, sim: "?stall_after=2" });
    await stream.until("data:");
    const before = await gateway.books(user);
    const answer = await gateway.chat(user, { stream: true });
    expect(shown(answer)).toEqual({ status: 429, code: "RATE_LIMIT_ERROR", type: TEXT, text: "Concurrent stream limit exceeded" });
    expect(answer.headers["retry-after"]).toBe("1");
    expect(await gateway.books(user)).toEqual(before);
    expect((await gateway.chat(user)).status).toBe(200);
    stream.leave();
    await gateway.audit();
    expect((await gateway.chat(user, { stream: true })).status).toBe(200);
  });

  test("503 CIRCUIT_BREAKER_OPEN: says when to come back, and nothing reaches the upstream", async () => {
    const user = await gateway.user({ tier: "Limited" });
    const body = { model: "route/open", sim: "-" };
    expect((await gateway.chat(user, body)).status).toBe(502);
    const [asked, before] = [gateway.simulator.ledger().length, await gateway.books(user)];
    for (const stream of [false, true]) {
      const answer = await gateway.chat(user, { ...body, stream });
      expect(shown(answer)).toEqual({ status: 503, code: "CIRCUIT_BREAKER_OPEN", type: TEXT, text: "Circuit breaker open for an upstream" });
      const wait = Number(answer.headers["retry-after"]);
      // An hour, give or take the jitter.
      expect(wait).toBeGreaterThan(2_800);
      expect(wait).toBeLessThanOrEqual(3_600);
      expect(answer.headers).not.toHaveProperty("x-should-retry");
    }
    expect(gateway.simulator.ledger()).toHaveLength(asked);
    expect(await gateway.books(user)).toEqual(before);
  });

  test("503 STORE_UNAVAILABLE: a store that is away is neither a wrong key nor an empty account", async () => {
    const away = await TestGateway.start();
    const [known, fresh] = [await away.user(), await away.user()];
    expect((await away.chat(known)).status).toBe(200);
    expect((await send(`${away.adminUrl}/readyz`, { method: "GET" })).status).toBe(200);
    await away.store.close();
    for (const user of [known, fresh]) {
      const answer = await away.chat(user);
      expect(shown(answer)).toEqual({ status: 503, code: "STORE_UNAVAILABLE", type: TEXT, text: "Store unavailable" });
      expect(answer.headers["retry-after"]).toBe("1");
    }
    expect((await send(`${away.adminUrl}/readyz`, { method: "GET" })).status).toBe(503);
    await away.stop();
  });

  test.each([true, false])("400 INVALID_REQUEST in the upstream's words counts and costs nothing (streamed: %s)", async (stream) => {
    const user = await gateway.user({ tier: "Limited" });
    const before = await gateway.books(user);
    const answer = await gateway.chat(user, { model: "route/picky", stream });
    expect(shown(answer)).toEqual({ status: 400, code: "INVALID_REQUEST", type: TEXT, text: "Invalid request: max_tokens is too large" });
    const after = await gateway.books(user);
    expect({ ...after, ledger: [] }).toEqual({ ...before, used: { day: 1, hour: 1, minute: 1 } });
    expect(after.ledger).toMatchObject([{ outcome: "client_fault", charge: 0n }]);
    expect(answer.headers["x-ratelimit-remaining-day"]).toBe("99");
  });
});

describe("paths and methods", () => {
  test.each([
    ["GET", "/", 404],
    ["GET", "/v1", 404],
    ["POST", "/v1/chat", 404],
    ["POST", "/v1/chat/completions/", 404],
    ["POST", "/v1/CHAT/completions", 404],
    ["POST", "/chat/completions", 404],
    ["POST", "/v1/chat/completions/%2e%2e/x", 404],
    ["GET", "/admin/config", 404],
    ["GET", "/metrics", 404],
    ["GET", "/v1/chat/completions", 405],
    ["PUT", "/v1/chat/completions", 405],
    ["PATCH", "/v1/chat/completions", 405],
    ["DELETE", "/v1/chat/completions", 405],
    ["OPTIONS", "/v1/chat/completions", 405],
  ] as const)("%s %s is %i", async (method, path, status) => {
    const answer = await send(gateway.url + path, { method, headers: { "x-request-id": "req-2" } });
    const message = status === 404 ? "Not found" : "Method not allowed";
    expect(shown(answer)).toEqual({ status, code: undefined, type: JSON_TYPE, text: JSON.stringify({ message }) });
    expect(answer.headers["x-request-id"]).toBe("req-2");
    expect(answer.headers["allow"]).toBe(status === 405 ? "POST" : undefined);
  });

  test("HEAD is answered without a body", async () => {
    const answer = await send(gateway.url + CHAT, { method: "HEAD" });
    expect([answer.status, answer.headers["allow"], answer.text]).toEqual([405, "POST", ""]);
  });

  test("a query does not change the path", async () => {
    const user = await gateway.user();
    const headers = { authorization: `Bearer ${user.key}`, "content-type": JSON_TYPE };
    const answer = await send(`${gateway.url}${CHAT}?beta=true`, { headers, body: { model: "route/one", messages: MESSAGES } });
    expect(answer.status).toBe(200);
  });
});

/** One request that is wrong in every way; each step mends one, and meets the next check (decisions 4). */
test("the order of checks", async () => {
  const closed = { day: 0, hour: 0, minute: 0, streams: 0 };
  const strict = await TestGateway.start({
    chains: { "route/open": ["?status=500&name=order"] },
    config: {
      server: { ip_limit: { requests: 1_000, window: "1h" } },
      upstreams: { "open-1": { breaker: { consecutive: 1, open_for: "1h", max_open_for: "1h" } } },
      tiers: {
        NoAccess: { access: [], limits: closed },
        NoDay: { access: "all", limits: closed },
        NoHour: { access: "all", limits: { ...closed, day: 5 } },
        NoMinute: { access: "all", limits: { ...closed, day: 5, hour: 5 } },
        NoStreams: { access: "all", limits: { ...closed, day: 5, hour: 5, minute: 5 } },
        Open: { access: "all", limits: { day: 5, hour: 5, minute: 5, streams: 5 } },
      },
    },
  });
  const opener = await strict.user();
  expect((await strict.chat(opener, { model: "route/open" })).status).toBe(502);
  const ask = (tier: string, credits: string, body: Json = {}, sent: Sent = {}) => async (): Promise<Exchange> =>
    strict.open(await strict.user({ tier, credits }), { model: "route/open", stream: true, ...body }, sent);
  const bad = { model: "route/none", messages: [] };
  const large = "x".repeat(300_000);
  const steps: readonly (readonly [string, () => Promise<Exchange>])[] = [
    ["401 Authentication required", ask("NoAccess", "0", {}, { headers: { authorization: "", "content-type": "text/html" }, body: large })],
    ["401 Invalid API key", ask("NoAccess", "0", {}, { headers: { "x-api-key": "rk_", "content-type": "text/html" }, body: large })],
    ["415 Content-Type must be application/json", ask("NoAccess", "0", {}, { headers: { "content-type": "text/html" }, body: large })],
    ["413 Request body exceeds the limit of 262144 bytes", ask("NoAccess", "0", {}, { body: large })],
    ["400 Invalid request: / must be valid JSON", ask("NoAccess", "0", {}, { body: "x" })],
    ["400 Invalid request: /messages must not be empty", ask("NoAccess", "0", bad)],
    ["400 Invalid model: 'route/none'", ask("NoAccess", "0", { model: "route/none" })],
    ["403 Model 'route/open' is not available on your plan", ask("NoAccess", "0")],
    ["402 Insufficient credits for this request", ask("NoDay", "0")],
    ["429 Daily request limit exceeded", ask("NoDay", "1")],
    ["429 Hourly request limit exceeded", ask("NoHour", "1")],
    ["429 Per-minute request limit exceeded", ask("NoMinute", "1")],
    ["429 Concurrent stream limit exceeded", ask("NoStreams", "1")],
    ["503 Circuit breaker open for an upstream", ask("Open", "1")],
  ];
  const seen: string[] = [];
  for (const [, request] of steps) {
    const { status, text } = await (await request()).whole();
    seen.push(`${status} ${text.startsWith("{") ? (JSON.parse(text) as { message: string }).message : text}`);
  }
  expect(seen).toEqual(steps.map(([expected]) => expected));
  await strict.close();
});

describe("the IP limit", () => {
  test("counts every request but preflights, on both addresses, and comes before everything else", async () => {
    const limited = await TestGateway.start({ config: { server: { ip_limit: { requests: 3, window: "1m" } } } });
    const user = await limited.user();
    const preflight = { origin: "https://app.example.com", "access-control-request-method": "POST" };
    for (let count = 0; count < 5; count += 1)
      expect((await send(limited.url + CHAT, { method: "OPTIONS", headers: preflight })).status).toBe(204);
    expect((await limited.chat(user)).status).toBe(200);
    expect((await send(`${limited.secondUrl}/nowhere`, { method: "GET" })).status).toBe(404);
    expect((await limited.chat(user, { model: "route/none" })).status).toBe(400);
    const before = await limited.books(user);
    limited.clock.stop();
    const wait = limited.clock.secondsLeft("minute");
    const body = `{"message":"Rate limit exceeded. Please try again later.","retry_after":${wait}}`;
    const requests = [
      limited.chat(user),
      limited.chat(user, {}, { url: limited.secondUrl, headers: { authorization: "" } }),
      limited.chat(user, {}, { body: "no JSON" }),
      send(`${limited.url}/v1/models`, { method: "GET" }),
    ];
    for (const answer of await Promise.all(requests)) {
      expect(shown(answer)).toEqual({ status: 429, code: undefined, type: JSON_TYPE, text: body });
      expect(answer.headers).toMatchObject({
        "retry-after": String(wait),
        "x-ratelimit-limit": "3",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": String(wait),
        "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      });
    }
    expect(await limited.books(user)).toEqual(before);
    limited.clock.advance(wait * 1000);
    limited.clock.start();
    expect((await limited.chat(user)).status).toBe(200);
    await limited.close();
  });
});
