import { describe, expect, test } from "vitest";
import { Browser, cookiesSet } from "../../support/browser.ts";
import { send, shown } from "../../support/http.ts";
import { CHAT, MESSAGES } from "../../support/in-process.ts";
import { AS_JSON, comeBack, type OAuthGateway, oauthGateway, sessionOf } from "../../support/oauth.ts";
import { bearer, post } from "../../support/sign-in.ts";

const GRACE = "grace@example.com";
const FAILED = [401, undefined, "application/json", '{"message":"Sign-in failed"}'] as const;
const STATE_COOKIE = "gateway_sign_in: httponly; max-age=600; path=/; samesite=Lax";
const NO_STATE_COOKIE = "gateway_sign_in: httponly; max-age=0; path=/; samesite=Lax";
const DEVICE_COOKIE = "gateway_device: httponly; max-age=34560000; path=/; samesite=Lax";
const SESSION_COOKIE = "gateway_refresh: httponly; max-age=2592000; path=/; samesite=Lax";

async function users({ gateway }: OAuthGateway): Promise<readonly string[]> {
  return (await gateway.store.listUsers()).map(({ email }) => email);
}

test("a browser signs in: to the provider, back, and on to where it wanted to go, with a session", async () => {
  const parts = await oauthGateway();
  const { gateway, issuer, start, callback } = parts;
  gateway.clock.stop();
  const browser = new Browser();
  const last = await browser.open(`${start}?redirect_to=${encodeURIComponent("/keys?tab=new#top")}`);
  const [first, authorize, back, end] = browser.pages;
  expect(browser.pages.map(({ status }) => status)).toEqual([302, 302, 302, 404]);

  const { origin, searchParams } = new URL(first!.headers.location!);
  expect([
    origin,
    ...["response_type", "client_id", "redirect_uri", "code_challenge_method"].map((name) => searchParams.get(name)),
  ]).toEqual([issuer.url, "code", "gateway", callback, "S256"]);
  expect(new Set(searchParams.get("scope")?.split(" "))).toEqual(new Set(["openid", "email"]));
  for (const name of ["state", "nonce", "code_challenge"]) expect(searchParams.get(name)).toMatch(/^[\w-]{43}$/);
  expect(cookiesSet(first!)).toEqual([STATE_COOKIE]);
  expect(new URL(authorize!.headers.location!).searchParams.get("state")).toBe(searchParams.get("state"));

  expect(cookiesSet(back!)).toEqual([NO_STATE_COOKIE, DEVICE_COOKIE, SESSION_COOKIE]);
  expect([back!.headers.location, back!.headers["cache-control"], back!.text]).toEqual([
    "/keys?tab=new#top",
    "no-store",
    "",
  ]);
  expect([end, String(last.url)]).toEqual([last, `${gateway.url}/keys?tab=new#top`]);
  expect(Object.keys(browser.cookies(gateway.url))).toEqual(["gateway_device", "gateway_refresh"]);

  const refreshed = await browser.request("POST", `${gateway.url}/auth/refresh`, { origin: gateway.url });
  expect([refreshed.status, cookiesSet(refreshed)]).toEqual([200, [SESSION_COOKIE]]);
  const session = sessionOf(refreshed);
  expect(session.user).toEqual({ id: expect.stringMatching(/^user_/), email: GRACE, plan_tier: "Lite" });
  expect(browser.cookies(gateway.url)["gateway_refresh"]).toBe(session.refresh_token);
  expect(await gateway.store.findUser(GRACE)).toMatchObject({ tier: "Lite", granted: 2_500_000_000n });

  const made = await post(`${gateway.url}/v1/user/key`, { name: "browser" }, bearer(session.access_token));
  const { key } = JSON.parse(made.text) as { key: string };
  const chat = await post(gateway.url + CHAT, { model: "route/one", messages: MESSAGES }, bearer(key));
  expect(chat.status).toBe(200);
});

test("a program that asks for JSON gets the session as login/verify answers it", async () => {
  const parts = await oauthGateway();
  parts.gateway.clock.stop();
  const browser = new Browser();
  const page = await browser.open(await comeBack(browser, parts.start), AS_JSON);
  expect([page.status, page.headers["content-type"], cookiesSet(page)]).toEqual([
    200,
    "application/json",
    [NO_STATE_COOKIE, DEVICE_COOKIE, SESSION_COOKIE],
  ]);
  expect(sessionOf(page)).toEqual({
    access_token: expect.any(String),
    token_type: "Bearer",
    expires_in: 900,
    refresh_token: expect.stringMatching(/^rt_[\w-]{43}$/),
    user: { id: expect.any(String), email: GRACE, plan_tier: "Lite" },
  });
  const { status } = await send(`${parts.gateway.url}/v1/user/key`, {
    method: "GET",
    headers: bearer(sessionOf(page).access_token),
  });
  expect(status).toBe(200);
});

describe("a callback is refused", () => {
  test("with another state than it was sent with", async () => {
    const parts = await oauthGateway();
    const browser = new Browser();
    const url = await comeBack(browser, parts.start);
    url.searchParams.set("state", "x".repeat(43));
    const page = await browser.open(url, AS_JSON);
    expect(shown(page)).toEqual(FAILED);
    expect([cookiesSet(page), page.headers["cache-control"]]).toEqual([[NO_STATE_COOKIE], "no-store"]);
    expect(browser.cookies(url)["gateway_refresh"]).toBeUndefined();
    expect(await users(parts)).toEqual([]);
  });

  test("the second time, whoever brings it", async () => {
    const parts = await oauthGateway();
    const browser = new Browser();
    const url = await comeBack(browser, parts.start);
    const thief = new Browser();
    thief.setCookie(url, "gateway_sign_in", browser.cookies(url)["gateway_sign_in"]!);
    expect((await browser.open(url, AS_JSON)).status).toBe(200);
    expect(shown(await browser.open(url, AS_JSON))).toEqual(FAILED);
    expect(shown(await thief.open(url, AS_JSON))).toEqual(FAILED);
    expect(await users(parts)).toEqual([GRACE]);
  });
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

/** What comes as `redirect_to`, and where the browser ends. */
const ENDS: readonly (readonly [string, string])[] = [
  ["/", "/"],
  ["/keys", "/keys"],
  ["/a/../b?c=d&e#f", "/b?c=d&e#f"],
  ["//evil.example", "/"],
  ["/\r\nSet-Cookie: a=b", "/"],
  ["https://evil.example/", "/"],
];

test("redirect_to is followed on this very host, and nowhere else", async () => {
  const { gateway, start } = await oauthGateway();
  const ends: [string, string | undefined][] = [];
  for (const [redirectTo] of ENDS) {
    const browser = new Browser();
    const { url } = await browser.open(`${start}?redirect_to=${encodeURIComponent(redirectTo)}`);
    ends.push([redirectTo, browser.pages[2]?.headers.location]);
    expect(url.origin).toBe(gateway.url);
  }
  expect(ends).toEqual(ENDS);
});

test("without redirect_to, or with two, it is the front page or the first", async () => {
  const { start } = await oauthGateway();
  const endOf = async (query: string): Promise<string | undefined> => {
    const browser = new Browser();
    await browser.open(start + query);
    return browser.pages[2]?.headers.location;
  };
  expect(await endOf("")).toBe("/");
  expect(await endOf("?redirect_to=/a&redirect_to=//evil.example")).toBe("/a");
});
