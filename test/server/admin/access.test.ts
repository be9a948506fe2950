import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { GatewayError, Secret } from "../../../src/kit/index.ts";
import { AdminAccess } from "../../../src/server/admin/access.ts";
import { ADMIN_ENDPOINTS } from "../../../src/server/admin/endpoints.ts";
import { admin, AUTH, auditInMemory, GUARDED, pathOf, TOKEN, VIEWER, VIEWER_TOKEN } from "./support.ts";

const JSON_TYPE = { "content-type": "application/json" };
const OWN_PAGE = { "sec-fetch-site": "same-origin" };
const HOURS_MS = 3_600_000;

test.each(GUARDED)(
  "$method $path: nothing without a token, and a viewer changes nothing",
  async ({ method, path, role, auditedAs }) => {
    const services = auditInMemory();
    const { ask } = await admin({ services });
    expect((await ask(pathOf(path), {}, method)).status).toBe(401);
    expect((await ask(pathOf(path), { authorization: "Bearer wrong" }, method)).status).toBe(401);
    const isOperators = role === "operator";
    const viewer = await ask(pathOf(path), VIEWER, method);
    expect(viewer.status === 403).toBe(isOperators);
    expect(viewer.text === '{"message":"The token\'s role may not do this"}').toBe(isOperators);
    for (const { status } of [viewer, await ask(pathOf(path), AUTH, method)]) expect(status).not.toBe(401);
    const names = [...new Set(services.entries.map(({ name }) => name))];
    const isWritten = services.entries.length > 0 && (isOperators || auditedAs !== undefined);
    expect(names).toEqual(isWritten ? [...(isOperators ? [] : ["victor"]), "admin"] : []);
  },
);

test("what changes something is an operator's", () => {
  const changing = ADMIN_ENDPOINTS.filter(({ method, role }) => method !== "GET" && role !== "operator");
  expect(changing.map(({ id }) => id)).toEqual(["beginSession", "endSession", "explain"]);
  expect(ADMIN_ENDPOINTS.filter(({ method, role }) => method === "GET" && role === "operator")).toEqual([]);
});

test.each(["/admin/nothing", "/admin/streams/x"])(
  "a viewer learns of %s what anybody with a token does",
  async (path) => {
    const { ask } = await admin();
    for (const method of ["GET", "PUT"]) {
      expect((await ask(path, VIEWER, method)).status).toBe((await ask(path, AUTH, method)).status);
    }
  },
);

async function signedIn({ token = TOKEN, ...options }: Parameters<typeof admin>[0] = {}) {
  const clock = { now: 1_800_000_000_000 };
  const started = await admin({ token: TOKEN, now: () => clock.now, ...options });
  const answer = await started.ask("/admin/session", JSON_TYPE, "POST", JSON.stringify({ token }));
  const [setCookie = ""] = [answer.headers["set-cookie"] ?? ""].flat();
  return { ...started, clock, answer, setCookie, cookie: setCookie.split(";")[0] ?? "" };
}

test("the code of a sign-in link is exchanged as its token is, once, and the audit log names who signed in", async () => {
  const good = new Set(["link_code"]);
  const services = auditInMemory();
  const redeemLink = (code: string, address: string) => (address === "127.0.0.1" && good.delete(code) ? TOKEN : null);
  const { ask, answer, cookie } = await signedIn({ token: "link_code", redeemLink, services });
  expect([answer.status, JSON.parse(answer.text)]).toMatchObject([200, { name: "admin", role: "operator" }]);
  expect((await ask("/admin/config", { cookie })).status).toBe(200);
  const again = await ask("/admin/session", JSON_TYPE, "POST", JSON.stringify({ token: "link_code" }));
  expect(again.status).toBe(401);
  const foreign = { ...JSON_TYPE, "sec-fetch-site": "cross-site" };
  good.add("link_code");
  expect((await ask("/admin/session", foreign, "POST", JSON.stringify({ token: "link_code" }))).status).toBe(403);
  expect(good.size, "a page of another site uses nothing up").toBe(1);
  expect((await ask("/admin/config", { authorization: "Bearer link_code" })).status).toBe(401);
  expect(services.entries).toMatchObject([{ name: "admin", action: "signIn", outcome: "done" }]);
});

