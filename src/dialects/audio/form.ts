import type { Json } from "../../kit/index.ts";
import { dropped } from "../pointers.ts";

/** What an answer is made from without the upstream's help: it always has times of words and of segments. */
const MADE_HERE = ["response_format", "timestamp_granularities", "timestamp_granularities[]"];

/** Pointers of the fields of a transcription form that are not carried; a list has the name that it has in forms. */
export function droppedOfForm(body: Json, carried: readonly string[]): string[] {
  const form = Object.entries(body).map(([name, value]) => [Array.isArray(value) ? `${name}[]` : name, value] as const);
  return dropped(Object.fromEntries(form), new Set([...MADE_HERE, ...carried]));
}
