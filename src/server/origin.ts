import type { TLSSocket } from "node:tls";
import type { Visit } from "./app.ts";

/** Without userinfo or a path, which a URL would take for something else than a host. */
const HOST = /^[\w.:[\]-]+$/;

/** Whether the client's own connection is encrypted, here or at a trusted proxy. */
export function isSecure({ req, proxied }: Visit): boolean {
  if ((req.socket as Partial<TLSSocket>).encrypted) return true;
  return proxied && nearest(req.headers["x-forwarded-proto"])?.toLowerCase() === "https";
}

/** Scheme, host and port under which the client sees the gateway; null when the request names no usable host. */
export function publicOriginOf(visit: Visit): string | null {
  const { req, proxied } = visit;
  const host = (proxied ? nearest(req.headers["x-forwarded-host"]) : undefined) ?? req.headers.host;
  if (host === undefined || !HOST.test(host)) return null;
  const url = `${isSecure(visit) ? "https" : "http"}://${host}`;
  return URL.canParse(url) ? new URL(url).origin : null;
}

/** What a page of this very host has sent, as the browser says. */
export function isSameOrigin(visit: Visit): boolean {
  const { origin } = visit.req.headers;
  return origin !== undefined && origin === publicOriginOf(visit);
}

/** What the proxy next to us has written: earlier values may be the client's own invention. */
function nearest(header: string | string[] | undefined): string | undefined {
  const last = header?.toString().split(",").at(-1)?.trim();
  return last === "" ? undefined : last;
}
