import { randomBytes } from "node:crypto";

/** `<prefix>_` and 24 url-safe characters, 144 random bits. */
export function newId(prefix: "user" | "key" | "family"): string {
  return `${prefix}_${randomBytes(18).toString("base64url")}`;
}
