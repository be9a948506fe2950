import type { FinishReason } from "../canonical.ts";

/** What the model wrote cannot be used: another try may come out well. */
const FAILED: ReadonlySet<unknown> = new Set([
  "MALFORMED_FUNCTION_CALL",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MALFORMED_RESPONSE",
  "MISSING_THOUGHT_SIGNATURE",
]);

export function isFailure(reason: unknown): boolean {
  return FAILED.has(reason);
}

/** Whether a candidate's `finishReason` says that it has ended. */
export function isEnd(reason: unknown): reason is string {
  return typeof reason === "string" && reason !== "" && reason !== "FINISH_REASON_UNSPECIFIED";
}

/** `STOP` ends function calls too. Whatever is no plain end has withheld something, so it never looks like one. */
export function finishReason(reason: string, called: boolean): FinishReason {
  if (reason === "STOP") return called ? "tool_calls" : "stop";
  return reason === "MAX_TOKENS" ? "length" : "content_filter";
}
