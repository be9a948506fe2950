/** Searched for: a match of a whole text of megabytes would overflow the matcher's stack. */
const NOT_BASE64 = /[^A-Za-z0-9+/]/;
const FLOAT_BYTES = 4;

/** The base64 text of a vector's float32 values, little-endian: `encoding_format: "base64"` of OpenAI's API. */
export function encodeVector(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * FLOAT_BYTES);
  const view = viewOf(bytes);
  for (const [index, value] of vector.entries()) view.setFloat32(index * FLOAT_BYTES, value, true);
  return bytes.toString("base64");
}

/** The values in such a text; null when it is not one, or holds nothing or something that is no finite number. */
export function decodeVector(text: string): number[] | null {
  const view = floats(text);
  if (view === null) return null;
  const vector: number[] = [];
  for (let offset = 0; offset < view.byteLength; offset += FLOAT_BYTES) vector.push(view.getFloat32(offset, true));
  return vector.every(Number.isFinite) ? vector : null;
}

/** How many values a vector has in either encoding; null for what is no vector of finite float32 values. */
export function dimensionsOf(vector: unknown): number | null {
  if (typeof vector === "string") return decodeVector(vector)?.length ?? null;
  if (!Array.isArray(vector) || vector.length === 0) return null;
  return vector.every((value) => typeof value === "number" && Number.isFinite(Math.fround(value)))
    ? vector.length
    : null;
}

/** The bytes of a padded base64 text, if they are one float32 value or several. */
function floats(text: string): DataView | null {
  const end = text.search(NOT_BASE64);
  const padding = end < 0 ? "" : text.slice(end);
  if (text === "" || text.length % 4 !== 0 || !["", "=", "=="].includes(padding)) return null;
  const view = viewOf(Buffer.from(text, "base64"));
  return view.byteLength % FLOAT_BYTES === 0 ? view : null;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
