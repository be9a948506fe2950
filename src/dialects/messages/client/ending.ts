import type { Json, Usage } from "../../../kit/index.ts";

/** Messages' own words; an upstream that says one of them as `native_finish_reason` means it. */
const OWN: ReadonlySet<unknown> = new Set([
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "pause_turn",
  "refusal",
  "model_context_window_exceeded",
  "compaction",
]);

const MAPPED: ReadonlyMap<unknown, string> = new Map([
  ["stop", "end_turn"],
  ["length", "max_tokens"],
  ["tool_calls", "tool_use"],
  ["function_call", "tool_use"],
  ["content_filter", "refusal"],
]);

export interface Stop {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
}

/** What an answer brought. */
export interface Produced {
  readonly called: boolean;
  readonly refused: boolean;
  /** A Messages upstream made it: its own word stands, also where it ended its turn after calls that were answered there. */
  readonly verbatim: boolean;
}

/** How a canonical choice ended, or one of which no end was told. */
export function stopOf(choice: Json, { called, refused, verbatim }: Produced): Stop {
  const { finish_reason, native_finish_reason: word, stop_sequence } = choice;
  const sequence = typeof stop_sequence === "string" ? stop_sequence : null;
  if (verbatim && typeof word === "string") return { stop_reason: word, stop_sequence: sequence };
  const own = typeof word === "string" && OWN.has(word) ? word : null;
  const reason = own ?? (sequence !== null ? "stop_sequence" : (MAPPED.get(finish_reason) ?? "end_turn"));
  // Some upstreams say "stop" after tool calls: a client would then never run them.
  const better = refused ? "refusal" : called ? "tool_use" : reason;
  return { stop_reason: reason === "end_turn" ? better : reason, stop_sequence: sequence };
}

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
