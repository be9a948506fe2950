import { describe, expect, test } from "vitest";
import { Browser, cookiesSet, type Page } from "../../support/browser.ts";
import { send, shown } from "../../support/http.ts";
import { AS_JSON, comeBack, type OAuthGateway, oauthGateway, sessionOf } from "../../support/oauth.ts";

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
        "__Host-gateway_device: httponly; max-age=34560000; path=/; samesite=Lax; secure",
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
    const device = { "__Host-gateway_device": expect.any(String) as string };
    expect(browser.cookies(SITE)).toEqual({
      "__Host-gateway_refresh": sessionOf(refreshed).refresh_token,
      ...device,
    });
    const left = await browser.request("POST", `${SITE}/auth/logout`, { origin: SITE });
    expect([left.status, cookiesSet(left), browser.cookies(SITE)]).toEqual([
      204,
      ["__Host-gateway_refresh: httponly; max-age=0; path=/; samesite=Lax; secure"],
      // It opens nothing: it says that the user has signed in here before.
      device,
    ]);
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

  test("who names no host is told so", async () => {
    const parts = await oauthGateway();
    for (const host of ["evil.example/", "user@evil.example", "evil.example#", "evil.example?x", "a b", "[::1"]) {
      const answer = await send(parts.start, { method: "GET", headers: { "x-forwarded-host": host } });
      const text = "Invalid request: / must name its host";
      expect([host, ...shown(answer)]).toEqual([host, 400, "INVALID_REQUEST", "text/plain; charset=utf-8", text]);
    }
  });
});

test("from anybody else X-Forwarded-* is not believed", async () => {
  const parts = await oauthGateway({ server: { trusted_proxies: ["192.0.2.0/24"] } });
  const browser = behindTls(parts);
  const page = await browser.open(`${SITE}/auth/oauth/corp`, {}, () => false);
  expect(cookiesSet(page)).toEqual(["gateway_sign_in: httponly; max-age=600; path=/; samesite=Lax"]);
  expect(new URL(page.headers.location!).searchParams.get("redirect_uri")).toBe(parts.callback);
});
