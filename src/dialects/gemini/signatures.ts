/*
 * Signatures outside of function calls travel in `reasoning_details`, marked as Gemini's: another provider's must never be
 * sent here, nor these elsewhere. The letter says what they were found on: a thought (h), a text (t), a part of their own
 * (e, an empty text).
 */
const MARK = /^gemini1\.([hte])\./;

export type Bearer = "thought" | "text" | "empty";

const LETTERS: Readonly<Record<Bearer, string>> = { thought: "h", text: "t", empty: "e" };
const BEARERS: Readonly<Record<string, Bearer>> = { h: "thought", t: "text", e: "empty" };

export function markSignature(bearer: Bearer, signature: string): string {
  return `gemini1.${LETTERS[bearer]}.${signature}`;
}

/** null for what is no marked signature. */
export function readSignature(value: unknown): { readonly bearer: Bearer; readonly signature: string } | null {
  if (typeof value !== "string") return null;
  const match = MARK.exec(value);
  const bearer = match && BEARERS[match[1] ?? ""];
  return match && bearer ? { bearer, signature: value.slice(match[0].length) } : null;
}

/**
 * What Google documents for a function call that another model made, or whose signature is lost
 * (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
export const UNSIGNED = "skip_thought_signature_validator";
