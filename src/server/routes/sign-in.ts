import { type H3Event, HTTPResponse } from "h3";
import { GatewayError, invalidRequest } from "../../kit/index.ts";
import { jsonResponse, type Route, type Visit } from "../app.ts";
import { isSameOrigin, publicOriginOf } from "../origin.ts";
import { readObject, readOptionalObject } from "./body.ts";
import { readCookie, writeCookie } from "./cookies.ts";
import type { RouteParts, Session } from "./parts.ts";

/** Signing in by mail code and OpenID Connect, and keeping the session (decisions 3). */
export function signInRoutes({ signIn, now }: RouteParts): readonly Route[] {
  /** The answer to whoever has signed in; browsers get the refresh token as a cookie too. */
  const welcome = (event: H3Event, visit: Visit, { body, refreshToken, refreshExpiresAt }: Session) => {
    const maxAge = Math.max(0, Math.floor((refreshExpiresAt - now()) / 1000));
    writeCookie(event, visit, "gateway_refresh", refreshToken, maxAge);
    return jsonResponse(200, body);
  };
  return [
    {
      method: "POST",
      path: "/auth/login",
      secret: true,
      async handle(_event, visit) {
        const { email } = await readObject(visit.req);
        await signIn.requestCode({ email, ip: visit.ip });
        return jsonResponse(202, { message: "Verification code sent" });
      },
    },
    {
      method: "POST",
      path: "/auth/login/verify",
      secret: true,
      async handle(event, visit) {
        const { email, code } = await readObject(visit.req);
        return welcome(event, visit, await signIn.verifyCode({ email, code, ip: visit.ip }));
      },
    },
    {
      method: "GET",
      path: "/auth/oauth/:provider",
      secret: true,
      async handle(event, visit) {
        const origin = publicOriginOf(visit);
        if (origin === null) throw invalidRequest("/", "must name its host");
        const redirectTo = event.url.searchParams.get("redirect_to");
        const { location, state, maxAge } = await signIn.begin({ provider: providerOf(event), redirectTo, origin });
        writeCookie(event, visit, "gateway_sign_in", state, maxAge);
        return redirect(location);
      },
    },
    {
      method: "GET",
      path: "/auth/oauth/:provider/callback",
      secret: true,
      async handle(event, visit) {
        const state = readCookie(event, visit, "gateway_sign_in");
        writeCookie(event, visit, "gateway_sign_in", "", 0);
        const url = event.url.pathname + event.url.search;
        const { session, redirectTo } = await signIn.complete({ provider: providerOf(event), url, state });
        const answer = welcome(event, visit, session);
        return /\bapplication\/json\b/i.test(visit.req.headers.accept ?? "") ? answer : redirect(redirectTo);
      },
    },
    {
      method: "POST",
      path: "/auth/refresh",
      secret: true,
      async handle(event, visit) {
        const token = await refreshToken(event, visit);
        if (token === null) throw new GatewayError("INVALID_TOKEN", "Invalid or expired token");
        return welcome(event, visit, await signIn.refresh(token));
      },
    },
    {
      method: "POST",
      path: "/auth/logout",
      secret: true,
      async handle(event, visit) {
        const token = await refreshToken(event, visit).catch(ignoreRefusal);
        if (token !== null) await signIn.logout(token);
        // A foreign page may not sign its visitor out.
        if (visit.req.headers.origin === undefined || isSameOrigin(visit)) {
          writeCookie(event, visit, "gateway_refresh", "", 0);
        }
        return new HTTPResponse(null, { status: 204 });
      },
    },
  ];
}

/** From the body, or else from the cookie, which only a page of this host may use. @throws GatewayError 400, 413, 415 */
async function refreshToken(event: H3Event, visit: Visit): Promise<string | null> {
  const { refresh_token: token } = await readOptionalObject(visit.req);
  if (token === undefined) return isSameOrigin(visit) ? readCookie(event, visit, "gateway_refresh") : null;
  if (typeof token !== "string") throw invalidRequest("/refresh_token", "must be a string");
  return token;
}

/** Who cannot say which session to end has none that could be ended. */
function ignoreRefusal(error: unknown): null {
  if (error instanceof GatewayError && error.status < 500) return null;
  throw error;
}

function providerOf(event: H3Event): string {
  return decodeURIComponent(event.context.params?.["provider"] ?? "");
}

function redirect(location: string): HTTPResponse {
  return new HTTPResponse(null, { status: 302, headers: { Location: location } });
}
