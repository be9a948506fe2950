import type { Json, Usage } from "../../../kit/index.ts";

const COUNTS: ReadonlySet<string> = new Set([
  "input_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "output_tokens",
  "output_tokens_details",
]);

export const NO_USAGE: Usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };

/** What a stream says at its start of an upstream that has not counted: what a Messages upstream said there, else 0. */
export function firstUsage(native: Json): Json {
  return { ...shownUsage(NO_USAGE, native), ...ownCounts(native) };
}

function ownCounts(native: Json): Json {
  const counts = Object.entries(native).filter(([name, value]) => COUNTS.has(name) && Number.isSafeInteger(value));
  return Object.fromEntries(counts);
}

/**
 * Usage as Messages counts: `input_tokens` without what was read from and written to the cache.
 * @param native what the upstream's own usage says beside the counts.
 */
export function shownUsage({ prompt, completion, cached, reasoning, cacheWrite = 0 }: Usage, native: Json = {}): Json {
  return {
    ...Object.fromEntries(Object.entries(native).filter(([name]) => !COUNTS.has(name))),
    input_tokens: Math.max(0, prompt - cached - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cached,
    output_tokens: completion,
    ...(reasoning > 0 ? { output_tokens_details: { thinking_tokens: reasoning } } : {}),
    // With a breakdown beside it the top level leaves out what is charged with it, and clients reckon with that.
    ...(Array.isArray(native["iterations"]) ? ownCounts(native) : {}),
  };
}
