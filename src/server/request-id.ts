import { randomUUID } from "node:crypto";

const VISIBLE_ASCII = /^[\x21-\x7e]{1,128}$/;

/** The client's own `X-Request-Id` if it is at most 128 visible ASCII characters, else a new one (decisions 1.6). */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === "string" && VISIBLE_ASCII.test(header) ? header : randomUUID();
}
