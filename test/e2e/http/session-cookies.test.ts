import { describe, expect, test } from "vitest";
import { Browser, cookiesSet, type Page } from "../support/browser.ts";
import { send, shown } from "../support/http.ts";
import { AS_JSON, comeBack, type OAuthGateway, oauthGateway, sessionOf } from "../support/oauth.ts";
import { post } from "../support/sign-in.ts";

const SITE = "https://gateway.example";
const INVALID_TOKEN = [401, undefined, "application/json", '{"message":"Invalid or expired token"}'] as const;

/** A browser that reaches the gateway as `https://gateway.example`, through a proxy that ends TLS. */
function behindTls({ gateway }: OAuthGateway): Browser {
  const headers = {
    "x-forwarded-proto": "https",
    "x-forwarded-host": "gateway.example",
    "x-forwarded-for": "192.0.2.1",
  };
  return new Browser({ [SITE]: { url: gateway.url, headers } });
}

describe("behind a trusted proxy that ends TLS", () => {
  test("cookies are Secure and bound to the host, and the provider sends the browser back to the https address", async () => {
    const parts = await oauthGateway();
    parts.gateway.clock.stop();
    const browser = behindTls(parts);
    const url = await comeBack(browser, `${SITE}/auth/oauth/corp`);
    expect(cookiesSet(browser.pages[0]!)).toEqual([
      "__Host-gateway_sign_in: httponly; max-age=600; path=/; samesite=Lax; secure",
    ]);
    expect(url.origin).toBe(SITE);
    const back = await browser.open(url, AS_JSON);
    expect([back.status, cookiesSet(back)]).toEqual([
      200,
      [
        "__Host-gateway_sign_in: httponly; max-age=0; path=/; samesite=Lax; secure",
        "__Host-gateway_refresh: httponly; max-age=2592000; path=/; samesite=Lax; secure",
      ],
    ]);
    const refresh = (origin: string): Promise<Page> => browser.request("POST", `${SITE}/auth/refresh`, { origin });
    for (const origin of ["http://gateway.example", parts.gateway.url, "https://gateway.example:8443"]) {
      expect(shown(await refresh(origin))).toEqual(INVALID_TOKEN);
    }
    const refreshed = await refresh(SITE);
    expect(cookiesSet(refreshed)).toEqual([
      "__Host-gateway_refresh: httponly; max-age=2592000; path=/; samesite=Lax; secure",
    ]);
    expect(browser.cookies(SITE)).toEqual({ "__Host-gateway_refresh": sessionOf(refreshed).refresh_token });
    const left = await browser.request("POST", `${SITE}/auth/logout`, { origin: SITE });
    expect([left.status, cookiesSet(left), browser.cookies(SITE)]).toEqual([
      204,
      ["__Host-gateway_refresh: httponly; max-age=0; path=/; samesite=Lax; secure"],
      {},
    ]);
  });

  test("a plain cookie, which any host of the domain could have set, is not read", async () => {
    const parts = await oauthGateway();
    const browser = behindTls(parts);
    const { refresh_token: token } = sessionOf(await browser.open(await comeBack(browser, parts.start), AS_JSON));
    const other = behindTls(parts);
    other.setCookie(SITE, "gateway_refresh", token);
    expect(shown(await other.request("POST", `${SITE}/auth/refresh`, { origin: SITE }))).toEqual(INVALID_TOKEN);
    expect((await post(`${parts.gateway.url}/auth/refresh`, { refresh_token: token })).status).toBe(200);
  });

  test("the nearest proxy's word counts, not what the client has put before it", async () => {
    const parts = await oauthGateway();
    const { headers } = await send(parts.start, {
      method: "GET",
      headers: { "x-forwarded-proto": "http, https", "x-forwarded-host": "evil.example, gateway.example" },
    });
    const back = new URL(headers.location!).searchParams.get("redirect_uri");
    expect(back).toBe("https://gateway.example/auth/oauth/corp/callback");
  });

  test.each(["evil.example/", "user@evil.example", "evil.example#", "evil.example?x", "a b", "[::1"])(
    "a host of %j is none",
    async (host) => {
      const parts = await oauthGateway();
      const answer = await send(parts.start, { method: "GET", headers: { "x-forwarded-host": host } });
      expect(shown(answer)).toEqual([
        400,
        "INVALID_REQUEST",
        "text/plain; charset=utf-8",
        "Invalid request: / must name its host",
      ]);
    },
  );
});

