import { randomUUID } from "node:crypto";

/**
 * What makes a charge unique: a UUID of version 7. Its time comes first, so that records of one user are written side
 * by side; with random ids each charge would dirty a page of its own in the ledger.
 * @param at Unix milliseconds
 */
export function chargeId(at: number): string {
  const time = at.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
