import { crc32 } from "node:zlib";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { type AttemptError, isJson } from "../../kit/index.ts";
import { errorMessage as commonMessage, errorOf, malformed, publicMessage, reported } from "../canonical/errors.ts";
import { parseJson } from "../canonical/json.ts";

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** A key of the form `ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN]`; null for any other, which is a bearer token. */
export function awsCredentials(apiKey: string): AwsCredentials | null {
  const [accessKeyId = "", secretAccessKey = "", sessionToken, ...rest] = apiKey.split(":");
  if (accessKeyId === "" || secretAccessKey === "" || sessionToken === "" || rest.length > 0) return null;
  return { accessKeyId, secretAccessKey, sessionToken };
}

/** The name of an exception, from `:exception-type` or the header `x-amzn-errortype` (`ValidationException:http://…`). */
export function exceptionName(type: string): string {
  return (type.split(":")[0] ?? "").toLowerCase();
}

/** The failure for an exception amid a stream; `body` holds its words. */
export function exception(type: string, body: Uint8Array): AttemptError {
  const error = errorOf(parseJson(body));
  return reported({ ...error, codes: [exceptionName(type), ...error.codes] }, "bedrock");
}

/** `{message}`, by some of its services `{Message}`. */
export function errorMessage(bytes: Uint8Array): string {
  const body = parseJson(bytes);
  const message = isJson(body) ? body["Message"] : undefined;
  return commonMessage(bytes) || (typeof message === "string" ? publicMessage(message) : "");
}

/** Length of the frame, length of its headers, and the checksum of both, four bytes each. */
const PRELUDE_BYTES = 12;
/** With the checksum of the whole frame at its end. */
const FRAME_OVERHEAD_BYTES = PRELUDE_BYTES + 4;
/** The longest frame accepted from an upstream, in bytes. */
const MAX_FRAME_BYTES = 1024 * 1024;

export interface Frame {
  /** Those that are text. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

/**
 * Cuts `application/vnd.amazon.eventstream` into its frames, wherever the reads split them; both checksums of each are
 * verified (https://smithy.io/2.0/aws/amazon-eventstream.html).
 */
export class FrameReader {
  readonly #codec = new EventStreamCodec(decoded, encoded);
  readonly #prelude = new Uint8Array(PRELUDE_BYTES);
  /** The frame being filled, once its length is known. */
  #frame: Uint8Array | null = null;
  #filled = 0;

  /** The frames that the chunk completes. @throws AttemptError at one that is damaged; nothing more may be fed then. */
  *feed(chunk: Uint8Array): Generator<Frame, void, undefined> {
    let unread = chunk;
    while (unread.length > 0) {
      const into = this.#frame ?? this.#prelude;
      const taken = unread.subarray(0, into.length - this.#filled);
      into.set(taken, this.#filled);
      this.#filled += taken.length;
      unread = unread.subarray(taken.length);
      if (this.#filled < into.length) return;
      if (this.#frame === null) {
        this.#frame = begun(this.#prelude);
        continue;
      }
      const frame = this.#frame;
      this.#frame = null;
      this.#filled = 0;
      yield this.#decoded(frame);
    }
  }

  #decoded(frame: Uint8Array): Frame {
    try {
      const { headers, body } = this.#codec.decode(frame);
      const texts = Object.entries(headers).map(([name, { value }]) => [name, value] as const);
      return {
        headers: new Map(texts.filter((entry): entry is readonly [string, string] => isTextHeader(entry))),
        body,
      };
    } catch (cause) {
      throw damaged(cause);
    }
  }
}

/** The frame that a prelude announces, as far as it is there. @throws AttemptError when the prelude is damaged. */
function begun(prelude: Uint8Array): Uint8Array {
  const view = new DataView(prelude.buffer);
  const [length, headers, checksum] = [view.getUint32(0), view.getUint32(4), view.getUint32(8)];
  if (crc32(prelude.subarray(0, 8)) !== checksum || length < FRAME_OVERHEAD_BYTES + headers) throw damaged();
  if (length > MAX_FRAME_BYTES) throw malformed("an event that is too large");
  const frame = new Uint8Array(length);
  frame.set(prelude);
  return frame;
}

function damaged(cause?: unknown): AttemptError {
  const error = malformed("an event that is damaged");
  error.cause = cause;
  return error;
}

function isTextHeader(entry: readonly [string, unknown]): entry is readonly [string, string] {
  return typeof entry[1] === "string";
}

function decoded(input: Uint8Array | string): string {
  return typeof input === "string" ? input : new TextDecoder().decode(input);
}

function encoded(input: string): Uint8Array {
  return new TextEncoder().encode(input);
}