test("a token is exchanged for a cookie that no script can read, for 12 hours", async () => {
  const { ask, answer, setCookie, cookie, clock } = await signedIn();
  const shown = { name: "admin", role: "operator", expires_at: new Date(clock.now + 12 * HOURS_MS).toISOString() };
  expect([answer.status, JSON.parse(answer.text)]).toEqual([200, shown]);
  expect(setCookie).toMatch(/^gateway_admin=[^;]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
  expect(setCookie).not.toContain(TOKEN);
  expect(JSON.parse((await ask("/admin/session", { cookie: `a=b; ${cookie}; c=d` })).text)).toEqual(shown);
  expect((await ask("/admin/config", { cookie })).status).toBe(200);
  clock.now += 12 * HOURS_MS - 1;
  expect((await ask("/admin/config", { cookie })).status).toBe(200);
  clock.now += 1;
  expect(await ask("/admin/config", { cookie })).toMatchObject({
    status: 401,
    text: '{"message":"Invalid or expired token"}',
  });
});

test("who comes with the token itself is told so", async () => {
  const { ask } = await admin();
  expect(JSON.parse((await ask("/admin/session", VIEWER)).text)).toEqual({
    name: "victor",
    role: "viewer",
    expires_at: null,
  });
});

test("over TLS the cookie is for this host alone, and for encrypted connections", async () => {
  const { ask } = await admin();
  const secure = { "x-forwarded-proto": "https" };
  const answer = await ask("/admin/session", { ...JSON_TYPE, ...secure }, "POST", JSON.stringify({ token: TOKEN }));
  const [setCookie = ""] = [answer.headers["set-cookie"] ?? ""].flat();
  expect(setCookie).toMatch(/^__Host-gateway_admin=.*; Path=\/; .*; Secure$/);
  const [cookie = ""] = setCookie.split(";");
  expect((await ask("/admin/config", { cookie, ...secure })).status).toBe(200);
  expect((await ask("/admin/config", { cookie })).status).toBe(401);
});

test("a cookie that was changed is none", async () => {
  const { ask, cookie } = await signedIn();
  const [, name = "", expires = "", mac = ""] = /=(.*)\.(\d+)\.(.*)$/.exec(cookie) ?? [];
  const later = String(Number(expires) + 1);
  const forged = [
    `victor.${expires}.${mac}`,
    `${name}.${later}.${mac}`,
    `${name}.${expires}.${"A".repeat(43)}`,
    "x",
    "",
  ];
  for (const value of forged) {
    expect([value, (await ask("/admin/config", { cookie: `gateway_admin=${value}` })).status]).toEqual([value, 401]);
  }
});

test("a token that is changed or taken away ends its sessions; another's stay", async () => {
  const tokens = [
    { name: "admin", role: "operator" as const, token: new Secret(TOKEN) },
    { name: "victor", role: "viewer" as const, token: new Secret(VIEWER_TOKEN) },
  ];
  const { ask, cookie } = await signedIn({ tokens, token: VIEWER_TOKEN });
  expect((await ask("/admin/config", { cookie })).status).toBe(200);
  tokens.shift();
  expect((await ask("/admin/config", { cookie })).status).toBe(200);
  tokens[0] = { name: "victor", role: "viewer", token: new Secret("another") };
  expect((await ask("/admin/config", { cookie })).status).toBe(401);
});

test.each<[from: string, headers: Record<string, string>, status: number]>([
  ["a page of this listener", OWN_PAGE, 200],
  [
    "a page of this listener, in a browser that says no more",
    { origin: "http://localhost:9090", host: "localhost:9090" },
    200,
  ],
  ["a page of another port", { "sec-fetch-site": "same-site" }, 403],
  ["a page of another site", { "sec-fetch-site": "cross-site" }, 403],
  ["a page of another site, in a browser that says no more", { origin: "https://evil.example" }, 403],
  ["a page that lies about where it is from", { origin: "null" }, 403],
  ["the address bar", { "sec-fetch-site": "none" }, 403],
  ["nobody knows where", {}, 403],
  ["a form of this listener", { ...OWN_PAGE, "content-type": "text/plain" }, 415],
])("with the cookie a change has to come from a page of this listener: %s", async (_from, headers, status) => {
  const { ask, cookie } = await signedIn();
  expect((await ask("/admin/reload", { cookie, ...headers }, "POST")).status).toBe(status);
  expect((await ask("/admin/config", { cookie, ...headers })).status).toBe(200);
  expect((await ask("/admin/reload", AUTH, "POST")).status).toBe(200);
});

test("signing in and out is nothing that a page of another site can do", async () => {
  const { ask } = await admin();
  const foreign = { ...JSON_TYPE, "sec-fetch-site": "cross-site" };
  const body = JSON.stringify({ token: TOKEN });
  expect(await ask("/admin/session", foreign, "POST", body)).toMatchObject({ status: 403, headers: {} });
  const out = await ask("/admin/session", foreign, "DELETE");
  expect([out.status, out.headers["set-cookie"]]).toEqual([403, undefined]);
});

test("signing out takes the cookie away, if there was one", async () => {
  const { ask } = await admin();
  const answer = await ask("/admin/session", OWN_PAGE, "DELETE");
  expect([answer.status, answer.text]).toEqual([204, ""]);
  expect([answer.headers["set-cookie"]].flat()).toEqual([
    "gateway_admin=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict",
  ]);
});

test("without a configured token nobody signs in or out", async () => {
  const { ask } = await admin({ token: "" });
  for (const method of ["GET", "POST", "DELETE"]) {
    expect((await ask("/admin/session", JSON_TYPE, method, "{}")).status).toBe(404);
  }
});

test("wrong tokens of an address are counted, and beyond 20 in a minute it may try no more", async () => {
  const clock = { now: 1_800_000_000_000 };
  const { ask } = await admin({ now: () => clock.now });
  const tryOut = (token: string) => ask("/admin/session", JSON_TYPE, "POST", JSON.stringify({ token }));
  for (let turn = 0; turn < 10; turn++) {
    expect((await tryOut(`wrong ${turn}`)).status).toBe(401);
    expect((await ask("/admin/config", { authorization: `Bearer wrong-${turn}` })).status).toBe(401);
  }
  const refused = {
    status: 429,
    text: '{"message":"Too many wrong tokens","retry_after":60}',
    headers: { "retry-after": "60" },
  };
  expect(await tryOut(TOKEN), "also the right one").toMatchObject(refused);
  expect(await ask("/admin/config", AUTH)).toMatchObject(refused);
  expect(
    (await ask("/admin/config", { cookie: `gateway_admin=admin.${clock.now + 1}.${"A".repeat(43)}` })).status,
  ).toBe(429);
  expect((await ask("/livez")).status).toBe(200);
  clock.now += 60_000;
  expect((await ask("/admin/config", AUTH)).status).toBe(200);
});

test("a wrong token that is sent again and again keeps nobody out", async () => {
  const { ask, cookie } = await signedIn();
  for (let turn = 0; turn < 30; turn++) {
    expect((await ask("/admin/config", { authorization: "Bearer an-old-one" })).status).toBe(401);
    expect((await ask("/admin/config", { cookie: `${cookie}x` })).status).toBe(401);
  }
  expect((await ask("/admin/config", { cookie })).status).toBe(200);
});

test("the right token is never counted", async () => {
  const { ask } = await admin();
  for (let turn = 0; turn < 30; turn++) expect((await ask("/admin/config", AUTH)).status).toBe(200);
});

test("a rebound name signs nobody in", async () => {
  const { ask } = await admin();
  const headers = { ...JSON_TYPE, host: "evil.example" };
  for (const method of ["POST", "GET", "DELETE"]) {
    expect((await ask("/admin/session", headers, method, JSON.stringify({ token: TOKEN }))).status).toBe(400);
  }
});

test("addresses with wrong tokens are counted by the thousand, and one IPv6 subscriber is one", () => {
  const tokens = [{ name: "admin", role: "operator", token: new Secret(TOKEN) }] as const;
  const access = new AdminAccess({ settings: () => ({ host: "::1", tokens }), now: () => 1_800_000_000_000 });
  const attempt = (remoteAddress: string, token: string): string => {
    const headers = { authorization: `Bearer ${token}` };
    const req = { socket: { remoteAddress }, headers, method: "GET" } as unknown as IncomingMessage;
    try {
      return access.callerOf(req).name;
    } catch (error) {
      return error instanceof GatewayError ? error.code : String(error);
    }
  };
  for (let turn = 0; turn < 20; turn++) expect(attempt(`2001:db8:1:2::${turn}`, `wrong-${turn}`)).toBe("INVALID_TOKEN");
  expect(attempt("2001:db8:1:2:ffff::1", TOKEN)).toBe("TOO_MANY_REQUESTS");
  expect(attempt("2001:db8:1:3::1", TOKEN)).toBe("admin");
  for (let turn = 0; turn < 999; turn++) attempt(`10.1.${turn >> 8}.${turn & 255}`, "wrong");
  expect(attempt("2001:db8:1:2::1", TOKEN)).toBe("TOO_MANY_REQUESTS");
  attempt("10.2.0.0", "wrong");
  expect(attempt("2001:db8:1:2::1", TOKEN), "the oldest is forgotten").toBe("admin");
});
