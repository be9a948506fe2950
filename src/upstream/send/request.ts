import { Readable } from "node:stream";
import { writeSteps } from "../../dialects/canonical/long-json.ts";
import { bytesBody } from "../../dialects/canonical/body-text.ts";
import type { BytesBody, StreamedBody, UnwrittenBody, UpstreamRequest } from "../../dialects/dialect.ts";
import {
  AttemptError,
  inTurns,
  isJson,
  nextTurn,
  type Parameters,
  pathOf,
  withName,
  withoutValue,
  withValue,
} from "../../kit/index.ts";

type Headers = Readonly<Record<string, string>>;

/** Where an upstream is, and the headers that its operator configured for every request. */
export interface Address {
  /** With the port when that is not the protocol's own. */
  readonly host: string;
  /** Path of the base URL, without a trailing slash. */
  readonly basePath: string;
  /** As configured; names in lower case. */
  readonly headers: Headers;
  /** Names of client headers that are sent on, in lower case. */
  readonly forward: readonly string[];
  /** The proxy for what else is asked for this upstream, such as a token endpoint; left out: none. */
  readonly proxyTo?: (url: URL) => URL | null;
}

/** Longest forwarded header value. Longer ones are not sent, because servers refuse requests with large heads. */
const MAX_FORWARDED_CHARACTERS = 2048;

/** The client's headers that an upstream is to get. @param header the client's, by name in lower case */
export function forwardedHeaders(names: readonly string[], header: (name: string) => string | null): Headers {
  const headers: Record<string, string> = {};
  for (const name of names) {
    const value = header(name) ?? "";
    if (value !== "" && value.length <= MAX_FORWARDED_CHARACTERS) headers[name] = value;
  }
  return headers;
}

/**
 * The dialect's request with the upstream's path prefix and headers.
 * @param trace headers by which the request's trace goes on
 * @param forwarded headers of the client, which replace none of the gateway's
 */
export function addressRequest(
  request: UpstreamRequest,
  address: Address,
  requestId: string,
  trace: Headers = {},
  forwarded: Headers = {},
): UpstreamRequest {
  return {
    method: request.method,
    path: joinPath(address.basePath, request.path),
    headers: {
      "user-agent": "route-gateway",
      ...forwarded,
      ...request.headers,
      ...address.headers,
      // Last, so that no configuration can ask for a compressed answer or replace the request id.
      "accept-encoding": "identity",
      "x-request-id": requestId,
      ...trace,
    },
    body: request.body,
  };
}

const VERSION = String.raw`/v\d+(?:(?:alpha|beta)\d*)?`;
/** The path of a publisher's models in Google's Vertex AI; the version comes before the project. */
const PUBLISHER = "/projects/[^/]+/locations/[^/]+/publishers/[^/]+";
const VERSIONED_BASE = new RegExp(`${VERSION}(?:${PUBLISHER})?$`);
const PATH_VERSION = new RegExp(`^${VERSION}(?=[/?]|$)`);

/**
 * The base URL's path (no trailing slash) and a dialect's; a version that the base ends with stands for the path's own.
 */
export function joinPath(basePath: string, path: string): string {
  const own = PATH_VERSION.exec(path)?.[0];
  return basePath + (own !== undefined && VERSIONED_BASE.test(basePath) ? path.slice(own.length) : path);
}

