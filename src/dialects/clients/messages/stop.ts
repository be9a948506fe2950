import type { Json } from "../../../kit/index.ts";

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
}

/** How a canonical choice ended, or one of which no end was told. */
export function stopOf(choice: Json, { called, refused }: Produced): Stop {
  const { finish_reason, native_finish_reason, stop_sequence } = choice;
  const own = OWN.has(native_finish_reason) ? (native_finish_reason as string) : null;
  const sequence = typeof stop_sequence === "string" ? stop_sequence : null;
  const reason = own ?? (sequence !== null ? "stop_sequence" : (MAPPED.get(finish_reason) ?? "end_turn"));
  // Some upstreams say "stop" after tool calls: a client would then never run them.
  const better = refused ? "refusal" : called ? "tool_use" : reason;
  return { stop_reason: reason === "end_turn" ? better : reason, stop_sequence: sequence };
}
