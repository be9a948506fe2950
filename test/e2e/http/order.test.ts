import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { type Exchange, send, type Sent, shown } from "../support/http.ts";
import { CHAT, TestGateway } from "../support/in-process.ts";

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
  const ask =
    (tier: string, credits: string, body: Json = {}, sent: Sent = {}) =>
    async (): Promise<Exchange> =>
      strict.open(await strict.user({ tier, credits }), { model: "route/open", stream: true, ...body }, sent);
  const bad = { model: "route/none", messages: [] };
  const large = "x".repeat(300_000);
  const steps: readonly (readonly [string, () => Promise<Exchange>])[] = [
    [
      "401 Authentication required",
      ask("NoAccess", "0", {}, { headers: { authorization: "", "content-type": "text/html" }, body: large }),
    ],
    [
      "401 Invalid API key",
      ask("NoAccess", "0", {}, { headers: { "x-api-key": "rk_", "content-type": "text/html" }, body: large }),
    ],
    [
      "415 Content-Type must be application/json",
      ask("NoAccess", "0", {}, { headers: { "content-type": "text/html" }, body: large }),
    ],
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
      expect(shown(answer)).toEqual([429, undefined, "application/json", body]);
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
