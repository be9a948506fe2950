import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Json } from "../kit/index.ts";
import type { Answer } from "./answer.ts";
import { parseBody, SimError } from "./fields.ts";
import type { Claims, LedgerEntry, ReceivedFile, Units } from "./ledger.ts";
import { type Dialect, failureOf } from "./provider.ts";
import type { Script, Shape } from "./script.ts";

/** One request, read to its end. */
export interface ReceivedRequest {
  readonly path: string;
  /** Scheme and authority by which the client calls the simulator. */
  readonly origin: string;
  readonly headers: IncomingHttpHeaders;
  readonly query: URLSearchParams;
  readonly body: Buffer<ArrayBuffer>;
  /** Who is played, as the address says. */
  readonly vendor?: NonNullable<Script["vendor"]>;
  /** The model, where the path names it and the body need not. */
  readonly deployment?: string;
}

/** What a request asks for. */
export interface ParsedRequest {
  readonly model: string;
  /** The script in the request itself, unread; undefined without one. */
  readonly sim: unknown;
  /** Left out: what the path says. */
  readonly shape?: Shape;
  readonly upload?: ReceivedFile;
  /** The healthy reply; `script` shapes it and has its say on everything it names. */
  reply(script: Script): Reply;
}

/** Reads the requests of one kind. @throws SimError 400 naming the parameter */
export type Endpoint = (received: ReceivedRequest) => ParsedRequest | Promise<ParsedRequest>;

/** @throws SimError 400 */
export function jsonOf({ body, deployment }: ReceivedRequest): Json {
  const parsed = parseBody(body.toString());
  return deployment === undefined ? parsed : { ...parsed, model: deployment };
}

/** A part of a path. @throws SimError 400 where it is not percent-encoded. */
export function decodePathPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new SimError(400, `'${part}' is not percent-encoded.`);
  }
}

const MAXIMUM_BODY_BYTES = 64 * 1024 * 1024;

/** The whole body of a request. @throws SimError 413 beyond 64 MiB */
export function readBody(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      // Read to the end and thrown away: an answer before that would be lost in a reset.
      if (size <= MAXIMUM_BODY_BYTES) chunks.push(chunk);
    });
    request.once("error", reject);
    request.once("end", () => {
      if (size <= MAXIMUM_BODY_BYTES) resolve(Buffer.concat(chunks, size));
      else reject(new SimError(413, `The body is larger than ${MAXIMUM_BODY_BYTES} bytes.`));
    });
  });
}

/** The counts of tokens that a script claims for what is not counted in tokens otherwise. */
export function tokensClaimed(script: Script): Claims | undefined {
  const { "usage.prompt": prompt, "usage.completion": completion } = script;
  if (script.no_usage || (prompt === undefined && completion === undefined)) return undefined;
  return { prompt: prompt ?? 0, completion: completion ?? 0 };
}

/** As OpenAI writes them. */
export function tokenUsage({ prompt, completion }: Claims): object {
  return { input_tokens: prompt, output_tokens: completion, total_tokens: Number(prompt) + Number(completion) };
}

/** What is written, delayed or cut as a whole: an event, some audio, or a whole body. */
export interface Part<Data extends string | Uint8Array = string | Uint8Array> {
  readonly data: Data;
  /** Answer tokens in it; left out: none. */
  readonly tokens?: number;
  /** A stream's ending is no event. */
  readonly uncounted?: true;
  /** Counts that it states. */
  readonly claims?: Claims;
  /** What is used up once it is written; the first part of an answer has it. */
  readonly units?: Partial<Units>;
}

/** An HTTP answer in parts, before anything is done to its transport. */
export interface Reply<Data extends string | Uint8Array = string | Uint8Array> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** One body, sent with its length; or as they are made, without one: events, parts of audio. */
  readonly type: "answer" | "events" | "bytes";
  readonly parts: Iterable<Part<Data>>;
  /** How an error, or an event that is none (null), is written among events; left out: as data of an SSE event. */
  readonly frame?: (error: SimError | null) => Data;
}

export const MALFORMED = '{"id":"chatcmpl-sim-malformed","choices":[{"index":0,';
const HTML = "<!DOCTYPE html><html><head><title>Simulated</title></head><body><h1>Simulated page</h1></body></html>\n";

