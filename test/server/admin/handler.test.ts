import { expect, test } from "vitest";
import { GatewayError } from "../../../src/kit/index.ts";
import type { AdminOptions } from "../../../src/server/admin/handler.ts";
import { open } from "../support.ts";
import { admin, AUTH, TOKEN } from "./support.ts";

test("probes and metrics need no token", async () => {
  const reasons: string[] = [];
  const { ask } = await admin({ token: "", notReady: () => reasons });
  expect(await ask("/livez")).toMatchObject({ status: 200, text: '{"status":"live"}' });
  expect(await ask("/readyz")).toMatchObject({ status: 200, text: '{"status":"ready"}' });
  expect(await ask("/metrics")).toMatchObject({
    status: 200,
    text: "gateway_up 1\n",
    headers: { "content-type": "text/plain; version=0.0.4" },
  });
  reasons.push("draining", "store away");
  const unready = await ask("/readyz");
  expect(unready.status).toBe(503);
  expect(JSON.parse(unready.text)).toEqual({ status: "unavailable", reasons });
  expect(unready.headers["x-request-id"]).toBeDefined();
  expect(unready.headers["cache-control"]).toBe("no-store");
});

test("the token's holder sees everything", async () => {
  const { ask } = await admin();
  expect(await ask("/admin/config", AUTH)).toMatchObject({ status: 200, text: '{"generation":3,"hash":"abc"}' });
  expect(await ask("/admin/upstreams", AUTH)).toMatchObject({ text: '[{"name":"alpha","state":"closed"}]' });
  expect(await ask("/admin/streams", AUTH)).toMatchObject({
    text: "[]",
    headers: { "content-type": "application/json" },
  });
  expect(await ask("/admin/reload", AUTH, "POST")).toMatchObject({ status: 200, text: '{"ok":true,"hash":"def"}' });
  expect(await ask("/admin/streams/s1", AUTH, "DELETE")).toMatchObject({ status: 200, text: '{"ended":true}' });
  expect(await ask("/admin/streams/s2", AUTH, "DELETE")).toMatchObject({ status: 404, text: "No such stream" });
  expect((await ask("/admin/streams/s3", AUTH, "DELETE")).text).toBe("No such stream on the instances that answer");
  expect((await ask("/admin/streams/s1", AUTH)).status).toBe(405);
  expect((await ask("/admin/reload", AUTH)).status).toBe(405);
  expect((await ask("/admin/nothing", AUTH)).status).toBe(404);
  expect((await ask("/admin/config", { authorization: `bearer ${TOKEN}` })).status).toBe(200);
});

test("a refused reload is a 422 with its diagnostics, a broken one a 500 without detail", async () => {
  const diagnostics = [{ file: "gateway.yaml", line: 3, rule: "x" }];
  const refused = await admin({ reload: async () => ({ ok: false, diagnostics }) });
  const answer = await refused.ask("/admin/reload", AUTH, "POST");
  expect(answer.status).toBe(422);
  expect(JSON.parse(answer.text)).toEqual({ ok: false, diagnostics });
  const broken = await admin({ reload: () => Promise.reject(new Error("secret detail")) });
  expect(await broken.ask("/admin/reload", AUTH, "POST")).toMatchObject({ status: 500, text: "Internal server error" });
  expect(broken.lines).toMatchObject([{ level: "error" }]);
});

const PATHS = [
  "/admin/config",
  "/admin/config/source",
  "/admin/upstreams",
  "/admin/streams",
  "/admin/streams/s1",
  "/admin/settlements",
  "/admin/reload",
  "/admin/explain",
  "/admin/nothing",
  "/admin",
];

test.each(PATHS)("%s without the token is a 401, by any method", async (path) => {
  const { ask } = await admin();
  for (const method of ["GET", "POST", "DELETE", "PUT", "OPTIONS"]) {
    expect(await ask(path, {}, method)).toMatchObject({ status: 401, text: '{"message":"Authentication required"}' });
    for (const sent of [`${TOKEN}x`, TOKEN.slice(1), "x"]) {
      const answer = await ask(path, { authorization: `Bearer ${sent}` }, method);
      expect(answer).toMatchObject({ status: 401, text: '{"message":"Invalid or expired token"}' });
    }
  }
  expect((await ask(path, { "x-api-key": TOKEN })).status).toBe(401);
  expect((await ask(path, { authorization: `Basic ${TOKEN}` })).status).toBe(401);
});

