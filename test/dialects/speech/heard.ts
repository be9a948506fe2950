import { readTranscription } from "../../../src/dialects/endpoints/transcription.ts";
import type { Decoded } from "../../../src/dialects/dialect.ts";
import { AttemptError, type Bill, type Call, type Json } from "../../../src/kit/index.ts";
import { upload } from "./upload.ts";
import { wav } from "./wav.ts";

/** Two seconds and a half. */
export const recording = upload([wav({ channels: 1, rate: 16_000, bits: 16, frames: 40_000 })]);

export const heard = (fields: Json = {}, file = recording): Promise<Call> =>
  readTranscription({ model: "route/ear", ...fields }, file);

export const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));

const bill: Bill = { usage: { prompt: 0, completion: 0, cached: 0, reasoning: 0 }, estimated: false, charge: 1n };
export const extras = { id: "e-1", created: 1_768_435_200, provider: "Alpha", latencyMs: 12, bill };

export const milliseconds = (count: number): Json => ({
  ...bill.usage,
  milliseconds: count,
});

/** The answer, or how the attempt failed; any other error is thrown. */
export function answeredOr(read: () => Decoded): Decoded | AttemptError {
  try {
    return read();
  } catch (error) {
    if (error instanceof AttemptError) return error;
    throw error;
  }
}

export interface Transcript extends Json {
  readonly text: string;
  readonly language?: string;
  readonly duration?: number;
  readonly segments: readonly {
    readonly id: number;
    readonly start: number;
    readonly end: number;
    readonly text: string;
  }[];
  readonly words: readonly { readonly word: string; readonly start: number; readonly end: number }[];
}

export const transcriptOf = ({ body }: Decoded): Transcript => body as Transcript;

/** Without white space. */
export const letters = (texts: readonly string[]): string => texts.join("").replace(/\s+/gu, "");
