import { milliseconds } from "../units.ts";
import type { LinkContext } from "./context.ts";

/** Node's timers fire at once beyond 2^31 ms. */
const LONGEST_TIMER = milliseconds("24d");
/** Keys of durations that are waited for. */
const TIMED =
  /\/(connect|first_byte|idle|total|min_delay|max_delay|open_for|max_open_for|every|timeout|deadline|heartbeat|delay)$/;
const DURATION = /^\d+(ms|s|m|h|d)$/;

/** Unset variables, and durations that no timer can wait for. */
export function linkScalars(context: LinkContext, unsetSeverity: (pointer: string) => "error" | "warning"): void {
  for (const [pointer, { reference, value }] of context.scalars()) {
    if (typeof reference?.unset === "string") {
      const message = `the variable ${reference.unset} is not set`;
      const hint = `set it, or give a default: \${env:${reference.unset}:-…}`;
      context.add(pointer, { rule: "unresolved-reference", message, hint, severity: unsetSeverity(pointer) });
    } else if (TIMED.test(pointer) && isTooLong(value)) {
      context.report(pointer, { rule: "timer-range", message: "is longer than a timer can wait", hint: "at most 24d" });
    }
  }
}

function isTooLong(value: unknown): boolean {
  return typeof value === "string" && DURATION.test(value) && milliseconds(value) > LONGEST_TIMER;
}
