import { Readable } from "node:stream";
import { writeSteps } from "../../dialects/canonical/long-json.ts";
import type { StreamedBody, UnwrittenBody, UpstreamRequest } from "../../dialects/dialect.ts";
import { AttemptError, inTurns, nextTurn } from "../../kit/index.ts";

/** An upload's progress, which moves its deadline, is seen in steps of this size. */
const CHUNK_BYTES = 64 * 1024;

/**
 * A body as a stream, opened when it is first read. Destroying it, at any point, ends the body's own iterator.
 * @param onError told what that iterator threw, or that it gave another number of bytes than it had announced.
 */
export function bodyStream(body: StreamedBody, onError: (error: unknown) => void): Readable {
  // Dropped once it is read: undici keeps the stream until the end of the answer, and a finished iterator still holds
  // its body.
  let source: ReturnType<typeof chunked> | null = chunked(body, onError);
  return new Readable({
    highWaterMark: CHUNK_BYTES,
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

/** Text as a body that can be streamed. */
export function textBody(text: string): StreamedBody {
  return bytesBody([Buffer.from(text)]);
}

function bytesBody(chunks: readonly Uint8Array[]): StreamedBody {
  return {
    length: chunks.reduce((sum, { length }) => sum + length, 0),
    async *read() {
      yield* chunks;
    },
  };
}

export function isUnwritten(body: UpstreamRequest["body"]): body is UnwrittenBody {
  return body !== null && typeof body === "object" && "json" in body;
}

/** Writes a long body with turns of the event loop between its parts. @throws AttemptError for what no call stack can follow. */
export async function writtenBody({ json }: UnwrittenBody): Promise<StreamedBody> {
  // The work until here was a turn of its own.
  await nextTurn();
  try {
    return bytesBody(await inTurns(writeSteps(json)));
  } catch (error) {
    throw error instanceof RangeError ? new AttemptError("unsupported", "/ is nested too deeply") : error;
  }
}

async function* chunked(
  body: StreamedBody,
  onError: (error: unknown) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  let left = body.length;
  try {
    for await (const chunk of body.read()) {
      left -= chunk.length;
      if (left < 0) break;
      for (let at = 0; at < chunk.length; at += CHUNK_BYTES) yield chunk.subarray(at, at + CHUNK_BYTES);
    }
    if (left !== 0) throw new Error(`a body of ${body.length} bytes came out ${left < 0 ? "longer" : "shorter"}`);
  } catch (error) {
    onError(error);
    throw error;
  }
}
