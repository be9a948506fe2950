import type { FinishReason } from "../canonical.ts";
import { malformed } from "../errors.ts";

const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "tool_calls"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["content_filtered", "content_filter"],
  ["guardrail_intervened", "content_filter"],
]);
/** What the model wrote could not be read: no answer at all. */
const BROKEN: ReadonlySet<string> = new Set(["malformed_model_output", "malformed_tool_use"]);

/** Why the model stopped, and in the provider's own words. */
export interface Finish {
  readonly finish_reason: FinishReason;
  readonly native_finish_reason: string;
  readonly stop_sequence?: string;
}

/**
 * @param called whether the answer holds tool calls.
 * @throws AttemptError for an answer without a reason, or whose reason is that it is none.
 */
export function finishOf(reason: unknown, sequence: unknown, called: boolean): Finish {
  if (typeof reason !== "string") throw malformed("an answer without a stop reason");
  if (BROKEN.has(reason)) throw malformed(`an answer that ends with ${reason}`);
  const known = REASONS.get(reason) ?? "stop";
  return {
    finish_reason: known === "stop" && called ? "tool_calls" : known,
    native_finish_reason: reason,
    ...(typeof sequence === "string" ? { stop_sequence: sequence } : {}),
  };
}
