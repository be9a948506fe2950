import type { Script } from "./script.ts";

/** Tokens as an answer claims them, in OpenAI's sense whatever the dialect. Numbers, unless the script claims otherwise. */
export interface Counts {
  /** Includes `cached` and `cacheWrite`. */
  readonly prompt: unknown;
  /** Includes `reasoning`. */
  readonly completion: unknown;
  readonly cached: unknown;
  readonly cacheWrite: unknown;
  readonly reasoning: number;
}

/** What a script claims, else what was counted; cached tokens that it claims come on top of the prompt's own. */
export function countsOf(
  counted: { readonly prompt: number; readonly completion: number; readonly reasoning: number },
  script: Script,
): Counts {
  const cached = script["usage.cached"] ?? 0;
  const cacheWrite = script["usage.cache_write"] ?? 0;
  return {
    prompt: script["usage.prompt"] ?? counted.prompt + numeric(cached) + numeric(cacheWrite),
    completion: script["usage.completion"] ?? counted.completion,
    cached,
    cacheWrite,
    reasoning: counted.reasoning,
  };
}

/** `whole` less `parts`; something that is no number stays as it is. */
export function less(whole: unknown, ...parts: readonly unknown[]): unknown {
  return typeof whole === "number" ? parts.reduce<number>((rest, part) => rest - numeric(part), whole) : whole;
}

export function numeric(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
