import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENDPOINTS } from "../../../src/server/endpoints.ts";
import { tier } from "../support/gateway-config.ts";
import { send, shown } from "../support/http.ts";
import { CHAT, MESSAGES, TestGateway, type TestUser } from "../support/in-process.ts";

const JSON_TYPE = "application/json";

let gateway: TestGateway;
let user: TestUser;
beforeAll(async () => {
  gateway = await TestGateway.start();
  user = await gateway.user();
});
afterAll(() => gateway.close());

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
    expect(shown(answer)).toEqual([status, undefined, JSON_TYPE, JSON.stringify({ message })]);
    expect(answer.headers["x-request-id"]).toBe("req-2");
    expect(answer.headers["allow"]).toBe(status === 405 ? "POST" : undefined);
  });

  test("HEAD is answered without a body", async () => {
    const answer = await send(gateway.url + CHAT, { method: "HEAD" });
    expect([answer.status, answer.headers["allow"], answer.text]).toEqual([405, "POST", ""]);
  });

  test("a query does not change the path", async () => {
    const headers = { authorization: `Bearer ${user.key}`, "content-type": JSON_TYPE };
    const answer = await send(`${gateway.url}${CHAT}?beta=true`, {
      headers,
      body: { model: "route/one", messages: MESSAGES },
    });
    expect(answer.status).toBe(200);
  });
});

describe("browsers", () => {
  const origin = "https://app.example.com";

  test("a preflight is answered without a key", async () => {
    const headers = {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,x-mine",
    };
    const answer = await send(gateway.url + CHAT, { method: "OPTIONS", headers });
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect(answer.headers).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
      "access-control-allow-headers": "authorization,x-mine",
      "access-control-max-age": "7200",
      "x-request-id": expect.any(String) as string,
    });
  });

  test("answers, streams and errors may be read, and their headers seen", async () => {
    const requests = [
      gateway.chat(user, {}, { headers: { origin } }),
      gateway.chat(user, { stream: true }, { headers: { origin } }),
      gateway.chat(user, { model: "none" }, { headers: { origin } }),
      send(gateway.url + CHAT, { headers: { origin }, body: {} }),
      send(`${gateway.url}/v1/nothing`, { method: "GET", headers: { origin } }),
    ];
    for (const { headers } of await Promise.all(requests)) {
      expect(headers["access-control-allow-origin"]).toBe("*");
      for (const name of ["X-Request-Id", "X-Error-Code", "Retry-After", "X-RateLimit-Remaining-Day"])
        expect(headers["access-control-expose-headers"]).toContain(name);
    }
    expect((await gateway.chat(user)).headers).not.toHaveProperty("access-control-allow-origin");
  });

  test("every path under /v1 may be asked from a page, with every method it has", async () => {
    for (const { method, path } of ENDPOINTS.filter(({ path }) => path.startsWith("/v1/"))) {
      const where = gateway.url + path.replace("{model_id}", "route/one").replace("{key_id}", "key_1");
      const headers = { origin, "access-control-request-method": method };
      const preflight = await send(where, { method: "OPTIONS", headers });
      expect([path, preflight.status, preflight.headers["access-control-allow-origin"]]).toEqual([path, 204, "*"]);
      expect(preflight.headers["access-control-allow-methods"]).toContain(method);
      const { headers: answered } = await send(where, { method, headers: { origin } });
      expect([path, answered["access-control-allow-origin"]]).toEqual([path, "*"]);
    }
    const { headers } = await send(`${gateway.url}/auth/login`, { headers: { origin } });
    expect(headers).not.toHaveProperty("access-control-allow-origin");
  });

  test("only origins that are named may read, where some are named", async () => {
    const picky = await TestGateway.start({ config: { server: { cors: { origins: [origin] } } } });
    const someone = await picky.user();
    const allowed = await picky.chat(someone, {}, { headers: { origin } });
    expect(allowed.headers).toMatchObject({ "access-control-allow-origin": origin, vary: "Origin" });
    const refused = await picky.chat(someone, {}, { headers: { origin: "https://evil.example.com" } });
    expect(refused.headers).toMatchObject({ vary: "Origin" });
    expect(refused.headers).not.toHaveProperty("access-control-allow-origin");
    await picky.close();
  });
});

test("both addresses serve the same paths with the same keys and counters", async () => {
  const limited = await TestGateway.start({
    config: { tiers: { Two: tier({ day: 2 }) } },
  });
  const someone = await limited.user({ tier: "Two" });
  expect(limited.url).not.toBe(limited.secondUrl);
  const statuses: number[] = [];
  for (const url of [limited.url, limited.secondUrl, limited.url, limited.secondUrl])
    statuses.push((await limited.chat(someone, {}, { url })).status);
  expect(statuses).toEqual([200, 200, 429, 429]);
  expect((await send(`${limited.secondUrl}/v1/nothing`, { body: MESSAGES })).status).toBe(404);
  await limited.close();
});
