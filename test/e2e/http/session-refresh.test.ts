import { decodeJwt, decodeProtectedHeader } from "jose";
import { expect, test } from "vitest";
import { type Answer, send, shown } from "../support/http.ts";
import { bearer, type SessionBody, type SignInGateway, signInGateway } from "../support/sign-in.ts";

const EMAIL = "ada@example.com";
const DAY = 86_400_000;
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

async function start(config = {}): Promise<Parts> {
  const parts = await signInGateway(config);
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

test("the claims of an access token", async () => {
  const { session, gateway } = await start();
  const claims = decodeJwt(session.access_token);
  expect(decodeProtectedHeader(session.access_token)).toEqual({ alg: "HS256", typ: "JWT", kid: "a" });
  expect(claims).toEqual({
    sub: session.user.id,
    plan: "Lite",
    iss: "route-gateway",
    aud: "route-gateway",
    iat: expect.any(Number),
    exp: claims.iat! + 900,
    jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  expect(Math.abs(claims.iat! - gateway.clock.now() / 1000)).toBeLessThan(30);
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

test("an early token of a long chain kills its end", async () => {
  const { session, follow, said } = await start();
  const chain = [session];
  for (let count = 0; count < 4; count += 1) chain.push(await follow(chain.at(-1)!.refresh_token));
  expect(await said(chain[1]!.refresh_token)).toEqual(INVALID_TOKEN);
  for (const { refresh_token: token } of chain) expect(await said(token)).toEqual(INVALID_TOKEN);
});

test("100 refreshes of one token at once leave one live token, which goes on", async () => {
  const { session, refresh, follow, said, gateway } = await start();
  // They are parallel however long a busy machine takes to let them in.
  gateway.clock.stop();
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => refresh({ refresh_token: session.refresh_token })),
  );
  gateway.clock.start();
  gateway.clock.advance(1_000);
  const good = answers.filter(({ status }) => status === 200).map(({ text }) => JSON.parse(text) as SessionBody);
  expect(good).toHaveLength(100);
  const heads = new Set(good.map(({ refresh_token: token }) => token));
  expect(heads.size).toBe(1);
  const [head] = heads;
  const next = await follow(head!);
  expect((await follow(next.refresh_token)).user).toEqual(session.user);
  expect(await said(head!)).toEqual(INVALID_TOKEN);
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

test("a session ends after 30 days, whatever was refreshed meanwhile; an access token after 15 minutes", async () => {
  const { session, follow, said, keys, gateway } = await start();
  gateway.clock.stop();
  gateway.clock.advance(899_000);
  expect((await keys(session)).status).toBe(200);
  gateway.clock.advance(1_000);
  expect(shown(await keys(session))).toEqual(INVALID_TOKEN);
  let token = (await follow(session.refresh_token)).refresh_token;
  gateway.clock.advance(15 * DAY);
  const later = await follow(token);
  expect((await keys(later)).status).toBe(200);
  token = later.refresh_token;
  gateway.clock.advance(15 * DAY);
  expect(await said(token)).toEqual(INVALID_TOKEN);
});
