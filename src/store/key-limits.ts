import {
  type ApiKey,
  budgetAccount,
  type KeyBudget,
  type KeyChange,
  type KeyLimits,
  type KeyRoll,
} from "../kit/index.ts";

/** As JSON, in which amounts are decimal strings. */
export interface StoredLimits extends Omit<KeyLimits, "budget"> {
  readonly budget?: Omit<KeyBudget, "amount"> & { readonly amount: string };
}

export function packLimits({ budget, ...limits }: KeyLimits): StoredLimits {
  return { ...limits, ...(budget && { budget: { ...budget, amount: String(budget.amount) } }) };
}

export function unpackLimits({ budget, ...limits }: StoredLimits): KeyLimits {
  return { ...limits, ...(budget && { budget: { ...budget, amount: BigInt(budget.amount) } }) };
}

type Named = Pick<ApiKey, "id" | "name" | "limits">;

/** What a key is after a change. */
export function changedKey({ name, limits }: Named, change: KeyChange): Pick<ApiKey, "name" | "limits"> {
  const changed = Object.entries({ ...limits, ...change.limits }).filter(([, value]) => value !== null);
  const merged = Object.fromEntries(changed) as KeyLimits;
  const account = limits?.budget?.account;
  // Otherwise a change of the amount would give each key of a roll a budget of its own.
  const shared = merged.budget && account !== undefined ? { budget: { ...merged.budget, account } } : {};
  return { name: change.name ?? name, ...(changed.length > 0 && { limits: { ...merged, ...shared } }) };
}

/** The limits of both keys once the first has been rolled; `old` is null for one that goes at once. */
export function rolledLimits({ id, limits = {} }: Named, { next, graceEndsAt }: KeyRoll) {
  const { budget, ...others } = limits;
  const shared = budget && { budget: { ...budget, account: budgetAccount(id, budget) } };
  const inherited: KeyLimits = { ...others, ...shared };
  return {
    next: Object.keys(inherited).length > 0 ? inherited : undefined,
    old:
      graceEndsAt === null
        ? null
        : { ...limits, replacedBy: next.id, expiresAt: Math.min(graceEndsAt, limits.expiresAt ?? Infinity) },
  };
}
