import { decodeProtectedHeader } from "jose";
import { expect, test } from "vitest";
import { type Answer, send, shown } from "../../support/http.ts";
import { bearer, type SessionBody, type SignInGateway, signInGateway } from "../../support/sign-in.ts";

const EMAIL = "ada@example.com";
const INVALID_TOKEN = [401, undefined, "application/json", '{"message":"Invalid or expired token"}'] as const;

interface Parts extends SignInGateway {
  readonly session: SessionBody;
  /** Refreshes; the session that follows. */
  readonly follow: (token: string) => Promise<SessionBody>;
  /** What a refresh is answered, as `shown`. */
  readonly said: (token: string) => Promise<readonly unknown[]>;
  /** What a session's access token is answered on key management. */
  readonly keys: (session: SessionBody) => Promise<Answer>;
}

async function start(): Promise<Parts> {
  const parts = await signInGateway();
  const session = await parts.mailbox.signIn(parts.gateway.url, EMAIL);
  return {
    ...parts,
    session,
    async follow(token) {
      const { status, text } = await parts.refresh({ refresh_token: token });
      expect({ status, text }).toMatchObject({ status: 200 });
      return JSON.parse(text) as SessionBody;
    },
    said: async (token) => shown(await parts.refresh({ refresh_token: token })),
    keys: ({ access_token: token }) =>
      send(`${parts.gateway.url}/v1/user/key`, { method: "GET", headers: bearer(token) }),
  };
}

test("a refresh answers as a sign-in does, with new tokens", async () => {
  const { session, follow, keys, gateway } = await start();
  const next = await follow(session.refresh_token);
  expect(next).toEqual({ ...session, access_token: expect.any(String), refresh_token: expect.stringMatching(/^rt_/) });
  expect(next.access_token).not.toBe(session.access_token);
  expect(next.refresh_token).not.toBe(session.refresh_token);
  expect((await keys(next)).status).toBe(200);
  await gateway.store.setTier(session.user.id, "Max");
  expect((await follow(next.refresh_token)).user.plan_tier).toBe("Max");
});

test("a token used twice kills its family, the new token included, and no other family", async () => {
  const { session, follow, said, mailbox, gateway } = await start();
  const elsewhere = await mailbox.signIn(gateway.url, EMAIL);
  const second = await follow(session.refresh_token);
  expect(await said(session.refresh_token)).toEqual(INVALID_TOKEN);
  expect(await said(second.refresh_token)).toEqual(INVALID_TOKEN);
  expect(await said(session.refresh_token)).toEqual(INVALID_TOKEN);
  await follow(elsewhere.refresh_token);
});

test("a logout by any token of the family ends it; the access token runs out on its own", async () => {
  for (const which of ["first", "last"] as const) {
    const { session, follow, said, logout, keys } = await start();
    const last = await follow(session.refresh_token);
    const left = await logout({ refresh_token: { first: session, last }[which].refresh_token });
    expect([left.status, left.text]).toEqual([204, ""]);
    expect(await said(last.refresh_token)).toEqual(INVALID_TOKEN);
    expect((await keys(last)).status).toBe(200);
    expect((await logout({ refresh_token: last.refresh_token })).status).toBe(204);
  }
});

const KEY_A = { kid: "a", value: "a secret of the test, longer than 32 bytes" };
const KEY_B = { kid: "b", value: "b secret of the test, longer than 32 bytes" };
const secrets = (...list: readonly object[]) => ({ auth: { tokens: { secrets: list } } });

test("a new secret in front signs; nobody is logged out until the old one is taken away", async () => {
  const { gateway, session: first, follow, keys } = await start();
  expect((await keys(first)).status).toBe(200);
  expect(await gateway.reload(secrets(KEY_B, KEY_A))).toMatchObject({ ok: true });
  expect((await keys(first)).status).toBe(200);
  const second = await follow(first.refresh_token);
  expect([first, second].map(({ access_token: token }) => decodeProtectedHeader(token).kid)).toEqual(["a", "b"]);
  expect((await keys(second)).status).toBe(200);
  expect(await gateway.reload(secrets(KEY_B))).toMatchObject({ ok: true });
  expect(shown(await keys(first))).toEqual(INVALID_TOKEN);
  expect((await keys(second)).status).toBe(200);
  // Sessions do not hang on the secret.
  expect((await keys(await follow(second.refresh_token))).status).toBe(200);
});
