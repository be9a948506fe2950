import { expect, test } from "vitest";
import { type Answer, eventually, send, shown } from "../../support/http.ts";
import { CHAT, MESSAGES } from "../../support/in-process.ts";
import { bearer, post, type SessionBody, signInGateway } from "../../support/sign-in.ts";

const EMAIL = "ada@example.com";
const SENT = [202, undefined, "application/json", '{"message":"Verification code sent"}'] as const;
const HOUR = 3_600_000;

test("from a mail address to a chat: code, session, key, request, revocation", async () => {
  const { gateway, mailbox, login, verify } = await signInGateway();
  expect(shown(await login({ email: "Ada@Example.com" }))).toEqual(SENT);
  await eventually(() => mailbox.mails.length === 1);
  const [mail] = mailbox.mails;
  expect(mail).toMatchObject({ from: "gateway@example.com", to: [EMAIL] });
  const [code] = mailbox.codesOf(EMAIL);
  expect(code).toMatch(/^\d{6}$/);

  const verified = await verify({ email: EMAIL, code });
  expect([verified.status, verified.headers["cache-control"]]).toEqual([200, "no-store"]);
  const session = JSON.parse(verified.text) as SessionBody;
  expect(session).toEqual({
    access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    token_type: "Bearer",
    expires_in: 900,
    refresh_token: expect.stringMatching(/^rt_[\w-]{43}$/),
    user: { id: expect.stringMatching(/^user_[\w-]{24}$/), email: EMAIL, plan_tier: "Lite" },
  });
  expect(await gateway.store.findUser(EMAIL)).toMatchObject({ balance: 2_500_000_000n, granted: 2_500_000_000n });

  const keys = `${gateway.url}/v1/user/key`;
  const owner = bearer(session.access_token);
  const created = await post(keys, { name: "laptop" }, owner);
  expect([created.status, created.headers["cache-control"]]).toEqual([200, "no-store"]);
  const key = JSON.parse(created.text) as { key: string; id: string };
  const listed = {
    id: expect.stringMatching(/^key_[\w-]{24}$/),
    key_prefix: key.key.slice(0, 11),
    name: "laptop",
    plan_tier: "Lite",
    created_at: expect.stringMatching(/^2026-01-15T12:30:\d\d\.\d{3}Z$/),
    last_used_at: null,
    expires_at: null,
    models: null,
    budget: null,
    tags: {},
    scopes: null,
    addresses: null,
    replaced_by: null,
  };
  expect(key).toEqual({ ...listed, key: expect.stringMatching(/^rk_[0-9a-f]{64}$/) });
  const list = await send(keys, { method: "GET", headers: owner });
  expect([list.status, JSON.parse(list.text)]).toEqual([200, { data: [{ ...listed, id: key.id }] }]);
  expect(list.text).not.toContain(key.key);

  const chat = () => post(gateway.url + CHAT, { model: "route/one", messages: MESSAGES }, { "x-api-key": key.key });
  expect((await chat()).status).toBe(200);
  const { id } = session.user;
  const [entry, ...more] = await gateway.store.ledger(id);
  expect([entry?.keyId, more]).toEqual([key.id, []]);
  expect((await gateway.store.findUser(id))?.balance).toBe(2_500_000_000n - entry!.charge);

  const revoke = () => send(`${keys}/${key.id}`, { method: "DELETE", headers: owner });
  expect(shown(await revoke())).toEqual([200, undefined, "application/json", '{"message":"API key revoked"}']);
  let served = 1;
  await eventually(async () => {
    const { status } = await chat();
    if (status === 200) served += 1;
    return status === 401;
  }, 1_000);
  expect(shown(await chat())).toEqual([401, "AUTHENTICATION_ERROR", "text/plain; charset=utf-8", "Invalid API key"]);
  expect(shown(await revoke())).toEqual([404, "NOT_FOUND", "text/plain; charset=utf-8", "API key not found"]);
  expect((await send(keys, { method: "GET", headers: owner })).text).toBe('{"data":[]}');
  expect(await gateway.store.ledger(id)).toHaveLength(served);
});

/** All of an answer but what differs from one to the next. */
function told({ status, text, headers }: Answer) {
  return { status, text, headers: { ...headers, date: "", "x-request-id": "" } };
}

test("the same answer, byte for byte, for a known and an unknown address; only a sign-in makes an account", async () => {
  const { gateway, mailbox, login } = await signInGateway();
  await mailbox.signIn(gateway.url, EMAIL);
  const [known, unknown] = [await login({ email: EMAIL }), await login({ email: "nobody@example.com" })];
  expect(told(known)).toEqual(told(unknown));
  expect(shown(known)).toEqual(SENT);
  await eventually(() => mailbox.codesOf("nobody@example.com").length === 1);
  expect(await gateway.store.findUser("nobody@example.com")).toBeNull();
});

/** Headers of a client behind the proxy. */
const from = (ip: string) => ({ "x-forwarded-for": ip });

/** 429 with the whole seconds until the window ends, twice. */
function expectThrottled({ status, headers, text }: Answer, seconds: number): void {
  expect([status, headers["content-type"], headers["x-error-code"]]).toEqual([429, "application/json", undefined]);
  expect(text).toBe(JSON.stringify({ message: "Too many requests", retry_after: seconds }));
  expect(headers["retry-after"]).toBe(String(seconds));
}

test("five codes an hour for an address and client", async () => {
  const { gateway, mailbox, login } = await signInGateway();
  gateway.clock.stop();
  for (let count = 0; count < 5; count += 1) {
    const email = count % 2 === 0 ? EMAIL : "ADA@example.com";
    expect(shown(await login({ email }, from("192.0.2.99")))).toEqual(SENT);
  }
  const seconds = gateway.clock.secondsLeft("hour");
  expectThrottled(await login({ email: EMAIL }, from("192.0.2.99")), seconds);
  gateway.clock.advance(90_000);
  expectThrottled(await login({ email: EMAIL }, from("192.0.2.99")), seconds - 90);
  expect(shown(await login({ email: "bob@example.com" }, from("192.0.2.99")))).toEqual(SENT);
  gateway.clock.advance(HOUR);
  expect(shown(await login({ email: EMAIL }, from("192.0.2.99")))).toEqual(SENT);
  await eventually(() => mailbox.codesOf(EMAIL).length === 6);
});

test("50 tries an hour for a client", async () => {
  const { gateway, mailbox, verify } = await signInGateway();
  gateway.clock.stop();
  const code = await mailbox.ask(gateway.url, EMAIL);
  const body = { email: "nobody@example.com", code };
  const answers = await Promise.all(Array.from({ length: 60 }, () => verify(body)));
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(50);
  for (const answer of answers.filter(({ status }) => status !== 401)) {
    expectThrottled(answer, gateway.clock.secondsLeft("hour"));
  }
  expect((await verify({ email: EMAIL, code }, from("192.0.2.1"))).status).toBe(200);
});
