import type { LedgerEntry } from "../../../src/kit/index.ts";
import type { Evidence, Served } from "../evidence.ts";
import type { Findings } from "../findings.ts";
import { ended, isOrphan, type Joined, killedSoon, overlap } from "../joined.ts";

/** Milliseconds by which what one process does may be seen later by another. */
const MARGIN = 1_000;
/** The same for a stop that a store that was away carries out late. */
const LATE = 15_000;

const GIVEN_UP = "I: given up when the lease of a process that ended had ended: charge 0";

/** I2: what clients saw, what the upstream served and what the ledgers say are one and the same. */
export function checkCharges(evidence: Evidence, joined: readonly Joined[], findings: Findings): void {
  for (const one of joined) {
    const { seen, user, entries } = one;
    if (entries.length > 1) findings.violation("I2", `${seen.id} is in the ledger ${entries.length} times`);
    if (entries.some(({ userId }) => userId !== user.id))
      findings.violation("I2", `${seen.id} is another user's charge`);
    checkOne(one, evidence.served.get(seen.id) ?? [], findings);
  }
  const known = new Set(joined.map(({ seen }) => seen.id));
  const all = evidence.users.flatMap(({ ledger }) => ledger);
  for (const entry of all) {
    if (!isOrphan(entry) && !known.has(entry.requestId))
      findings.violation("I2", `${entry.requestId} is in the ledger, and nobody has sent it`);
  }
  for (const [id, same] of Map.groupBy(all, ({ id }) => id))
    if (same.length > 1) findings.violation("I2", `the ledger has the id ${id} ${same.length} times`);
  checkOrphans(all.filter(isOrphan), joined, findings);
}

function checkOne(one: Joined, served: readonly Served[], findings: Findings): void {
  const { seen, life, entries } = one;
  const [entry] = entries;
  const bad = (what: string) => findings.violation("I2", `${seen.id} (${seen.ending} ${seen.status}): ${what}`);
  switch (seen.ending) {
    case "whole":
      if (!entry) return bad("a whole answer is not in the ledger");
      return checkWhole(one, entry, served, findings, bad);
    case "failed":
      if (!entry) return bad("a stream that broke off is not in the ledger");
      if (entry.outcome !== "upstream_cut" && entry.outcome !== "shutdown") bad(`recorded as ${entry.outcome}`);
      return findings.allow("E: broke off at the upstream: charged for what came");
    case "stopped":
      if (!one.user.stops.some((stop) => overlap({ from: stop.from, until: stop.until + LATE }, period(one))))
        bad("ended before its end, and nobody had asked for it");
      if (entry && entry.outcome !== "killed") bad(`recorded as ${entry.outcome}`);
      if (entry?.upstream === null && entry.usage.completion > 0) bad("charged for an answer that nobody gave");
      return findings.allow(
        entry?.upstream === null
          ? "H: stopped by its user before the first byte: counted, its prompt charged"
          : "H: stopped by its user: charged for what came",
      );
    case "refused":
      return checkRefused(seen.status, entry, served, bad);
    case "left":
      return findings.allow(leftAs(entry));
    case "broken":
      if (ended(life, "killed", seen, MARGIN))
        return findings.allow(entry ? "I: killed -9 after its charge" : "I: killed -9 before its charge: not charged");
      // Nobody knows of a connection's end before it comes.
      if (ended(life, "stopped", seen, MARGIN) && !entry)
        return findings.allow("sent to a process that was ending, which never read it: not charged");
      return findings.violation("I7", `${seen.id}: the connection broke without a cause`);
    case "unreached":
      if (entry) bad("in the ledger, though nobody took the connection");
      // Also with all its workers dead a supervisor listens on.
      if (life !== null && (life.signalledAt === null || life.signalledAt > seen.endedAt + MARGIN))
        findings.violation("I7", `${seen.id}: nobody took the connection, though its gateway was up`);
      return findings.allow("nobody took the connection: not charged");
    case "wrong":
      return bad(seen.fault);
  }
}

/** Before its first byte a request counts once an upstream was asked, and costs its prompt. */
function leftAs(entry: LedgerEntry | undefined): string {
  if (!entry) return "F: the client left before an upstream was asked, or none served: not charged";
  const unanswered = entry.outcome === "client_gone" && entry.upstream === null;
  return unanswered
    ? "F: the client left before the first byte: counted, its prompt charged"
    : "G: the client left: charged for what came";
}

function checkWhole(
  { seen, life, user }: Joined,
  entry: LedgerEntry,
  served: readonly Served[],
  findings: Findings,
  bad: (what: string) => void,
): void {
  const whole = served.filter((attempt) => attempt.whole);
  if (whole.length === 0) return bad("a whole answer that no upstream gave");
  if (entry.outcome !== "served") {
    const stopped = entry.outcome === "killed" && seen.stream && user.stops.length > 0;
    if (!stopped && !(entry.outcome === "shutdown" && life?.end === "stopped")) bad(`recorded as ${entry.outcome}`);
    return findings.allow("H: stopped in the moment of its end");
  }
  if (entry.estimated) {
    if (whole.every(({ usage }) => usage !== null)) bad("estimated, though the upstream gave a count");
    return findings.allow("D: no count from the upstream: estimated");
  }
  // One that came too late for a busy gateway was followed by another one.
  if (!whole.some(({ usage }) => usage !== null && isSame(entry.usage, usage)))
    bad(`recorded ${JSON.stringify(entry.usage)}, the upstream claims ${JSON.stringify(whole)}`);
}

function isSame(a: NonNullable<Served["usage"]>, b: NonNullable<Served["usage"]>): boolean {
  return a.prompt === b.prompt && a.cached === b.cached && a.completion === b.completion;
}

function checkRefused(
  status: number,
  entry: LedgerEntry | undefined,
  served: readonly Served[],
  bad: (what: string) => void,
): void {
  if (status !== 400) {
    if (entry) bad(`refused, and recorded as ${entry.outcome}`);
    return;
  }
  if (!served.some(({ fault }) => fault === "status_400")) bad("called the client's fault, which it was not");
  if (entry?.outcome !== "client_fault" || entry.charge !== 0n)
    bad("the client's fault has to be recorded, without a charge");
}

/**
 * Only what a process left behind at its end is ever given up: killed -9, or stopped before it could give back what was
 * admitted without an answer.
 */
function checkOrphans(orphans: readonly LedgerEntry[], joined: readonly Joined[], findings: Findings): void {
  const unsettled = joined.filter(
    ({ seen, life, entries }) =>
      entries.length === 0 &&
      ((life?.signalledAt != null && seen.endedAt >= life.signalledAt - LATE) || killedSoon(life, seen, LATE)),
  );
  if (orphans.length > unsettled.length)
    findings.violation("I4", `${orphans.length} requests were given up, and ${unsettled.length} may have been`);
  for (const _ of orphans) findings.allow(GIVEN_UP);
}

function period({ seen }: Joined) {
  return { from: seen.sentAt, until: seen.endedAt };
}
