import { afterAll, beforeAll, expect, test } from "vitest";
import { TestGateway } from "../../support/in-process.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({ config: { server: { trusted_proxies: ["127.0.0.1"] } } });
});
afterAll(() => gateway.close());

async function withLimits(limits: Parameters<typeof gateway.store.changeKey>[1]["limits"]) {
  const user = await gateway.user();
  const [key] = await gateway.store.listKeys(user.id);
  const change = (limits: Parameters<typeof withLimits>[0]) => gateway.store.changeKey(key!.id, { limits });
  await change(limits);
  const statusFrom = async (...hops: string[]) => {
    const headers: Record<string, string> = hops.length > 0 ? { "x-forwarded-for": hops.join(", ") } : {};
    const usage = { method: "GET", headers: { ...headers, authorization: `Bearer ${user.key}` } };
    const chat = await gateway.chat(user, {}, { headers });
    return [chat.status, (await gateway.send("/v1/user/usage", usage)).status];
  };
  return { user, change, statusFrom };
}

test("the address is that of the client behind trusted proxies, not one that the client invents", async () => {
  const { statusFrom, user } = await withLimits({ addresses: ["203.0.113.0/24", "2001:db8::/32"] });
  for (const ip of ["203.0.113.7", "203.0.113.255", "::ffff:203.0.113.9", "2001:db8:1::1"])
    expect([ip, await statusFrom(ip)]).toEqual([ip, [200, 200]]);
  for (const hops of [[], ["198.51.100.1"], ["203.0.113.7", "198.51.100.1"], ["2001:db9::1"], ["unknown"]])
    expect([hops, await statusFrom(...hops)]).toEqual([hops, [403, 403]]);
  // What was refused counts nowhere.
  expect((await gateway.books(user)).used).toEqual({ day: 4, hour: 4, minute: 4 });
});

test("a change holds from the next request on", async () => {
  const { statusFrom, change } = await withLimits({});
  expect(await statusFrom()).toEqual([200, 200]);
  await change({ scopes: ["usage"] });
  expect(await statusFrom()).toEqual([403, 200]);
  await change({ scopes: ["inference"] });
  expect(await statusFrom()).toEqual([200, 403]);
  await change({ scopes: null, models: ["route/other"] });
  expect(await statusFrom()).toEqual([403, 200]);
  await change({ models: null, addresses: ["127.0.0.1"] });
  expect(await statusFrom()).toEqual([200, 200]);
});

test("a key whose every scope is missing still reads the catalogue, from its address", async () => {
  const { user } = await withLimits({ scopes: ["usage"] });
  for (const path of ["/v1/models/route/one", "/v1/pricing", "/v1/models?available=true"])
    expect((await gateway.get(path, user)).status).toBe(200);
});
