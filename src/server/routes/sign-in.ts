import type { TLSSocket } from "node:tls";
import { getCookie, type H3Event, HTTPResponse, setCookie } from "h3";
import { type ErrorCode, GatewayError, invalidRequest } from "../../kit/index.ts";
import {
  type Answer,
  BODY_ERRORS,
  json,
  type Parameter,
  type RouteEndpoint,
  type RouteParts,
  type Session,
} from "../endpoint.ts";
import { readObject, readOptionalObject } from "../request-body.ts";
import { jsonResponse, type RouteContext } from "../router.ts";

/** Without userinfo or a path, which a URL would take for something else than a host. */
const HOST = /^[\w.:[\]-]+$/;

/** The refresh token of a session, the state of an OAuth sign-in under way, and the sign-ins of this browser before. */
type CookieName = "gateway_refresh" | "gateway_sign_in" | "gateway_device";

/** Browsers keep a cookie for 400 days at most. */
const DEVICE_SECONDS = 400 * 86_400;

const SIGNED_IN: Answer = { description: "Signed in.", content: json("Session"), headers: ["Set-Cookie"] };

const PROVIDER: Parameter = {
  name: "provider",
  in: "path",
  description: "Name of an identity provider in the gateway's configuration.",
  schema: { type: "string" },
};

