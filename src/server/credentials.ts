import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import {
  checkKeyUse,
  type Credentials,
  GatewayError,
  type Identities,
  type KeyScope,
  type Principal,
} from "../kit/index.ts";

/** Who calls, never presumed. */
export type Callers = Pick<Identities, "byKey" | "byToken">;

const NONE: Credentials = Object.freeze({ kind: "none" });
const BEARER = "bearer ";

/** What follows `Bearer` in an `Authorization` header; null when it is anything else. */
export function bearerOf(authorization: string | null | undefined): string | null {
  if (authorization?.slice(0, BEARER.length).toLowerCase() !== BEARER) return null;
  let at = BEARER.length;
  while (authorization[at] === " ") at += 1;
  return at < authorization.length ? authorization.slice(at) : null;
}

/** What a request brought to prove who it is; `X-API-Key` decides when both headers are there. */
export function credentialsOf(headers: IncomingHttpHeaders): Credentials {
  const key = headers["x-api-key"];
  if (key !== undefined) return key.length === 0 ? NONE : { kind: "key", value: String(key) };
  const value = bearerOf(headers.authorization);
  if (value === null) return NONE;
  return value.startsWith("rk_") ? { kind: "key", value } : { kind: "token", value };
}

/** A call, as far as its caller shows in it. */
interface IncomingCall {
  readonly req: IncomingMessage;
  /** Of the client, behind trusted proxies. */
  readonly ip: string;
}

/**
 * Who calls with an API key or an access token.
 * @param scope that a key needs for the call; null: any key will do.
 * @throws GatewayError 401; KEY_RESTRICTED
 */
export async function callerOf(
  { req, ip }: IncomingCall,
  identities: Callers,
  scope: KeyScope | null,
): Promise<Principal> {
  const credentials = credentialsOf(req.headers);
  if (credentials.kind === "none") throw new GatewayError("AUTHENTICATION_REQUIRED", "Authentication required");
  if (credentials.kind === "token") return ownerOf(credentials.value, identities);
  const principal = await identities.byKey(credentials.value);
  if (principal === null) throw new GatewayError("AUTHENTICATION_ERROR", "Invalid API key");
  checkKeyUse(principal, scope, ip);
  return principal;
}

/** Who calls an inference endpoint with an API key alone. @throws GatewayError 401; KEY_RESTRICTED */
export async function keyHolderOf(call: IncomingCall, identities: Callers): Promise<Principal> {
  const principal = await callerOf(call, identities, "inference");
  if (principal.keyId === null) throw new GatewayError("AUTHENTICATION_ERROR", "Authentication failed");
  return principal;
}

/**
 * Who manages keys: `Authorization` alone is read, and no API key will do.
 * @throws GatewayError 401; by the API's contract 429 when there is no Bearer at all.
 */
export async function sessionOf(req: IncomingMessage, identities: Callers): Promise<Principal> {
  const token = bearerOf(req.headers.authorization);
  if (token === null) throw new GatewayError("RATE_LIMIT_ERROR", "Authentication required", { retryAfter: 1 });
  return ownerOf(token, identities);
}

/** No API key passes: none is a token. */
async function ownerOf(token: string, identities: Callers): Promise<Principal> {
  const principal = await identities.byToken(token);
  if (principal === null) throw new GatewayError("INVALID_TOKEN", "Invalid or expired token");
  return principal;
}
