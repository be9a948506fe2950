import { isJson, type Json, type Usage } from "../../kit/index.ts";
import { cacheWrites, tokenCount } from "../usage.ts";

/** Counts are cumulative and may be restated: the last word on each counts. */
export function restated(usage: Json, more: unknown): Json {
  const said = isJson(more) ? Object.entries(more).filter(([, value]) => value !== null) : [];
  return { ...usage, ...Object.fromEntries(said) };
}

/** @returns null when a count is missing or not to be believed. */
export function usageOf(usage: Json): Usage | null {
  const [input, output] = [tokenCount(usage["input_tokens"]), tokenCount(usage["output_tokens"])];
  const [cached, cacheWrite] = [
    tokenCount(usage["cache_read_input_tokens"] ?? 0),
    tokenCount(usage["cache_creation_input_tokens"] ?? 0),
  ];
  if (input === null || output === null || cached === null || cacheWrite === null) return null;
  const { cache_creation: created, output_tokens_details: details } = usage;
  const reasoning = isJson(details) ? (tokenCount(details["thinking_tokens"]) ?? 0) : 0;
  return {
    prompt: input + cached + cacheWrite,
    completion: output,
    cached,
    reasoning: Math.min(reasoning, output),
    ...cacheWrites(cacheWrite, isJson(created) ? created["ephemeral_1h_input_tokens"] : 0),
  };
}
