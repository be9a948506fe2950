import { randomUUID } from "node:crypto";

const VISIBLE_ASCII = /^[\x21-\x7e]{1,128}$/;

/** The client's own `X-Request-Id` if it is at most 128 visible ASCII characters, else a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === "string" && VISIBLE_ASCII.test(header) ? header : randomUUID();
}

/**
 * What makes a charge unique: a UUID of version 7. Its time comes first, so that records of one user are written side
 * by side; with random ids each charge would dirty a page of its own in the ledger.
 * @param at Unix milliseconds
 */
export function chargeId(at: number): string {
  const time = at.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
