import { expect, test } from "vitest";
import { type Answer, eventually, send, shown } from "../support/http.ts";
import { CHAT, MESSAGES } from "../support/in-process.ts";
import { bearer, post, type SessionBody, signInGateway } from "../support/sign-in.ts";

const EMAIL = "ada@example.com";
const SENT = [202, undefined, "application/json", '{"message":"Verification code sent"}'] as const;
const INVALID_CODE = [401, undefined, "application/json", '{"message":"Invalid or expired code"}'] as const;
const MINUTE = 60_000;

/** Another code of six digits. */
const wrong = (code: string, by = 1): string => String((Number(code) + by) % 1_000_000).padStart(6, "0");

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

test("signing in again is the same user, in whatever letters the address is written", async () => {
  const { gateway, mailbox, verify } = await signInGateway();
  const first = await mailbox.signIn(gateway.url, EMAIL);
  const code = await mailbox.ask(gateway.url, EMAIL);
  const again = await verify({ email: "ADA@EXAMPLE.COM", code });
  expect((JSON.parse(again.text) as SessionBody).user).toEqual(first.user);
  expect(await gateway.store.listUsers()).toMatchObject([{ email: EMAIL, granted: 2_500_000_000n }]);
});

test("ten sign-ins of a new address at once make one user", async () => {
  const { gateway, mailbox, verify } = await signInGateway();
  const code = await mailbox.ask(gateway.url, EMAIL);
  const answers = await Promise.all(Array.from({ length: 10 }, () => verify({ email: EMAIL, code })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(9);
  expect(await gateway.store.listUsers()).toMatchObject([{ granted: 2_500_000_000n }]);
});

test("a code is good once", async () => {
  const { gateway, mailbox, verify } = await signInGateway();
  const code = await mailbox.ask(gateway.url, EMAIL);
  expect((await verify({ email: EMAIL, code })).status).toBe(200);
  expect(shown(await verify({ email: EMAIL, code }))).toEqual(INVALID_CODE);
});

test("a code is good for its own address only", async () => {
  const { gateway, mailbox, verify } = await signInGateway();
  const code = await mailbox.ask(gateway.url, EMAIL);
  await mailbox.ask(gateway.url, "bob@example.com");
  expect(shown(await verify({ email: "bob@example.com", code }))).toEqual(INVALID_CODE);
  expect(shown(await verify({ email: "nobody@example.com", code }))).toEqual(INVALID_CODE);
  expect((await verify({ email: EMAIL, code })).status).toBe(200);
});

test("the fifth wrong try kills the code; what cannot be a code is no try", async () => {
  const { gateway, mailbox, verify } = await signInGateway();
  const code = await mailbox.ask(gateway.url, EMAIL);
  for (const shapeless of ["", "12345", "1234567", "abcdef", " 12345", "１２３４５６"]) {
    expect(shown(await verify({ email: EMAIL, code: shapeless }))).toEqual(INVALID_CODE);
  }
  for (let by = 1; by <= 4; by += 1) {
    expect(shown(await verify({ email: EMAIL, code: wrong(code, by) }))).toEqual(INVALID_CODE);
  }
  expect((await verify({ email: EMAIL, code })).status).toBe(200);
  const next = await mailbox.ask(gateway.url, EMAIL);
  for (let by = 1; by <= 5; by += 1) await verify({ email: EMAIL, code: wrong(next, by) });
  expect(shown(await verify({ email: EMAIL, code: next }))).toEqual(INVALID_CODE);
});

test.each([
  [10 * MINUTE - 1, 200],
  [10 * MINUTE, 401],
])("a code that is %i ms old: %i", async (age, status) => {
  const { gateway, mailbox, verify } = await signInGateway();
  gateway.clock.stop();
  const code = await mailbox.ask(gateway.url, EMAIL);
  gateway.clock.advance(age);
  expect((await verify({ email: EMAIL, code })).status).toBe(status);
});

test("a new code replaces the old one", async () => {
  const { gateway, mailbox, verify } = await signInGateway();
  const old = await mailbox.ask(gateway.url, EMAIL);
  let code = await mailbox.ask(gateway.url, EMAIL);
  // One time in a million they are alike.
  if (code === old) code = await mailbox.ask(gateway.url, EMAIL);
  expect(shown(await verify({ email: EMAIL, code: old }))).toEqual(INVALID_CODE);
  expect((await verify({ email: EMAIL, code })).status).toBe(200);
});
