import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENDPOINTS } from "../../../src/server/endpoints.ts";
import { tier } from "../support/gateway-config.ts";
import { send } from "../support/http.ts";
import { TestGateway } from "../support/in-process.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.close());

describe("browsers", () => {
  const origin = "https://app.example.com";

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
  for (const url of [limited.url, limited.secondUrl])
    for (const path of ["/v1/nothing", "/admin/config", "/metrics"])
      expect([path, (await send(url + path, { method: "GET" })).status]).toEqual([path, 404]);
  await limited.close();
});
