import { decodeProtectedHeader } from "jose";
import { expect, test } from "vitest";
import { Browser } from "../support/browser.ts";
import { type Answer, send, shown } from "../support/http.ts";
import { AS_JSON, comeBack, oauthGateway, sessionOf } from "../support/oauth.ts";
import { bearer, type SessionBody, type SignInGateway } from "../support/sign-in.ts";

const EMAIL = "ada@example.com";
const INVALID_TOKEN = [401, undefined, "application/json", '{"message":"Invalid or expired token"}'] as const;
const KEY_A = { kid: "a", value: "a secret of the test, longer than 32 bytes" };
const KEY_B = { kid: "b", value: "b secret of the test, longer than 32 bytes" };

const secrets = (...list: readonly object[]) => ({ auth: { tokens: { secrets: list } } });

function keysOf({ gateway }: SignInGateway, { access_token: token }: SessionBody): Promise<Answer> {
  return send(`${gateway.url}/v1/user/key`, { method: "GET", headers: bearer(token) });
}

test("a new secret in front signs; nobody is logged out until the old one is taken away", async () => {
  const parts = await oauthGateway();
  const { gateway, mailbox, refresh } = parts;
  const first = await mailbox.signIn(gateway.url, EMAIL);
  expect((await keysOf(parts, first)).status).toBe(200);

  expect(await gateway.reload(secrets(KEY_B, KEY_A))).toMatchObject({ ok: true });
  expect((await keysOf(parts, first)).status).toBe(200);
  const second = JSON.parse((await refresh({ refresh_token: first.refresh_token })).text) as SessionBody;
  expect([first, second].map(({ access_token: token }) => decodeProtectedHeader(token).kid)).toEqual(["a", "b"]);
  expect((await keysOf(parts, second)).status).toBe(200);

  expect(await gateway.reload(secrets(KEY_B))).toMatchObject({ ok: true });
  expect(shown(await keysOf(parts, first))).toEqual(INVALID_TOKEN);
  expect((await keysOf(parts, second)).status).toBe(200);
  // Sessions do not hang on the secret.
  const third = JSON.parse((await refresh({ refresh_token: second.refresh_token })).text) as SessionBody;
  expect((await keysOf(parts, third)).status).toBe(200);
});

test("another secret under the same kid is another secret", async () => {
  const parts = await oauthGateway();
  const session = await parts.mailbox.signIn(parts.gateway.url, EMAIL);
  expect((await keysOf(parts, session)).status).toBe(200);
  await parts.gateway.reload(secrets({ ...KEY_B, kid: "a" }));
  expect(shown(await keysOf(parts, session))).toEqual(INVALID_TOKEN);
});

test("who was at the provider meanwhile comes back signed in, while the old secret is there", async () => {
  const parts = await oauthGateway();
  const [browser, late] = [new Browser(), new Browser()];
  const [url, other] = [await comeBack(browser, parts.start), await comeBack(late, parts.start)];
  await parts.gateway.reload(secrets(KEY_B, KEY_A));
  const page = await browser.open(url, AS_JSON);
  expect(decodeProtectedHeader(sessionOf(page).access_token).kid).toBe("b");
  await parts.gateway.reload(secrets(KEY_B));
  expect((await late.open(other, AS_JSON)).status).toBe(401);
});

test("a provider that is taken away is gone at once, one that is added is there", async () => {
  const parts = await oauthGateway();
  const browser = new Browser();
  const url = await comeBack(browser, parts.start);
  const { corp } = parts.gateway.gateway.generation.snapshot.auth.oauth;
  const more = { issuer: parts.issuer.url, client_id: corp!.clientId, client_secret: "x" };
  await parts.gateway.reload({ auth: { oauth: { corp: null, other: more } } });
  expect((await browser.open(url)).status).toBe(404);
  expect((await browser.open(parts.start)).status).toBe(404);
  const page = await new Browser().open(parts.start.replace("corp", "other"), AS_JSON);
  expect(sessionOf(page).user.email).toBe("grace@example.com");
});
