import { describe, expect, test } from "vitest";
import { Browser } from "../support/browser.ts";
import { shown } from "../support/http.ts";
import type { TestGateway } from "../support/in-process.ts";
import { AS_JSON, comeBack, type OAuthGateway, oauthGateway, sessionOf } from "../support/oauth.ts";
import type { SessionBody } from "../support/sign-in.ts";

const GRACE = "grace@example.com";
const FAILED = [401, undefined, "application/json", '{"message":"Sign-in failed"}'] as const;

async function users({ gateway }: OAuthGateway): Promise<readonly string[]> {
  return (await gateway.store.listUsers()).map(({ email }) => email);
}

async function signIn(parts: OAuthGateway): Promise<SessionBody["user"]> {
  const browser = new Browser();
  const page = await browser.open(await comeBack(browser, parts.start), AS_JSON);
  expect(page).toMatchObject({ status: 200 });
  return sessionOf(page).user;
}

async function granted(gateway: TestGateway): Promise<readonly bigint[]> {
  return (await gateway.store.listUsers()).map((user) => user.granted);
}

describe("who signs in", () => {
  test("the same subject is the same user, also when its address has changed", async () => {
    const parts = await oauthGateway();
    const first = await signIn(parts);
    expect(await signIn(parts)).toEqual(first);
    for (const email_verified of [true, false]) {
      parts.issuer.claims = { ...parts.issuer.claims, email: "hopper@example.com", email_verified };
      expect(await signIn(parts)).toEqual(first);
    }
    expect(await users(parts)).toEqual([GRACE]);
    expect(await granted(parts.gateway)).toEqual([2_500_000_000n]);
  });

  test("another subject is another user", async () => {
    const parts = await oauthGateway();
    const first = await signIn(parts);
    parts.issuer.claims = { sub: "subject-2", email: "bob@example.com", email_verified: true };
    expect((await signIn(parts)).id).not.toBe(first.id);
    expect(await users(parts)).toEqual(expect.arrayContaining([GRACE, "bob@example.com"]));
  });

  test("a user of mail codes is linked by a verified address, and keeps both ways", async () => {
    const parts = await oauthGateway();
    const byMail = (await parts.mailbox.signIn(parts.gateway.url, GRACE)).user;
    expect(await signIn(parts)).toEqual(byMail);
    expect((await parts.mailbox.signIn(parts.gateway.url, GRACE)).user).toEqual(byMail);
    expect(await granted(parts.gateway)).toEqual([2_500_000_000n]);
  });

  test("a user of mail codes is not linked by an address that is not verified", async () => {
    const parts = await oauthGateway();
    await parts.mailbox.signIn(parts.gateway.url, GRACE);
    parts.issuer.claims = { ...parts.issuer.claims, email_verified: false };
    const browser = new Browser();
    expect(shown(await browser.open(await comeBack(browser, parts.start), AS_JSON))).toEqual(FAILED);
  });

  test("ten first sign-ins at once make one user", async () => {
    const parts = await oauthGateway();
    const signedIn = await Promise.all(Array.from({ length: 10 }, () => signIn(parts)));
    expect(new Set(signedIn.map(({ id }) => id)).size).toBe(1);
    expect(await granted(parts.gateway)).toEqual([2_500_000_000n]);
  });
});
