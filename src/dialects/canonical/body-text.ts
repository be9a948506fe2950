import { type BodyText, isJson, type Json } from "../../kit/index.ts";
import type { BytesBody } from "../dialect.ts";

/**
 * The text that a client sent for `body` with another model, and with fields that it does not have.
 * @param more those fields, each with a comma before it.
 * @returns null where a server that reads it might read something else than was checked: another body is to be sent, an
 *   object has a field twice, a name is written with escapes, or a number is too large for any reader.
 */
export function textWithModel(text: BodyText, body: Json, model: string, more: string): BytesBody | null {
  const { chunks, length, fields, modelAt, modelEnd } = text;
  if (text.body !== body || modelAt < 0 || fieldsOf(body) !== fields) return null;
  const { model: named } = body;
  const written = Buffer.concat(range(chunks, modelAt, modelEnd)).toString("latin1");
  if (typeof named !== "string" || written !== `"${named}"`) return null;
  const placed = Buffer.from(JSON.stringify(model) + more);
  return bytesBody([...range(chunks, 0, modelAt), placed, ...range(chunks, modelEnd, length)]);
}

/** Chunks that are sent one after the other. */
export function bytesBody(chunks: readonly Uint8Array[]): BytesBody {
  return {
    chunks,
    length: chunks.reduce((sum, { length }) => sum + length, 0),
    async *read() {
      yield* chunks;
    },
  };
}

/** Views of what stands from one place to another. */
function range(chunks: readonly Uint8Array[], from: number, to: number): Uint8Array[] {
  const views: Uint8Array[] = [];
  let at = 0;
  for (const chunk of chunks) {
    const begin = Math.max(0, from - at);
    const end = Math.min(chunk.length, to - at);
    if (begin < end) views.push(chunk.subarray(begin, end));
    at += chunk.length;
  }
  return views;
}

/** Fields of all objects in a parsed value; NaN where a number of it is none. */
function fieldsOf(value: unknown): number {
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
