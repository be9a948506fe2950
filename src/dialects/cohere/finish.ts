import { AttemptError } from "../../kit/index.ts";
import type { FinishReason } from "../canonical.ts";
import { malformed, reportedError } from "../errors.ts";

const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ["COMPLETE", "stop"],
  ["STOP_SEQUENCE", "stop"],
  ["MAX_TOKENS", "length"],
  ["TOOL_CALL", "tool_calls"],
  ["ERROR_LIMIT", "length"],
  ["ERROR_TOXIC", "content_filter"],
]);

/** Why the model stopped, and in the provider's own words. */
export interface Finish {
  readonly finish_reason: FinishReason;
  readonly native_finish_reason: string;
}

/**
 * @param called whether the answer holds tool calls.
 * @param error the provider's words for an answer that failed.
 * @throws AttemptError for an answer without a reason, or that failed.
 */
export function finishOf(reason: unknown, called: boolean, error?: unknown): Finish {
  if (typeof reason !== "string") throw malformed("an answer without a finish reason");
  if (reason === "TIMEOUT") throw new AttemptError("timeout", "upstream gave its answer up");
  if (reason === "ERROR") throw reportedError(error);
  const known = REASONS.get(reason) ?? "stop";
  return { finish_reason: known === "stop" && called ? "tool_calls" : known, native_finish_reason: reason };
}
