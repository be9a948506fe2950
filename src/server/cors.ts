import type { IncomingMessage } from "node:http";

/** Without being named here a response header does not exist for a page's script. */
const EXPOSED = [
  "X-Request-Id",
  "X-Error-Code",
  "Retry-After",
  "X-Should-Retry",
  "X-Gateway-Dropped",
  "Request-Id",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  ...["Day", "Hour", "Minute"].flatMap((window) =>
    ["Limit", "Remaining", "Reset"].map((name) => `X-RateLimit-${name}-${window}`),
  ),
].join(", ");

const ANY = Object.freeze(["Access-Control-Allow-Origin", "*", "Access-Control-Expose-Headers", EXPOSED]);
const NOTHING: readonly string[] = Object.freeze([]);

/** Names and values, alternating, for any answer to a browser; nothing for a client that is none. */
export function corsHeaders(req: IncomingMessage, origins: readonly string[]): readonly string[] {
  const { origin } = req.headers;
  if (origin === undefined) return NOTHING;
  if (origins.includes("*")) return ANY;
  // Without Vary a cache would hand one origin's permission to the next.
  if (!origins.includes(origin)) return ["Vary", "Origin"];
  return ["Access-Control-Allow-Origin", origin, "Vary", "Origin", "Access-Control-Expose-Headers", EXPOSED];
}

export function isPreflight(req: IncomingMessage): boolean {
  return (
    req.method === "OPTIONS" &&
    req.headers.origin !== undefined &&
    req.headers["access-control-request-method"] !== undefined
  );
}

/** What the answer to a preflight says beyond `corsHeaders`; `*` would not cover `Authorization`, so names are echoed. */
export function preflightHeaders(req: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {
    "Access-Control-Allow-Methods": "GET, POST, DELETE, OPTIONS",
    "Access-Control-Max-Age": "7200",
  };
  const asked = req.headers["access-control-request-headers"];
  if (asked !== undefined) headers["Access-Control-Allow-Headers"] = asked;
  return headers;
}