/** Signing in by mail code or OpenID Connect, and keeping the session. */
export const SIGN_IN: readonly RouteEndpoint[] = [
  {
    method: "POST",
    path: "/auth/login",
    credentials: "none",
    id: "requestCode",
    tag: "Sign-in",
    summary: "Ask for a sign-in code by mail",
    request: { required: true, content: json("LoginRequest") },
    answers: { 202: { description: "A code is on its way.", content: json("LoginAccepted") } },
    errors: [...BODY_ERRORS, "TOO_MANY_REQUESTS", "STORE_UNAVAILABLE"],
    secret: true,
    route: (parts) => async (event, context) => {
      const { email } = await readObject(context.req);
      await recorded(parts, () => parts.signIn.requestCode({ email, ip: context.ip, ...deviceOf(event, context) }));
      return jsonResponse(202, { message: "Verification code sent" });
    },
  },
  {
    method: "POST",
    path: "/auth/login/verify",
    credentials: "none",
    id: "verifyCode",
    tag: "Sign-in",
    summary: "Sign in with a code",
    request: { required: true, content: json("VerifyRequest") },
    answers: { 200: SIGNED_IN },
    errors: [...BODY_ERRORS, "INVALID_CODE", "TOO_MANY_REQUESTS", "STORE_UNAVAILABLE"],
    secret: true,
    route: (parts) => async (event, context) => {
      const { email, code } = await readObject(context.req);
      const session = await recorded(parts, () =>
        parts.signIn.verifyCode({ email, code, ip: context.ip, ...deviceOf(event, context) }),
      );
      // Only a link that was good comes so far.
      return begun(event, context, session, String(code).startsWith("link_") ? "link" : "code", parts);
    },
  },
  {
    method: "GET",
    path: "/auth/oauth/{provider}",
    credentials: "none",
    id: "beginOAuth",
    tag: "Sign-in",
    summary: "Sign in at an identity provider",
    description: "For browsers: OpenID Connect, the code flow with PKCE.",
    parameters: [
      PROVIDER,
      {
        name: "redirect_to",
        in: "query",
        description: "Path on this host to come back to; anything else is ignored.",
        schema: { type: "string" },
      },
    ],
    answers: { 302: { description: "To the identity provider.", headers: ["Location", "Set-Cookie"] } },
    errors: ["INVALID_REQUEST", "UNKNOWN_PATH", "PROVIDER_ERROR", "STORE_UNAVAILABLE"],
    secret: true,
    route:
      ({ signIn, snapshot }) =>
      async (event, context) => {
        const origin = snapshot().server.publicUrl ?? publicOriginOf(context);
        if (origin === null) throw invalidRequest("/", "must name its host");
        const redirectTo = event.url.searchParams.get("redirect_to");
        const { location, state, maxAge } = await signIn.begin({ provider: providerOf(event), redirectTo, origin });
        writeCookie(event, context, "gateway_sign_in", state, maxAge);
        return redirect(location);
      },
  },
  {
    method: "GET",
    path: "/auth/oauth/{provider}/callback",
    credentials: "none",
    id: "completeOAuth",
    tag: "Sign-in",
    summary: "Come back from an identity provider",
    description:
      "A sign-in that failed is 401 in JSON for everybody, and 403 for a newcomer who may not sign up. A browser goes on from there to the dashboard, where that is on.",
    parameters: [
      PROVIDER,
      { name: "code", in: "query", description: "From the provider.", schema: { type: "string" } },
      { name: "state", in: "query", description: "From the provider.", schema: { type: "string" } },
    ],
    answers: {
      200: { ...SIGNED_IN, description: "Signed in; with `Accept: application/json`." },
      302: { description: "Signed in; on to `redirect_to`.", headers: ["Location", "Set-Cookie"] },
    },
    errors: ["INVALID_REQUEST", "SIGN_IN_FAILED", "SIGN_UP_CLOSED", "UNKNOWN_PATH", "STORE_UNAVAILABLE"],
    secret: true,
    route: (parts) => async (event, context) => {
      const state = readCookie(event, context, "gateway_sign_in");
      writeCookie(event, context, "gateway_sign_in", "", 0);
      const url = event.url.pathname + event.url.search;
      const provider = providerOf(event);
      const complete = () => parts.signIn.complete({ provider, url, state });
      const completed = await recorded(parts, complete).catch((error: unknown) => {
        const why = error instanceof GatewayError ? SHOWN_ON_PAGES[error.code] : undefined;
        if (why !== undefined && isForPages(context, parts)) event.res.headers.set("Refresh", refreshTo(why, provider));
        throw error;
      });
      const answer = await begun(event, context, completed.session, "oauth", parts);
      return accepts(context, JSON_TYPE) ? answer : redirect(completed.redirectTo);
    },
  },
  {
    method: "POST",
    path: "/auth/refresh",
    credentials: "refresh token",
    id: "refreshSession",
    tag: "Sign-in",
    summary: "Renew a session",
    description: "The refresh token is used up: a token that is used twice ends its session.",
    request: { required: false, content: json("RefreshRequest") },
    answers: { 200: SIGNED_IN },
    errors: [...BODY_ERRORS, "INVALID_TOKEN", "STORE_UNAVAILABLE"],
    secret: true,
    route: (parts) => async (event, context) => {
      const token = await refreshToken(event, context, parts);
      if (token === null) throw new GatewayError("INVALID_TOKEN", "Invalid or expired token");
      return signedIn(event, context, await parts.signIn.refresh(token), parts);
    },
  },
  {
    method: "POST",
    path: "/auth/logout",
    credentials: "refresh token",
    id: "endSession",
    tag: "Sign-in",
    summary: "End a session",
    request: { required: false, content: json("RefreshRequest") },
    answers: { 204: { description: "The session has ended, if there was one.", headers: ["Set-Cookie"] } },
    errors: ["STORE_UNAVAILABLE"],
    secret: true,
    route: (parts) => async (event, context) => {
      const token = await refreshToken(event, context, parts).catch(ignoreRefusal);
      if (token !== null) await parts.signIn.logout(token);
      // A foreign page may not sign its visitor out.
      if (context.req.headers.origin === undefined || isSameOrigin(context, parts)) {
        writeCookie(event, context, "gateway_refresh", "", 0);
      }
      return new HTTPResponse(null, { status: 204 });
    },
  },
];

function deviceOf(event: H3Event, context: RouteContext): { readonly device?: string } {
  const device = readCookie(event, context, "gateway_device");
  return device === null ? {} : { device };
}

/** Counts a sign-in that fails. */
async function recorded<T>({ signIns }: RouteParts, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof GatewayError ? error.code : null;
    if (code === "TOO_MANY_REQUESTS") signIns?.failed("limited");
    if (code === "INVALID_CODE" || code === "SIGN_IN_FAILED") signIns?.failed("failed");
    throw error;
  }
}

/** A new session: written down, with a cookie by which the next sign-in from this browser is known. */
async function begun(
  event: H3Event,
  context: RouteContext,
  session: Session,
  method: "code" | "link" | "oauth",
  parts: RouteParts,
): Promise<HTTPResponse> {
  const { id, email } = session.body.user;
  await parts.signIns?.succeeded(id, method, context.ip);
  const device = email && (await parts.signIn.markDevice?.(deviceOf(event, context).device, email));
  if (device) writeCookie(event, context, "gateway_device", device, DEVICE_SECONDS);
  return signedIn(event, context, session, parts);
}

