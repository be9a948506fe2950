import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { tier } from "../support/gateway-config.ts";
import { send, type Sent, shown } from "../support/http.ts";
import { TestGateway } from "../support/in-process.ts";

const TEXT = "text/plain; charset=utf-8";

/** Only of upstreams that are to time out: on a busy machine others would, too. */
const IMPATIENT = { timeouts: { first_byte: "100ms", total: "100ms" } };

let gateway: TestGateway;

beforeAll(async () => {
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
      upstreams: {
        ...Object.fromEntries(["slow-1", "slow-2", "mixed-1"].map((name) => [name, IMPATIENT])),
        "open-1": {
          breaker: { consecutive: 1, minimum: 1, ratio: 1, window: "30s", open_for: "1h", max_open_for: "1h" },
        },
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
        Day: tier({ day: 3 }),
        Hour: tier({ hour: 2 }),
        Minute: tier({ minute: 2 }),
        Streams: tier({ streams: 1 }),
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

/** A request, and the answer it must get. */
interface Row {
  readonly tier?: string;
  readonly credits?: string;
  readonly body?: Json;
  readonly sent?: Sent;
  /** Requests that are served before it. */
  readonly served?: number;
  /** Status, code and text. */
  readonly answer: readonly [number, string | undefined, string];
  /** The window whose end the client is told to wait for. */
  readonly wait?: "day" | "hour" | "minute";
  readonly headers?: Readonly<Record<string, string>>;
}

const refused = (code: string, text: string, request: Partial<Row>): Row => ({ ...request, answer: [400, code, text] });
const unknown = (model: string): Row => refused("INVALID_MODEL", `Invalid model: '${model}'`, { body: { model } });
const poor = (request: Partial<Row>): Row => ({
  ...request,
  answer: [402, "INSUFFICIENT_CREDITS", "Insufficient credits for this request"],
});
const tooMany = (name: "Day" | "Hour" | "Minute", served: number, code: string, text: string): Row => {
  const wait = name.toLowerCase() as "day" | "hour" | "minute";
  return { tier: name, served, wait, answer: [429, code, text], headers: { [`x-ratelimit-remaining-${wait}`]: "0" } };
};
/** The chain has been tried: a client's library must not try it again. */
const final = (model: string, answer: Row["answer"], stream = false): Row => ({
  body: { model, stream },
  answer,
  headers: { "x-should-retry": "false" },
});
const BROKEN = "Every upstream failed: upstream answered 500; upstream answered 503";
const SLOW = "upstream timed out waiting for the first byte";

const ROWS: Readonly<Record<string, Row>> = {
  "a broken-off JSON text": refused("INVALID_REQUEST", "Invalid request: / must be valid JSON", {
    sent: { body: '{"model":' },
  }),
  "an unknown model": unknown("route/none"),
  "a model without the prefix": unknown("one"),
  "a model in another case": unknown("Route/One"),
  "a model of another kind": unknown("route/embed"),
  "less credits than a dear model may cost": poor({ body: { model: "route/dear" } }),
  "no credits at all": poor({ credits: "0" }),
  "a plan without the model": {
    tier: "Free",
    body: { model: "route/max" },
    answer: [403, "MODEL_NOT_ALLOWED", "Model 'route/max' is not available on your plan"],
  },
  "a body that is announced as too long": {
    sent: { body: JSON.stringify({ pad: "x".repeat(262_144) }) },
    answer: [413, "REQUEST_TOO_LARGE", "Request body exceeds the limit of 262144 bytes"],
  },
  "another content type": {
    sent: { headers: { "content-type": "text/plain" } },
    answer: [415, "UNSUPPORTED_MEDIA_TYPE", "Content-Type must be application/json"],
  },
  "a compressed body": {
    sent: { headers: { "content-encoding": "gzip" } },
    answer: [415, "UNSUPPORTED_MEDIA_TYPE", "Content-Encoding must be identity"],
  },
  "the daily limit": tooMany("Day", 3, "DAILY_REQUEST_LIMIT_EXCEEDED", "Daily request limit exceeded"),
  "fewer units left in the day than the request needs": {
    tier: "Day",
    body: { model: "route/five" },
    wait: "day",
    answer: [429, "DAILY_REQUEST_LIMIT_EXCEEDED", "Daily request limit exceeded"],
    headers: { "x-ratelimit-remaining-day": "3" },
  },
  "the hourly limit": tooMany("Hour", 2, "RATE_LIMIT_ERROR", "Hourly request limit exceeded"),
  "the limit per minute": tooMany("Minute", 2, "RATE_LIMIT_ERROR", "Per-minute request limit exceeded"),
  "a plugin that throws": {
    tier: "Max",
    body: { model: "route/max" },
    answer: [500, undefined, "Internal server error"],
  },
  "every upstream failed": final("route/broken", [502, "PROVIDER_ERROR", BROKEN]),
  "every upstream failed before a stream began": final("route/broken", [502, "PROVIDER_ERROR", BROKEN], true),
  "one upstream timed out, another failed": final("route/mixed", [
    502,
    "PROVIDER_ERROR",
    `Every upstream failed: ${SLOW}; upstream answered 500`,
  ]),
  "every upstream timed out": final("route/slow", [504, "PROVIDER_TIMEOUT", `Every upstream timed out: ${SLOW}`]),
  "every upstream timed out before a stream began": final(
    "route/slow",
    [504, "PROVIDER_TIMEOUT", `Every upstream timed out: ${SLOW}`],
    true,
  ),
};

/** Of a user of the tier Limited whose request was refused or given back. */
const UNTOUCHED = {
  "x-ratelimit-limit-day": "100",
  "x-ratelimit-remaining-day": "100",
  "x-ratelimit-limit-hour": "50",
  "x-ratelimit-remaining-hour": "50",
  "x-ratelimit-limit-minute": "20",
  "x-ratelimit-remaining-minute": "20",
};

describe("every error of a chat request", () => {
  test.each(Object.entries(ROWS))("%s", async (_, row) => {
    const { tier: name = "Limited", credits, body, sent, served = 0, wait, headers } = row;
    const user = await gateway.user({ tier: name, credits });
    for (let count = 0; count < served; count += 1) expect((await gateway.chat(user)).status).toBe(200);
    const before = await gateway.books(user);
    const [status, code, text] = row.answer;
    // Timeouts need a running clock; seconds are exact on one that stands still.
    if (status < 500) gateway.clock.stop();
    const seconds = wait && String(gateway.clock.secondsLeft(wait));
    const answer = await gateway.chat(user, body, { ...sent, headers: { "x-request-id": "req-1", ...sent?.headers } });
    gateway.clock.start();
    expect(shown(answer)).toEqual([status, code, TEXT, text]);
    expect(answer.headers).toMatchObject({
      "x-request-id": "req-1",
      "content-length": String(Buffer.byteLength(text)),
      ...headers,
      ...(name === "Limited" && UNTOUCHED),
      ...(wait && { "retry-after": seconds, [`x-ratelimit-reset-${wait}`]: seconds }),
    });
    const { "retry-after": retryAfter, "x-should-retry": shouldRetry } = answer.headers;
    expect({ retryAfter, shouldRetry }).toEqual({ retryAfter: seconds, shouldRetry: headers?.["x-should-retry"] });
    expect(await gateway.books(user)).toEqual(before);
  });

  test("429 RATE_LIMIT_ERROR: the limit of concurrent streams; requests that do not stream go on", async () => {
    const user = await gateway.user({ tier: "Streams" });
    const stream = gateway.open(user, { stream: true, sim: "?stall_after=2" });
    await stream.until("data:");
    const before = await gateway.books(user);
    const answer = await gateway.chat(user, { stream: true });
    expect(shown(answer)).toEqual([429, "RATE_LIMIT_ERROR", TEXT, "Concurrent stream limit exceeded"]);
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
      expect(shown(answer)).toEqual([503, "CIRCUIT_BREAKER_OPEN", TEXT, "Circuit breaker open for an upstream"]);
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
      expect(shown(answer)).toEqual([503, "STORE_UNAVAILABLE", TEXT, "Store unavailable"]);
      expect(answer.headers["retry-after"]).toBe("1");
    }
    expect((await send(`${away.adminUrl}/readyz`, { method: "GET" })).status).toBe(503);
    await away.stop();
  });

  test.each([true, false])(
    "400 INVALID_REQUEST in the upstream's words counts and costs nothing (streamed: %s)",
    async (stream) => {
      const user = await gateway.user({ tier: "Limited" });
      const before = await gateway.books(user);
      const answer = await gateway.chat(user, { model: "route/picky", stream });
      expect(shown(answer)).toEqual([400, "INVALID_REQUEST", TEXT, "Invalid request: max_tokens is too large"]);
      const after = await gateway.books(user);
      expect({ ...after, ledger: [] }).toEqual({ ...before, used: { day: 1, hour: 1, minute: 1 } });
      expect(after.ledger).toMatchObject([{ outcome: "client_fault", charge: 0n }]);
      expect(answer.headers["x-ratelimit-remaining-day"]).toBe("99");
    },
  );
});
