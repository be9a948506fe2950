import { isJson, type Json, type Usage } from "../../kit/index.ts";
import { cacheWrites, tokenCount } from "../canonical/usage.ts";

/** Counts are cumulative and may be restated: the last word on each counts. */
export function restated(usage: Json, more: unknown): Json {
  const said = isJson(more) ? Object.entries(more).filter(([, value]) => value !== null) : [];
  return { ...usage, ...Object.fromEntries(said) };
}

/**
 * Iterations whose tokens the top level leaves out: the requests that a server-side compaction and an advisor make
 * beside the answer's own. Source: @anthropic-ai/sdk resources/beta/messages/messages.d.ts (`BetaUsage.iterations`),
 * https://platform.claude.com/docs/en/build-with-claude/compaction-threshold,
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool.
 */
const BESIDE_TOP_LEVEL: ReadonlySet<unknown> = new Set(["compaction", "advisor_message"]);

/**
 * Everything the provider bills for: `server_tool_use` counts requests, whose tokens stand at the top level.
 * @returns null when a count is missing or not to be believed.
 */
export function usageOf(usage: Json): Usage | null {
  let sum = countsOf(usage);
  const { iterations } = usage;
  for (const one of Array.isArray(iterations) ? iterations : []) {
    if (!isJson(one) || !BESIDE_TOP_LEVEL.has(one["type"])) continue;
    const more = countsOf(one);
    if (sum !== null && more !== null) sum = added(sum, more);
  }
  return sum;
}

function added(a: Usage, b: Usage): Usage {
  return {
    prompt: a.prompt + b.prompt,
    completion: a.completion + b.completion,
    cached: a.cached + b.cached,
    reasoning: a.reasoning + b.reasoning,
    ...cacheWrites((a.cacheWrite ?? 0) + (b.cacheWrite ?? 0), (a.cacheWrite1h ?? 0) + (b.cacheWrite1h ?? 0)),
  };
}

function countsOf(usage: Json): Usage | null {
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
