import { GatewayError } from "./errors.ts";
import { nanoToString } from "./money.ts";
import type { Tags } from "./tags.ts";

/** What a key may be used for: to ask models, or to read what its user has used. */
export const KEY_SCOPES = Object.freeze(["inference", "usage"] as const);
export type KeyScope = (typeof KEY_SCOPES)[number];

/** What an API key may do less than its user. */
export interface KeyLimits {
  /** Unix milliseconds from which it is as a key that is not there. */
  readonly expiresAt?: number;
  /** Globs over model ids: other models are refused. */
  readonly models?: readonly string[];
  readonly budget?: KeyBudget;
  /** Put on each of its requests. */
  readonly tags?: Tags;
  /** Absent: every scope. */
  readonly scopes?: readonly KeyScope[];
  /** Addresses and networks (CIDR) from which it may be used; absent: any. */
  readonly addresses?: readonly string[];
  /** Id of the key that took its place when it was rolled. It serves until it expires. */
  readonly replacedBy?: string;
}

/** Calendar days and months are UTC's; `total` never begins afresh. */
export type BudgetPeriod = "day" | "month" | "total";

/** What the requests of a key may cost together in a period. */
export interface KeyBudget {
  /** Nano-units. */
  readonly amount: bigint;
  readonly per: BudgetPeriod;
  /** Id of the first key of a chain of rolled keys: all of them spend under it. Absent: the key's own id. */
  readonly account?: string;
}

/** The budget that a request of the key takes from. */
export interface RequestBudget extends Omit<KeyBudget, "account"> {
  /** The key under whose id it is counted. */
  readonly keyId: string;
}

/** The key under whose id a key's budget is counted. */
export function budgetAccount(keyId: string, { account = keyId }: KeyBudget): string {
  return account;
}

/** What is used of a budget in the period that runs. */
export interface BudgetState {
  /** Nano-units. */
  readonly spent: bigint;
  /** Nano-units held by running requests. */
  readonly held: bigint;
  /** Unix milliseconds; null: never. */
  readonly resetsAt: number | null;
}

const DAY_MS = 86_400_000;
const MONTHS_PER_YEAR = 12;

/** The number of the period that a time is in; it grows with time. @param at Unix milliseconds */
export function budgetPeriodOf(per: BudgetPeriod, at: number): number {
  if (per === "total") return 0;
  if (per === "day") return Math.floor(at / DAY_MS);
  const date = new Date(at);
  return date.getUTCFullYear() * MONTHS_PER_YEAR + date.getUTCMonth();
}

/** Unix milliseconds at which the period that a time is in ends; null: it does not. */
export function budgetResetsAt(per: BudgetPeriod, at: number): number | null {
  if (per === "total") return null;
  if (per === "day") return (budgetPeriodOf(per, at) + 1) * DAY_MS;
  const next = budgetPeriodOf(per, at) + 1;
  return Date.UTC(Math.floor(next / MONTHS_PER_YEAR), next % MONTHS_PER_YEAR);
}

/** A budget in words. */
export function budgetText({ amount, per }: KeyBudget): string {
  return per === "total" ? `${nanoToString(amount)} in all` : `${nanoToString(amount)} per ${per}`;
}

/** Whether a key has expired. */
export function isExpired(limits: KeyLimits | undefined, now: number): boolean {
  return limits?.expiresAt !== undefined && limits.expiresAt <= now;
}

/** Whether a key may call a model. */
export function keyMayCall(limits: KeyLimits | undefined, model: string): boolean {
  return limits?.models === undefined || limits.models.some((glob) => matchesGlob(glob, model));
}

/** The refusal of a model that `keyMayCall` excludes. */
export function notOfKey(model: string): GatewayError {
  return new GatewayError("MODEL_NOT_ALLOWED", `Model '${model}' is not among the models of this API key`);
}

/**
 * `*` stands for any text, everything else for itself. Each part between stars is taken at its first place behind the one
 * before, which needs no second try: of a glob from outside the time stays within the product of both lengths.
 */
export function matchesGlob(glob: string, text: string): boolean {
  const [first = "", ...others] = glob.split("*");
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
