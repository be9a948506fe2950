import type { Evidence, Period, Seen } from "../evidence.ts";
import type { Findings } from "../findings.ts";
import type { Joined } from "../joined.ts";

const WINDOWS = [
  { name: "minute", length: 60_000, says: "Per-minute request limit exceeded" },
  { name: "day", length: 86_400_000, says: "Daily request limit exceeded" },
] as const;
const STREAMS_SAY = "Concurrent stream limit exceeded";
const REASONS = [...WINDOWS.map(({ says }) => says), STREAMS_SAY];

/** Milliseconds that a slot may be taken beyond what its client saw: its client left, its process died, its store was away. */
const SLOW = 2_000;
const LEASE = 62_000;
const REPLAYED = 8_000;

/** I5: by windows of the calendar, and the streams as the upstream saw them. */
export function checkLimits(
  { users, excesses, disturbed }: Evidence,
  joined: readonly Joined[],
  findings: Findings,
): void {
  for (const { user, streams, limit, at } of excesses)
    findings.violation("I5", `${users[user]!.id}: ${streams} streams at a time, allowed are ${limit}, at ${at}`);
  const byUser = Map.groupBy(joined, ({ seen }) => seen.user);
  for (const [index, { id, limits }] of users.entries()) {
    const all = byUser.get(index) ?? [];
    for (const { name, length, says } of WINDOWS) {
      const limit = limits[name];
      const refused = all.filter(({ seen }) => seen.status === 429 && seen.fault.startsWith(says));
      if (limit === null) {
        for (const { seen } of refused) findings.violation("I5", `${seen.id}: refused by a limit that there is not`);
        continue;
      }
      for (const [window, count] of admitted(all, length))
        if (count > limit) findings.violation("I5", `${id}: ${count} in ${name} ${window}, allowed are ${limit}`);
      for (const { seen } of refused)
        if (mostCounted(all, seen, length) < limit)
          findings.violation("I5", `${seen.id}: refused for the ${name}, which was not full`);
    }
    checkStreamRefusals(all, limits.streams, disturbed, findings);
    for (const { seen } of all)
      if (seen.status === 429 && !REASONS.some((reason) => seen.fault.startsWith(reason)))
        findings.violation("I5", `${seen.id}: refused for ${JSON.stringify(seen.fault)}`);
  }
}

/** What counted for sure in each window: requests that had their whole life in it. */
function admitted(all: readonly Joined[], length: number): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { seen, entries } of all) {
    const window = Math.floor(seen.sentAt / length);
    if (entries.length === 0 || Math.floor(seen.endedAt / length) !== window) continue;
    counts.set(window, (counts.get(window) ?? 0) + 1);
  }
  return counts;
}

/** The most that can have counted when a request was refused. */
function mostCounted(all: readonly Joined[], refused: Seen, length: number): number {
  const start = Math.floor(refused.sentAt / length) * length;
  return all.filter(({ seen }) => mayCount(seen) && seen.sentAt <= refused.endedAt && seen.endedAt >= start).length;
}

/** Also what was given back later, or answered with a store that was away, has counted for a while. */
function mayCount({ status, ending }: Seen): boolean {
  return ending !== "unreached" && status !== 429 && status !== 402 && status !== 401;
}

function checkStreamRefusals(
  all: readonly Joined[],
  limit: number | null,
  disturbed: readonly Period[],
  findings: Findings,
): void {
  const streams = all.filter(({ seen }) => seen.stream && mayCount(seen));
  for (const { seen } of all) {
    if (seen.status !== 429 || !seen.fault.startsWith(STREAMS_SAY)) continue;
    const taken = streams.filter((one) => one.seen.sentAt <= seen.endedAt && takenUntil(one, disturbed) >= seen.sentAt);
    if (limit === null || taken.length < limit)
      findings.violation("I5", `${seen.id}: refused with ${taken.length} streams, allowed are ${limit ?? "all"}`);
  }
}

/** The latest moment at which the slot of a stream may still be taken. */
function takenUntil({ seen, life }: Joined, disturbed: readonly Period[]): number {
  const { endedAt } = seen;
  const killed = life?.end === "killed" && endedAt >= life.signalledAt! - REPLAYED;
  if (killed) return endedAt + LEASE;
  const away = disturbed.filter(({ from, until }) => from <= endedAt + SLOW && until >= endedAt - SLOW);
  return Math.max(endedAt + SLOW, ...away.map(({ until }) => until + REPLAYED));
}
