import { hash, timingSafeEqual } from "node:crypto";
import type { RequestListener } from "node:http";
import { isIP } from "node:net";
import type { H3Event } from "h3";
import {
  type Awaitable,
  type ErrorCode,
  GatewayError,
  invalidRequest,
  isLoopback,
  type Json,
  type Log,
  type Secret,
} from "../kit/index.ts";
import { bearerOf } from "./credentials.ts";
import { readObject } from "./request-body.ts";
import { limitUnreadBody, requestIdOf } from "./respond.ts";
import { createRouter, jsonResponse, notFound, type Route, textResponse } from "./router.ts";

/** The result of a reload as `POST /admin/reload` shows it. */
export type ReloadResult =
  | { readonly ok: true; readonly hash: string; readonly guarded?: true }
  | { readonly ok: false; readonly diagnostics: readonly unknown[] };

/** The answer to `POST /admin/explain`; a process without the public API has it of another one. */
export type ExplainResult =
  | { readonly ok: true; readonly explanation: unknown }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string };

export interface AdminOptions {
  /** As configured; an empty token switches everything under `/admin` off. */
  readonly settings: () => { readonly host: string; readonly token: Secret };
  /** Why the process cannot serve; empty when it can. */
  readonly notReady: () => Awaitable<readonly string[]>;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly body: string }>;
  /** Answers of the GET routes, as JSON. */
  readonly config: () => Awaitable<unknown>;
  readonly source: () => Awaitable<unknown>;
  readonly upstreams: () => Awaitable<unknown>;
  readonly streams: () => Awaitable<unknown>;
  /** Ends a stream by its id, as its user could. `complete`: whether every instance was asked. */
  readonly endStream: (id: string) => Awaitable<{ readonly ended: boolean; readonly complete: boolean }>;
  readonly settlements: () => Awaitable<unknown>;
  readonly reload: () => Promise<ReloadResult>;
  /** @param to a hash or the beginning of one; a number: so many generations back. */
  readonly rollback: (to: string | number) => Promise<ReloadResult>;
  /** What would become of a request. */
  readonly explain: (question: Json) => Promise<ExplainResult>;
  readonly log: Log;
}

/** The admin listener: probes and metrics for anyone who reaches it, the rest for the token's holder. */
export function createAdminHandler(options: AdminOptions): RequestListener {
  const {
    notReady,
    metrics,
    config,
    source,
    upstreams,
    streams,
    endStream,
    settlements,
    reload,
    rollback,
    explain,
    log,
  } = options;
  const routes: readonly Route[] = [
    { method: "GET", path: "/livez", handle: () => jsonResponse(200, { status: "live" }) },
    {
      method: "GET",
      path: "/readyz",
      async handle() {
        const reasons = await notReady();
        if (reasons.length === 0) return jsonResponse(200, { status: "ready" });
        return jsonResponse(503, { status: "unavailable", reasons });
      },
    },
    {
      method: "GET",
      path: "/metrics",
      async handle() {
        const { contentType, body } = await metrics();
        return textResponse(200, contentType, body);
      },
    },
    { method: "GET", path: "/admin/config", handle: async () => jsonResponse(200, await config()) },
    { method: "GET", path: "/admin/config/source", handle: async () => jsonResponse(200, await source()) },
    { method: "GET", path: "/admin/upstreams", handle: async () => jsonResponse(200, await upstreams()) },
    { method: "GET", path: "/admin/streams", handle: async () => jsonResponse(200, await streams()) },
    {
      method: "DELETE",
      path: "/admin/streams/:id",
      async handle({ context }) {
        const id = context.params?.["id"] ?? "";
        const { ended, complete } = await endStream(id);
        log.info({ id, ended }, "the end of a stream was asked for over the admin listener");
        if (ended) return jsonResponse(200, { ended });
        throw new GatewayError(
          "NOT_FOUND",
          complete ? "No such stream" : "No such stream on the instances that answer",
        );
      },
    },
    { method: "GET", path: "/admin/settlements", handle: async () => jsonResponse(200, await settlements()) },
    {
      method: "POST",
      path: "/admin/reload",
      async handle() {
        const result = await reload();
        log.info({ ok: result.ok }, "reload asked for over the admin listener");
        return resultResponse(result);
      },
    },
    {
      method: "POST",
      path: "/admin/rollback",
      async handle(event) {
        const to = targetIn(await event.req.text());
        const result = await rollback(to);
        log.info({ ok: result.ok, to }, "rollback asked for over the admin listener");
        return resultResponse(result);
      },
    },
    {
      method: "POST",
      path: "/admin/explain",
      async handle(_event, { req }) {
        const result = await explain(await readObject(req));
        if (!result.ok) throw new GatewayError(result.code, result.message);
        return jsonResponse(200, result.explanation);
      },
    },
  ];
  const router = createRouter(routes, log, { guard: (event) => admit(event, options.settings()) });
  return (req, res) => {
    res.setHeader("X-Request-Id", requestIdOf(req.headers["x-request-id"]));
    res.setHeader("Cache-Control", "no-store");
    if (req.headers.expect !== undefined) res.writeContinue();
    limitUnreadBody(req, res);
    router(req, res);
  };
}

