import { isJson, type Usage } from "../../kit/index.ts";
import { tokenCount } from "../usage.ts";

interface Counts {
  readonly input: number;
  readonly output: number;
}

/**
 * What is charged (`billed_units`), where it is missing what the model read and wrote (`tokens`): Cohere's own prompt,
 * which comes before the client's, is part of that alone. @returns null for counts that cannot be believed.
 */
export function usageOf(usage: unknown): Usage | null {
  if (!isJson(usage)) return null;
  const tokens = counts(usage["tokens"]);
  const charged = counts(usage["billed_units"]) ?? tokens;
  if (charged === null) return null;
  // A cache holds beginnings: what it had of Cohere's own prompt is not charged anyway.
  const own = Math.max((tokens?.input ?? Infinity) - charged.input, 0);
  const cached = Math.max((tokenCount(usage["cached_tokens"]) ?? 0) - own, 0);
  return {
    prompt: charged.input,
    completion: charged.output,
    cached: Math.min(cached, charged.input),
    reasoning: 0,
  };
}

function counts(units: unknown): Counts | null {
  if (!isJson(units)) return null;
  const [input, output] = [tokenCount(units["input_tokens"]), tokenCount(units["output_tokens"])];
  return input === null || output === null ? null : { input, output };
}
