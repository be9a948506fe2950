import { getCookie, type H3Event, setCookie } from "h3";
import type { Visit } from "../app.ts";
import { isSecure } from "../origin.ts";

/** The cookies of a sign-in: the refresh token of a session, and the state of an OAuth sign-in under way. */
export type CookieName = "gateway_refresh" | "gateway_sign_in";

export function readCookie(event: H3Event, visit: Visit, name: CookieName): string | null {
  return getCookie(event, fullName(name, isSecure(visit))) || null;
}

/** @param maxAge seconds; 0 removes the cookie. */
export function writeCookie(event: H3Event, visit: Visit, name: CookieName, value: string, maxAge: number): void {
  const secure = isSecure(visit);
  setCookie(event, fullName(name, secure), value, { path: "/", maxAge, httpOnly: true, sameSite: "lax", secure });
}

/** With `__Host-` no other host of the domain and no plain connection can have set it; browsers take it over TLS only. */
function fullName(name: CookieName, secure: boolean): string {
  return secure ? `__Host-${name}` : name;
}
