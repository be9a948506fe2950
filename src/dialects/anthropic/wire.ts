import { isJson, type Json } from "../../kit/index.ts";
import { malformed } from "../errors.ts";

/** The fields of a content block that have a canonical place, by its type. */
export const CANONICAL = {
  text: new Set(["type", "text"]),
  thinking: new Set(["type", "thinking", "signature"]),
  redacted_thinking: new Set(["type", "data"]),
  tool_use: new Set(["type", "id", "name", "input"]),
} satisfies Readonly<Record<string, ReadonlySet<string>>>;

/** A text field. @throws AttemptError when it is none. */
export function words(block: Json, name: string): string {
  const value = block[name];
  if (typeof value !== "string") throw malformed(`a ${name} that is no text`);
  return value;
}

/** The id of a tool_use block: results are told apart by it. */
export function toolId(block: Json): string {
  const id = words(block, "id");
  if (id === "") throw malformed("a tool call without an id");
  return id;
}

/** The input of a tool_use block as JSON text. */
export function writtenInput({ input }: Json): string {
  if (input !== undefined && input !== null && !isJson(input)) throw malformed("a tool input that is no object");
  try {
    return JSON.stringify(input ?? {});
  } catch {
    throw malformed("a tool input that is nested too deeply");
  }
}