/** Field by field: what else the result says is not part of the contract. */
function resultResponse(result: ReloadResult): ReturnType<typeof jsonResponse> {
  if (!result.ok) return jsonResponse(422, { ok: false, diagnostics: result.diagnostics });
  return jsonResponse(200, { ok: true, hash: result.hash, ...(result.guarded && { guarded: true }) });
}

/** `{to}` of a rollback, the generation before when there is no body. @throws GatewayError 400 */
function targetIn(text: string): string | number {
  if (text.trim() === "") return 1;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw invalidRequest("/", "must be JSON");
  }
  // A hash at another place would go back one generation, to one that nobody meant.
  const keys = typeof body === "object" && body !== null && !Array.isArray(body) ? Object.keys(body) : null;
  if (keys === null || keys.some((key) => key !== "to")) throw invalidRequest("/", 'must be an object of "to" alone');
  const { to = 1 } = body as { readonly to?: unknown };
  if (typeof to === "string" || (typeof to === "number" && Number.isInteger(to) && to >= 0)) return to;
  throw invalidRequest("/to", "must be a hash, or how many generations back");
}

const UNPROTECTED_PATHS = new Set(["/livez", "/readyz", "/metrics"]);

/** @throws GatewayError for a caller that may not have this path. */
function admit(event: H3Event, { host, token }: ReturnType<AdminOptions["settings"]>): void {
  const open = UNPROTECTED_PATHS.has(event.url.pathname);
  // A listener on the network is scraped under names that nobody configures here; on loopback there are none.
  if (!(open && !isLoopback(host)) && !isOwnName(event.req.headers.get("host"), host)) {
    throw invalidRequest("/", "names another host; use localhost, an IP address or the host of server.admin");
  }
  if (open) return;
  if (token.empty) throw notFound();
  const sent = bearerOf(event.req.headers.get("authorization"));
  if (sent === null) throw new GatewayError("AUTHENTICATION_REQUIRED", "Authentication required");
  if (!sameSecret(sent, token.reveal())) throw new GatewayError("INVALID_TOKEN", "Invalid or expired token");
}

/** Digests have one length: the comparison takes as long whatever was sent. */
function sameSecret(sent: string, secret: string): boolean {
  return timingSafeEqual(hash("sha256", sent, "buffer"), hash("sha256", secret, "buffer"));
}

/** Against DNS rebinding: a page's own host name, pointed at this address, is none of ours. */
function isOwnName(header: string | null, configured: string): boolean {
  if (header === null) return true;
  const name = header
    .replace(/:\d*$/, "")
    .replace(/^\[|\]$/g, "")
    .toLowerCase();
  return isIP(name) !== 0 || isLoopback(name) || name === configured.toLowerCase();
}
