import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from "node:http";
import {
  CLIENT_GONE_STATUS,
  type Endpoint,
  type ErrorCode,
  type GatewayError,
  inBackground,
  type Log,
  type RequestPipeline,
  type RequestTrace,
  type ServerSettings,
  type Store,
  type TelemetrySettings,
  Uuids,
} from "../kit/index.ts";
import type { ValidateBody } from "./body-schemas.ts";
import { ByteBudget } from "./byte-budget.ts";
import { rememberClients, rememberProxies } from "./client-address.ts";
import { Connections } from "./connections.ts";
import type { Format } from "./endpoint.ts";
import { FORMATS } from "./endpoints.ts";
import { createInference, type RunningStream } from "./inference.ts";
import { createIpLimit } from "./ip-limit.ts";
import type { AnswerPage } from "./pages.ts";
import { headRefusal } from "./head-refusals.ts";
import { headOf, type HttpExchange, limitUnreadBody, pathOf, refusalOf, requestIdOf, respond } from "./respond.ts";
import { createRouter, type Route, type RouteContext } from "./router.ts";
import { errorStyleOf } from "./routes/inference.ts";

/** A request that was refused without reaching the pipeline. */
export interface RejectedEarly {
  readonly endpoint: Endpoint | "other";
  readonly status: number;
  readonly code: ErrorCode | null;
  readonly requestId: string;
  readonly durationMs: number;
  readonly method: string;
  readonly trace: RequestTrace | null;
  readonly address: string;
}

/** A request that was answered by one of the routes beside inference. */
export interface RouteServed {
  /** The pattern of its path, never what the client wrote; "other" for a path that is none of ours. */
  readonly route: string;
  readonly method: string;
  /** 499 for a client that left before. */
  readonly status: number;
  readonly requestId: string;
  readonly durationMs: number;
  readonly trace: RequestTrace | null;
  readonly address: string;
}

export interface PublicServerOptions {
  /** Of the configuration in force; read once per request. */
  readonly pipeline: () => RequestPipeline;
  /** See `InferenceOptions`. */
  readonly candidateFor?: (userId: string) => RequestPipeline | null;
  /** See `InferenceOptions`. */
  readonly shed?: (tier: string) => GatewayError | null;
  /** Of the configuration in force; read once per request. */
  readonly settings: () => ServerSettings;
  readonly validateBody: ValidateBody;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds with fractions, of a clock for durations; left out: `now`. */
  readonly elapsed?: () => number;
  /** The trace that a request belongs to; left out: none. */
  readonly traceOf?: (headers: IncomingHttpHeaders) => RequestTrace | null;
  /** Of the configuration in force; left out: on request. */
  readonly serverTiming?: () => TelemetrySettings["serverTiming"];
  readonly log: Log;
  /** Further routes beside inference. */
  readonly routes?: readonly Route[];
  /** Answered before the routes where `server.dashboard` says so. */
  readonly pages?: AnswerPage;
  readonly onRejectedEarly?: (rejected: RejectedEarly) => void;
  readonly onRouteServed?: (served: RouteServed) => void;
  /** Of a store that several processes share: what each address sends counts in all of them. */
  readonly addCounts?: Store["addCounts"];
}

export interface PublicServer {
  /** For every listen address. */
  readonly handler: RequestListener;
  /** Of all listen addresses together. */
  readonly connections: Connections;
  /** While draining every answer closes its connection. */
  setDraining(draining: boolean): void;
  /** Requests that have not been answered and settled. */
  inFlight(): number;
  /** Streams of events that have begun. */
  activeStreams(): number;
  /** Every request that is to be answered by a stream, begun or not; the oldest first. */
  streams(): readonly RunningStream[];
  /** Ends one as its user could. @returns false when there is none of that id. */
  endStream(id: string): boolean;
  /** Ends every running inference request; the pipeline answers and settles it. */
  abortAll(reason: "shutdown"): void;
}

