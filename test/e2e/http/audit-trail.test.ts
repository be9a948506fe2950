import { expect, test } from "vitest";
import { bearer, post, signInGateway } from "../support/sign-in.ts";
import { ADMIN_TOKEN } from "../support/gateway-config.ts";
import { type Answer, send } from "../support/http.ts";

interface Entry {
  readonly action: string;
  readonly name: string;
  readonly target: string | null;
  readonly address: string | null;
  readonly digest: string;
  readonly previous: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

const EMAIL = "ada@example.com";
const FROM = { "x-forwarded-for": "203.0.113.7" };
const JSON_TYPE = { "content-type": "application/json" };
const REMOVED = "a-token-to-be-removed";

function cookieOf({ headers }: Answer, name: string): string {
  const line = (headers["set-cookie"] ?? []).find((one) => one.startsWith(`${name}=`));
  return line?.split(";")[0] ?? "";
}

test("sign-ins, exports and changes are one chain, with addresses, and are counted", async () => {
  const { gateway, mailbox } = await signInGateway();
  const url = `${gateway.adminUrl}/admin`;
  const code = await mailbox.ask(gateway.url, EMAIL, FROM);
  const wrong = await post(`${gateway.url}/auth/login/verify`, { email: EMAIL, code: "x" }, FROM);
  expect(wrong.status).toBe(401);
  const session = await post(`${gateway.url}/auth/login/verify`, { email: EMAIL, code }, FROM);
  const { user } = JSON.parse(session.text) as { user: { id: string } };
  expect(cookieOf(session, "gateway_device")).toMatch(/^gateway_device=[\w.-]{80,}$/);

  await send(`${url}/config`, { method: "GET", headers: { ...bearer("wrong"), ...FROM } });
  const begun = await send(`${url}/session`, { body: { token: ADMIN_TOKEN }, headers: { ...JSON_TYPE, ...FROM } });
  const cookie = cookieOf(begun, "gateway_admin");
  expect((await gateway.admin("/admin/ledger/export?format=csv")).status).toBe(200);
  await Promise.all(
    Array.from({ length: 6 }, () =>
      gateway.admin(`/admin/users/${user.id}`, { method: "PATCH", body: { plan_tier: "Free" }, headers: JSON_TYPE }),
    ),
  );
  const page = { cookie, "sec-fetch-site": "same-origin" };
  expect((await send(`${url}/session`, { method: "DELETE", headers: page })).status).toBe(204);
  expect((await send(`${url}/config`, { method: "GET", headers: { cookie } })).status).toBe(401);

  const read = async (): Promise<readonly Entry[]> =>
    (JSON.parse((await gateway.admin("/admin/audit")).text) as { data: Entry[] }).data;
  await expect.poll(async () => (await read()).length).toBe(11);
  const entries = (await read()).toReversed();
  const seen = entries.map(({ action, name, address }) => [action, name, address].join(" "));
  expect(seen.toSorted()).toEqual(
    [
      "userSignIn user 203.0.113.7",
      "signInFailed  203.0.113.7",
      "signIn admin 203.0.113.7",
      "export admin 127.0.0.1",
      ...Array.from({ length: 6 }, () => "changeUser admin 127.0.0.1"),
      "signOut admin 127.0.0.1",
    ].toSorted(),
  );
  let previous: string | null = null;
  for (const entry of entries) {
    expect(entry.previous).toBe(previous);
    previous = entry.digest;
  }
  expect(entries.find(({ action }) => action === "userSignIn")).toMatchObject({ target: user.id });
  expect(entries.find(({ action }) => action === "export")?.details).toEqual({ format: "csv" });
  expect(JSON.stringify(entries)).not.toMatch(/wrong|admin-token/);
  expect(await gateway.store.verifyAudit()).toMatchObject({ bad: null, entries: 11, head: previous });

  const signIns = (who: string, result: string) => gateway.metric("gateway_sign_ins_total", { who, result });
  expect([await signIns("user", "ok"), await signIns("user", "failed")]).toEqual([1, 1]);
  expect([await signIns("operator", "ok"), await signIns("operator", "failed")]).toEqual([1, 1]);
  expect(await gateway.metric("gateway_audit_entries_total", { action: "export", outcome: "done" })).toBe(1);
});

test("a user is signed out everywhere by the user, and by an operator", async () => {
  const { gateway, mailbox, refresh } = await signInGateway();
  const isIn = async (token: string): Promise<number> =>
    (await gateway.send("/v1/user/key", { method: "GET", headers: bearer(token) })).status;
  const endings: readonly ((session: { token: string; id: string }) => Promise<Answer>)[] = [
    ({ token }) => gateway.send("/v1/user/sessions", { method: "DELETE", headers: bearer(token) }),
    ({ id }) => gateway.admin(`/admin/users/${id}/sessions`, { method: "DELETE" }),
  ];
  for (const end of endings) {
    const [one, two] = [await mailbox.signIn(gateway.url, EMAIL), await mailbox.signIn(gateway.url, EMAIL)];
    expect([await isIn(one.access_token), await isIn(two.access_token)]).toEqual([200, 200]);
    const ended = await end({ token: one.access_token, id: one.user.id });
    expect([ended.status, ended.text]).toEqual([200, '{"message":"All sessions ended"}']);
    for (const session of [one, two]) {
      expect(await isIn(session.access_token)).toBe(401);
      expect((await refresh({ refresh_token: session.refresh_token })).status).toBe(401);
    }
  }
  const nobody = await gateway.admin("/admin/users/nobody/sessions", { method: "DELETE" });
  expect(nobody.status).toBe(404);
  expect((await gateway.send("/v1/user/sessions", { method: "DELETE" })).status, "as for keys").toBe(429);
});

test("strangers who ask for 20 codes from four addresses do not keep the owner out", async () => {
  const { gateway, mailbox, verify } = await signInGateway();
  const code = await mailbox.ask(gateway.url, EMAIL, FROM);
  const device = cookieOf(await verify({ email: EMAIL, code }, FROM), "gateway_device");
  /** From so many networks; waits for the mails, so that the next one is the owner's. */
  const flood = async (networks: number): Promise<void> => {
    let mails = mailbox.codesOf(EMAIL).length;
    for (let turn = 0; turn < 20; turn++) {
      const from = { "x-forwarded-for": `198.51.100.${turn % networks}` };
      if ((await post(`${gateway.url}/auth/login`, { email: EMAIL }, from)).status === 202) mails += 1;
    }
    await expect.poll(() => mailbox.codesOf(EMAIL).length).toBe(mails);
  };
  await flood(4);
  await mailbox.ask(gateway.url, EMAIL, { "x-forwarded-for": "203.0.113.99" });
  await flood(20);
  const again = await mailbox.ask(gateway.url, EMAIL, { ...FROM, cookie: device });
  expect((await verify({ email: EMAIL, code: again }, { ...FROM, cookie: device })).status).toBe(200);
});

test("admin tokens change by reload, and a rollback brings none back", async () => {
  const tokens = [{ name: "grace", token: REMOVED, role: "operator" }];
  const { gateway } = await signInGateway({ server: { admin: { tokens } } });
  const url = `${gateway.adminUrl}/admin`;
  const statusOf = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await send(`${url}/config`, { method: "GET", headers })).status;
  const begun = await send(`${url}/session`, { body: { token: REMOVED }, headers: JSON_TYPE });
  const cookie = cookieOf(begun, "gateway_admin");
  expect([await statusOf(bearer(REMOVED)), await statusOf({ cookie })]).toEqual([200, 200]);

  const added = { name: "linus", token: "a-token-that-is-new", role: "viewer" };
  const result = await gateway.reload({ server: { admin: { tokens: [added] } } });
  expect(result.ok).toBe(true);
  expect([await statusOf(bearer(REMOVED)), await statusOf({ cookie })], "with its sessions").toEqual([401, 401]);
  expect(await statusOf(bearer(added.token))).toBe(200);
  const status = JSON.parse((await gateway.admin("/admin/config")).text) as { pending: readonly string[] };
  expect(status.pending, "nothing waits for a restart").toEqual([]);

  const back = await gateway.admin("/admin/rollback", { body: { to: 1 }, method: "POST", headers: JSON_TYPE });
  expect(back.status).toBe(200);
  expect([await statusOf(bearer(REMOVED)), await statusOf(bearer(added.token))]).toEqual([401, 200]);
});
