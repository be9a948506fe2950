import { Readable } from "node:stream";
import type { StreamedBody } from "../dialects/dialect.ts";

/** Bytes handed to the connection at a time: how fine the progress of an upload is seen. */
const PIECE = 64 * 1024;

/**
 * A body to be sent once, opened when it is first read; destroying it, at any point, lets go of the body's own iterator.
 * @param onError told what that iterator threw, or that it gave another number of bytes than it had announced.
 */
export function outgoing(body: StreamedBody, onError: (error: unknown) => void): Readable {
  // The connection keeps what is returned here till the end of the answer, and an iterator that is through still has the
  // body it came from.
  let source: ReturnType<typeof pieces> | null = pieces(body, onError);
  return new Readable({
    highWaterMark: PIECE,
    read() {
      source?.next().then(
        ({ value }) => {
          if (value === undefined) source = null;
          return this.push(value ?? null);
        },
        () => this.destroy(),
      );
    },
    destroy(cause, callback) {
      // Not waited for: an iterator that hangs must not keep the request.
      source?.return().catch(() => undefined);
      source = null;
      callback(cause);
    },
  });
}

export function streamed(text: string): StreamedBody {
  const bytes = Buffer.from(text);
  return {
    length: bytes.length,
    async *read() {
      yield bytes;
    },
  };
}

async function* pieces(
  body: StreamedBody,
  onError: (error: unknown) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  let left = body.length;
  try {
    for await (const chunk of body.read()) {
      left -= chunk.length;
      if (left < 0) break;
      for (let at = 0; at < chunk.length; at += PIECE) yield chunk.subarray(at, at + PIECE);
    }
    if (left !== 0) throw new Error(`a body of ${body.length} bytes came out ${left < 0 ? "longer" : "shorter"}`);
  } catch (error) {
    onError(error);
    throw error;
  }
}
