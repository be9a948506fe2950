import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { GatewayError, invalidRequest } from "../kit/index.ts";
import type { Claim } from "./room.ts";

/** Chunks that are copied together: kept one by one, those of a byte would take hundreds of times their size. */
const JOIN = 1024;
const JSON_TYPE = /^application\/json *(?:; *charset *= *(?:utf-?8|"utf-?8") *)?;?$/i;

/** @throws GatewayError 415 unless the body is announced as plain JSON. */
export function requireJson({ headers }: IncomingMessage): void {
  if (!JSON_TYPE.test(headers["content-type"] ?? "")) {
    throw new GatewayError("UNSUPPORTED_MEDIA_TYPE", "Content-Type must be application/json");
  }
  requireIdentity(headers);
}

/** @throws GatewayError 415 for a body that would have to be decompressed. */
export function requireIdentity(headers: IncomingHttpHeaders): void {
  if ((headers["content-encoding"] ?? "identity").toLowerCase() !== "identity") {
    throw new GatewayError("UNSUPPORTED_MEDIA_TYPE", "Content-Encoding must be identity");
  }
}

/**
 * The whole body in one buffer of at most `limit` bytes.
 * @param parts.signal aborted when nobody waits for it any more.
 * @param parts.claim what the body takes of the room for bodies; its taker gives it back.
 * @throws GatewayError 413, 400 when the client leaves, 503 when the gateway stops or there is no room.
 */
export function readBody(
  req: IncomingMessage,
  limit: number,
  { signal, claim }: { readonly signal?: AbortSignal; readonly claim?: Claim } = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const announced = Number(req.headers["content-length"] ?? 0);
    if (announced > limit) return reject(tooLarge(limit));
    // Throws before a byte of it is taken.
    claim?.hold(announced);
    if (req.destroyed || signal?.aborted) return reject(brokenOff(signal));
    const chunks: Buffer[] = [];
    let size = 0;
    let loose = 0;
    const stop = (): void => {
      req.off("data", onData).off("end", onEnd).off("close", onClose);
      signal?.removeEventListener("abort", onClose);
      req.pause();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) {
        stop();
        return reject(tooLarge(limit));
      }
      if (size > announced && claim !== undefined) {
        try {
          claim.hold(size);
        } catch (error) {
          stop();
          return reject(error);
        }
      }
      chunks.push(chunk);
      loose += 1;
      if (loose < JOIN) return;
      chunks.push(Buffer.concat(chunks.splice(-JOIN)));
      loose = 0;
    };
    const onEnd = (): void => {
      stop();
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size));
    };
    const onClose = (): void => {
      stop();
      reject(brokenOff(signal));
    };
    req.on("data", onData).on("end", onEnd).on("close", onClose);
    signal?.addEventListener("abort", onClose);
  });
}

export function tooLarge(limit: number): GatewayError {
  return new GatewayError("REQUEST_TOO_LARGE", `Request body exceeds the limit of ${limit} bytes`);
}

/** Why a body will not be whole: the gateway stops, or the client has gone, and nobody is left to read this. */
export function brokenOff(signal?: AbortSignal): GatewayError {
  if (signal?.reason !== "shutdown") return invalidRequest("/", "ended early");
  return new GatewayError("SHUTTING_DOWN", "Server is shutting down", { retryAfter: 1 });
}