/** An event by name, which its data repeats. */
export function namedEvent(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

/** A whole answer as one body. */
export function bodyPart({ choices, prompt, claims }: Answer, body: object): Part<string> {
  const tokens = choices.reduce((sum, choice) => sum + choice.tokens, 0);
  return { data: JSON.stringify(body), tokens, claims, units: { prompt } };
}

export function jsonReply(status: number, body: Part<string>): Reply<string> {
  return { status, headers: { "content-type": "application/json" }, type: "answer", parts: [body] };
}

export function textReply(body: Part<string>): Reply<string> {
  return { status: 200, headers: { "content-type": "text/plain; charset=utf-8" }, type: "answer", parts: [body] };
}

export function streamReply(parts: Iterable<Part<string>>, frame?: Reply<string>["frame"]): Reply<string> {
  const headers = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };
  return { status: 200, headers, type: "events", parts, frame };
}

export function byteReply(contentType: string, parts: Iterable<Part<Uint8Array>>): Reply<Uint8Array> {
  return { status: 200, headers: { "content-type": contentType }, type: "bytes", parts };
}

export function errorReply(error: SimError, dialect?: Dialect): Reply<string> {
  const { body, headers } = failureOf(error, dialect);
  const reply = jsonReply(error.status, { data: body });
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

/** Puts the script's faults of content into a healthy reply: another status or body, bad or missing parts. */
export function withContentFaults(healthy: Reply, script: Script, dialect?: Dialect): Reply {
  const { status = healthy.status, message = "Simulated failure", retry_after: retryAfter } = script;
  const failed = status >= 300;
  const error = new SimError(failed ? status : 500, message, { retryAfter });
  const reply = failed ? failure(error, dialect) : withBadParts(healthy, script, error, dialect);
  const headers: Record<string, string> = { ...reply.headers };
  if (retryAfter !== undefined && dialect !== "gemini") headers["retry-after"] = retryAfter;
  if (!script.html) return { ...reply, status, headers };
  headers["content-type"] = "text/html; charset=utf-8";
  return { status, headers, type: "answer", parts: [{ data: HTML }] };
}

function failure(error: SimError, dialect: Dialect | undefined): Reply {
  const reply = errorReply(error, dialect);
  return error.status < 400 ? { ...reply, headers: { ...reply.headers, location: "/redirected" } } : reply;
}

/** A body of audio that would begin with an error is a JSON answer. */
function withBadParts(reply: Reply, script: Script, error: SimError, dialect: Dialect | undefined): Reply {
  const failsAt = script.error_first ? 0 : script.error_after;
  if (reply.type === "events" || (reply.type === "bytes" && failsAt !== 0)) {
    const plain = (failed: SimError | null) => (failed ? failureOf(failed, dialect).body : MALFORMED);
    const event = (failed: SimError | null) => `data: ${plain(failed)}\n\n`;
    const frame = reply.type === "events" ? (reply.frame ?? event) : plain;
    return { ...reply, parts: badParts(reply.parts, script, failsAt, { data: frame(null) }, { data: frame(error) }) };
  }
  if (failsAt !== undefined) return jsonReply(reply.status, { data: failureOf(error, dialect).body });
  return script.malformed_after === undefined ? reply : { ...reply, parts: [{ data: MALFORMED }] };
}

function* badParts(
  parts: Iterable<Part>,
  script: Script,
  failsAt: number | undefined,
  malformed: Part,
  error: Part,
): Generator<Part> {
  let at = 0;
  for (const part of parts) {
    if (at === script.end_after) return;
    if (at === script.malformed_after) yield malformed;
    if (at === failsAt) return yield error;
    yield part;
    at++;
  }
}

/** Enters a part that has been written. */
export function note(entry: Pick<LedgerEntry, "events" | "tokens" | "claimed" | "units">, part: Part): void {
  if (!part.uncounted) entry.events++;
  entry.tokens += part.tokens ?? 0;
  if (part.claims) entry.claimed = part.claims;
  if (part.units) entry.units = { ...entry.units, ...part.units };
}

/** A RST overtakes what the kernel still holds: the events before it need this long to arrive. */
const RESET_DELAY_MS = 10;
const MISSING_BYTES = 16;

/** A part as bytes; `part` is absent where the bytes complete none. */
interface Chunk {
  readonly bytes: Uint8Array;
  readonly part?: Part;
}

/** Waits so many milliseconds. @throws when `signal` is aborted */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>;

const systemPause: Pause = (milliseconds, signal) => sleep(milliseconds, undefined, { signal });

/** Sends a reply through the script's faults of transport. Resolves when it is over, also because the client left. */
export async function play(
  response: ServerResponse,
  reply: Reply,
  script: Script,
  entry: LedgerEntry,
  pause: Pause = systemPause,
): Promise<void> {
  if (response.destroyed) return;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  try {
    await new Player(response, script, entry, gone.signal, pause).send(reply);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}

class Player {
  readonly #response: ServerResponse;
  readonly #script: Script;
  readonly #entry: LedgerEntry;
  readonly #gone: AbortSignal;
  readonly #pause: Pause;

  constructor(response: ServerResponse, script: Script, entry: LedgerEntry, gone: AbortSignal, pause: Pause) {
    this.#response = response;
    this.#script = script;
    this.#entry = entry;
    this.#gone = gone;
    this.#pause = pause;
  }

  async send(reply: Reply): Promise<void> {
    const script = this.#script;
    await this.#wait(script.first_byte);
    if (script.reset_after === 0) return this.#reset();
    if (script.close_after === 0) return this.#fin();
    const chunks = this.#chunks(reply);
    this.#head(reply, chunks);
    await this.#wait(script.first_event);
    let at = 0;
    for (const chunk of chunks) {
      if (await this.#cut(at, reply.type !== "answer")) return;
      if (at > 0) await this.#wait(script.chunk_delay);
      await this.#write(chunk);
      at++;
    }
    if (script.wrong_length) return this.#fin();
    this.#entry.ending = "end";
    this.#response.end();
  }

  /** A stream's chunks come as they are needed; a body with a length is known whole. */
  #chunks(reply: Reply): Iterable<Chunk> {
    const encode = (part: Part): Chunk => {
      const bytes = typeof part.data === "string" ? Buffer.from(part.data) : part.data;
      return { bytes: this.#script.gzip ? gzipSync(bytes) : bytes, part };
    };
    if (reply.type !== "answer")
      return this.#script.wrong_length ? Array.from(reply.parts, encode) : Iterator.from(reply.parts).map(encode);
    const { stall_after: stall, reset_after: reset, close_after: close } = this.#script;
    const whole = Array.from(reply.parts, encode);
    return stall || reset || close ? whole.flatMap(halves) : whole;
  }

  #head(reply: Reply, chunks: Iterable<Chunk>): void {
    const headers: Record<string, string | number> = { ...reply.headers };
    if (this.#script.gzip) headers["content-encoding"] = "gzip";
    if (Array.isArray(chunks)) headers["content-length"] = this.#length(chunks);
    this.#entry.status = reply.status;
    this.#response.writeHead(reply.status, headers);
    this.#response.flushHeaders();
  }

  #length(chunks: readonly Chunk[]): number {
    const real = chunks.reduce((sum, chunk) => sum + chunk.bytes.length, 0);
    return this.#script.wrong_length ? real + MISSING_BYTES : real;
  }

  /** Whether a fault ended the reply at this position. In a whole body any later position is its half. */
  async #cut(at: number, stream: boolean): Promise<boolean> {
    const here = (position: number | undefined) => position === at || (!stream && at === 1 && (position ?? 0) > 1);
    if (here(this.#script.stall_after)) await once(this.#response, "close");
    else if (here(this.#script.reset_after)) await this.#reset();
    else if (here(this.#script.close_after)) await this.#fin();
    else return false;
    return true;
  }

  async #write({ bytes, part }: Chunk): Promise<void> {
    const { bytes: size, every } = this.#script.drip ?? { bytes: bytes.length, every: 0 };
    for (let at = 0; at < bytes.length; at += size) {
      if (at > 0) await this.#wait(every);
      const slice = bytes.subarray(at, at + size);
      const room = this.#response.write(slice);
      this.#entry.bytes += slice.length;
      if (!room) await once(this.#response, "drain", { signal: this.#gone });
    }
    if (part) note(this.#entry, part);
  }

  async #wait(milliseconds: number | undefined): Promise<void> {
    if (milliseconds) await this.#pause(milliseconds, this.#gone);
  }

  async #reset(): Promise<void> {
    if (this.#response.headersSent) await this.#wait(RESET_DELAY_MS);
    this.#entry.ending = "reset";
    this.#response.socket?.resetAndDestroy();
  }

  async #fin(): Promise<void> {
    // Node gathers the writes of one turn: a FIN in the same turn would overtake them.
    if (this.#response.headersSent) await nextTurn();
    this.#entry.ending = "fin";
    this.#response.socket?.end();
  }
}

function halves({ bytes, part }: Chunk): readonly Chunk[] {
  const middle = Math.ceil(bytes.length / 2);
  return [{ bytes: bytes.subarray(0, middle) }, { bytes: bytes.subarray(middle), part }];
}
