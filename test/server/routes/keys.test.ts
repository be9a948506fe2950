import { expect, test } from "vitest";
import { createKey } from "../../../src/accounts/api-keys.ts";
import { keepAliveAgent, send } from "../support.ts";
import { bearer, START, startRoutes, TOKEN } from "./support.ts";

const AUTH = bearer(TOKEN);
const JSON_AUTH = { ...AUTH, "content-type": "application/json" };

test("a key is made, works, is listed without its secret, and is revoked", async () => {
  const { ask, logged } = await startRoutes({ parts: { digestOf: (id) => `digest of ${id}` } });
  const made = await ask(
    "POST",
    "/v1/user/key",
    { ...JSON_AUTH, "x-request-id": "mine" },
    '{"name":"laptop","more":1}',
  );
  expect(made).toMatchObject({ status: 200, headers: { "cache-control": "no-store" } });
  const { key, id, ...rest } = JSON.parse(made.text);
  expect(key).toMatch(/^rk_[0-9a-f]{64}$/);
  expect(id).toMatch(/^key_[\w-]{24}$/);
  expect(rest).toEqual({
    key_prefix: key.slice(0, 11),
    name: "laptop",
    plan_tier: "Free",
    created_at: new Date(START).toISOString(),
    last_used_at: null,
    expires_at: null,
    models: null,
    budget: null,
    tags: {},
    scopes: null,
    addresses: null,
    replaced_by: null,
  });
  expect((await ask("GET", "/v1/pricing", bearer(key))).status).toBe(200);

  const listed = await ask("GET", "/v1/user/key", AUTH);
  expect(listed).toMatchObject({ status: 200, headers: { "cache-control": "no-store" } });
  expect(listed.text).not.toContain(key);
  const { data } = JSON.parse(listed.text);
  expect(data).toHaveLength(2);
  expect(data.find((item: { id: string }) => item.id === id)).toMatchObject({ ...rest, last_used_at: null });

  const revoked = await ask("DELETE", `/v1/user/key/${id}`, AUTH);
  expect(revoked).toMatchObject({ status: 200, text: '{"message":"API key revoked"}' });
  expect(JSON.parse((await ask("GET", "/v1/user/key", AUTH)).text).data).toMatchObject([{ name: "first" }]);
  expect(logged).toMatchObject([
    { level: "info", fields: { request_id: "mine", user: "digest of ann" }, message: "API key made" },
    { level: "info", fields: { user: "digest of ann" }, message: "API key revoked" },
  ]);
  expect(JSON.stringify(logged), "ids are in no log").not.toContain(`"${id}"`);
  expect(JSON.stringify(logged)).not.toContain(key);
});

test("a key is made with limits, which are shown", async () => {
  const { ask } = await startRoutes();
  const limits = { models: ["route/swift*"], tags: { team: "a" } };
  const made = await ask(
    "POST",
    "/v1/user/key",
    JSON_AUTH,
    JSON.stringify({ name: "n", expires_in: "30d", ...limits }),
  );
  const shown = { expires_at: new Date(START + 30 * 86_400_000).toISOString(), ...limits };
  const { key, id } = JSON.parse(made.text);
  expect(JSON.parse(made.text)).toMatchObject(shown);
  const { data } = JSON.parse((await ask("GET", "/v1/user/key", AUTH)).text);
  expect(data.find((item: { id: string }) => item.id === id)).toMatchObject(shown);
  const refused = await ask("POST", "/v1/user/key", JSON_AUTH, '{"name":"n","expires_in":0}');
  expect(refused).toMatchObject({ status: 400, headers: { "x-error-code": "INVALID_REQUEST" } });
  const model = await ask("GET", "/v1/models/route/free", bearer(key));
  expect([model.status, JSON.parse(model.text).allowed]).toEqual([200, false]);
});

