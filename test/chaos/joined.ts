import type { LedgerEntry } from "../../src/kit/index.ts";
import type { Evidence, Life, Period, Seen, UserEvidence } from "./evidence.ts";

/** The record of a request whose process died: without a charge, named by the gateway's own id. */
export function isOrphan({ id, requestId, outcome, charge }: LedgerEntry): boolean {
  return id === requestId && outcome === "shutdown" && charge === 0n;
}

/** One request as everybody saw it. */
export interface Joined {
  readonly seen: Seen;
  readonly user: UserEvidence;
  readonly life: Life | null;
  readonly entries: readonly LedgerEntry[];
}

/** By request: what its client saw, and what the ledgers say of it. */
export function join({ seen, users, lives }: Evidence): readonly Joined[] {
  const entries = Map.groupBy(
    users.flatMap(({ ledger }) => ledger).filter((entry) => !isOrphan(entry)),
    ({ requestId }) => requestId,
  );
  return seen.map((one) => ({
    seen: one,
    user: users[one.user]!,
    life: lives[one.life] ?? null,
    entries: entries.get(one.id) ?? [],
  }));
}

export function overlap(a: Period, b: Period): boolean {
  return a.from <= b.until && b.from <= a.until;
}

/** Whether the process was ended so while the exchange was under way; `margin` in milliseconds. */
export function ended(life: Life | null, how: Life["end"], { sentAt, endedAt }: Seen, margin: number): boolean {
  if (life === null || life.end !== how || life.signalledAt === null) return false;
  return life.signalledAt >= sentAt - margin && life.signalledAt <= endedAt + margin;
}
