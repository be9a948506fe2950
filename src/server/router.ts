import type { IncomingMessage, RequestListener } from "node:http";
import { H3, type H3Event, HTTPError, HTTPResponse } from "h3";
import { BodyTooLargeError } from "srvx/body-limit";
import { toNodeHandler } from "srvx/node";
import { type Awaitable, escapeRegExp, GatewayError, invalidRequest, type Log } from "../kit/index.ts";
import type { ByteBudget } from "./byte-budget.ts";
import { ROUTE_BODY_BYTES } from "./request-body.ts";
import { type HttpExchange, refusalOf } from "./respond.ts";

/** One request to a listener's routes. */
export interface RouteContext {
  readonly req: IncomingMessage;
  /** Whose answers' headers are there already; null on the admin listener. */
  readonly http: HttpExchange | null;
  /** Client address, IPv4-mapped IPv6 already unmapped. */
  readonly ip: string;
  /** Whether it came from a trusted proxy, whose `X-Forwarded-*` headers are believed. */
  readonly proxied: boolean;
  /** For the bodies of requests to the public listener. */
  readonly memory?: ByteBudget;
  /** The pattern of the path it is for, once the router has found one. */
  route: string | null;
}

/** One row of a listener's route table; `path` is an h3 pattern. */
export interface Route {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  /** What it answers, errors included, is for the caller alone: `Cache-Control: no-store`. */
  readonly secret?: boolean;
  /** What it returns is sent by h3 (objects as JSON); GatewayErrors become their row of the error table. */
  readonly handle: (event: H3Event, context: RouteContext) => unknown;
}

export interface RouterOptions {
  /** Inference paths, which take POST and are served before the router: known here for their 405. */
  readonly externalPaths?: Iterable<string>;
  /** Runs before a route, also before its 405; throws to refuse. */
  readonly guard?: (event: H3Event) => Awaitable<void>;
  readonly contextOf?: (req: IncomingMessage) => RouteContext;
}

/** Serves a route table through h3: unknown paths are 404, known ones with another method 405. */
export function createRouter(
  routes: readonly Route[],
  log: Log,
  { externalPaths = [], guard = () => {}, contextOf = rememberContexts() }: RouterOptions = {},
): RequestListener {
  const context = (event: H3Event): RouteContext => contextOf(event.runtime!.node!.req as IncomingMessage);
  const app = new H3({
    silent: true,
    onError: (error, event) => errorResponse(error, event, log, context(event)),
  });
  const behind =
    (handle: (event: H3Event) => unknown) =>
    (event: H3Event): unknown => {
      const guarded = guard(event);
      return guarded instanceof Promise ? guarded.then(() => handle(event)) : handle(event);
    };
  const methods = new Map<string, string[]>();
  for (const path of externalPaths) methods.set(path, ["POST"]);
  for (const route of routes) {
    const { method, path } = route;
    const known = methods.get(path) ?? [];
    methods.set(path, [...known, ...(method === "GET" ? ["GET", "HEAD"] : [method])]);
    const guarded = behind((event) => serve(route, event, context(event)));
    app.on(method, path, guarded);
    if (method === "GET") app.on("HEAD", path, guarded);
  }
  for (const [path, allowed] of methods) {
    const refuse = (event: H3Event): never => {
      if (allowed.includes(event.req.method) || event.url.pathname.endsWith("/")) throw notFound();
      context(event).route = path;
      const headers = { Allow: allowed.join(", ") };
      throw new GatewayError("METHOD_NOT_ALLOWED", "Method not allowed", { headers });
    };
    app.all(path, behind(refuse));
  }
  const paths = [...methods.keys()].map(patternOf);
  const refuseUnknown = (event: H3Event): never => {
    throw notFound(hintFor(event.url.pathname, paths));
  };
  app.all("/**", behind(refuseUnknown));
  return toNodeHandler((request) => app.fetch(request), { maxRequestBodySize: ROUTE_BODY_BYTES }) as RequestListener;
}

function serve(route: Route, event: H3Event, context: RouteContext): unknown {
  // The router overlooks a trailing slash; a path with one is another path, unless it is part of what `**` stands for.
  if (event.url.pathname.endsWith("/") && !route.path.endsWith("/**")) throw notFound();
  context.route = route.path;
  // Headers set here go with whatever is answered, an error too.
  if (route.secret) event.res.headers.set("Cache-Control", "no-store");
  return route.handle(event, context);
}

/** One context for each request, so that what a route notes there is found later. */
function rememberContexts(): (req: IncomingMessage) => RouteContext {
  const contexts = new WeakMap<IncomingMessage, RouteContext>();
  return (req) => {
    const known = contexts.get(req);
    if (known !== undefined) return known;
    const made = { req, http: null, ip: req.socket.remoteAddress ?? "", proxied: false, route: null };
    contexts.set(req, made);
    return made;
  };
}

/** @param hint what to do about it. */
export function notFound(hint = ""): GatewayError {
  return new GatewayError("UNKNOWN_PATH", `Not found${hint}`);
}

/** The paths of an h3 pattern. */
function patternOf(path: string): RegExp {
  const parts = path
    .split("/")
    .map((part) => (part.startsWith("**") ? ".+" : part.startsWith(":") ? "[^/]+" : escapeRegExp(part)));
  return new RegExp(`^${parts.join("/")}$`);
}

const MAX_SHOWN_PATH_CHARACTERS = 200;

/** For a client whose base URL lacks `/v1`, or has it twice; empty for any other path. */
function hintFor(path: string, paths: readonly RegExp[]): string {
  const isTwice = path.startsWith("/v1/v1/");
  const meant = isTwice ? path.replace(/^(\/v1)+\//, "/v1/") : `/v1${path}`;
  if (!paths.some((known) => known.test(meant))) return "";
  const remedy = isTwice ? "take the second /v1 out of" : "add /v1 to";
  return `: the path is ${meant.slice(0, MAX_SHOWN_PATH_CHARACTERS)}; ${remedy} the client's base URL`;
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

function errorResponse(error: HTTPError, event: H3Event, log: Log, { http, route }: RouteContext): HTTPResponse {
  const cause = causeOf(error);
  const { status, code, contentType, headers, body } = refusalOf(cause, http);
  if (code === "INTERNAL") {
    // The pattern of the path: in a path itself may be the id of a user.
    log.error({ err: cause, request_id: requestIdIn(event), path: route ?? "other" }, "request failed");
  }
  return textResponse(status, contentType, body, headers);
}

/** The request's id, which every answer carries from the beginning. */
export function requestIdIn(event: H3Event): string {
  return String(event.runtime?.node?.res?.getHeader("X-Request-Id"));
}

/** What a handler threw, which h3 has wrapped; its own errors (no route, a malformed URL) as rows of the table. */
function causeOf(error: HTTPError): unknown {
  const thrown = error.unhandled ? error.cause : error;
  if (thrown instanceof BodyTooLargeError) {
    return new GatewayError("REQUEST_TOO_LARGE", `Request body exceeds the limit of ${ROUTE_BODY_BYTES} bytes`);
  }
  if (!(thrown instanceof HTTPError) || thrown.status >= 500) return thrown;
  return thrown.status === 404 ? notFound() : invalidRequest("/", "must have a well-formed path");
}
