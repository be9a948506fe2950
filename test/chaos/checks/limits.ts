import type { Evidence, Period, Seen } from "../evidence.ts";
import type { Findings } from "../findings.ts";
import { type Joined, killedSoon, mayBeAway, overlap, processesOf } from "../joined.ts";

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
/** Milliseconds until the slots of a worker that died are free. */
const BURIED = 8_000;
/** Milliseconds that a stream may run. */
const LONGEST = 15_000;

/** I5: by windows of the calendar, and the streams as the upstream saw them. */
export function checkLimits(evidence: Evidence, joined: readonly Joined[], findings: Findings): void {
  const { users, excesses } = evidence;
  for (const { user, streams, limit, at } of excesses) {
    const what = `${users[user]!.id}: ${streams} streams at a time, allowed are ${limit}, at ${at}`;
    judge(streams, limit, what, { from: at - LONGEST, until: at }, evidence, findings);
  }
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
      for (const [window, count] of admitted(all, length)) {
        if (count <= limit) continue;
        const what = `${id}: ${count} in ${name} ${window}, allowed are ${limit}`;
        judge(count, limit, what, { from: window * length, until: (window + 1) * length }, evidence, findings);
      }
      for (const { seen } of refused)
        if (mostCounted(all, seen, length, evidence) < limit)
          findings.violation("I5", `${seen.id}: refused for the ${name}, which was not full`);
    }
    checkStreamRefusals(all, limits.streams, evidence, findings);
    for (const { seen } of all)
      if (seen.status === 429 && !REASONS.some((reason) => seen.fault.startsWith(reason)))
        findings.violation("I5", `${seen.id}: refused for ${JSON.stringify(seen.fault)}`);
  }
}

/**
 * With `open`, what is admitted while the store is away is limited by each process for itself, and beside what the store
 * admits before and after: no more than the limit once for each of them.
 */
function judge(
  count: number,
  limit: number,
  what: string,
  period: Period,
  evidence: Evidence,
  findings: Findings,
): void {
  const { setup, lives } = evidence;
  if (setup.onFailure !== "open" || !mayBeAway(evidence, period)) return findings.violation("I5", what);
  const serving = lives.filter(({ startedAt, signalledAt, outlived }) =>
    overlap({ from: startedAt, until: (signalledAt ?? Infinity) + outlived }, period),
  );
  const processes = serving.reduce((sum, life) => sum + processesOf(life, setup.workers), 0);
  if (count > limit * (1 + processes)) findings.violation("I5", `${what}, in ${processes} processes`);
  else findings.allow("open: beyond a limit while the store was away, within what each process counts");
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
function mostCounted(all: readonly Joined[], refused: Seen, length: number, evidence: Evidence): number {
  const start = Math.floor(refused.sentAt / length) * length;
  const counts = ({ seen }: Joined) => {
    if (!mayCount(seen) || seen.sentAt > refused.endedAt) return false;
    if (seen.endedAt >= start) return true;
    // What was admitted without the store is counted when the store hears of it.
    return evidence.setup.onFailure === "open" && heardOf(seen, evidence) >= start;
  };
  return all.filter(counts).length;
}

/** The latest moment at which the store is told of what a request came to. */
function heardOf({ endedAt }: Seen, { disturbed, stalls }: Evidence): number {
  const away = [...disturbed, ...stalls].filter(({ from, until }) => from <= endedAt + SLOW && until >= endedAt - SLOW);
  return Math.max(endedAt + SLOW, ...away.map(({ until }) => until + REPLAYED));
}

/** Also what was given back later, or answered with a store that was away, has counted for a while. */
function mayCount({ status, ending }: Seen): boolean {
  return ending !== "unreached" && status !== 429 && status !== 402 && status !== 401;
}

function checkStreamRefusals(
  all: readonly Joined[],
  limit: number | null,
  evidence: Evidence,
  findings: Findings,
): void {
  const streams = all.filter(({ seen }) => seen.stream && mayCount(seen));
  for (const { seen } of all) {
    if (seen.status !== 429 || !seen.fault.startsWith(STREAMS_SAY)) continue;
    const taken = streams.filter((one) => one.seen.sentAt <= seen.endedAt && takenUntil(one, evidence) >= seen.sentAt);
    if (limit === null || taken.length < limit)
      findings.violation("I5", `${seen.id}: refused with ${taken.length} streams, allowed are ${limit ?? "all"}`);
  }
}

/** The latest moment at which the slot of a stream may still be taken. */
function takenUntil({ seen, life }: Joined, evidence: Evidence): number {
  const { endedAt } = seen;
  const killed = life?.end === "killed" && endedAt >= life.signalledAt! - REPLAYED;
  if (killed) return endedAt + LEASE;
  const heard = heardOf(seen, evidence);
  // Its supervisor frees what a worker that died had taken, through another one.
  const lost = killedSoon(life, seen, REPLAYED);
  return lost ? Math.max(endedAt, ...life!.killings.filter((at) => at <= endedAt + REPLAYED), heard) + BURIED : heard;
}
