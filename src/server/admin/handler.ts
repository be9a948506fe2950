import type { RequestListener } from "node:http";
import { type H3Event, HTTPResponse } from "h3";
import { auditStamps, type AuditStamp, GatewayError } from "../../kit/index.ts";
import type { AnswerPage } from "../pages.ts";
import { repeatedCredential } from "../head-refusals.ts";
import { type HttpExchange, limitUnreadBody, pathOf, requestIdOf } from "../respond.ts";
import { createRouter, jsonResponse, notFound, type Route, type RouteContext } from "../router.ts";
import { AdminAccess, type AdminSettings } from "./access.ts";
import { audited } from "./audit.ts";
import type { AdminCaller, AdminEndpoint, AdminParts } from "./endpoint.ts";
import { ADMIN_ENDPOINTS } from "./endpoints.ts";
import { readInput } from "./input.ts";
import { ConsoleSessions, FailureReports } from "./sessions.ts";

export interface AdminOptions extends Omit<AdminParts, "sessions" | "openApi"> {
  readonly settings: () => AdminSettings;
  /** Answered before the rows, to who names this host. */
  readonly pages?: AnswerPage;
  /** The admin token that a sign-in link stands for; null for any other text. Without it there are no links. */
  readonly redeemLink?: (code: string, address: string) => string | null;
  /** Unix milliseconds; the system's clock unless given. */
  readonly now?: () => number;
}

/** The admin listener: probes and metrics for anyone who reaches it, the rest for holders of a token. */
export function createAdminHandler(options: AdminOptions): RequestListener {
  const { settings, services, log, now = Date.now } = options;
  const failures = new FailureReports(services, log);
  const onFailed = (address: string, isLimited: boolean): void => failures.add(address, isLimited);
  const access = new AdminAccess({
    settings,
    now,
    onFailed,
    log,
    ...(options.redeemLink && { redeemLink: options.redeemLink }),
  });
  const stamp = auditStamps(now);
  const sessions = new ConsoleSessions({ access, services, stamp, now, log });
  let openApi: Promise<string> | null = null;
  const parts: AdminParts = { ...options, sessions, openApi: () => (openApi ??= describe()) };
  const callers = new WeakMap<H3Event, AdminCaller>();
  const guard = async (event: H3Event): Promise<void> => {
    const req = requestOf(event);
    const { pathname } = event.url;
    const anyHost = ANY_HOST.has(pathname);
    access.requireOwnHost(req, { anyHost });
    if (anyHost) return;
    if (!access.isOn) throw notFound();
    const repeated = repeatedCredential(req);
    if (repeated !== null) throw repeated;
    if (OPEN.has(`${event.req.method} ${pathname}`)) return;
    const caller = access.callerOf(req);
    await sessions.check(caller);
    callers.set(event, caller);
  };
  const of = (event: H3Event): Caller => ({
    caller: callers.get(event) ?? null,
    address: access.addressOf(requestOf(event)),
  });
  const routes = ADMIN_ENDPOINTS.map((endpoint) => routeOf(endpoint, parts, stamp, of));
  const router = createRouter(routes, log, { guard });
  return (req, res) => {
    const requestId = requestIdOf(req.headers["x-request-id"]);
    const http: HttpExchange = {
      req,
      res,
      requestId,
      always: [],
      errorStyle: null,
      errorFormat: "text",
      closing: () => false,
    };
    if (access.isOwnHost(req) && (options.pages?.(http, pathOf(req.url ?? "/")) ?? null) !== null) return;
    res.setHeader("X-Request-Id", requestId);
    res.setHeader("Cache-Control", "no-store");
    if (req.headers.expect !== undefined) res.writeContinue();
    limitUnreadBody(req, res);
    router(req, res);
  };
}

const ANY_HOST = new Set(ADMIN_ENDPOINTS.filter(({ anyHost }) => anyHost).map(({ path }) => path));
const OPEN = new Set(
  ADMIN_ENDPOINTS.filter(({ role }) => role === "none").map(({ method, path }) => `${method} ${path}`),
);

function requestOf(event: H3Event): RouteContext["req"] {
  return event.runtime!.node!.req as RouteContext["req"];
}

interface Caller {
  readonly caller: AdminCaller | null;
  readonly address: string;
}

function routeOf(
  endpoint: AdminEndpoint,
  parts: AdminParts,
  stamp: AuditStamp,
  callerOf: (event: H3Event) => Caller,
): Route {
  const { method, path, role, auditedAs } = endpoint;
  const isAudited = role === "operator" || auditedAs !== undefined;
  const handle = isAudited ? audited(endpoint, parts, stamp) : endpoint.route(parts);
  return {
    method,
    path: path.replaceAll(/\{(\w+)\}/g, ":$1"),
    async handle(event, context) {
      const { caller, address } = callerOf(event);
      if (role !== "none" && caller === null)
        throw new GatewayError("AUTHENTICATION_REQUIRED", "Authentication required");
      if (role === "operator" && caller?.role !== "operator") {
        throw new GatewayError("FORBIDDEN", "The token's role may not do this");
      }
      const input = await readInput(endpoint, event, context);
      const { req } = context;
      const isCli = req.headers["x-gateway-client"] === "cli";
      const answer = await handle({ ...input, caller, address, isCli, req, event, note: () => {} });
      return answer instanceof HTTPResponse || answer instanceof Response ? answer : jsonResponse(200, answer);
    },
  };
}

async function describe(): Promise<string> {
  const { adminDocument } = await import("../openapi/admin-document.ts");
  return JSON.stringify(adminDocument());
}