/** One request as its head describes it. */
interface ReceivedRequest {
  readonly http: HttpExchange;
  /** null for everything beside inference. */
  readonly format: Format | null;
  readonly ip: string;
  /** Whether it came from a trusted proxy. */
  readonly proxied: boolean;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  /** The same by the clock for durations. */
  readonly arrivedAt: number;
  readonly bodyLimit: number;
  readonly serverTiming: boolean;
  readonly trace: RequestTrace | null;
}

/** The public listener: inference past the router, everything else through h3. */
export function createPublicServer(options: PublicServerOptions): PublicServer {
  const { settings, now, elapsed = now, log, onRejectedEarly, onRouteServed } = options;
  const budgets = {
    memory: new ByteBudget(() => settings().bodyMemory),
    disk: new ByteBudget(() => settings().uploadSpace),
  };
  const ids = new Uuids();
  const newId = (): string => ids.random();
  const inference = createInference({ ...options, elapsed, budgets, ids });
  const contexts = new WeakMap<IncomingMessage, RouteContext>();
  const router = createRouter(options.routes ?? [], log, {
    externalPaths: FORMATS.keys(),
    contextOf: (req) => contexts.get(req)!,
  });
  const ipLimit = createIpLimit(options.addCounts ?? null, log);
  const trusted = rememberProxies(log);
  const clientOf = rememberClients(log);
  let draining = false;
  let routeRequests = 0;
  /** Requests that are not known yet to be within the limit of their address. */
  let held = 0;
  const closing = (): boolean => draining;

  const reject = (received: ReceivedRequest, status: number, code: ErrorCode | null): void => {
    const { http, format, ip: address, receivedAt, trace } = received;
    const { requestId } = http;
    const durationMs = now() - receivedAt;
    const { method = "" } = http.req;
    const endpoint = format?.endpoint ?? "other";
    onRejectedEarly?.({ endpoint, status, code, requestId, durationMs, method, trace, address });
  };

  /** @param tooMany what the limit of its address refuses it with. */
  const proceed = (received: ReceivedRequest, tooMany: GatewayError | null): void => {
    const { http, format } = received;
    // Its close has passed: nobody would be told of it any more.
    if (http.res.destroyed) return reject(received, CLIENT_GONE_STATUS, null);
    const refused = tooMany ?? headRefusal(http.req);
    if (refused !== null) {
      const { status, code, contentType, headers, body } = refusalOf(refused, http);
      respond(http, status, contentType, headers, body);
      return reject(received, status, code);
    }
    if (format === null) serveRoute(received);
    else inference.serve(received, format);
  };

  const serveRoute = ({ http, ip, proxied, receivedAt, trace }: ReceivedRequest): void => {
    const { req, res, requestId } = http;
    const context: RouteContext = { req, http, ip, proxied, memory: budgets.memory, route: null };
    contexts.set(req, context);
    routeRequests += 1;
    res.once("close", () => {
      routeRequests -= 1;
      const status = res.headersSent ? res.statusCode : CLIENT_GONE_STATUS;
      const durationMs = now() - receivedAt;
      const { method = "" } = req;
      onRouteServed?.({ route: context.route ?? "other", method, status, requestId, durationMs, trace, address: ip });
    });
    context.route = settings().dashboard ? (options.pages?.(http, pathOf(req.url ?? "/")) ?? null) : null;
    if (context.route !== null) return;
    const head = headOf(http, "", {});
    for (let index = 0; index < head.length; index += 2) res.setHeader(head[index]!, head[index + 1]!);
    if (req.headers.expect !== undefined) res.writeContinue();
    limitUnreadBody(req, res);
    router(req, res);
  };

  const holdFor = async (verdict: Promise<GatewayError | null>, received: ReceivedRequest): Promise<void> => {
    held += 1;
    const tooMany = await verdict;
    held -= 1;
    proceed(received, tooMany);
  };

  const connections = new Connections(() => {
    const { connections: bounds, trustedProxies } = settings();
    return { bounds, isProxy: trusted(trustedProxies) };
  });

  return {
    connections,
    handler(req, res) {
      const receivedAt = now();
      const arrivedAt = elapsed();
      const { trustedProxies, ipLimit: limit, cors, bodyLimit, errorFormat } = settings();
      const path = pathOf(req.url ?? "/");
      const inApi = path.startsWith("/v1/") || FORMATS.has(path);
      const requestId = requestIdOf(req.headers["x-request-id"], newId);
      const format = (req.method === "POST" ? FORMATS.get(path) : undefined) ?? null;
      const errorStyle = format ?? errorStyleOf(path);
      const permitted = inApi ? corsHeaders(req, cors.origins) : [];
      const idHeader = errorStyle?.requestIdHeader;
      const fixed = idHeader === undefined ? permitted : [...permitted, idHeader, requestId];
      // Node drops what was read behind a request for an upgrade: a request in it would wait for ever.
      const closes = req.headers.upgrade === undefined ? closing : alwaysTrue;
      const http: HttpExchange = { req, res, requestId, always: fixed, errorStyle, errorFormat, closing: closes };
      if (inApi && isPreflight(req)) return respond(http, 204, "", preflightHeaders(req), "");

      const { ip, proxied } = clientOf(req, trusted(trustedProxies), receivedAt);
      const received: ReceivedRequest = {
        http,
        format,
        ip,
        proxied,
        receivedAt,
        arrivedAt,
        bodyLimit,
        serverTiming: saysTiming(options.serverTiming?.() ?? "on_request", req.headers),
        trace: options.traceOf?.(req.headers) ?? null,
      };
      const verdict = ipLimit.take(ip, limit, receivedAt);
      if (verdict instanceof Promise) inBackground(log, "a request", holdFor(verdict, received));
      else proceed(received, verdict);
    },
    setDraining(value) {
      draining = value;
    },
    inFlight: () => inference.requests.size + routeRequests + held,
    activeStreams() {
      let streams = 0;
      inference.requests.each(({ client }) => {
        if (client.streaming) streams += 1;
      });
      return streams;
    },
    streams() {
      const streams: RunningStream[] = [];
      inference.requests.each((request) => {
        const stream = request.stream();
        if (stream !== null) streams.push(stream);
      });
      return streams.toSorted((a, b) => b.age - a.age);
    },
    endStream(id) {
      let found = false;
      inference.requests.each((request) => {
        if (request.id !== id || request.stream() === null) return;
        found = true;
        request.client.abort("killed");
      });
      return found;
    },
    abortAll(reason) {
      inference.requests.each(({ client }) => client.abort(reason));
    },
  };
}

function alwaysTrue(): boolean {
  return true;
}

function saysTiming(setting: TelemetrySettings["serverTiming"], headers: IncomingHttpHeaders): boolean {
  return setting === "always" || (setting === "on_request" && headers["x-server-timing"] === "1");
}

/** Without being named here a response header does not exist for a page's script. */
const EXPOSED = [
  "X-Request-Id",
  "X-Error-Code",
  "Retry-After",
  "X-Should-Retry",
  "X-Gateway-Dropped",
  "X-Gateway-Queued-Ms",
  "Server-Timing",
  "X-Gateway-Answered-By",
  "Idempotency-Replayed",
  "Deprecation",
  "Sunset",
  "Request-Id",
  ...["", "-Day", "-Hour", "-Minute"].flatMap((window) =>
    ["Limit", "Remaining", "Reset"].map((name) => `X-RateLimit-${name}${window}`),
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
    "Access-Control-Allow-Methods": "GET, POST, PATCH, DELETE, OPTIONS",
    "Access-Control-Max-Age": "7200",
  };
  const asked = req.headers["access-control-request-headers"];
  if (asked !== undefined) headers["Access-Control-Allow-Headers"] = asked;
  return headers;
}
