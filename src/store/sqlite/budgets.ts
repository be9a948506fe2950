import type { DatabaseSync } from "node:sqlite";
import { type Admission, budgetPeriodOf, type RequestBudget } from "../../kit/index.ts";

/** Looked at for one to drop when another one comes: more than one, so that a crowd shrinks again. */
const LOOKED_AT_COUNT = 2;

/** SQL: whether a key that is not revoked spends under the id in this parameter, its own or that of one it was rolled from. */
export const isBudgetUsed = (parameter: `?${number}`): string =>
  `EXISTS (SELECT 1 FROM api_keys WHERE (id = ${parameter} OR budget_of = ${parameter}) AND revoked_at IS NULL)`;

/** What needs no credits needs no budget. */
export function exceedsBudget({ hold, budget }: Admission, { spent, held }: KnownBudget): boolean {
  return budget !== undefined && hold > 0n && spent + held + hold > budget.amount;
}

/**
 * What a request that fits holds. While less is left than its longest answer costs, that is all that is left: the next
 * request is then refused until this one has been charged.
 * @param credits that are left. @param known null: its key has no budget.
 */
export function effectiveHold(
  { hold, fullHold, enforceCredits, budget }: Admission,
  credits: bigint,
  known: KnownBudget | null,
): bigint {
  if (fullHold === undefined || hold === 0n) return hold;
  let left = enforceCredits ? credits : fullHold;
  if (budget !== undefined && known !== null) {
    const rest = budget.amount - known.spent - known.held;
    if (rest < left) left = rest;
  }
  return left < fullHold ? left : hold;
}

/** What the requests of one key have cost in one period, and what those that run hold of it. */
export interface KnownBudget {
  /** As of `RequestBudget`. */
  readonly keyId: string;
  readonly period: number;
  /** Nano-units, as those below. */
  spent: bigint;
  held: bigint;
  /** Whether the file has a row of it. */
  isStored: boolean;
}

type BudgetRow = Record<"spent" | "held", bigint>;

/**
 * The budgets of keys, as `KnownUsers` are the users: decided upon in memory, written with the charge. Only the process
 * that serves the file changes them.
 */
export class KnownBudgets {
  readonly #select;
  readonly #upsert;
  readonly #trim;
  readonly #known = new Map<string, KnownBudget>();
  /** Goes round all of them, as that of the users does. */
  #round = this.#known.entries();
  /** Which hold something that the file does not have. */
  readonly #unsaved = new Set<KnownBudget>();
  /** Which the commit under way changes, with what they were before it. */
  readonly #changed = new Map<KnownBudget, KnownBudget>();
  readonly #maxKnown: number;

  /** @param maxKnown budgets that are kept although nothing of them runs. */
  constructor(db: DatabaseSync, maxKnown: number) {
    this.#maxKnown = maxKnown;
    this.#select = db.prepare("SELECT spent, held FROM key_budgets WHERE key_id = ? AND period = ?");
    // Nothing has to be known of a budget whose keys were all revoked meanwhile.
    this.#upsert = db.prepare(
      `INSERT INTO key_budgets SELECT ?4, ?1, ?2, ?3 WHERE ${isBudgetUsed("?4")}
       ON CONFLICT DO UPDATE SET spent = excluded.spent, held = excluded.held`,
    );
    this.#trim = db.prepare("DELETE FROM key_budgets WHERE key_id = ? AND period < ?");
  }

  /** Of a period in which nothing was spent it is empty. */
  of(keyId: string, period: number): KnownBudget {
    const name = nameOf(keyId, period);
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    this.#makeRoom();
    const budget = this.#read(keyId, period);
    this.#known.set(name, budget);
    return budget;
  }

  /** @param at Unix milliseconds. @returns null for a request without one. */
  ofRequest(budget: Omit<RequestBudget, "amount"> | undefined, at: number): KnownBudget | null {
    return budget === undefined ? null : this.of(budget.keyId, budgetPeriodOf(budget.per, at));
  }

  /** As `of`. Not kept: looking at a budget makes it not known. */
  seen(keyId: string, period: number): Readonly<KnownBudget> {
    return this.#known.get(nameOf(keyId, period)) ?? this.#read(keyId, period);
  }

  /** Without a commit: the file has to follow. @param budget null: of no key with one. */
  hold(budget: KnownBudget | null, amount: bigint): void {
    if (budget === null) return;
    budget.held += amount;
    this.#unsaved.add(budget);
  }

  /** Call it in a commit, before changing the budget. */
  change(budget: KnownBudget): void {
    if (!this.#changed.has(budget)) this.#changed.set(budget, { ...budget });
  }

  /** Lets the commit under way write all that is unsaved. */
  changeUnsaved(): void {
    for (const budget of this.#unsaved) this.change(budget);
  }

  /** In a commit: a request ends that held something of it. */
  settle({ keyId, period }: KnownBudget, charge: bigint, hold: bigint): void {
    // Looked up again: of what held nothing it may have been dropped meanwhile, and what it was then is out of date.
    const budget = this.of(keyId, period);
    this.change(budget);
    budget.spent += charge;
    budget.held -= hold;
  }

  /** In a commit: one ends that held nothing, or no more. @param at when it began, in Unix milliseconds. */
  spend(of: Omit<RequestBudget, "amount"> | undefined, charge: bigint, at: number): void {
    const budget = this.ofRequest(of, at);
    if (budget !== null && charge > 0n) this.settle(budget, charge, 0n);
  }

  /** In a commit, at its end. */
  write(): void {
    for (const budget of this.#changed.keys()) {
      const { keyId, period, spent, held, isStored } = budget;
      this.#upsert.run(period, spent, held, keyId);
      if (isStored) continue;
      // The one before stays: clocks waver at the edge of a period.
      this.#trim.run(keyId, period - 1);
      budget.isStored = true;
    }
  }

  committed(): void {
    for (const budget of this.#changed.keys()) this.#unsaved.delete(budget);
    this.#changed.clear();
  }

  rolledBack(): void {
    for (const [budget, before] of this.#changed) Object.assign(budget, before);
    this.#changed.clear();
  }

  /** From now on the file is asked, which may be closed. */
  clear(): void {
    this.#known.clear();
    this.#unsaved.clear();
  }

  #read(keyId: string, period: number): KnownBudget {
    const row = this.#select.get(keyId, period) as BudgetRow | undefined;
    return { keyId, period, spent: row?.spent ?? 0n, held: row?.held ?? 0n, isStored: row !== undefined };
  }

  #makeRoom(): void {
    if (this.#known.size < this.#maxKnown) return;
    for (let count = 0; count < LOOKED_AT_COUNT; count += 1) {
      const { value, done } = this.#round.next();
      if (done === true) {
        this.#round = this.#known.entries();
        continue;
      }
      const [name, budget] = value;
      // Only here are what it holds and what is not written yet.
      if (budget.held === 0n && !this.#unsaved.has(budget) && !this.#changed.has(budget)) this.#known.delete(name);
    }
  }
}

function nameOf(keyId: string, period: number): string {
  return `${period} ${keyId}`;
}
