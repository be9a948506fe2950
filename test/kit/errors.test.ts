import { describe, expect, test } from "vitest";
import {
  AttemptError,
  ERRORS,
  type ErrorCode,
  type ErrorKind,
  GatewayError,
  invalidRequest,
  storeUnavailable,
} from "../../src/kit/index.ts";

/** The specification's errors table, section 1 of the decisions and the gateway's own. */
const TABLE: readonly (readonly [ErrorCode, number, coded: boolean, "text" | "message" | "error", ErrorKind])[] = [
  ["INVALID_REQUEST", 400, true, "text", "invalid_request"],
  ["INVALID_MODEL", 400, true, "text", "invalid_request"],
  ["AUTHENTICATION_ERROR", 401, true, "text", "authentication"],
  ["AUTHENTICATION_REQUIRED", 401, false, "message", "authentication"],
  ["INVALID_TOKEN", 401, false, "message", "authentication"],
  ["INVALID_CODE", 401, false, "message", "authentication"],
  ["SIGN_IN_FAILED", 401, false, "message", "authentication"],
  ["INSUFFICIENT_CREDITS", 402, true, "text", "billing"],
  ["MODEL_NOT_ALLOWED", 403, true, "text", "permission"],
  ["KEY_RESTRICTED", 403, true, "text", "permission"],
  ["FORBIDDEN", 403, false, "message", "permission"],
  ["SIGN_UP_CLOSED", 403, false, "message", "permission"],
  ["NOT_FOUND", 404, true, "text", "not_found"],
  ["MODEL_NOT_FOUND", 404, false, "error", "not_found"],
  ["UNKNOWN_PATH", 404, false, "message", "not_found"],
  ["METHOD_NOT_ALLOWED", 405, false, "message", "invalid_request"],
  ["REQUEST_TOO_LARGE", 413, true, "text", "too_large"],
  ["UNSUPPORTED_MEDIA_TYPE", 415, true, "text", "invalid_request"],
  ["IDEMPOTENCY_CONFLICT", 409, true, "text", "invalid_request"],
  ["UPGRADE_REQUIRED", 426, false, "message", "invalid_request"],
  ["DAILY_REQUEST_LIMIT_EXCEEDED", 429, true, "text", "rate_limited"],
  ["RATE_LIMIT_ERROR", 429, true, "text", "rate_limited"],
  ["IP_RATE_LIMIT", 429, false, "message", "rate_limited"],
  ["TOO_MANY_REQUESTS", 429, false, "message", "rate_limited"],
  ["INTERNAL", 500, false, "text", "server"],
  ["PROVIDER_ERROR", 502, true, "text", "server"],
  ["CIRCUIT_BREAKER_OPEN", 503, true, "text", "overloaded"],
  ["OVERLOADED", 503, true, "text", "overloaded"],
  ["STORE_UNAVAILABLE", 503, true, "text", "overloaded"],
  ["SHUTTING_DOWN", 503, true, "text", "overloaded"],
  ["PROVIDER_TIMEOUT", 504, true, "text", "timeout"],
];

describe("the table of errors", () => {
  test.each(TABLE)("%s", (code, status, coded, body, kind) => {
    expect(ERRORS[code]).toMatchObject({ status, coded, body, kind });
    expect(new GatewayError(code, "text").status).toBe(status);
  });

  test("has one row with a second status, which an error may choose", () => {
    const rows = Object.entries(ERRORS).flatMap(([code, row]) => ("others" in row ? [[code, row.others]] : []));
    expect(rows).toEqual([["IDEMPOTENCY_CONFLICT", [422]]]);
    expect(new GatewayError("IDEMPOTENCY_CONFLICT", "text", { status: 422 }).status).toBe(422);
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
