import type { BudgetState, KeyLimits } from "./key-limits.ts";

/** A key as stored: the secret only as its SHA-256 digest. One that has expired is as one that is not there. */
export interface ApiKey {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly prefix: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  /** Absent: it may do what its user may. */
  readonly limits?: KeyLimits;
  /** Of a key with a budget. */
  readonly budget?: BudgetState;
}

export type NewKey = Omit<ApiKey, "createdAt" | "lastUsedAt" | "budget"> & { readonly digest: Uint8Array };

/** What is to be different about a key; absent fields stay. */
export interface KeyChange {
  readonly name?: string;
  /** null takes a limit away. A rolled key's budget stays the one that it shares. */
  readonly limits?: { readonly [Name in keyof KeyLimits]?: KeyLimits[Name] | null };
}

/** A new key takes the place of another, with its name and limits, and shares its budget. */
export interface KeyRoll {
  readonly next: Pick<NewKey, "id" | "prefix" | "digest">;
  /** Unix milliseconds until which the old key serves; null: it is revoked at once. */
  readonly graceEndsAt: number | null;
  /** Live keys of a user afterwards. */
  readonly maximum: number;
}

export type KeyRollResult =
  /** `until`: Unix milliseconds from which the old key is no more. */
  | { readonly ok: true; readonly key: ApiKey; readonly until: number }
  /** `replacedBy`: it was rolled before, into this key. */
  | { readonly ok: false; readonly reason: "unknown" }
  | { readonly ok: false; readonly reason: "full" }
  | { readonly ok: false; readonly reason: "rolled"; readonly replacedBy: string };
