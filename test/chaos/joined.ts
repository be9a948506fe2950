import type { LedgerEntry } from "../../src/kit/index.ts";
import type { Evidence, Life, Period, Seen, UserEvidence } from "./evidence.ts";

/** Milliseconds after which every process has found a store again that was away. */
const FOUND = 5_000;
/** Milliseconds by which a request may arrive before it seems to have been sent, or a worker die later than it is told. */
const ARRIVAL = 1_000;

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

/** Whether the process, or one of the workers, was ended so while the exchange was under way; `margin` in milliseconds. */
export function ended(life: Life | null, how: Life["end"], { sentAt, endedAt }: Seen, margin: number): boolean {
  return endings(life, how).some((at) => at >= sentAt - margin && at <= endedAt + margin);
}

/** When the whole of it was told to end so, and when single workers were killed. */
function endings(life: Life | null, how: Life["end"]): readonly number[] {
  if (life === null) return [];
  const whole = life.end === how && life.signalledAt !== null ? [life.signalledAt] : [];
  return how === "killed" ? [...whole, ...life.killings] : whole;
}

/** Whether one of its processes was killed no more than `margin` milliseconds after the exchange had ended. */
export function killedSoon(life: Life | null, { sentAt, endedAt }: Seen, margin: number): boolean {
  const whole = life?.end === "killed" && endedAt >= life.signalledAt! - margin;
  return whole || (life?.killings ?? []).some((at) => at <= endedAt + margin && at >= sentAt - ARRIVAL);
}

/** Processes that serve for a gateway, those that replace others among them. */
export function processesOf({ killings }: Life, workers: number): number {
  return workers === 0 ? 1 : workers + killings.length;
}

/** Whether processes may have taken the store for away in some of the time. */
export function mayBeAway({ disturbed, stalls }: Pick<Evidence, "disturbed" | "stalls">, period: Period): boolean {
  const known = ({ from, until }: Period) => overlap({ from, until: until + FOUND }, period);
  return disturbed.some(known) || stalls.some(known);
}
