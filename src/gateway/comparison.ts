import type { Exchange, GuardSettings, Outcome } from "../kit/index.ts";

/**
 * What a guard counts of one generation, for one kind of request: how many, how many of them failed by a fault of an
 * upstream or of the gateway, and of those that were timed the number, the sum and the sum of squares of the logarithm of
 * the time to the first token. Numbers of several instances are added up.
 */
export type Tally = readonly [requests: number, failures: number, timed: number, sum: number, squares: number];

/** By kind of request: a model, and whether its answer streams. */
export type Tallies = Readonly<Record<string, Tally>>;

/** Kinds counted apart; those beyond are counted as one, so that what instances tell each other stays small. */
const MAX_KINDS = 50;
const OTHER_KINDS = "other";
/** Added to each time: what differs by milliseconds on a fast network is no different. */
const TIME_FLOOR_MS = 10;

/** The requests of one generation since a guard began. */
export class RequestCounts {
  readonly #tallies = new Map<string, number[]>();

  finished({ model, call, readAt }: Exchange, { kind, code, firstEventAt }: Outcome): void {
    const failed = isFailure(kind, code);
    if (failed === null) return;
    const tally = this.#of(`${model.id}${call.stream ? " stream" : ""}`);
    tally[0]! += 1;
    if (failed) tally[1]! += 1;
    if (failed || firstEventAt === null) return;
    const time = Math.log(Math.max(0, firstEventAt - readAt) + TIME_FLOOR_MS);
    tally[2]! += 1;
    tally[3]! += time;
    tally[4]! += time * time;
  }

  /** A request that failed before its model was known. */
  failedEarly(): void {
    const tally = this.#of(OTHER_KINDS);
    tally[0]! += 1;
    tally[1]! += 1;
  }

