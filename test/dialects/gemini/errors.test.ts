import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { errorMessage, readError, refusalClass } from "../../../src/dialects/canonical/errors.ts";
import { bytes } from "./support.ts";

/** Milliseconds that a body asks to wait. */
const retryAfter = (body: Uint8Array): number | null => readError(body).retryAfter;
/** Whether a 400 is about the gateway's key. */
const isCredentialsError = (body: Uint8Array): boolean =>
  refusalClass({ dialect: "gemini", status: 400, error: readError(body) }) === "credentials";

const retry = (retryDelay: unknown) => ({
  error: {
    message: "m",
    details: [{ "@type": "a" }, { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay }],
  },
});

describe("when to try again", () => {
  test.each([
    ["34.4s", 34_400],
    ["0s", 0],
    ["0.0001s", 1],
    ["7s", 7000],
    ["-1s", null],
    ["1m", null],
    ["99999999999s", null],
    [7, null],
    [undefined, null],
  ])("%j: %j", (delay, wait) => {
    expect(retryAfter(bytes(retry(delay)))).toBe(wait);
    expect(retryAfter(bytes([retry(delay)]))).toBe(wait);
  });
});

test.each([
  [{ error: { code: 400, message: "Bad <b>thing</b>" } }, "Bad thing"],
  [[{ error: { message: "as a list" } }], "as a list"],
  [{ error: { message: 1 } }, ""],
  [{ error: "x" }, "x"],
  ["<html>", ""],
  [[], ""],
])("%j says %j", (body, message) => {
  expect(errorMessage(bytes(body))).toBe(message);
});

test.each([
  [
    {
      error: {
        code: 400,
        status: "INVALID_ARGUMENT",
        details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }],
      },
    },
    true,
  ],
  [{ error: { code: 401, status: "UNAUTHENTICATED" } }, true],
  [{ error: { code: 400, status: "INVALID_ARGUMENT", message: "API key in text" } }, false],
  [null, false],
])("%j is about our key: %s", (body, ours) => {
  expect(isCredentialsError(bytes(body))).toBe(ours);
});

test("no body throws", () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.jsonValue().map(retry), fc.record({ error: fc.jsonValue() })), (body) => {
      const wait = retryAfter(bytes(JSON.stringify(body)));
      expect(wait === null || wait >= 0).toBe(true);
      expect(typeof errorMessage(bytes(JSON.stringify(body)))).toBe("string");
      expect(typeof isCredentialsError(bytes(JSON.stringify(body)))).toBe("boolean");
    }),
  );
});
