import { describe, expect, test } from "vitest";
import {
  AttemptError,
  ERRORS,
  type ErrorCode,
  GatewayError,
  invalidRequest,
  storeUnavailable,
} from "../../src/kit/index.ts";

/** The specification's errors table, section 1 of the decisions and the gateway's own. */
const TABLE: readonly (readonly [ErrorCode, number, coded: boolean, "text" | "message" | "error", final: boolean])[] = [
  ["INVALID_REQUEST", 400, true, "text", false],
  ["INVALID_MODEL", 400, true, "text", false],
  ["AUTHENTICATION_ERROR", 401, true, "text", false],
  ["AUTHENTICATION_REQUIRED", 401, false, "message", false],
  ["INVALID_TOKEN", 401, false, "message", false],
  ["INVALID_CODE", 401, false, "message", false],
  ["SIGN_IN_FAILED", 401, false, "message", false],
  ["INSUFFICIENT_CREDITS", 402, true, "text", false],
  ["MODEL_NOT_ALLOWED", 403, true, "text", false],
  ["FORBIDDEN", 403, false, "message", false],
  ["NOT_FOUND", 404, true, "text", false],
  ["MODEL_NOT_FOUND", 404, false, "error", false],
  ["UNKNOWN_PATH", 404, false, "message", false],
  ["METHOD_NOT_ALLOWED", 405, false, "message", false],
  ["REQUEST_TOO_LARGE", 413, true, "text", false],
  ["UNSUPPORTED_MEDIA_TYPE", 415, true, "text", false],
  ["DAILY_REQUEST_LIMIT_EXCEEDED", 429, true, "text", false],
  ["RATE_LIMIT_ERROR", 429, true, "text", false],
  ["IP_RATE_LIMIT", 429, false, "message", false],
  ["TOO_MANY_REQUESTS", 429, false, "message", false],
  ["INTERNAL", 500, false, "text", false],
  ["PROVIDER_ERROR", 502, true, "text", true],
  ["CIRCUIT_BREAKER_OPEN", 503, true, "text", false],
  ["OVERLOADED", 503, true, "text", false],
  ["STORE_UNAVAILABLE", 503, true, "text", false],
  ["SHUTTING_DOWN", 503, true, "text", false],
  ["PROVIDER_TIMEOUT", 504, true, "text", true],
];

describe("the table of errors", () => {
  test.each(TABLE)("%s", (code, status, coded, body, final) => {
    const row: { readonly final?: boolean } & (typeof ERRORS)[ErrorCode] = ERRORS[code];
    expect({ ...row, final: row.final ?? false }).toEqual({ status, coded, body, final });
    expect(new GatewayError(code, "text").status).toBe(status);
  });

  test("has no other rows", () => {
    expect(Object.keys(ERRORS).toSorted()).toEqual(TABLE.map(([code]) => code).toSorted());
  });

  test("cannot be changed", () => {
    expect(Object.isFrozen(ERRORS)).toBe(true);
  });
});

describe("errors", () => {
  test("a GatewayError carries code, message, details and cause", () => {
    const cause = new Error("why");
    const error = new GatewayError("RATE_LIMIT_ERROR", "Hourly request limit exceeded", { retryAfter: 7, cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "GatewayError",
      code: "RATE_LIMIT_ERROR",
      message: "Hourly request limit exceeded",
      cause,
      details: { retryAfter: 7 },
    });
  });

  test("invalidRequest points at the place", () => {
    expect(invalidRequest("/messages/0/role", "must be a string")).toMatchObject({
      code: "INVALID_REQUEST",
      status: 400,
      message: "Invalid request: /messages/0/role must be a string",
    });
  });

  test("a store that does not answer is 503 with Retry-After, whatever the cause", () => {
    expect(storeUnavailable("gone")).toMatchObject({
      status: 503,
      message: "Store unavailable",
      details: { retryAfter: 1 },
    });
  });

  test("an AttemptError without more has no status and no wish to wait", () => {
    expect(new AttemptError("connect", "refused")).toMatchObject({ failure: "connect", status: 0, retryAfter: null });
    expect(new AttemptError("rate_limited", "slow", { status: 429, retryAfter: 1500 })).toMatchObject({
      status: 429,
      retryAfter: 1500,
    });
  });
});
