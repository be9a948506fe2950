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
      "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
      "access-control-allow-headers": "authorization",
    },
  });
  const refused = await ask("DELETE", "/v1/user/key/key_x", { ...AUTH, origin: "https://app.example" });
  expect(refused).toMatchObject({ status: 404, headers: { "access-control-allow-origin": "*" } });
});

test("wrong methods name the right ones", async () => {
  const { ask } = await startRoutes();
  expect((await ask("PUT", "/v1/user/key", AUTH)).headers.allow).toBe("POST, GET, HEAD");
  expect((await ask("GET", "/v1/user/key/key_x", AUTH)).headers.allow).toBe("DELETE");
});
