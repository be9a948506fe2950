import type { Outcome } from "./chaos.ts";
import type { Evidence, Period, Seen } from "./evidence.ts";
import { INVARIANTS } from "./findings.ts";

/** Milliseconds in which every process has found a store again that was away. */
const RECOVERY = 3_000;
/** Violations shown of each invariant. */
const SHOWN = 10;

/** What a run came to, for people. */
export function report({ plan, evidence, verdict, done, mostStreams, seconds }: Outcome): string {
  const { setup, seen, served, users, lives, stalls } = evidence;
  const attempts = [...served.values()].flat();
  const ledger = users.flatMap((user) => user.ledger);
  const duplicates = ledger.length - new Set(ledger.map(({ id }) => id)).size;
  const faults = attempts.filter(({ fault }) => fault !== "none").length;
  const limited = users.flatMap(({ limits }, index) =>
    limits.streams === null ? [] : [`${mostStreams.get(index) ?? 0}/${limits.streams}`],
  );
  const rows: readonly (readonly [string, string | number])[] = [
    ["seed", plan.seed],
    ["workers, on_failure, slow store", `${setup.workers}, ${setup.onFailure}, ${setup.slowStore} ms`],
    ["seconds", seconds.toFixed(1)],
    ["requests", seen.length],
    ...counts(
      seen.map((one) => (one.ending === "refused" ? `refused ${one.status} ${one.code}` : one.ending)),
      "  ",
    ),
    ["  refused 503 though nobody had disturbed the store", undisturbed(evidence)],
    ["attempts at the upstream", attempts.length],
    ["  with a fault", `${faults} (${((100 * faults) / Math.max(1, attempts.length)).toFixed(1)} %)`],
    ...counts(
      attempts.filter(({ fault }) => fault !== "none").map(({ fault }) => fault),
      "    ",
    ),
    ["disturbances", [...done.values()].reduce((sum, count) => sum + count, 0)],
    ...byName(done).map(([kind, count]) => [`  ${kind}`, count] as const),
    ["the store's server was slow by itself", `${stalls.length} times, ${secondsOf(stalls)} s`],
    ["gateways", lives.length],
    ["  killed -9", lives.filter(({ end }) => end === "killed").length],
    ["  workers killed -9", lives.reduce((sum, { killings }) => sum + killings.length, 0)],
    ["ledger entries", ledger.length],
    ["  duplicates", duplicates],
    ["charged, nano-units", String(verdict.sums.charged)],
    ["  difference to usage x price", String(verdict.sums.difference)],
    ["most streams at a time / limit", limited.join(" ")],
    ["reservations, slots, holds left", users.filter(({ running, held }) => running.requests > 0 || held > 0n).length],
    ["journal: pending, rejected", `${evidence.journal.pending}, ${evidence.journal.rejected}`],
    ["allowed by the table of outcomes", ""],
    ...byName(verdict.allowances).map(([row, count]) => [`  ${row}`, count] as const),
    ["violations", verdict.violations.length],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const table = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`.trimEnd());
  return [...table, ...violations(verdict.violations)].join("\n");
}

export function violations(all: Outcome["verdict"]["violations"]): readonly string[] {
  return byName(Map.groupBy(all, ({ invariant }) => invariant)).flatMap(([invariant, found]) => [
    `${invariant} (${INVARIANTS[invariant]}): ${found.length}`,
    ...found.slice(0, SHOWN).map(({ what }) => `  ${what}`),
  ]);
}

/** A machine that is too busy for the store's answers to come in time. */
function undisturbed({ seen, disturbed }: Evidence): number {
  const wasDisturbed = ({ sentAt, endedAt }: Seen) =>
    disturbed.some(({ from, until }) => from <= endedAt && until + RECOVERY >= sentAt);
  return seen.filter((one) => one.code === "STORE_UNAVAILABLE" && !wasDisturbed(one)).length;
}

function secondsOf(periods: readonly Period[]): string {
  return (periods.reduce((sum, { from, until }) => sum + until - from, 0) / 1_000).toFixed(1);
}

function counts(names: readonly string[], indent: string): readonly (readonly [string, number])[] {
  return [...Map.groupBy(names, (name) => name)]
    .map(([name, same]) => [`${indent}${name}`, same.length] as const)
    .toSorted((a, b) => b[1] - a[1]);
}

function byName<Name extends string, Value>(map: ReadonlyMap<Name, Value>): [Name, Value][] {
  return [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