test.each(PATHS)("%s does not exist without a configured token", async (path) => {
  const { ask } = await admin({ token: "" });
  for (const headers of [{}, AUTH, { authorization: "Bearer " }, { authorization: "Bearer undefined" }]) {
    expect(await ask(path, headers)).toMatchObject({ status: 404, text: '{"message":"Not found"}' });
  }
});

test.each([
  "//admin/config",
  "/%61dmin/config",
  "/v1/../admin/config",
  "/admin;x/config",
  "/ADMIN/config",
  "/admin/config/",
])("the spelling %s opens nothing", async (path) => {
  const { port } = await admin();
  const connection = await open(port);
  connection.socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  expect(await connection.closed()).toMatch(/^HTTP\/1.1 40[14] /);
});

test.each([
  ["localhost", true],
  ["localhost:9090", true],
  ["LOCALHOST", true],
  ["127.0.0.1:9090", true],
  ["[::1]:9090", true],
  ["192.168.7.7", true],
  ["admin.internal:9090", true],
  ["evil.example", false],
  ["evil.example:9090", false],
  ["127.0.0.1.evil.example", false],
  ["127.evil.example", false],
  ["localhost.evil.example", false],
  ["admin.internal.evil.example", false],
])("with the Host %s: %s", async (host, allowed) => {
  const { ask } = await admin({ host: "admin.internal" });
  const answer = await ask("/admin/config", { ...AUTH, host });
  expect(answer.status).toBe(allowed ? 200 : 400);
  expect(answer.text.includes("names another host")).toBe(!allowed);
  expect((await ask("/metrics", { host })).status).toBe(200);
});

test("on loopback a rebound name does not even see metrics", async () => {
  const { ask } = await admin();
  for (const path of ["/metrics", "/livez", "/admin/config"]) {
    expect((await ask(path, { ...AUTH, host: "evil.example" })).status).toBe(400);
  }
});

test("no page of another origin is let in", async () => {
  const { ask } = await admin();
  const { headers } = await ask("/admin/config", { ...AUTH, origin: "https://app.example" });
  expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
});

test("errors of the table keep their status", async () => {
  const { ask } = await admin({
    streams: () => Promise.reject(new GatewayError("STORE_UNAVAILABLE", "Store unavailable", { retryAfter: 1 })),
  });
  expect(await ask("/admin/streams", AUTH)).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
});

test.each<[body: string, to: string | number]>([
  ["", 1],
  ["{}", 1],
  ['{"to": 3}', 3],
  ['{"to": "abc1"}', "abc1"],
])("a rollback with the body %s goes back to %s", async (body, to) => {
  const asked: unknown[] = [];
  const rollback: AdminOptions["rollback"] = async (target) => {
    asked.push(target);
    return { ok: true, hash: "abc", guarded: true };
  };
  const { ask } = await admin({ rollback });
  expect(await ask("/admin/rollback", AUTH, "POST", body)).toMatchObject({
    status: 200,
    text: '{"ok":true,"hash":"abc","guarded":true}',
  });
  expect(asked).toEqual([to]);
});

test.each([
  "{",
  '{"to": -1}',
  '{"to": 1.5}',
  '{"to": {}}',
  '{"to": null}',
  '{"hash": "abc1"}',
  '"abc1"',
  "3",
  "[]",
  "null",
])("a rollback to nowhere is a 400: %s", async (body) => {
  const { ask } = await admin({ rollback: () => Promise.reject(new Error("asked")) });
  expect((await ask("/admin/rollback", AUTH, "POST", body)).status).toBe(400);
});

test("a HEAD of the events follows nothing", async () => {
  let followed = 0;
  const events = () => {
    followed++;
    return new ReadableStream<Uint8Array>();
  };
  const { ask } = await admin({ events });
  const { status, headers } = await ask("/admin/events", AUTH, "HEAD");
  expect([status, headers["content-type"], followed]).toEqual([200, "text/event-stream", 0]);
});
