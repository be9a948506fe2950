import { errors } from "undici";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { headFailure, retryAfter, statusFailure, connectionFailure } from "../../../src/upstream/send/classify.ts";
import { PATIENCE, RUNS } from "../../properties/runs.ts";

const NOW = Date.UTC(2026, 10, 21, 12);

describe("statusFailure", () => {
  it.each([
    [201, "protocol"],
    [204, "protocol"],
    [301, "protocol"],
    [302, "protocol"],
    [304, "protocol"],
    [307, "protocol"],
    [400, "client_fault"],
    [401, "credentials"],
    [402, "credentials"],
    [403, "credentials"],
    [404, "declined"],
    [405, "client_fault"],
    [407, "declined"],
    [408, "status"],
    [409, "client_fault"],
    [410, "declined"],
    [413, "client_fault"],
    [422, "client_fault"],
    [429, "rate_limited"],
    [451, "client_fault"],
    [500, "status"],
    [502, "status"],
    [503, "status"],
    [529, "status"],
    [600, "protocol"],
    [999, "protocol"],
  ])("%i is %s", (status, failure) => {
    const error = statusFailure(status, {}, NOW);
    expect(error).toMatchObject({ failure, status, retryAfter: null });
    expect(error.message).toContain(String(status));
  });

  it("carries what Retry-After asks for", () => {
    expect(statusFailure(503, { "retry-after": "2" }, NOW).retryAfter).toBe(2_000);
  });
});

describe("retryAfter", () => {
  it.each([
    [{ "retry-after": "1.5" }, 1_500],
    [{ "retry-after": "0" }, 50],
    [{ "retry-after": "1000000000" }, 300_000],
    [{ "retry-after": "Sat, 21 Nov 2026 12:00:10 GMT" }, 10_000],
    [{ "retry-after": "Saturday, 21-Nov-26 12:00:10 GMT" }, 10_000],
    [{ "retry-after": "Sat, 21 Nov 2026 11:00:00 GMT" }, 50],
    [{ "retry-after": "Sat, 99 Nov 2026 11:00:00 GMT" }, null],
    [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
    [{ "retry-after-ms": "soon", "retry-after": "9" }, 9_000],
    [{ "retry-after": ["3", "4"] }, 3_000],
    [{ "retry-after": "-1" }, null],
    [{ "retry-after": "1e9" }, null],
    [{ "retry-after": "" }, null],
    [{ "retry-after": "tomorrow" }, null],
    [{}, null],
  ])("%j is %s ms", (headers, wait) => {
    expect(retryAfter(headers, NOW)).toBe(wait);
  });

  it(
    "is null or within bounds, whatever is sent",
    () => {
      const text = fc.oneof(
        fc.string(),
        fc.double().map(String),
        fc.date({ noInvalidDate: true }).map((d) => d.toUTCString()),
      );
      fc.assert(
        fc.property(fc.option(text, { nil: undefined }), fc.option(text, { nil: undefined }), (seconds, ms) => {
          const wait = retryAfter({ "retry-after": seconds, "retry-after-ms": ms }, NOW);
          expect(wait === null || (wait >= 50 && wait <= 300_000)).toBe(true);
        }),
        { numRuns: RUNS },
      );
    },
    PATIENCE,
  );
});

describe("headFailure", () => {
  it.each([
    [{ "content-type": "application/json" }, null],
    [{ "content-type": "Application/JSON; charset=utf-8", "content-encoding": "Identity" }, null],
    [{ "content-type": "text/html" }, "protocol"],
    [{ "content-type": "application/jsonp" }, "protocol"],
    [{}, "protocol"],
  ])("%j: %s", (headers, failure) => {
    expect(headFailure(headers, "application/json")?.failure ?? null).toBe(failure);
  });
});

const coded = (code: string, message = ""): Error => Object.assign(new Error(message), { code });

describe("wireFailure", () => {
  it.each([
    [coded("ECONNREFUSED"), false, "connect"],
    [coded("ENOTFOUND"), false, "connect"],
    [coded("ECONNRESET"), false, "connect"],
    [coded("DEPTH_ZERO_SELF_SIGNED_CERT"), false, "connect"],
    [coded("ETIMEDOUT"), false, "timeout"],
    [new errors.ConnectTimeoutError("10.1.2.3:443"), false, "timeout"],
    [new errors.InvalidArgumentError("invalid authorization header"), false, "credentials"],
    [coded("ECONNRESET"), true, "reset"],
    [coded("EPIPE"), true, "reset"],
    [coded("ETIMEDOUT"), true, "timeout"],
    [new errors.SocketError("other side closed"), true, "reset"],
    [new errors.SocketError("bad response"), true, "protocol"],
    [new errors.SocketError("bad upgrade"), true, "protocol"],
    [new errors.HeadersOverflowError(), true, "protocol"],
    [new errors.ResponseContentLengthMismatchError(), true, "protocol"],
    [new errors.HTTPParserError("secret bytes"), true, "protocol"],
  ])("%s, sent %s: %s", (cause, sent, failure) => {
    const error = connectionFailure(cause, sent);
    expect(error).toMatchObject({ failure, status: 0, cause });
    expect(error.message).not.toMatch(/10\.1|secret|authorization/);
  });
});