/** The answer to whoever has signed in; browsers get the refresh token as a cookie too. */
function signedIn(event: H3Event, context: RouteContext, session: Session, { now }: RouteParts): HTTPResponse {
  const maxAge = Math.max(0, Math.floor((session.refreshExpiresAt - now()) / 1000));
  writeCookie(event, context, "gateway_refresh", session.refreshToken, maxAge);
  return jsonResponse(200, session.body);
}

/** From the body, or else from the cookie, which only a page of this host may use. @throws GatewayError 400, 413, 415 */
async function refreshToken(event: H3Event, context: RouteContext, parts: RouteParts): Promise<string | null> {
  const { refresh_token: token } = await readOptionalObject(context.req);
  if (token === undefined) return isSameOrigin(context, parts) ? readCookie(event, context, "gateway_refresh") : null;
  if (typeof token !== "string") throw invalidRequest("/refresh_token", "must be a string");
  return token;
}

/** Who cannot say which session to end has none that could be ended. */
function ignoreRefusal(error: unknown): null {
  if (error instanceof GatewayError && error.status < 500) return null;
  throw error;
}

const JSON_TYPE = /\bapplication\/json\b/i;
const HTML_TYPE = /\btext\/html\b/i;

function accepts({ req }: RouteContext, type: RegExp): boolean {
  return type.test(req.headers.accept ?? "");
}

/** Whether a person sees the answer, for whom there is a page that says more. */
function isForPages(context: RouteContext, { snapshot }: RouteParts): boolean {
  return snapshot().server.dashboard && accepts(context, HTML_TYPE) && !accepts(context, JSON_TYPE);
}

/** Refusals that the dashboard explains, by the parameter of its address. */
const SHOWN_ON_PAGES: Partial<Record<ErrorCode, string>> = {
  SIGN_IN_FAILED: "sign_in_failed",
  SIGN_UP_CLOSED: "sign_up_closed",
};

/** In place of a redirect, which could not be a 401: browsers follow it, programs read the answer. Of the path's name alone. */
function refreshTo(why: string, provider: string): string {
  return `0; url=/#/?${why}=${encodeURIComponent(provider)}`;
}

function providerOf(event: H3Event): string {
  return decodeURIComponent(event.context.params?.["provider"] ?? "");
}

function redirect(location: string): HTTPResponse {
  return new HTTPResponse(null, { status: 302, headers: { Location: location } });
}

function readCookie(event: H3Event, context: RouteContext, name: CookieName): string | null {
  return getCookie(event, fullName(name, isSecure(context))) || null;
}

/** @param maxAge seconds; 0 removes the cookie. */
function writeCookie(event: H3Event, context: RouteContext, name: CookieName, value: string, maxAge: number): void {
  const secure = isSecure(context);
  setCookie(event, fullName(name, secure), value, { path: "/", maxAge, httpOnly: true, sameSite: "lax", secure });
}

/** With `__Host-` no other host of the domain and no plain connection can have set it; browsers take it over TLS only. */
function fullName(name: CookieName, secure: boolean): string {
  return secure ? `__Host-${name}` : name;
}

/** Whether the client's own connection is encrypted, here or at a trusted proxy. */
export function isSecure({ req, proxied }: RouteContext): boolean {
  if ((req.socket as Partial<TLSSocket>).encrypted) return true;
  return proxied && nearest(req.headers["x-forwarded-proto"])?.toLowerCase() === "https";
}

/** Scheme, host and port under which the client sees the gateway; null when the request names no usable host. */
export function publicOriginOf(context: RouteContext): string | null {
  const { req, proxied } = context;
  const host = (proxied ? nearest(req.headers["x-forwarded-host"]) : undefined) ?? req.headers.host;
  if (host === undefined || !HOST.test(host)) return null;
  const url = `${isSecure(context) ? "https" : "http"}://${host}`;
  return URL.canParse(url) ? new URL(url).origin : null;
}

/** What a page of this very host has sent, as the browser says. A proxy may not pass on the host that the browser sees. */
export function isSameOrigin(context: RouteContext, { snapshot }: Pick<RouteParts, "snapshot">): boolean {
  const { origin } = context.req.headers;
  return origin !== undefined && (origin === publicOriginOf(context) || origin === snapshot().server.publicUrl);
}

/** What the proxy next to us has written: earlier values may be the client's own invention. */
function nearest(header: string | string[] | undefined): string | undefined {
  const last = header?.toString().split(",").at(-1)?.trim();
  return last === "" ? undefined : last;
}
