import { expect, test } from "vitest";
import { Browser } from "../support/browser.ts";
import { oauthGateway } from "../support/oauth.ts";

/** What comes as `redirect_to`, and where the browser ends. */
const ENDS: readonly (readonly [string, string])[] = [
  ["/", "/"],
  ["/keys", "/keys"],
  ["/a/../b?c=d&e#f", "/b?c=d&e#f"],
  ["/?next=//evil.example", "/?next=//evil.example"],
  ["", "/"],
  ["keys", "/"],
  ["//evil.example", "/"],
  ["///evil.example", "/"],
  ["/\\evil.example", "/"],
  ["\\\\evil.example", "/"],
  ["/\t/evil.example", "/"],
  ["/\r\nSet-Cookie: a=b", "/"],
  ["/..//evil.example", "/"],
  ["/.//evil.example", "/"],
  ["/%2fevil.example", "/"],
  ["/%5Cevil.example", "/"],
  ["https://evil.example/", "/"],
  ["https:evil.example", "/"],
  ["javascript:alert(1)", "/"],
  ["@evil.example", "/"],
  [`/${"a".repeat(1_023)}`, `/${"a".repeat(1_023)}`],
  [`/${"a".repeat(1_024)}`, "/"],
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