test("from anybody else X-Forwarded-* is not believed", async () => {
  const parts = await oauthGateway({ server: { trusted_proxies: ["192.0.2.0/24"] } });
  const browser = behindTls(parts);
  const page = await browser.open(`${SITE}/auth/oauth/corp`, {}, () => false);
  expect(cookiesSet(page)).toEqual(["gateway_sign_in: httponly; max-age=600; path=/; samesite=Lax"]);
  expect(new URL(page.headers.location!).searchParams.get("redirect_uri")).toBe(parts.callback);
});

/** `Origin` headers; null for none. By cookie only a page of this very host may change anything. */
const FOREIGN = (own: string): readonly (string | null)[] => [
  null,
  "null",
  "",
  "https://evil.example",
  own.replace("http:", "https:"),
  own.replace(/:\d+$/, ""),
  `${own}.evil.example`,
  `${own}/`,
  own.replace("127.0.0.1", "localhost"),
];

/** A browser with a session. */
async function signedIn() {
  const parts = await oauthGateway();
  const browser = new Browser();
  await browser.open(parts.start);
  const call = (path: string, origin: string | null) =>
    browser.request("POST", `${parts.gateway.url}/auth/${path}`, origin === null ? {} : { origin });
  return { ...parts, browser, call, own: parts.gateway.url };
}

describe("by cookie", () => {
  test("a refresh needs this host's own Origin", async () => {
    const { call, own } = await signedIn();
    for (const origin of FOREIGN(own)) {
      expect([origin, ...shown(await call("refresh", origin))]).toEqual([origin, ...INVALID_TOKEN]);
    }
    expect((await call("refresh", own)).status).toBe(200);
  });

  test("so does a logout: another page's is answered and does nothing", async () => {
    const { browser, call, own } = await signedIn();
    const { gateway_refresh: token } = browser.cookies(own);
    for (const origin of FOREIGN(own).slice(1)) {
      const answer = await call("logout", origin);
      expect([origin, answer.status, cookiesSet(answer)]).toEqual([origin, 204, []]);
    }
    expect(browser.cookies(own)["gateway_refresh"]).toBe(token);
    expect((await call("refresh", own)).status).toBe(200);
    const left = await call("logout", own);
    expect([left.status, left.text, browser.cookies(own)]).toEqual([204, "", {}]);
  });

  test("a logout ends the session for good", async () => {
    const { browser, call, own } = await signedIn();
    const token = browser.cookies(own)["gateway_refresh"]!;
    await call("logout", own);
    expect(shown(await post(`${own}/auth/refresh`, { refresh_token: token }))).toEqual(INVALID_TOKEN);
  });

  test("a body decides over the cookie, and needs no Origin", async () => {
    const { browser, own, mailbox } = await signedIn();
    const { refresh_token: token, user } = await mailbox.signIn(own, "bob@example.com");
    const cookie = `gateway_refresh=${browser.cookies(own)["gateway_refresh"]!}`;
    const answer = await post(
      `${own}/auth/refresh`,
      { refresh_token: token },
      { cookie, origin: "https://app.example" },
    );
    expect(JSON.parse(answer.text)).toMatchObject({ user });
    expect(shown(await post(`${own}/auth/refresh`, { refresh_token: "" }, { cookie, origin: own }))).toEqual(
      INVALID_TOKEN,
    );
  });

  test("no other endpoint takes it for a credential", async () => {
    const { browser, own } = await signedIn();
    const paths = [
      ["GET", "/v1/user/key", 429],
      ["GET", "/v1/user/requests", 401],
      ["POST", "/v1/user/streams/kill", 401],
      ["POST", "/v1/chat/completions", 401],
    ] as const;
    for (const [method, path, status] of paths) {
      const answer = await browser.request(method, own + path, { origin: own });
      expect([path, answer.status]).toEqual([path, status]);
    }
  });
});

test("a login by code sets the session's cookie too", async () => {
  const { gateway, mailbox, verify } = await oauthGateway();
  gateway.clock.stop();
  const code = await mailbox.ask(gateway.url, "ada@example.com");
  const answer = await verify({ email: "ada@example.com", code }, { "x-forwarded-proto": "https" });
  expect(cookiesSet(answer)).toEqual([
    "__Host-gateway_refresh: httponly; max-age=2592000; path=/; samesite=Lax; secure",
  ]);
});
