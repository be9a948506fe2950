import type { IncomingHttpHeaders } from "node:http";
import type { Credentials } from "../kit/index.ts";

const NONE: Credentials = Object.freeze({ kind: "none" });
const BEARER = /^bearer +(.+)$/i;

/** What follows `Bearer` in an `Authorization` header; null when it is anything else. */
export function bearerOf(authorization: string | null | undefined): string | null {
  return BEARER.exec(authorization ?? "")?.[1] ?? null;
}

/** What a request brought to prove who it is; `X-API-Key` decides when both headers are there (decisions 2). */
export function credentialsOf(headers: IncomingHttpHeaders): Credentials {
  const key = headers["x-api-key"];
  if (key !== undefined) return key.length === 0 ? NONE : { kind: "key", value: String(key) };
  const value = bearerOf(headers.authorization);
  if (value === null) return NONE;
  return value.startsWith("rk_") ? { kind: "key", value } : { kind: "token", value };
}
