import type { AnswerReply, AttemptError, ByteReply, EventReply, Kind } from "../../kit/index.ts";

const MIB = 1024 * 1024;
export const MAXIMUM_ANSWER = 32 * MIB;
/** A full batch of vectors written as numbers, or ten large images, come to more than any text does. */
export const MAXIMUM_ANSWERS: Readonly<Partial<Record<Kind, number>>> = { embedding: 128 * MIB, image: 128 * MIB };
export const MAXIMUM_REFUSAL = 64 * 1024;

/** What one try of a call brings. */
export type Answer = Omit<AnswerReply, "target"> | Omit<EventReply, "target"> | Omit<ByteReply, "target">;

/** What is done with the body of one response. */
export interface Reader {
  /** @throws what the dialect throws */
  data(chunk: Buffer): void;
  /** The body is complete. @throws what the dialect throws */
  end(): void;
  /** The body will not be complete; called at most once, and nothing after it. */
  fail(error: AttemptError): void;
}

/** What a reader may ask of the try it reads for. */
export interface ReaderOwner<Result> {
  resolve(result: Result): void;
  reject(error: AttemptError): void;
  /** Ends the request; the reader is told through its `fail`. */
  fail(error: AttemptError): void;
  /** A stream has begun: neither the chain's deadline nor the exchange's signal ends it any more, who takes it does. */
  begin(): void;
  /** What had begun will not be complete. */
  cut(error: AttemptError): void;
  /** Nothing more is wanted: what is left of the body is thrown away. */
  drain(): void;
  /** Stops and starts reading from the upstream. */
  hold(): void;
  flow(): void;
  /** Ends the request; the reader hears nothing more. */
  cancel(): void;
}

export function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only ? only : Buffer.concat(chunks);
}
