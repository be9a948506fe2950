import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJson } from "../../../src/dialects/canonical/json.ts";
import { publicMessage } from "../../../src/dialects/canonical/errors.ts";

const alphanumeric = fc.constantFrom(..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".split(""));
const letters = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: alphanumeric, minLength: length, maxLength: length + 30 });
const hex = fc.string({ unit: fc.constantFrom(..."0123456789abcdef".split("")), minLength: 32, maxLength: 64 });

/** Keys as providers issue and echo them. */
const key = fc.oneof(
  fc
    .tuple(
      fc.constantFrom("sk-", "sk-proj-", "sk-ant-api03-", "rk_", "pk-", "xai-", "gsk_", "key-9", "api_9"),
      letters(12),
    )
    .map((parts) => parts.join("")),
  letters(20).map((tail) => `AIza${tail}`),
  letters(40),
  hex.map((digits) => `9${digits}`),
  letters(8).map((tail) => `Bearer ${tail}`),
  letters(8).map((tail) => `bearer\t${tail}`),
);
const url = fc
  .tuple(fc.constantFrom("http", "https", "HTTPS", "redis", "s3", "postgres"), fc.webPath(), letters(4))
  .map(([scheme, path, host]) => `${scheme}://user:pw@${host}.example${path}`);
const tag = fc
  .tuple(fc.constantFrom("<b>", "</div>", "<script src='x'>", "<!-- c -->", "<br/>"), fc.string())
  .map((parts) => parts.join(""));
const noise = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "binary" }),
  fc.constantFrom("_", "-", ".", "é", '"', "'", "=", "\n", "\u200b", "<", ">"),
);

describe("publicMessage", () => {
  test("no tag survives", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(tag, noise)), (parts) => {
        expect(publicMessage(parts.join(""))).not.toMatch(/<[^>]*>/);
      }),
    );
  });

  test("no URL survives, whatever stands before it", () => {
    fc.assert(
      fc.property(fc.array(noise), url, fc.array(noise), (before, address, after) => {
        const text = publicMessage(`${before.join("")}${address} ${after.join("")}`);
        expect(text).not.toMatch(/[a-z]:\/\/\S|user:pw/i);
      }),
    );
  });

  test("no key survives, whatever stands around it", () => {
    const separator = fc.constantFrom(" ", '"', "'", "=", ":", "_", "é", "(", "\n", "");
    fc.assert(
      fc.property(fc.array(noise), separator, key, separator, fc.array(noise), (before, left, secret, right, after) => {
        // A letter right before it would make it another word.
        const lead = before.join("").replace(/[a-z0-9]+$/i, "");
        const text = publicMessage(`${lead}${left}${secret}${right} ${after.join("")}`);
        expect(text).not.toContain(secret.replace(/^bearer\s/i, ""));
      }),
    );
  });

  test("is one line of at most 300 characters of well-formed text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 600, size: "max" }), (text) => {
        const message = publicMessage(text);
        expect(message.length).toBeLessThanOrEqual(300);
        expect(message).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        expect(message.isWellFormed()).toBe(true);
        expect(message).toBe(message.trim());
      }),
      { endOnFailure: true },
    );
  });

  test.each([
    ["Incorrect API key provided: sk-abc***xyz.", "Incorrect API key provided: [redacted]"],
    ["OPENAI_API_KEY=sk-live-0123456789 is revoked", "OPENAI_API_KEY=[redacted] is revoked"],
    ["ALPHA_KEY_sk-live-0123456789 is revoked", "ALPHA_[redacted] is revoked"],
    ["api_key_invalid: unknown api_requests, key_not_found", "api_key_invalid: unknown api_requests, key_not_found"],
    ["project 5f2a0c19e3b84d7691aa02c4d5e6f708 has no quota", "project [redacted] has no quota"],
    ["see <https://x.example/a?k=1> for help", "see for help"],
    ["at_https://x.example/a", "at_[url]"],
    ["max_tokens must be at most 4096", "max_tokens must be at most 4096"],
    ["Unknown model claude-3-5-sonnet-20241022", "Unknown model claude-3-5-sonnet-20241022"],
    ["a\r\n\tb\u0000c", "a b c"],
    ["<html><h1>502</h1></html>", "502"],
    ["   ", ""],
  ])("%j", (text, expected) => {
    expect(publicMessage(text)).toBe(expected);
  });

  test("a long text ends in an ellipsis and never in half a character", () => {
    const text = publicMessage(`${"ab ".repeat(99)}a${"😀".repeat(50)}`);
    expect(text).toHaveLength(299);
    expect(text.endsWith("ab a…")).toBe(true);
  });

  test("hostile text of any length is done with quickly", () => {
    for (const unit of ["<", "a.", "a-", "bearer ", "://", "sk-"]) {
      const started = process.cpuUsage();
      publicMessage(unit.repeat(1_000_000));
      expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
    }
  });
});

describe("parseJson", () => {
  test("bytes and text, or undefined", () => {
    expect(parseJson('{"a":"é"}')).toEqual({ a: "é" });
    expect(parseJson(new TextEncoder().encode('\ufeff{"a":"é"}'))).toEqual({ a: "é" });
    expect(parseJson("{")).toBeUndefined();
    expect(parseJson(new Uint8Array())).toBeUndefined();
    expect(parseJson(Uint8Array.of(0x22, 0xff, 0x22))).toBe("\ufffd");
  });

  test("__proto__ becomes a field and pollutes nothing", () => {
    const parsed = parseJson('{"__proto__":{"polluted":true}}') as object;
    expect(Object.hasOwn(parsed, "__proto__")).toBe(true);
    expect("polluted" in parsed).toBe(false);
    expect("polluted" in {}).toBe(false);
  });
});
