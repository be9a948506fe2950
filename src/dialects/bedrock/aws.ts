import { crc32 } from "node:zlib";
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
      yield decoded(frame);
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

function damaged(): AttemptError {
  return malformed("an event that is damaged");
}

const CHECKSUM_BYTES = 4;

/** Of a frame whose prelude is good. @throws AttemptError */
function decoded(frame: Uint8Array): Frame {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  const end = frame.length - CHECKSUM_BYTES;
  if (crc32(frame.subarray(0, end)) !== view.getUint32(end)) throw damaged();
  const bodyAt = PRELUDE_BYTES + view.getUint32(4);
  return { headers: textHeaders(frame.subarray(PRELUDE_BYTES, bodyAt)), body: frame.subarray(bodyAt, end) };
}

/** Bytes of a header's value by its type: true, false, byte, short, integer, long; timestamp and UUID. */
const FIXED_VALUE_BYTES: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };
/** Types whose value has its length in front. */
const BINARY = 6;
const TEXT = 7;

/** A name and a value after the other, each name with its length in front. @throws AttemptError */
function textHeaders(bytes: Uint8Array): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const take = (length: number): Buffer => {
    at += length;
    if (at > view.length) throw damaged();
    return view.subarray(at - length, at);
  };
  while (at < view.length) {
    const name = take(take(1)[0]!).toString();
    const type = take(1)[0]!;
    if (type === TEXT) texts.set(name, take(take(2).readUInt16BE()).toString());
    else if (type === BINARY) take(take(2).readUInt16BE());
    else if (type in FIXED_VALUE_BYTES) take(FIXED_VALUE_BYTES[type]!);
    else throw damaged();
  }
  return texts;
}
