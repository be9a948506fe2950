import type { Json, Usage } from "../kit/index.ts";

/** More than any model can read or write in one request: a count above it is a defect of the upstream. */
const MAX_TOKENS = 10_000_000;

/** A count of tokens; null for what is none or not to be believed. */
export function tokenCount(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS ? value : null;
}

/** `{cacheWrite, cacheWrite1h}` of the tokens written to a cache, and of those kept for an hour; counts of 0 are left out. */
export function cacheWrites(written: number, forAnHour: unknown): Pick<Usage, "cacheWrite" | "cacheWrite1h"> {
  const cacheWrite1h = Math.min(tokenCount(forAnHour) ?? 0, written);
  return { ...(written > 0 && { cacheWrite: written }), ...(cacheWrite1h > 0 && { cacheWrite1h }) };
}

/** A usage in OpenAI's form. */
export function writtenUsage({ prompt, completion, cached, reasoning, cacheWrite = 0 }: Usage): Json {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
