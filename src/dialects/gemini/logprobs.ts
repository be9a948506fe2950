import { isJson, type Json } from "../../kit/index.ts";

/** `logprobsResult` in OpenAI's form; null when there is none. */
export function logprobsOf(candidate: Json): readonly Json[] | null {
  const result = candidate["logprobsResult"];
  if (!isJson(result) || !Array.isArray(result["chosenCandidates"])) return null;
  const tops: readonly unknown[] = Array.isArray(result["topCandidates"]) ? result["topCandidates"] : [];
  const chosen = result["chosenCandidates"] as readonly unknown[];
  return chosen.flatMap((token, index) => {
    const top = tops[index];
    const alternatives: readonly unknown[] = isJson(top) && Array.isArray(top["candidates"]) ? top["candidates"] : [];
    return tokenOf(token).map((one) => ({ ...one, top_logprobs: alternatives.flatMap(tokenOf) }));
  });
}

function tokenOf(value: unknown): Json[] {
  const { token, logProbability: logprob } = isJson(value) ? value : {};
  if (typeof token !== "string" || typeof logprob !== "number") return [];
  return [{ token, logprob, bytes: [...Buffer.from(token)] }];
}
