import { GatewayError, type Principal } from "../../kit/index.ts";
import type { Visit } from "../app.ts";
import { bearerOf, credentialsOf } from "../credentials.ts";
import type { Callers } from "./parts.ts";

/** Who calls with an API key or an access token (decisions 2, third column). @throws GatewayError 401 */
export async function callerOf({ req }: Visit, identities: Callers): Promise<Principal> {
  const credentials = credentialsOf(req.headers);
  if (credentials.kind === "none") throw new GatewayError("AUTHENTICATION_REQUIRED", "Authentication required");
  if (credentials.kind === "token") return ownerOf(credentials.value, identities);
  const principal = await identities.byKey(credentials.value);
  if (principal === null) throw new GatewayError("AUTHENTICATION_ERROR", "Invalid API key");
  return principal;
}

/** Who calls with an API key alone (decisions 2, second column). @throws GatewayError 401 */
export async function keyHolderOf(visit: Visit, identities: Callers): Promise<Principal> {
  const principal = await callerOf(visit, identities);
  if (principal.keyId === null) throw new GatewayError("AUTHENTICATION_ERROR", "Authentication failed");
  return principal;
}

/**
 * Who manages keys: `Authorization` alone is read, and no API key will do (decisions 2, fourth column).
 * @throws GatewayError 401; the specification's odd 429 when there is no Bearer at all.
 */
export async function sessionOf({ req }: Visit, identities: Callers): Promise<Principal> {
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
