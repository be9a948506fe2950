import { createHash } from "node:crypto";

const FULL_SCALE = 2 ** 31;

/** A vector of length 1 that depends on the text alone. Every number is a float32, so that both encodings agree. */
export function vectorOf(text: string, dimensions: number): Float32Array {
  const bytes = createHash("shake256", { outputLength: dimensions * 4 })
    .update(text)
    .digest();
  const raw = Array.from({ length: dimensions }, (_, index) => bytes.readInt32LE(index * 4) / FULL_SCALE);
  const length = Math.hypot(...raw);
  return Float32Array.from(raw, (value) => value / length);
}

/** An array of numbers, or base64 of little-endian float32. */
export function encodeVector(vector: Float32Array, encoding: "float" | "base64"): readonly number[] | string {
  if (encoding === "float") return [...vector];
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString("base64");
}
