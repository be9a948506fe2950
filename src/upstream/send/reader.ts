import type { AnswerReply, AttemptError, ByteReply, EventReply } from "../../kit/index.ts";

/** The result of one upstream request. */
export type Answer = Omit<AnswerReply, "target"> | Omit<EventReply, "target"> | Omit<ByteReply, "target">;

/** Reads the body of one response. */
export interface Reader {
  /** @throws what the dialect throws */
  data(chunk: Buffer): void;
  /** The body is complete. @throws what the dialect throws */
  end(): void;
  /** The body will not be complete. Called at most once, and nothing is called after it. */
  fail(error: AttemptError): void;
}

/** What a reader may ask of the request whose answer it reads. */
export interface ReaderOwner<Result> {
  resolve(result: Result): void;
  reject(error: AttemptError): void;
  /** Ends the request and calls the reader's `fail`. */
  fail(error: AttemptError): void;
  /** A stream has begun: from now on its consumer ends it, not the chain's deadline or the exchange's signal. */
  begin(): void;
  /** A stream that had begun will not be complete. */
  cut(error: AttemptError): void;
  /** The rest of the body is not wanted; it is read and thrown away. */
  drain(): void;
  /** Stops and starts reading from the upstream. */
  hold(): void;
  flow(): void;
  /** Ends the request; nothing of the reader is called any more. */
  cancel(): void;
}

export function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only ? only : Buffer.concat(chunks);
}
