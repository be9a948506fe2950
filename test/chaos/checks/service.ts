import type { Evidence, Seen, UserEvidence } from "../evidence.ts";
import type { Findings } from "../findings.ts";
import { type Joined, mayBeAway, overlap } from "../joined.ts";

/** Milliseconds for which a process serves a key that it has looked up (10 minutes, less what a request may take). */
const LOOKED_UP = 9 * 60_000;
/** Milliseconds in which a process that has just started, or lost a worker, makes its first connections. */
const STARTING = 5_000;

/** I9: who is refused because of the store. */
export function checkService(evidence: Evidence, joined: readonly Joined[], findings: Findings): void {
  const { workers, onFailure, slowStore } = evidence.setup;
  /** By process and key: when it was first seen to serve the key. */
  const served = new Map<string, number>();
  for (const { seen } of joined.toSorted((a, b) => a.seen.endedAt - b.seen.endedAt)) {
    const place = placeOf(seen);
    if (seen.status === 200 && !served.has(place)) served.set(place, seen.endedAt);
  }
  for (const { seen, user, life } of joined) {
    if (seen.code !== "STORE_UNAVAILABLE") continue;
    const period = { from: seen.sentAt, until: seen.endedAt };
    const begins = [life?.startedAt ?? 0, ...(life?.killings ?? [])];
    const isNew = begins.some((from) => overlap({ from, until: from + STARTING }, period));
    if (slowStore > 0 && !isNew && !mayBeAway(evidence, period))
      findings.violation("I9", `${seen.id}: refused for a store that was slow and not away`);
    // Of several workers nobody knows which one it was.
    const since = served.get(placeOf(seen)) ?? Infinity;
    const known = since < seen.sentAt && since > seen.endedAt - LOOKED_UP;
    if (onFailure === "open" && workers === 0 && known && keepsItsKeys(user))
      findings.violation("I9", `${seen.id}: refused while the store was away, though its process knew the key`);
  }
}

function placeOf({ life, user, key }: Seen): string {
  return `${life} ${user} ${key}`;
}

/** What changes is forgotten, and has to be looked up again. */
function keepsItsKeys({ kind }: UserEvidence): boolean {
  return kind !== "changing" && kind !== "rotating";
}
