import { isJson, type Json } from "../../kit/index.ts";

/** Most tokens of thought that still are an effort, as upstreams translate efforts into budgets. */
const BUDGETS: readonly (readonly [number, string])[] = [
  [2_048, "low"],
  [16_384, "medium"],
];

export interface Effort {
  /** null: not said. */
  readonly effort: string | null;
  /** Pointers of what it cannot say. */
  readonly lost: readonly string[];
}

/**
 * How much to reason, in OpenAI's words. Every reasoning model knows `high`, few know more. `thinking` speaks where
 * `reasoning_effort` does not: `adaptive` is what such models do unasked; that they should not think at all is not
 * something that all of them can be told.
 */
export function effortOf({ reasoning_effort: effort, thinking }: Json): Effort {
  const disabled = isJson(thinking) && thinking["type"] === "disabled";
  if (typeof effort === "string") {
    return { effort: effort === "max" ? "high" : effort, lost: disabled ? ["/thinking"] : [] };
  }
  if (!isJson(thinking) || thinking["type"] === "adaptive") return { effort: null, lost: [] };
  const { type, budget_tokens: budget } = thinking;
  if (type !== "enabled" || typeof budget !== "number") return { effort: null, lost: ["/thinking"] };
  return { effort: BUDGETS.find(([most]) => budget <= most)?.[1] ?? "high", lost: [] };
}