export function withLowerCaseNames(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/**
 * Applies the target's `parameters` to the body: removes, then renames, then sets. Must be the last change before the
 * request is signed, or the signature does not match. A body that is not text, such as an upload form, stays as it is.
 */
export function withParameters(request: UpstreamRequest, parameters: Parameters): UpstreamRequest {
  const { set, remove, rename } = parameters;
  if (isBytes(request.body)) throw new TypeError("parameters are set before a body is written");
  const long = isUnwritten(request.body);
  if (!long && typeof request.body !== "string") return request;
  let body: unknown = long ? request.body.json : JSON.parse(request.body);
  for (const pointer of remove) body = withoutValue(body, pathOf(pointer));
  for (const [pointer, name] of Object.entries(rename)) body = withName(body, pathOf(pointer), name);
  for (const [pointer, value] of Object.entries(set)) body = withValue(body, pathOf(pointer), value);
  return { ...request, body: long && isJson(body) ? { ...request.body, json: body } : JSON.stringify(body) };
}

/** An upload's progress, which moves its deadline, is seen in steps of this size. */
const CHUNK_BYTES = 64 * 1024;

/**
 * A body as a stream, opened when it is first read. Destroying it, at any point, ends the body's own iterator.
 * @param onError called with what that iterator threw, also for a number of bytes other than `length`.
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

/**
 * Longer bodies are not given to undici whole: it keeps them until the end of the answer, and a long one takes memory as
 * long as its stream lives.
 */
const MAX_WHOLE_BODY_BYTES = 64 * 1024;

/** A body as a request can be given it over HTTP/1.1, or over HTTP/2, where only a stream is broken off without harm. */
export function sendableBody(body: UpstreamRequest["body"], http2: boolean): UpstreamRequest["body"] {
  if (typeof body === "string") {
    if (!http2 && body.length <= MAX_WHOLE_BODY_BYTES) return body;
    return sendableBody(bytesBody([Buffer.from(body)]), http2);
  }
  if (!http2 || !isBytes(body)) return body;
  return { length: body.length, read: () => body.read() };
}

/** A body as undici is given it: whole, or in parts, which are destroyed when the request is given up. */
export function sentBody(
  body: StreamedBody | BytesBody,
  onError: (error: unknown) => void,
): Uint8Array | BodyChunks | Readable {
  if (!isBytes(body)) return bodyStream(body, onError);
  if (body.length > MAX_WHOLE_BODY_BYTES) return new BodyChunks(body);
  return body.chunks.length === 1 ? body.chunks[0]! : Buffer.concat(body.chunks, body.length);
}

export function isBytes(body: UpstreamRequest["body"]): body is BytesBody {
  return body !== null && typeof body === "object" && "chunks" in body;
}

/** Chunks up to this size are sent with what is beside them: to write one to a connection costs as much as 64 KB of copies. */
const MAX_JOINED_BYTES = 4096;

/** The chunks with those joined that are small, as those around an exchanged model are. */
function withoutSmall(chunks: readonly Uint8Array[]): readonly Uint8Array[] {
  const joined: Uint8Array[] = [];
  for (const chunk of chunks) {
    const last = joined.at(-1);
    const isSmall = last !== undefined && last.length + chunk.length <= MAX_JOINED_BYTES;
    if (isSmall) joined[joined.length - 1] = Buffer.concat([last, chunk]);
    else joined.push(chunk);
  }
  return joined;
}

/**
 * The chunks of a body, each let go of when it is taken: undici keeps what it reads them from until the end of the
 * answer. It costs less than a stream of them, which only HTTP/2 needs.
 */
export class BodyChunks implements AsyncIterableIterator<Uint8Array> {
  #chunks: readonly Uint8Array[];
  #next = 0;
  #at = 0;

  constructor({ chunks }: BytesBody) {
    this.#chunks = withoutSmall(chunks);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const chunk = this.#chunks[this.#next];
    if (chunk === undefined) {
      this.destroy();
      return Promise.resolve({ value: undefined, done: true });
    }
    const value = chunk.subarray(this.#at, this.#at + CHUNK_BYTES);
    this.#at += value.length;
    if (this.#at === chunk.length) {
      this.#next += 1;
      this.#at = 0;
    }
    return Promise.resolve({ value, done: false });
  }

  destroy(): void {
    this.#chunks = [];
  }
}

export function isUnwritten(body: UpstreamRequest["body"]): body is UnwrittenBody {
  return body !== null && typeof body === "object" && "json" in body;
}

/** Writes a long body with turns of the event loop between its parts. @throws AttemptError for what no call stack can follow. */
export async function writtenBody({ json, maxBytes = Infinity }: UnwrittenBody): Promise<BytesBody> {
  // The work until here was a turn of its own.
  await nextTurn();
  try {
    const body = bytesBody(await inTurns(writeSteps(json)));
    if (body.length > maxBytes) throw new AttemptError("unsupported", "the request is larger than the upstream takes");
    return body;
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
