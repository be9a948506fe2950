import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import {
  type Awaitable,
  type BodyText,
  type Cancellation,
  GatewayError,
  invalidRequest,
  isPromise,
  type Json,
} from "../kit/index.ts";
import type { ByteClaim } from "./byte-budget.ts";
import { bodyText } from "./body-text.ts";
import { parseBody, type ParsedBody, parseJson, SMALL_BODY_BYTES } from "./json.ts";
import type { LongTexts } from "./long-texts.ts";
import { PlainText } from "./plain-text.ts";
import { type HttpExchange, sendContinue } from "./respond.ts";

/** Of everything beside inference. */
export const ROUTE_BODY_BYTES = 64 * 1024;
/** Chunks that are copied together: kept one by one, those of a byte would take hundreds of times their size. */
const JOINED_CHUNKS = 1024;
/** Chunks that are shorter on average are not kept one by one. */
const MIN_CHUNK_BYTES = 4096;
const JSON_TYPE = /^application\/json *(?:; *charset *= *(?:utf-?8|"utf-?8") *)?;?$/i;

export interface BodyParts {
  /** Aborted when nobody waits for the body any more. */
  readonly signal?: Cancellation;
  /** What the body takes of its budget; whoever made the claim gives it back. */
  readonly claim?: ByteClaim;
  /** Called when its last byte is there. */
  readonly onWhole?: () => void;
}

export interface ReadJson {
  readonly body: Json;
  /** null where it is not kept, or does not say the same to every reader. */
  readonly text: BodyText | null;
  /** What `body` has stand-ins for; null: it is whole. */
  readonly long: LongTexts | null;
}

/**
 * What `use` makes of the JSON object that an inference request has for its body.
 * @param keepsText of a chat: long texts in its messages may be left out.
 * @throws GatewayError 400, 413, 415, 503
 */
export function readJson<T>(
  http: HttpExchange,
  limit: number,
  parts: BodyParts,
  joined: JoinedBodies,
  keepsText: boolean,
  use: (read: ReadJson) => Awaitable<T>,
): Promise<T> {
  requireJson(http.req);
  sendContinue(http, limit);
  return readBody(http.req, limit, parts, (received) => {
    parts.onWhole?.();
    const { bytes, chunks } = joined.join(received);
    const result = (parsed: ParsedBody): Awaitable<T> => {
      const text = keepsText ? bodyText(parsed, bytes, chunks) : null;
      return use({ body: parsed.value, text, long: parsed.long });
    };
    const parsing = parseBody(bytes, keepsText ? { chunks, plainText: joined.plainText } : null);
    return isPromise(parsing) ? parsing.then(result) : result(parsing);
  });
}

interface ReceivedBody {
  readonly chunks: readonly Buffer[];
  /** Bytes of all of them. */
  readonly length: number;
}

/**
 * Joins the chunks of bodies for their parser. Those of a body that is parsed at once come into the same place as those
 * of the body before: memory of its own for each costs more than the copy.
 */
export class JoinedBodies {
  readonly plainText = new PlainText();
  #place: Buffer | null = null;

  /** @returns the whole in `bytes`, for this turn of the event loop; in `chunks` for as long as they are kept. */
  join(received: ReceivedBody): { readonly bytes: Buffer; readonly chunks: readonly Buffer[] } {
    const { chunks, length } = received;
    if (length > SMALL_BODY_BYTES || chunks.length <= 1 || length < chunks.length * MIN_CHUNK_BYTES) {
      const bytes = whole(received);
      return { bytes, chunks: [bytes] };
    }
    this.#place ??= Buffer.allocUnsafeSlow(SMALL_BODY_BYTES);
    let at = 0;
    for (const chunk of chunks) {
      this.#place.set(chunk, at);
      at += chunk.length;
    }
    return { bytes: this.#place.subarray(0, length), chunks };
  }
}

function whole({ chunks, length }: ReceivedBody): Buffer {
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length);
}

/** The JSON object of any other request. @throws GatewayError 400, 413, 415, 503 */
export async function readObject(req: IncomingMessage, limit = ROUTE_BODY_BYTES, claim?: ByteClaim): Promise<Json> {
  requireJson(req);
  return parseJson(await readAndDrain(req, limit, claim));
}

/** The same where a body may be left out: then it is an empty object, whatever its type is said to be. */
export async function readOptionalObject(req: IncomingMessage): Promise<Json> {
  const body = await readAndDrain(req, ROUTE_BODY_BYTES);
  if (body.length === 0) return {};
  requireJson(req);
  return parseJson(body);
}

/** The same of a body of any type: the caller has said nothing of it, and it is read as JSON. */
export async function readAnyObject(req: IncomingMessage): Promise<Json> {
  const body = await readAndDrain(req, ROUTE_BODY_BYTES);
  return body.length === 0 ? {} : parseJson(body);
}

/** What is left of a body that was too long is read over, or the connection would stand still. */
async function readAndDrain(req: IncomingMessage, limit: number, claim?: ByteClaim): Promise<Buffer> {
  try {
    return await readBody(req, limit, claim === undefined ? {} : { claim }, whole);
  } finally {
    req.resume();
  }
}

/** @throws GatewayError 415 unless the body is announced as plain JSON. */
function requireJson({ headers }: IncomingMessage): void {
  const { "content-type": type = "" } = headers;
  if (type !== "application/json" && !JSON_TYPE.test(type)) {
    throw new GatewayError("UNSUPPORTED_MEDIA_TYPE", "Content-Type must be application/json");
  }
  requireIdentity(headers);
}

/** @throws GatewayError 415 for a body that would have to be decompressed. */
export function requireIdentity(headers: IncomingHttpHeaders): void {
  const { "content-encoding": coding } = headers;
  if (coding !== undefined && coding.toLowerCase() !== "identity") {
    throw new GatewayError("UNSUPPORTED_MEDIA_TYPE", "Content-Encoding must be identity");
  }
}

/**
 * What `use` makes of the whole body, of at most `limit` bytes; called when its last byte comes.
 * @throws GatewayError 413, 400 when the client leaves, 503 when the gateway stops or its budget is used up.
 */
function readBody<T>(
  req: IncomingMessage,
  limit: number,
  { signal, claim }: BodyParts,
  use: (received: ReceivedBody) => Awaitable<T>,
): Promise<T> {
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
      if (loose < JOINED_CHUNKS) return;
      chunks.push(Buffer.concat(chunks.splice(-JOINED_CHUNKS)));
      loose = 0;
    };
    const onEnd = (): void => {
      stop();
      try {
        resolve(use({ chunks, length: size }));
      } catch (error) {
        reject(error);
      }
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
export function brokenOff(signal?: Cancellation): GatewayError {
  if (signal?.reason !== "shutdown") return invalidRequest("/", "ended early");
  return new GatewayError("SHUTTING_DOWN", "Server is shutting down", { retryAfter: 1 });
}
