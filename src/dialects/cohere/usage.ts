import { isJson, type Usage } from "../../kit/index.ts";

/** More than any model can read or write in one request: a count above it is a defect of the upstream. */
const MAX_TOKENS = 10_000_000;

/**
 * What the model read and wrote (`tokens`): Cohere's own prompt around the client's is part of it, and of what was cached.
 * Where it is missing, what is billed (`billed_units`). @returns null for counts that cannot be believed.
 */
export function usageOf(usage: unknown): Usage | null {
  if (!isJson(usage)) return null;
  return counts(usage["tokens"], usage["cached_tokens"]) ?? counts(usage["billed_units"], 0);
}

function counts(tokens: unknown, cachedTokens: unknown): Usage | null {
  if (!isJson(tokens)) return null;
  const [prompt, completion] = [count(tokens["input_tokens"]), count(tokens["output_tokens"])];
  if (prompt === null || completion === null) return null;
  return { prompt, completion, cached: Math.min(count(cachedTokens) ?? 0, prompt), reasoning: 0 };
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS ? value : null;
}
