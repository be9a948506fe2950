import { describe, expect, test } from "vitest";
import { parseProxy, proxyFor, proxyRules } from "../../src/kit/index.ts";

const PROXY = "http://proxy.test:3128";

describe("NO_PROXY", () => {
  test.each([
    // A name, with or without a dot or `*.` before it, and all its subdomains.
    ["example.com", "https://example.com", true],
    ["example.com", "https://api.example.com", true],
    [".example.com", "https://example.com", true],
    [".example.com", "https://api.example.com", true],
    ["*.example.com", "https://api.example.com", true],
    ["EXAMPLE.com.", "https://Api.Example.COM.", true],
    ["example.com", "https://notexample.com", false],
    ["example.com", "https://example.com.evil.test", false],
    // With a port.
    ["example.com:8443", "https://example.com:8443", true],
    ["example.com:8443", "https://example.com", false],
    ["example.com:443", "https://example.com", true],
    ["example.com:80", "http://example.com", true],
    // Addresses and networks.
    ["10.1.2.3", "http://10.1.2.3", true],
    ["10.1.2.3:8000", "http://10.1.2.3:8000", true],
    ["10.0.0.0/8", "http://10.1.2.3", true],
    ["10.0.0.0/8", "http://11.1.2.3", false],
    ["fd00::/8", "http://[fd12::1]:8000", true],
    ["fd12::1", "http://[fd12::1]:8000", true],
    ["[fd12::1]:8000", "http://[fd12::1]:8000", true],
    ["[fd12::1]:8001", "http://[fd12::1]:8000", false],
    ["1.2.3", "http://10.1.2.3", false],
    // Everything, lists, and entries that mean nothing.
    ["*", "https://example.com", true],
    [" a.test , example.com  b.test", "https://b.test", true],
    ["", "https://example.com", false],
    [",,", "https://example.com", false],
    [".", "https://example.com", false],
  ])("%j and %s", (entries, url, isDirect) => {
    const rules = proxyRules({ HTTPS_PROXY: PROXY, HTTP_PROXY: PROXY, NO_PROXY: entries });
    expect(proxyFor(new URL(url), rules) === null).toBe(isDirect);
  });
});

test.each([
  "http://localhost:11434",
  "https://127.0.0.1",
  "http://127.9.9.9",
  "http://[::1]:8000",
  "http://vllm.localhost",
])("%s is this machine: always asked directly", (url) => {
  expect(proxyFor(new URL(url), proxyRules({ HTTPS_PROXY: PROXY, HTTP_PROXY: PROXY }))).toBeNull();
});

test("each scheme has its variable, and the lower-case form of a variable wins", () => {
  const rules = proxyRules({ HTTPS_PROXY: "http://a.test:1", https_proxy: "b.test:2", HTTP_PROXY: "", no_proxy: "" });
  expect(proxyFor(new URL("https://x.test"), rules)?.href).toBe("http://b.test:2/");
  expect(proxyFor(new URL("http://x.test"), rules)).toBeNull();
});

test.each(["socks5://proxy.test:1080", "http://", "http://proxy.test/path", "http://a b", "ftp://proxy.test"])(
  "%s is no proxy, and is named by its variable",
  (text) => {
    expect(parseProxy(text)).toBeNull();
    expect(proxyRules({ HTTPS_PROXY: text })).toMatchObject({ https: null, unusable: ["HTTPS_PROXY"] });
  },
);
