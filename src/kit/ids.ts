import { randomUUID } from "node:crypto";

/** Of a number that `toString` takes as a small integer: of a larger one it takes three times as long. */
const LOW_TIME = 0x10000;

/**
 * A UUID of version 7. Its time comes first, so that records of one user are written side by side: with random ids each
 * charge would dirty a page of its own in the ledger.
 * @param at Unix milliseconds
 */
export function timedUuid(at: number): string {
  const high = Math.floor(at / LOW_TIME).toString(16);
  const low = (at % LOW_TIME).toString(16);
  return `${high.padStart(8, "0")}-${low.padStart(4, "0")}-7${randomUUID().slice(15)}`;
}

/** 32 random hexadecimal digits, of which the last 14 are random in each bit, as the W3C's recommendation asks. */
export function newTraceId(): string {
  return randomUUID().replaceAll("-", "");
}

/** 16 random hexadecimal digits, never all 0. */
export function newSpanId(): string {
  const id = randomUUID();
  return id.slice(19, 23) + id.slice(24);
}
