import { isJson, type Usage } from "../../kit/index.ts";

/** More than any model can read or write in one request: a count above it is a defect of the upstream. */
const MAX_TOKENS = 10_000_000;

/** `inputTokens` leaves out what was read from and written to a cache. @returns null for counts that cannot be believed. */
export function usageOf(usage: unknown): Usage | null {
  if (!isJson(usage)) return null;
  const [input, completion] = [count(usage["inputTokens"]), count(usage["outputTokens"])];
  const cached = count(usage["cacheReadInputTokens"] ?? 0);
  const cacheWrite = count(usage["cacheWriteInputTokens"] ?? 0);
  if (input === null || completion === null || cached === null || cacheWrite === null) return null;
  return { prompt: input + cached + cacheWrite, completion, cached, reasoning: 0, cacheWrite };
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS ? value : null;
}
