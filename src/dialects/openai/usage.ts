import { isJson, type Json, type Usage } from "../../kit/index.ts";

/** More than any model can read or write in one request: a count above it is a defect of the upstream. */
const MAX_TOKENS = 10_000_000;
/** The same for a batch: a reranker counts its query once for each of up to a thousand documents. */
const MAX_BATCH_TOKENS = 1_000_000_000;

/** The usage of a body or chunk, wherever the upstream put it; null when it is missing or not to be believed. */
export function readUsage(body: Json): Usage | null {
  const groq = body["x_groq"];
  const raw = isJson(body["usage"]) ? body["usage"] : isJson(groq) && isJson(groq["usage"]) ? groq["usage"] : null;
  if (raw === null) return null;
  const prompt = count(raw["prompt_tokens"]);
  const completion = count(raw["completion_tokens"]);
  if (prompt === null || completion === null) return null;
  const cached = detail(raw["prompt_tokens_details"], "cached_tokens");
  const reasoning = detail(raw["completion_tokens_details"], "reasoning_tokens");
  // Some upstreams leave reasoning out of completion_tokens and count it in the total only; it is billed all the same.
  const apart = reasoning > 0 && raw["total_tokens"] === prompt + completion + reasoning;
  return {
    prompt,
    completion: apart ? completion + reasoning : completion,
    cached: Math.min(cached, prompt),
    reasoning: apart ? reasoning : Math.min(reasoning, completion),
  };
}

function detail(details: unknown, key: string): number {
  return isJson(details) ? (count(details[key]) ?? 0) : 0;
}

/** The usage of a kind without output; null when the count is missing or not to be believed. */
export function promptUsage(tokens: unknown): Usage | null {
  const prompt = count(tokens, MAX_BATCH_TOKENS);
  return prompt === null ? null : { prompt, completion: 0, cached: 0, reasoning: 0 };
}

function count(value: unknown, most = MAX_TOKENS): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= most ? value : null;
}
