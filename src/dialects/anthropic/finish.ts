import type { FinishReason } from "../canonical.ts";

const REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  compaction: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content_filter",
};

/** Why the model stopped, and in the provider's own words. */
export interface Finish {
  readonly finish_reason: FinishReason;
  readonly native_finish_reason: string | null;
  readonly stop_sequence?: string;
}

/** @param called whether the answer holds tool calls. */
export function finishOf(reason: unknown, sequence: unknown, called: boolean): Finish {
  const own = typeof reason === "string" ? reason : null;
  const known = own !== null && Object.hasOwn(REASONS, own) ? REASONS[own] : undefined;
  return {
    finish_reason: known ?? (called ? "tool_calls" : "stop"),
    native_finish_reason: own,
    ...(typeof sequence === "string" ? { stop_sequence: sequence } : {}),
  };
}
