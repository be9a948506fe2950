import { type BodyText, isJson, type Json } from "../kit/index.ts";
import type { JsonSize } from "./json-size.ts";

/**
 * The text that a body was parsed from; null where another reader might read something else: an object has a field twice,
 * `model` is written with escapes, or a number is too large for any reader.
 * @param bytes the same as the chunks.
 */
export function bodyText(
  { value, size }: { readonly value: Json; readonly size: JsonSize },
  bytes: Buffer,
  chunks: readonly Buffer[],
): BodyText | null {
  const { fields, modelAt, modelEnd } = size;
  if (modelAt < 0 || fieldsOf(value) !== fields) return null;
  const { model } = value;
  // With an escape in it the text would be longer than what it says.
  if (typeof model !== "string" || Buffer.byteLength(model) !== modelEnd - modelAt - 2) return null;
  return { body: value, chunks, length: bytes.length, modelAt, modelEnd };
}

/** Fields of all objects in a parsed value; NaN where a number of it is none. */
export function fieldsOf(value: unknown): number {
  // What is written as 1e999 was read as infinite, and is written as null.
  if (typeof value === "number") return Number.isFinite(value) ? 0 : Number.NaN;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += fieldsOf(item);
  } else if (isJson(value)) {
    for (const name in value) count += 1 + fieldsOf(value[name]);
  }
  return count;
}
