import { isJson, type Json, type Usage } from "../../kit/index.ts";

/** More than any model can read or write in one request: a count above it is a defect of the upstream. */
const MAX_TOKENS = 10_000_000;

/** Counts are cumulative and may be restated: the last word on each counts. */
export function restated(usage: Json, more: unknown): Json {
  const said = isJson(more) ? Object.entries(more).filter(([, value]) => value !== null) : [];
  return { ...usage, ...Object.fromEntries(said) };
}

/** @returns null when a count is missing or not to be believed. */
export function usageOf(usage: Json): Usage | null {
  const [input, output] = [count(usage["input_tokens"]), count(usage["output_tokens"])];
  const [cached, cacheWrite] = [
    count(usage["cache_read_input_tokens"] ?? 0),
    count(usage["cache_creation_input_tokens"] ?? 0),
  ];
  if (input === null || output === null || cached === null || cacheWrite === null) return null;
  const details = usage["output_tokens_details"];
  const reasoning = isJson(details) ? (count(details["thinking_tokens"]) ?? 0) : 0;
  return {
    prompt: input + cached + cacheWrite,
    completion: output,
    cached,
    reasoning: Math.min(reasoning, output),
    ...(cacheWrite > 0 ? { cacheWrite } : {}),
  };
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS ? value : null;
}

/** In OpenAI's form. */
export function writtenUsage({ prompt, completion, cached, reasoning, cacheWrite = 0 }: Usage): Json {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