  get tallies(): Tallies {
    return Object.fromEntries([...this.#tallies].map(([kind, tally]) => [kind, [...tally] as unknown as Tally]));
  }

  #of(kind: string): number[] {
    const known = this.#tallies.get(kind);
    if (known !== undefined) return known;
    if (kind !== OTHER_KINDS && this.#tallies.size >= MAX_KINDS) return this.#of(OTHER_KINDS);
    const tally = [0, 0, 0, 0, 0];
    this.#tallies.set(kind, tally);
    return tally;
  }
}

/** Not a configuration's fault: the store, the room for bodies and a stop are the same for every generation. */
const OF_THE_PROCESS: ReadonlySet<string> = new Set(["STORE_UNAVAILABLE", "OVERLOADED", "SHUTTING_DOWN"]);
const FAULTS: ReadonlySet<string> = new Set(["INTERNAL", "PROVIDER_ERROR", "PROVIDER_TIMEOUT", "CIRCUIT_BREAKER_OPEN"]);

/** null for a request that says nothing about its configuration: refused, given up by its client, or killed. */
function isFailure(kind: Outcome["kind"], code: string | null): boolean | null {
  if (code !== null && OF_THE_PROCESS.has(code)) return null;
  switch (kind) {
    case "served":
    case "client_fault":
      return false;
    case "failed":
    case "upstream_cut":
    case "gateway_error":
      return true;
    case "refused":
      return code !== null && FAULTS.has(code) ? true : null;
    case "client_gone":
    case "killed":
    case "shutdown":
      return null;
  }
}

/** Sums by kind. */
export function addUp(all: readonly Tallies[]): Tallies {
  const sums = new Map<string, Tally>();
  for (const tallies of all) {
    for (const [kind, [requests, failures, timed, sum, squares]] of Object.entries(tallies)) {
      const [a, b, c, d, e] = sums.get(kind) ?? [0, 0, 0, 0, 0];
      sums.set(kind, [a + requests, b + failures, c + timed, d + sum, e + squares]);
    }
  }
  return Object.fromEntries(sums);
}

export interface Comparison {
  readonly requests: number;
  readonly failures: number;
  readonly baseRequests: number;
  readonly baseFailures: number;
  /** The candidate's time to the first token over that of the base; null where nothing can be compared. */
  readonly ttftRatio: number | null;
  /** Why the candidate is worse than its guard allows; null while that may be chance. */
  readonly against: string | null;
}

/** Failures that no configuration can help: so small a share of them is never held against one. */
const TOLERATED_FAILURE_SHARE = 0.01;

/** How improbable something must be by chance: while a guard looks again and again, and at its end, once. */
const EARLY = { failures: Math.log(1_000), deviations: 4 };
const FINAL = { failures: Math.log(100), deviations: 2.5 };
/** Fewer times do not show how much times vary. */
const MIN_TIMED_COUNT = 10;

/**
 * Compares kind by kind, so that it does not matter which models the users of either side call.
 * @param isOver the guard's time is over: what there is decides, however little.
 */
export function compare(base: Tallies, candidate: Tallies, guard: GuardSettings, isOver: boolean): Comparison {
  const totals = totalsOf(candidate);
  const baseTotals = totalsOf(base);
  const times = compareTimes(base, candidate);
  const level = isOver ? FINAL : EARLY;
  const found = { ...totals, baseRequests: baseTotals.requests, baseFailures: baseTotals.failures };
  const ttftRatio = times && Math.exp(times.difference);
  const { requests, failures } = totals;
  const isEnough = isOver || requests >= guard.minRequests;
  const allowed = allowedFailures(base, candidate, guard.maxErrorRatio, baseTotals);
  const allFailed = isOver && requests > 0 && failures === requests && allowed < requests / 2;
  let against: string | null = null;
  if (isEnough && (allFailed || improbability(failures, allowed, requests) > level.failures)) {
    against = `${failures} of ${requests} requests failed, with the former configuration ${baseTotals.failures} of ${baseTotals.requests}`;
  } else if (isEnough && times !== null && isSlower(times, guard.maxTtftRatio, level.deviations)) {
    against = `the first token took ${ttftRatio!.toFixed(2)} times as long as with the former configuration`;
  }
  return { ...found, ttftRatio, against };
}

function totalsOf(tallies: Tallies): { readonly requests: number; readonly failures: number } {
  const all = Object.values(tallies);
  return {
    requests: all.reduce((sum, [requests]) => sum + requests, 0),
    failures: all.reduce((sum, [, failures]) => sum + failures, 0),
  };
}

/** The failures that the candidate's requests would have if it were as much worse as is allowed. */
function allowedFailures(
  base: Tallies,
  candidate: Tallies,
  maxRatio: number,
  { requests, failures }: { readonly requests: number; readonly failures: number },
): number {
  const overall = requests === 0 ? 0 : failures / requests;
  let allowed = 0;
  for (const [kind, [count]] of Object.entries(candidate)) {
    const [seen, failed] = base[kind] ?? [0, 0];
    // One request at the share of all: a kind that the base has not seen is no reason for anything.
    const share = (failed + overall) / (seen + 1);
    allowed += count * Math.min(1, Math.max(maxRatio * share, TOLERATED_FAILURE_SHARE));
  }
  return allowed;
}

/**
 * Of so many failures or more among independent requests, where so many are expected at most: minus the logarithm of
 * Hoeffding's bound, which holds whatever the shares of the single requests are.
 */
function improbability(failures: number, expected: number, requests: number): number {
  if (failures <= expected) return 0;
  const passed = requests - failures;
  const rest = passed === 0 ? 0 : passed * Math.log(passed / (requests - expected));
  return failures * Math.log(failures / expected) + rest;
}

interface TimeDifference {
  /** Of the logarithms. */
  readonly difference: number;
  readonly deviation: number;
  readonly timed: number;
}

/** Means of logarithms: a few answers that take minutes change them little. null with nothing to compare. */
function compareTimes(base: Tallies, candidate: Tallies): TimeDifference | null {
  let weights = 0;
  let weighted = 0;
  let squares = 0;
  let freedom = 0;
  let timed = 0;
  for (const [kind, one] of Object.entries(candidate)) {
    const other = base[kind];
    if (other === undefined || one[2] === 0 || other[2] === 0) continue;
    const weight = (one[2] * other[2]) / (one[2] + other[2]);
    weights += weight;
    weighted += weight * (one[3] / one[2] - other[3] / other[2]);
    for (const [, , count, sum, sumOfSquares] of [one, other]) {
      squares += Math.max(0, sumOfSquares - (sum * sum) / count);
      freedom += count - 1;
    }
    timed += one[2];
  }
  if (weights === 0 || freedom < MIN_TIMED_COUNT) return null;
  return { difference: weighted / weights, deviation: Math.sqrt(squares / freedom / weights), timed };
}

function isSlower({ difference, deviation, timed }: TimeDifference, maxRatio: number, deviations: number): boolean {
  return timed >= MIN_TIMED_COUNT && difference - deviations * deviation > Math.log(maxRatio);
}
