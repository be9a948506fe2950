import type { RequestListener } from "node:http";
import { H3, type H3Event, HTTPError, HTTPResponse } from "h3";
import { BodyTooLargeError } from "srvx/body-limit";
import { toNodeHandler } from "srvx/node";
import { GatewayError, invalidRequest, type Log } from "../kit/index.ts";
import { refusalOf } from "./refusal.ts";

/** Bodies of everything beside inference are small. */
const BODY_LIMIT = 64 * 1024;

/** One row of a listener's route table; `path` is an h3 pattern. */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** What it returns is sent by h3 (objects as JSON); GatewayErrors become their row of the error table. */
  readonly handle: (event: H3Event) => unknown;
}

/**
 * Serves a route table through h3: unknown paths are 404, known ones with another method 405 (decisions 1.4).
 * @param elsewhere POST paths that are served before this: known here for their 405.
 * @param guard runs before a route, also before its 405; throws to refuse.
 */
export function createApp(
  routes: readonly Route[],
  log: Log,
  { elsewhere = [], guard = () => {} }: { elsewhere?: Iterable<string>; guard?: (event: H3Event) => void } = {},
): RequestListener {
  const app = new H3({ silent: true, onError: (error, event) => errorResponse(error, event, log) });
  const methods = new Map<string, string[]>();
  for (const path of elsewhere) methods.set(path, ["POST"]);
  for (const { method, path, handle } of routes) {
    const known = methods.get(path) ?? [];
    methods.set(path, [...known, ...(method === "GET" ? ["GET", "HEAD"] : [method])]);
    const guarded = (event: H3Event): unknown => {
      guard(event);
      return handle(event);
    };
    app.on(method, path, guarded);
    if (method === "GET") app.on("HEAD", path, guarded);
  }
  for (const [path, allowed] of methods) {
    app.all(path, (event) => {
      guard(event);
      // The router overlooks a trailing slash; a path with one is another path.
      if (allowed.includes(event.req.method)) throw notFound();
      const headers = { Allow: allowed.join(", ") };
      throw new GatewayError("METHOD_NOT_ALLOWED", "Method not allowed", { headers });
    });
  }
  app.all("/**", (event) => {
    guard(event);
    throw notFound();
  });
  return toNodeHandler((request) => app.fetch(request), { maxRequestBodySize: BODY_LIMIT }) as RequestListener;
}

export function notFound(): GatewayError {
  return new GatewayError("UNKNOWN_PATH", "Not found");
}

/** A text body with its length; a web `Response` would be streamed in chunks. */
export function textResponse(
  status: number,
  contentType: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): HTTPResponse {
  return new HTTPResponse(body, { status, headers: { ...headers, "Content-Type": contentType } });
}

export function jsonResponse(status: number, value: unknown): HTTPResponse {
  return textResponse(status, "application/json", JSON.stringify(value));
}

function errorResponse(error: HTTPError, event: H3Event, log: Log): HTTPResponse {
  const cause = causeOf(error);
  const { status, code, contentType, headers, body } = refusalOf(cause);
  if (code === "INTERNAL") log.error({ err: cause, path: event.url.pathname }, "request failed");
  return textResponse(status, contentType, body, headers);
}

/** What a handler threw, which h3 has wrapped; its own errors (no route, a malformed URL) as rows of the table. */
function causeOf(error: HTTPError): unknown {
  const thrown = error.unhandled ? error.cause : error;
  if (thrown instanceof BodyTooLargeError) {
    return new GatewayError("REQUEST_TOO_LARGE", `Request body exceeds the limit of ${BODY_LIMIT} bytes`);
  }
  if (!(thrown instanceof HTTPError) || thrown.status >= 500) return thrown;
  return thrown.status === 404 ? notFound() : invalidRequest("/", thrown.message);
}
