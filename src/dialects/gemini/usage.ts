import { isJson, type Json, type Usage } from "../../kit/index.ts";
import { readUsage } from "../openai/usage.ts";

export interface Counted {
  /** In OpenAI's form. */
  readonly shown: Json;
  readonly usage: Usage;
}

/**
 * The counts of `usageMetadata`, which are cumulative in streams; null when they are missing or not to be believed. Gemini
 * counts thoughts and the results of its own tools apart from output and prompt; a count of zero is left out.
 */
export function readCounts(body: Json): Counted | null {
  const raw = body["usageMetadata"];
  if (!isJson(raw)) return null;
  const reasoning = raw["thoughtsTokenCount"] ?? 0;
  const cached = raw["cachedContentTokenCount"] ?? 0;
  const prompt = sum(raw["promptTokenCount"], raw["toolUsePromptTokenCount"] ?? 0);
  const completion = sum(raw["candidatesTokenCount"] ?? 0, reasoning);
  const shown = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
  const usage = readUsage({ usage: shown });
  if (usage === null) return null;
  const { cached: cached_tokens, reasoning: reasoning_tokens } = usage;
  return {
    usage,
    shown: {
      ...shown,
      prompt_tokens_details: { cached_tokens },
      completion_tokens_details: { reasoning_tokens },
    },
  };
}

/** NaN, which no count is, unless both are numbers. */
function sum(one: unknown, other: unknown): number {
  return typeof one === "number" && typeof other === "number" ? one + other : Number.NaN;
}
