import { expect, test } from "vitest";
import type { RouteContext } from "../../../src/server/router.ts";
import { isSecure, publicOriginOf } from "../../../src/server/routes/sign-in.ts";

function context(headers: Record<string, string>, { proxied = false, encrypted = false } = {}): RouteContext {
  return { req: { headers, socket: { encrypted } }, ip: "", proxied, route: null } as unknown as RouteContext;
}

test.each([
  [{ host: "gw.example" }, {}, "http://gw.example"],
  [{ host: "GW.example:80" }, {}, "http://gw.example"],
  [{ host: "gw.example:8080" }, {}, "http://gw.example:8080"],
  [{ host: "[::1]:8080" }, {}, "http://[::1]:8080"],
  [{ host: "gw.example" }, { encrypted: true }, "https://gw.example"],
  [{ host: "gw.example:443" }, { encrypted: true }, "https://gw.example"],
  [{ host: "gw.example", "x-forwarded-proto": "https" }, {}, "http://gw.example"],
  [{ host: "gw.example", "x-forwarded-host": "evil.example" }, {}, "http://gw.example"],
  [
    { host: "in", "x-forwarded-proto": "https", "x-forwarded-host": "gw.example" },
    { proxied: true },
    "https://gw.example",
  ],
  [{ host: "in", "x-forwarded-proto": "HTTPS" }, { proxied: true }, "https://in"],
  [{ host: "in", "x-forwarded-proto": "https, http" }, { proxied: true }, "http://in"],
  [{ host: "in", "x-forwarded-host": "evil.example, gw.example" }, { proxied: true }, "http://gw.example"],
  [{ host: "in", "x-forwarded-host": "" }, { proxied: true }, "http://in"],
  [{ host: "user@evil.example" }, {}, null],
  [{ host: "gw.example/path" }, {}, null],
  [{ host: "gw.example:99999" }, {}, null],
  [{ host: "gw example" }, {}, null],
  [{ host: "" }, {}, null],
  [{}, {}, null],
])("%j with %j is seen as %s", (headers, how, origin) => {
  expect(publicOriginOf(context(headers as Record<string, string>, how))).toBe(origin);
  expect(isSecure(context(headers as Record<string, string>, how))).toBe(origin?.startsWith("https:") ?? false);
});
