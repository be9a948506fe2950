import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { safeRedirect } from "../../../src/accounts/sign-in/oauth.ts";
import { PATIENCE, RUNS } from "../../properties/runs.ts";

/** What a browser makes of a Location header, seen from here. */
function resolved(location: string): URL {
  return new URL(location, "https://gateway.example");
}

describe("where a sign-in ends", () => {
  test.each([
    ["/", "/"],
    ["/console", "/console"],
    ["/console?tab=keys&x=%2F#top", "/console?tab=keys&x=%2F#top"],
    ["/a/b/../c", "/a/c"],
    ["/a//b", "/a//b"],
    ["/?next=//evil.example", "/?next=//evil.example"],
    ["/#//evil.example", "/#//evil.example"],
    ["/a@evil.example", "/a@evil.example"],
    ["/a b", "/a%20b"],
    ["/ü", "/%C3%BC"],
    ["/a%2f%2fb", "/a%2f%2fb"],
  ])("%s is %s", (value, path) => {
    expect(safeRedirect(value)).toBe(path);
  });

  test.each([
    undefined,
    null,
    7,
    {},
    ["/console"],
    "",
    " /console",
    "console",
    "?x",
    "#x",
    "https://evil.example/",
    "https:/evil.example",
    "javascript:alert(1)",
    "//evil.example",
    "///evil.example",
    "//evil.example/%2f..",
    "//user:pass@evil.example",
    "/\\evil.example",
    "\\/evil.example",
    "\\\\evil.example",
    "/a\\b",
    "/\t/evil.example",
    "/\n/evil.example",
    "/\r\nSet-Cookie: a=b",
    "\t//evil.example",
    "/\0/evil.example",
    "/\u0085/evil.example",
    "/%2f/evil.example",
    "/%2Fevil.example",
    "/%5cevil.example",
    "/%5C%5Cevil.example",
    "/.//evil.example",
    "/..//evil.example",
    "/a/..//evil.example",
    "/%2e//evil.example",
    "/%2e%2e//evil.example",
    "/./%2fevil.example",
    `/${"a".repeat(1024)}`,
    `/${"ü".repeat(200)}`,
  ])("%j is the root", (value) => {
    expect(safeRedirect(value)).toBe("/");
  });

  test(
    "whatever comes, the end is a path on this host that is written once more the same",
    () => {
      const piece = fc.constantFrom(
        ..."/ \\ // . .. %2f %5c %2e @ : ? # ; \t \r \n evil.example https: javascript: a ü".split(" "),
      );
      const hostile = fc.array(piece, { maxLength: 8 }).map((pieces) => `/${pieces.join("")}`);
      fc.assert(
        fc.property(fc.oneof(hostile, fc.webUrl(), fc.string({ unit: "binary" })), (value) => {
          const path = safeRedirect(value);
          expect(path).toMatch(/^\/(?![/\\]|%2f|%5c)[\x21-\x7e]*$/i);
          expect(resolved(path).origin).toBe("https://gateway.example");
          expect(safeRedirect(path)).toBe(path);
        }),
        { numRuns: RUNS },
      );
    },
    PATIENCE,
  );
});
