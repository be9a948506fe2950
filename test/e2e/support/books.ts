import assert from "node:assert/strict";
import { type LedgerEntry, type Limits, NANOS_PER_UNIT, type Store, type Usage } from "../../../src/kit/index.ts";

export interface TestUser {
  readonly id: string;
  readonly key: string;
  readonly tier: string;
}

/** All that a request may change about its user. */
export interface Books {
  readonly used: { readonly day: number; readonly hour: number; readonly minute: number };
  readonly running: { readonly requests: number; readonly streams: number; readonly held: bigint };
  readonly ledger: readonly LedgerEntry[];
  readonly balance: bigint;
  readonly granted: bigint;
}

export async function readBooks(store: Store, id: string, limits: Limits): Promise<Books> {
  const { day, hour, minute } = await store.windows(id, limits);
  const account = await store.findUser(id);
  if (!account) throw new Error(`no user ${id}`);
  const { balance, granted } = account;
  return {
    used: { day: day.used, hour: hour.used, minute: minute.used },
    running: await store.running(id),
    ledger: await store.ledger(id),
    balance,
    granted,
  };
}

/** What holds of every user for whom nothing runs. @throws AssertionError */
export async function expectBalanced(store: Store, { id: user }: TestUser): Promise<void> {
  const account = await store.findUser(user);
  const ledger = await store.ledger(user);
  const charges = ledger.reduce((sum, { charge }) => sum + charge, 0n);
  assert.deepEqual(
    {
      user,
      running: await store.running(user),
      held: account?.held,
      granted: account?.granted,
      entries: new Set(ledger.map(({ id }) => id)).size,
    },
    {
      user,
      running: { requests: 0, streams: 0, held: 0n },
      held: 0n,
      granted: (account?.balance ?? 0n) + charges,
      entries: ledger.length,
    },
  );
}

const NO_USAGE = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };

/** What a prompt of "Hello there" costs that was given up unanswered, at 1 per million tokens. */
const OWED: Owed = { usage: { ...NO_USAGE, prompt: 4 }, estimated: true, charge: 4_000n };
/** The same where `billing.outcomes.unanswered` is `free`. */
export const NOTHING_OWED: Owed = { usage: NO_USAGE, estimated: false, charge: 0n };

/**
 * The books, for `toMatchObject`, of a user with 10 credits whose every request was given up before the first byte of an
 * upstream that had been asked: counted, in `units` of the day each, and charged its prompt.
 */
export function unanswered({ outcome, count = 1, units = 1, owed = OWED }: Unanswered): object {
  const entry = { outcome, ...owed };
  return {
    ledger: Array.from({ length: count }, () => entry),
    used: { day: units * count, hour: count, minute: count },
    running: { requests: 0, streams: 0, held: 0n },
    balance: 10n * NANOS_PER_UNIT - BigInt(count) * owed.charge,
  };
}

export interface Unanswered {
  readonly outcome: "client_gone" | "killed";
  readonly count?: number;
  readonly units?: number;
  /** What each costs; the default prompt unless given. */
  readonly owed?: Owed;
}

interface Owed {
  readonly usage: Partial<Usage>;
  readonly estimated: boolean;
  readonly charge: bigint;
}
