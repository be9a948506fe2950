import type { BodyText, Json } from "../../kit/index.ts";
import type { BytesBody } from "../dialect.ts";

/** Longer ones are sent in chunks. */
const WHOLE_BYTES = 64 * 1024;

/**
 * The text that a client sent for `body` with another model, and with fields that it does not have.
 * @param more those fields, each with a comma before it.
 * @returns null where another body is to be sent.
 */
export function textWithModel(text: BodyText, body: Json, model: string, more: string): BytesBody | null {
  const { chunks, length, modelAt, modelEnd } = text;
  if (text.body !== body) return null;
  const added = JSON.stringify(model) + more;
  const [only] = chunks;
  if (chunks.length === 1 && length <= WHOLE_BYTES) {
    // One copy costs less than views of the parts, which are copied together when they are sent.
    const bytes = Buffer.allocUnsafe(length - (modelEnd - modelAt) + Buffer.byteLength(added));
    only!.copy(bytes, 0, 0, modelAt);
    only!.copy(bytes, modelAt + bytes.write(added, modelAt), modelEnd);
    return bytesBody([bytes]);
  }
  const placed = Buffer.from(added);
  return bytesBody([...between(chunks, 0, modelAt), placed, ...between(chunks, modelEnd, length)]);
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
export function between(chunks: readonly Uint8Array[], from: number, to: number): Uint8Array[] {
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