test("a key is changed field by field, and rolled", async () => {
  const { ask, store, logged } = await startRoutes();
  const { body } = await createKey(store, { userId: "ann", name: "old", limits: { models: ["route/swift*"] } });
  const path = `/v1/user/key/${body.id}`;
  const change = {
    name: "new",
    expires_in: 60,
    tags: { team: "a" },
    scopes: ["usage"],
    addresses: ["::1", "127.0.0.1"],
  };
  const changed = await ask("PATCH", path, JSON_AUTH, JSON.stringify(change));
  const expires_at = new Date(START + 60_000).toISOString();
  const { expires_in: _, ...shown } = { ...change, expires_at, models: ["route/swift*"], key_prefix: body.key_prefix };
  expect([changed.status, JSON.parse(changed.text)]).toMatchObject([200, shown]);
  expect((await ask("GET", "/v1/user/requests", bearer(body.key))).status).toBe(200);
  const lifted = await ask("PATCH", path, JSON_AUTH, '{"models":null,"scopes":null,"tags":null,"expires_at":null}');
  expect(JSON.parse(lifted.text)).toMatchObject({
    name: "new",
    models: null,
    scopes: null,
    tags: {},
    expires_at: null,
  });

  const rolled = await ask("POST", `${path}/roll`, JSON_AUTH, '{"grace":"1h"}');
  const next = JSON.parse(rolled.text);
  const previous = { id: body.id, expires_at: new Date(START + 3_600_000).toISOString() };
  expect([rolled.status, next]).toMatchObject([200, { name: "new", addresses: change.addresses, previous }]);
  for (const key of [body.key, next.key]) expect((await ask("GET", "/v1/user", bearer(key))).status).toBe(200);
  const { data } = JSON.parse((await ask("GET", "/v1/user/key", AUTH)).text);
  expect(data.find(({ id }: { id: string }) => id === body.id)).toMatchObject({ ...previous, replaced_by: next.id });
  const again = await ask("POST", `${path}/roll`, AUTH);
  expect(again).toMatchObject({ status: 400, text: expect.stringContaining(`roll ${next.id}`) });
  const now = await ask("POST", `/v1/user/key/${next.id}/roll`, JSON_AUTH, '{"grace":0}');
  expect(JSON.parse(now.text).previous.expires_at).toBe(new Date(START).toISOString());
  expect((await ask("GET", "/v1/user", bearer(next.key))).status).toBe(401);
  expect(logged.map(({ message }) => message)).toEqual([
    "API key changed",
    "API key changed",
    "API key rolled",
    "API key rolled",
  ]);
  expect(JSON.stringify(logged)).not.toContain("rk_");
});

test.each([
  ["nothing", "{}", "/ must have one of name, expires_in"],
  ["a field that no key has", '{"scope":["usage"]}', "/scope is none of name, expires_in"],
  ["a blank name", '{"name":" "}', "/name must be a string"],
  ["no scope", '{"scopes":[]}', "/scopes must be a list of inference, usage"],
  ["another scope", '{"scopes":["admin"]}', "/scopes must be a list of inference, usage"],
  ["a host name", '{"addresses":["example.com"]}', "/addresses/0 is no address or CIDR"],
  ["a long prefix", '{"addresses":["10.0.0.0/8","::/129"]}', "/addresses/1 is no valid prefix length"],
  ["no address", '{"addresses":[]}', "/addresses must be a list of 1 to 50"],
  ["two expiries", '{"expires_in":60,"expires_at":"2028-01-01T00:00:00Z"}', "/expires_at stands beside expires_in"],
  ["a past", '{"expires_at":"2020-01-01T00:00:00Z"}', "/expires_at must be a time to come"],
  ["a date of no form", '{"expires_at":"tomorrow"}', "/expires_at must be a time to come"],
])("a change of %s is refused, and changes nothing", async (_, change, text) => {
  const { ask, store } = await startRoutes();
  const [key] = await store.listKeys("ann");
  const answer = await ask("PATCH", `/v1/user/key/${key!.id}`, JSON_AUTH, change);
  expect(answer).toMatchObject({ status: 400, text: expect.stringContaining(`Invalid request: ${text}`) });
  expect(await store.listKeys("ann")).toEqual([key]);
});

test("nobody changes or rolls another's key, or with a key", async () => {
  const { ask, store, key } = await startRoutes();
  const { body: bobs } = await createKey(store, { userId: "bob", name: "bob's" });
  for (const [method, path, body] of [
    ["PATCH", `/v1/user/key/${bobs.id}`, '{"name":"mine"}'],
    ["POST", `/v1/user/key/${bobs.id}/roll`, "{}"],
  ] as const) {
    expect((await ask(method, path, JSON_AUTH, body)).status).toBe(404);
    expect((await ask(method, path, { ...JSON_AUTH, ...bearer(key) }, body)).status).toBe(401);
    expect((await ask(method, path, { "content-type": "application/json", "x-api-key": key }, body)).status).toBe(429);
  }
  expect(await store.listKeys("bob")).toMatchObject([{ name: "bob's" }]);
});

