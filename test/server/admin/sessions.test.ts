import { expect, test } from "vitest";
import { type AdminToken, Secret, storeUnavailable } from "../../../src/kit/index.ts";
import type { AdminServices } from "../../../src/server/admin/services.ts";
import { admin, AUTH, auditInMemory, TOKEN, VIEWER_TOKEN } from "./support.ts";

const JSON_TYPE = { "content-type": "application/json" };
const OWN_PAGE = { "sec-fetch-site": "same-origin" };

const away = (): Promise<never> => Promise.reject(storeUnavailable(new Error("away")));
const from = (address: string) => ({ "x-forwarded-for": address });

type Listener = Awaited<ReturnType<typeof admin>>;

async function signIn({ ask }: Listener, token = TOKEN, headers = {}): Promise<string> {
  const answer = await ask("/admin/session", { ...JSON_TYPE, ...headers }, "POST", JSON.stringify({ token }));
  return [answer.headers["set-cookie"] ?? ""].flat()[0]!.split(";")[0]!;
}

const statusOf = async ({ ask }: Listener, cookie: string): Promise<number> =>
  (await ask("/admin/config", { cookie })).status;

test("signing out ends the session on the server, on every instance within a second", async () => {
  const clock = { now: 1_800_000_000_000 };
  const services = auditInMemory();
  const [here, there] = [
    await admin({ services, now: () => clock.now }),
    await admin({ services, now: () => clock.now }),
  ];
  const [cookie, other] = [await signIn(here), await signIn(here)];
  expect(other, "two sessions of one moment").not.toBe(cookie);
  for (const listener of [here, there]) expect(await statusOf(listener, cookie)).toBe(200);
  expect((await here.ask("/admin/session", { cookie, ...OWN_PAGE }, "DELETE")).status).toBe(204);
  expect(await statusOf(here, cookie)).toBe(401);
  clock.now += 1_000;
  expect(await statusOf(there, cookie)).toBe(401);
  for (const listener of [here, there]) expect(await statusOf(listener, other), "another session stays").toBe(200);
  expect((await here.ask("/admin/session", { cookie, ...OWN_PAGE }, "DELETE")).status, "again").toBe(204);
  const told = services.entries.map(({ action, name, role, address, outcome }) => [
    action,
    name,
    role,
    address,
    outcome,
  ]);
  expect(told).toEqual([
    ["signIn", "admin", "operator", "127.0.0.1", "done"],
    ["signIn", "admin", "operator", "127.0.0.1", "done"],
    ["signOut", "admin", "operator", "127.0.0.1", "done"],
  ]);
});

test("a page of another site signs nobody out", async () => {
  const listener = await admin();
  const cookie = await signIn(listener);
  expect((await listener.ask("/admin/session", { cookie, "sec-fetch-site": "cross-site" }, "DELETE")).status).toBe(403);
  expect(await statusOf(listener, cookie)).toBe(200);
});

test("while the store is away the console works, and a session that was ended here stays ended", async () => {
  const services = { ...auditInMemory(), writeAudit: away, endSession: away, isSessionEnded: away } as AdminServices;
  const listener = await admin({ services });
  const cookie = await signIn(listener);
  expect(await statusOf(listener, cookie)).toBe(200);
  expect((await listener.ask("/admin/session", { cookie, ...OWN_PAGE }, "DELETE")).status).toBe(204);
  expect(await statusOf(listener, cookie)).toBe(401);
  const warned = listener.lines.filter(({ level }) => level === "warn").map(({ message }) => message);
  expect(warned).toEqual([
    "console sign-in not written to the audit log",
    "console session ended on this instance only: the store does not answer",
    "console sign-in not written to the audit log",
  ]);
});

test("wrong tokens and cookies are told with their address, by token and by what a trusted proxy says", async () => {
  const services = auditInMemory();
  const tokens: readonly AdminToken[] = [{ name: "admin", role: "operator", token: new Secret(TOKEN) }];
  const settings = () => ({ host: "127.0.0.1", tokens, trustedProxies: ["127.0.0.0/8"] });
  const listener = await admin({ services, settings });
  await listener.ask("/admin/config", { authorization: "Bearer wrong", ...from("203.0.113.1") });
  await listener.ask("/admin/config", { cookie: "gateway_admin=wrong", ...from("203.0.113.2") });
  await signIn(listener, "wrong", from("203.0.113.3"));
  await signIn(listener, TOKEN, from("203.0.113.4"));
  await expect.poll(() => services.failures.length).toBe(3);
  expect(services.failures.map(({ address, isLimited }) => [address, isLimited])).toEqual(
    [1, 2, 3].map((last) => [`203.0.113.${last}`, false]),
  );
  expect(services.entries).toMatchObject([{ action: "signIn", address: "203.0.113.4" }]);
});

test("strangers who are refused for wrong tokens end no session at their address", async () => {
  const services = auditInMemory();
  const listener = await admin({ services });
  const cookie = await signIn(listener, VIEWER_TOKEN);
  for (let turn = 0; turn < 25; turn++) await listener.ask("/admin/config", { authorization: `Bearer wrong-${turn}` });
  expect((await listener.ask("/admin/config", AUTH)).status).toBe(429);
  expect(await statusOf(listener, cookie)).toBe(200);
  const count = (limited: boolean): number =>
    services.failures.reduce((sum, one) => sum + (one.isLimited === limited ? one.count : 0), 0);
  await expect.poll(() => [count(false), count(true)]).toEqual([20, 6]);
});

test("tokens are those of the settings at each call: a new one opens, a removed one and its sessions do not", async () => {
  let tokens: readonly AdminToken[] = [{ name: "admin", role: "operator", token: new Secret(TOKEN) }];
  const listener = await admin({ settings: () => ({ host: "127.0.0.1", tokens }) });
  const cookie = await signIn(listener);
  tokens = [{ name: "grace", role: "operator", token: new Secret("another-token") }];
  expect((await listener.ask("/admin/config", AUTH)).status).toBe(401);
  expect(await statusOf(listener, cookie)).toBe(401);
  expect((await listener.ask("/admin/config", { authorization: "Bearer another-token" })).status).toBe(200);
  tokens = [];
  expect((await listener.ask("/admin/config", { authorization: "Bearer another-token" })).status).toBe(404);
});
