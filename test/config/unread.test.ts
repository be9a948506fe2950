import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maskedUnread } from "../../src/config/unread.ts";

const DOTS = /•+/g;
const shown = (text: string): string => maskedUnread(text.split("\n")).join("\n").replaceAll(DOTS, "•");

describe("a file that cannot be read hides what may be a secret, and nothing else", () => {
  test.each([
    ["a mapping", "models:\n  route/one:\n    display_name: One: the first\n    tier: Free ]"],
    ["lists", "pipeline:\n  - auth\n  - plan-check ]\n  - { use: quota, options: { a: 1 }"],
    ["addresses without a key", "upstreams:\n  a: { dialect: openai, base_url: https://api.openai.com/v1 ]"],
    ["a reference that needs quotes", "  a: { base_url: ${env:X}, dialect: openai }"],
    ["sections that only sound like secrets", "auth:\n  tokens: { issuer: route ]\n  access_ttl: 5 m ]\nmax_tokens: 5"],
    [
      "text over lines",
      "status:\n  incidents:\n    - title: One\n      description: >\n        Some text: more\n        and more",
    ],
    ["headers that hold none", "    headers: { x-team: gateway ]"],
  ])("shown as it is: %s", (_what, text) => {
    expect(shown(text)).toBe(text);
  });

  test.each([
    ["behind its name", "  a: { api_keys: [opaque], x ]", "  a: { api_keys:•"],
    ["in JSON", '{"api_keys":["opaque"]', '{"api_keys":•'],
    ["in camel case", "apiKey: opaque ]", "apiKey:•"],
    ["behind a misspelt name", "api_kyes: [opaque", "api_kyes:•"],
    ["below its name", "api_keys:\n- opaque\n- a: opaque\ntier: Free", "api_keys:\n- •\n- a:•\ntier: Free"],
    ["in a block", "token: |\n  opaque\n  more: opaque\nx: y ]", "token:•\n  •\n  more:•\nx: y ]"],
    ["at the wrong indentation", "    api_keys:\n  - opaque\nopaque\nx: y", "    api_keys:\n  - •\n•\nx: y"],
    ["in a map below", "secrets:\n  - kid: a\n    value: opaque", "secrets:\n  - kid:•\n    value:•"],
    ["in a comment", "# token: opaque", "# token:•"],
    ["in a URL", "  smtp: smtps://u:opaque@host:465 ]", "  smtp: • ]"],
    ["by its look", "  x: sk-1234567890123456789012 ]", "  x: • ]"],
    ["in a header", "  headers: { x-a: b, authorization: opaque ]", "  headers: { x-a: b, authorization:•"],
  ])("covered: %s", (_what, text, expected) => {
    expect(shown(text)).toBe(expected);
    expect(shown(text)).not.toContain("opaque");
  });

  test("a line keeps its length, whatever it holds", () => {
    const line = fc.string({ unit: fc.constantFrom("token", "key", "a", ":", " ", "-", "[", "{", '"', "#", "x") });
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        expect(maskedUnread(lines).map(({ length }) => length)).toEqual(lines.map(({ length }) => length));
      }),
    );
  });
});
