import { escapeRegExp } from "../kit/index.ts";

/** What stands for a value that the other side keeps to itself: nothing is known of it, so it is not said to differ. */
export const REDACTED = "[redacted]";

/** Whether two parts of a snapshot are the same, secrets included; what is redacted is taken to be the same. */
export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (isSecret(a) && isSecret(b)) return same(a.reveal(), b.reveal());
  if (typeof a === "string" && typeof b === "string") return couldBe(a, b) || couldBe(b, a);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Keyed, b as Keyed];
  // One that is undefined is as good as one that is not there.
  for (const key of Object.keys(left)) if (!same(left[key], right[key])) return false;
  for (const key of Object.keys(right)) if (right[key] !== undefined && left[key] === undefined) return false;
  return true;
}

/** Whether a text with redacted parts could be the other one. */
function couldBe(redacted: string, text: string): boolean {
  if (!redacted.includes(REDACTED)) return false;
  const parts = redacted.split(REDACTED).map((part) => escapeRegExp(part));
  return new RegExp(`^${parts.join(".*")}$`, "s").test(text);
}

type Keyed = Readonly<Record<string, unknown>>;

function isSecret(value: unknown): value is { reveal(): string } {
  return typeof value === "object" && value !== null && "reveal" in value && typeof value.reveal === "function";
}
