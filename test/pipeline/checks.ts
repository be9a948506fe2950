import { GatewayError, invalidRequest } from "../../src/kit/index.ts";
import type { BenchParts, RequestParts } from "../support/bench.ts";
import { testTier } from "../support/snapshot.ts";
import type { TestClient } from "../support/client.ts";

export function refusalOf({ refused }: TestClient): {
  readonly code: string;
  readonly message: string;
  readonly retryAfter?: number;
} {
  const error = refused?.error;
  if (!(error instanceof GatewayError)) throw new Error(`not refused by a GatewayError: ${String(error)}`);
  return { code: error.code, message: error.message, retryAfter: error.details.retryAfter };
}

/** Each check, in the order of the decisions, with what fails it; a request fails its own check and every later one. */
export const CHECKS: readonly {
  readonly code: string;
  readonly message: string;
  readonly request?: RequestParts;
  readonly parts?: BenchParts;
}[] = [
  {
    code: "AUTHENTICATION_ERROR",
    message: "Invalid API key",
    request: { credentials: { kind: "key", value: "rk_wrong" } },
  },
  {
    code: "INVALID_REQUEST",
    message: "Invalid request: /messages is missing",
    request: { read: () => Promise.reject(invalidRequest("/messages", "is missing")) },
  },
  { code: "INVALID_MODEL", message: "Invalid model: 'route/none'", request: { body: { model: "route/none" } } },
  {
    code: "MODEL_NOT_ALLOWED",
    message: "Model 'route/max' is not available on your plan",
    request: { body: { model: "route/max" } },
  },
  { code: "INSUFFICIENT_CREDITS", message: "Insufficient credits for this request", parts: { credits: 0n } },
  { code: "DAILY_REQUEST_LIMIT_EXCEEDED", message: "Daily request limit exceeded", parts: limited({ day: 0 }) },
  { code: "RATE_LIMIT_ERROR", message: "Hourly request limit exceeded", parts: limited({ hour: 0 }) },
  { code: "RATE_LIMIT_ERROR", message: "Per-minute request limit exceeded", parts: limited({ minute: 0 }) },
  {
    code: "RATE_LIMIT_ERROR",
    message: "Concurrent stream limit exceeded",
    parts: limited({ streams: 0 }),
    request: { body: { stream: true } },
  },
];

type LimitNames = "day" | "hour" | "minute" | "streams";

export function limited(limits: Partial<Record<LimitNames, number>>): BenchParts {
  return { tiers: [testTier("Free", { access: ["Free"], ...limits }), testTier("Max")] };
}
