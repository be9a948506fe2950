/** The values of `output_config.effort`, the lowest first (@anthropic-ai/sdk resources/messages/messages.d.ts OutputConfig). */
export const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;

export const UP_TO_HIGH: readonly Effort[] = ["low", "medium", "high"];

export type Effort = (typeof EFFORTS)[number];

/** OpenAI's lowest has no counterpart of its own. */
const AS_EFFORT: Readonly<Record<string, Effort>> = { minimal: "low" };

/** A canonical `reasoning_effort` as Claude calls it; null for one that asks for no level. */
export function effortNamed(given: unknown): Effort | null {
  if (typeof given !== "string") return null;
  return EFFORTS.find((effort) => effort === given) ?? (Object.hasOwn(AS_EFFORT, given) ? AS_EFFORT[given]! : null);
}

/** The effort itself where the model takes it, else the next lower, else the lowest; null for a model without efforts. */
export function nearestEffort(effort: Effort, taken: readonly Effort[]): Effort | null {
  const most = EFFORTS.indexOf(effort);
  return taken.findLast((one) => EFFORTS.indexOf(one) <= most) ?? taken[0] ?? null;
}

/** The most of the budgets, in tokens, that an effort stands for; what is more is `high`, the API's own default. */
const BUDGETS: readonly (readonly [tokens: number, effort: Effort])[] = [
  [4_096, "low"],
  [16_000, "medium"],
];

/** The effort that comes nearest to a budget, for models that know efforts only. */
export function effortOfBudget(tokens: number): Effort {
  return BUDGETS.find(([most]) => tokens <= most)?.[1] ?? "high";
}

/** What share of the output an effort may think, for models that know budgets only. */
const SHARES: Readonly<Record<Effort, number>> = { low: 0.2, medium: 0.5, high: 0.8, xhigh: 0.9, max: 0.95 };
/** OpenAI's `minimal`, which has no effort of its own. */
const MINIMAL_SHARE = 0.1;
/** The least `budget_tokens`. */
export const MIN_BUDGET_TOKENS = 1_024;
/** The most that an effort asks for by itself. */
const MAX_EFFORT_BUDGET_TOKENS = 32_000;

/** The budget that an effort amounts to. @param given the canonical effort. @param maxTokens of the whole output. */
export function budgetOfEffort(given: unknown, maxTokens: number): number {
  const share = given === "minimal" ? MINIMAL_SHARE : SHARES[effortNamed(given) ?? "high"];
  return Math.max(MIN_BUDGET_TOKENS, Math.min(Math.floor(maxTokens * share), MAX_EFFORT_BUDGET_TOKENS));
}