test("only one's own live keys can be revoked: everything else is the same 404", async () => {
  const { ask, store } = await startRoutes();
  const { body: bobs } = await createKey(store, { userId: "bob", name: "bob's" });
  const [mine] = await store.listKeys("ann");
  expect((await ask("DELETE", `/v1/user/key/${encodeURIComponent(mine!.id)}`, AUTH)).status).toBe(200);
  const ids = [mine!.id, bobs.id, "key_unknown", "..%2Fx", "a%2Fb", "%00", "__proto__", "x".repeat(4000)];
  const texts = new Set<string>();
  for (const id of ids) {
    const answer = await ask("DELETE", `/v1/user/key/${id}`, AUTH);
    expect(answer.status).toBe(404);
    expect(answer.headers).toMatchObject({
      "x-error-code": "NOT_FOUND",
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
    });
    texts.add(answer.text);
  }
  expect(texts.size).toBe(1);
  expect(await store.listKeys("bob")).toHaveLength(1);
});

const BAD_NAME = "Invalid request: /name must be a string of 1 to 100 characters";

test.each([
  ["nothing", "", 400, "Invalid request: / must not be empty"],
  ["half an object", "{", 400, "Invalid request: / must be valid JSON"],
  ["a list", "[]", 400, "Invalid request: / must be an object"],
  ["no name", "{}", 400, BAD_NAME],
  ["a null", '{"name":null}', 400, BAD_NAME],
  ["a number", '{"name":7}', 400, BAD_NAME],
  ["an empty name", '{"name":""}', 400, BAD_NAME],
  ["101 characters", `{"name":"${"x".repeat(101)}"}`, 400, BAD_NAME],
  ["100 characters beyond the BMP", `{"name":"${"😀".repeat(100)}"}`, 200, '"key":"rk_'],
  ["2 MB", `{"name":"${"x".repeat(2_000_000)}"}`, 413, "Request body exceeds the limit of 65536 bytes"],
])("a body of %s", async (_what, body, status, text) => {
  const { port, store } = await startRoutes();
  const agent = keepAliveAgent();
  for (const chunked of [false, true]) {
    const answer = await send(port, { path: "/v1/user/key", headers: JSON_AUTH, body, chunked, agent });
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(text);
    // The connection goes on.
    expect((await send(port, { method: "GET", path: "/v1/models", agent })).status).toBe(200);
  }
  expect(await store.listKeys("ann")).toHaveLength(status === 200 ? 3 : 1);
});

test("another content type is a 415, and credentials come first", async () => {
  const { ask, store } = await startRoutes();
  const body = '{"name":"x"}';
  const typed = await ask("POST", "/v1/user/key", { ...AUTH, "content-type": "text/plain" }, body);
  expect(typed).toMatchObject({ status: 415, text: "Content-Type must be application/json" });
  expect((await ask("POST", "/v1/user/key", AUTH, body)).status).toBe(415);
  expect((await ask("POST", "/v1/user/key", bearer("bad"), "{")).status).toBe(401);
  expect(await store.listKeys("ann")).toHaveLength(1);
});

test("the fifty-first live key is refused", async () => {
  const { ask, store } = await startRoutes();
  for (let n = 1; n < 50; n += 1) await createKey(store, { userId: "ann", name: `key ${n}` });
  const answer = await ask("POST", "/v1/user/key", JSON_AUTH, '{"name":"one too many"}');
  expect(answer).toMatchObject({ status: 400, headers: { "x-error-code": "INVALID_REQUEST" } });
  expect(answer.text).toContain("50 live keys");
});

test("pages of other origins may manage keys as CORS says", async () => {
  const { ask } = await startRoutes();
  const preflight = await ask("OPTIONS", "/v1/user/key/key_x", {
    origin: "https://app.example",
    "access-control-request-method": "DELETE",
    "access-control-request-headers": "authorization",
  });
  expect(preflight).toMatchObject({
    status: 204,
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET, POST, PATCH, DELETE, OPTIONS",
      "access-control-allow-headers": "authorization",
    },
  });
  const refused = await ask("DELETE", "/v1/user/key/key_x", { ...AUTH, origin: "https://app.example" });
  expect(refused).toMatchObject({ status: 404, headers: { "access-control-allow-origin": "*" } });
});

test("wrong methods name the right ones", async () => {
  const { ask } = await startRoutes();
  expect((await ask("PUT", "/v1/user/key", AUTH)).headers.allow).toBe("POST, GET, HEAD");
  expect((await ask("GET", "/v1/user/key/key_x", AUTH)).headers.allow).toBe("PATCH, DELETE");
});
