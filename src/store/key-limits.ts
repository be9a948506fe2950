import type { KeyBudget, KeyLimits } from "../kit/index.ts";

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
