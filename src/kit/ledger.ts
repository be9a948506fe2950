import type { RequestBudget } from "./key-limits.ts";
import type { Usage } from "./money.ts";
import type { Awaitable, OutcomeKind } from "./request.ts";
import type { Tags } from "./tags.ts";

/** One charge in the ledger, or a reservation given back. */
export interface Settlement {
  readonly id: string;
  readonly userId: string;
  /** Returns the window units as well; slot and hold are always released. */
  readonly giveBack: boolean;
  /** Nano-units. */
  readonly charge: bigint;
  /** null when nothing is to be recorded, as of most that is given back. */
  readonly record: LedgerRecord | null;
  /** The admission's, for a store that knows no more of it: the period is that of `record.receivedAt` then. */
  readonly budget?: Omit<RequestBudget, "amount">;
}

export interface LedgerRecord {
  readonly requestId: string;
  readonly keyId: string | null;
  readonly model: string;
  readonly upstream: string | null;
  readonly outcome: OutcomeKind;
  readonly usage: Usage;
  readonly estimated: boolean;
  readonly receivedAt: number;
  readonly endedAt: number;
  /** Left out: none. */
  readonly tags?: Tags;
  /** The user's at admission; left out where it is not known, as of entries that an older version has written. */
  readonly tier?: string;
}

export interface LedgerEntry extends LedgerRecord {
  readonly id: string;
  readonly userId: string;
  /** Nano-units. */
  readonly charge: bigint;
}

export interface RecordedEntry extends LedgerEntry {
  /** Unix milliseconds: later than the end of the request when the store was away. */
  readonly recordedAt: number;
}

/** Of which entries; what is left out is not looked at. */
export interface LedgerFilter {
  readonly userId?: string;
  readonly keyId?: string;
  readonly model?: string;
  readonly upstream?: string;
  readonly outcome?: OutcomeKind;
  readonly requestId?: string;
  readonly tag?: { readonly name: string; readonly value: string };
  /** Recorded then or later, in Unix milliseconds. */
  readonly from?: number;
  /** Recorded before. */
  readonly to?: number;
}

export interface LedgerQuery extends LedgerFilter {
  /** At least 1. */
  readonly limit: number;
  /** Of the page before, with the same filter. */
  readonly cursor?: string;
}

/** A page may have fewer entries than asked for, or none, and be followed by others: a call looks at so many at most. */
export interface LedgerPage {
  /** The last recorded first. */
  readonly entries: readonly RecordedEntry[];
  /** null: it was the last page. */
  readonly cursor: string | null;
}

export const USAGE_DIMENSIONS = ["model", "upstream", "tier", "userId", "keyId"] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

export interface UsageQuery {
  readonly per: "hour" | "day";
  /** What has a row of its own. A key's row also names its user. */
  readonly by: readonly UsageDimension[];
  /** Unix milliseconds: of hours, or days, that begin then or later. */
  readonly from: number;
  /** Of those that begin before. */
  readonly to: number;
  readonly userId?: string;
  readonly keyId?: string;
  readonly model?: string;
  readonly upstream?: string;
  readonly limit: number;
  readonly cursor?: string;
}

export interface UsageCounts {
  readonly requests: number;
  /** Of them: those that no upstream served, or that it or the gateway broke off. */
  readonly failed: number;
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
  readonly reasoning: number;
  /** Nano-units. */
  readonly charge: bigint;
}

/** What was recorded in an hour or a day. Only the dimensions asked for are there. */
export interface UsageRow extends UsageCounts {
  /** Unix milliseconds. */
  readonly start: number;
  readonly model?: string;
  readonly upstream?: string | null;
  readonly tier?: string | null;
  readonly userId?: string;
  readonly keyId?: string | null;
}

/** As `LedgerPage`. */
export interface UsagePage {
  /** The latest day first. */
  readonly rows: readonly UsageRow[];
  readonly cursor: string | null;
}

/** What was charged, to look at: all users' entries and what they add up to. */
export interface LedgerStore {
  /** @throws GatewayError INVALID_REQUEST for a cursor that is none of this list. */
  ledgerPage(query: LedgerQuery): Awaitable<LedgerPage>;
  /** Sums of all users are kept for 400 days, those by user or key as long as the ledger. @throws as `ledgerPage` */
  usage(query: UsageQuery): Awaitable<UsagePage>;
}
