import { randomBytes } from "node:crypto";
import { createParser, type EventSourceMessage, type EventSourceParser } from "eventsource-parser";
import { AttemptError, invalidRequest, isJson, type Json, type StreamEvent, type Upload } from "../../kit/index.ts";
import type { BytesBody, StreamedBody, StreamReader, UnwrittenBody, UpstreamRequest } from "../dialect.ts";
import { malformed, reportedError } from "./errors.ts";
import { guardDepth, parseJson } from "./json.ts";
import { isLong } from "./long-json.ts";

/** No header for an empty key: some upstreams take none. */
export function bearer(apiKey: string): Readonly<Record<string, string>> {
  return apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };
}

export interface JsonRequest extends UpstreamRequest {
  readonly method: "POST";
  readonly body: string | UnwrittenBody | BytesBody;
}

export function getJson(path: string, apiKey: string): UpstreamRequest {
  return { method: "GET", path, headers: { ...bearer(apiKey), accept: "application/json" }, body: null };
}

/** @param body with its text, where there is one already. @throws GatewayError when it cannot be written. */
export function postJson(
  path: string,
  apiKey: string,
  body: Json,
  accept = "application/json",
  text: BytesBody | null = null,
): JsonRequest {
  return {
    method: "POST",
    path,
    headers: { ...bearer(apiKey), "content-type": "application/json", accept },
    body:
      text ??
      guardDepth(
        () => (isLong(body) ? { json: body } : JSON.stringify(body)),
        () => invalidRequest("/", "is nested too deeply"),
      ),
  };
}

/** The object that a 200 holds. @throws AttemptError when it holds none, or an error. */
export function parseAnswer(bytes: Uint8Array): Json {
  const body = parseJson(bytes);
  if (!isJson(body)) throw new AttemptError("protocol", "upstream sent a body that is not JSON");
  if (body["error"] !== undefined && body["error"] !== null) throw reportedError(body["error"]);
  return body;
}

export interface Multipart {
  /** With its boundary. */
  readonly contentType: string;
  readonly body: StreamedBody;
}

const CRLF = "\r\n";
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+[\x20-\x7e]*$/;

/**
 * A form of text fields followed by one file (RFC 7578). The file's bytes are never copied together: every read of the
 * body reads the upload again. Names are escaped as browsers do (WHATWG HTML, multipart/form-data encoding).
 * @param file the field's name and its upload.
 */
export function multipartForm(
  fields: readonly (readonly [name: string, value: string])[],
  file: readonly [name: string, upload: Upload],
): Multipart {
  const boundary = `form-${randomBytes(24).toString("hex")}`;
  const part = (disposition: string): string =>
    `--${boundary}${CRLF}content-disposition: form-data; ${disposition}${CRLF}`;
  const [fileField, upload] = file;
  const texts = fields.map(([name, value]) => `${part(`name=${quoted(name)}`)}${CRLF}${value}${CRLF}`).join("");
  const head = Buffer.from(
    `${texts}${part(`name=${quoted(fileField)}; filename=${quoted(upload.name)}`)}` +
      `content-type: ${mediaType(upload)}${CRLF}${CRLF}`,
  );
  const tail = Buffer.from(`${CRLF}--${boundary}--${CRLF}`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: {
      length: head.length + upload.size + tail.length,
      async *read() {
        yield head;
        yield* upload.read();
        yield tail;
      },
    },
  };
}

function quoted(name: string): string {
  return `"${name.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22")}"`;
}

/** What the client announced, unless it would break the part's head. */
function mediaType({ contentType }: Upload): string {
  return MEDIA_TYPE.test(contentType) ? contentType : "application/octet-stream";
}

/** The longest event accepted from an upstream, in characters. */
const MAX_EVENT_CHARACTERS = 1024 * 1024;
/** What the parser may hold besides an event's data: field names and a line that has only begun. */
const MAX_FRAMING_CHARACTERS = 1024;
/** The ending of OpenAI's streams, which some upstreams of other dialects add to their own. */
const DONE = "[DONE]";
const LINE_FEED = 0x0a;
/** Leaves a byte order mark to the parser, which knows where the stream begins. */
const WHOLE = new TextDecoder("utf-8", { ignoreBOM: true });
const NO_EVENTS: readonly StreamEvent[] = [];
const TOO_LARGE = "an event that is too large";

/** Reads a stream of server-sent events that hold JSON; what they mean is the dialect's. */
export abstract class SseStreamReader implements StreamReader {
  fault: AttemptError | null = null;
  abstract readonly done: boolean;
  abstract readonly complete: boolean;
  readonly #maximum: number;
  /** Made for the first read that ends within a line, and perhaps within a character. */
  #decoder: TextDecoder | null = null;
  /** Made for the first text that is not whole events. */
  #parser: EventSourceParser | null = null;
  /** The parser holds the beginning of an event. */
  #isHeld = false;
  #begun = false;
  #ended = false;
  /** null: none. */
  #events: StreamEvent[] | null = null;

  /** @param maximum characters of one event. */
  constructor(maximum: number = MAX_EVENT_CHARACTERS) {
    this.#maximum = maximum;
  }

  feed(chunk: Uint8Array): readonly StreamEvent[] {
    if (this.#reading && !this.#ended) this.#parse(this.#decoded(chunk));
    return this.#take();
  }

  finish(): readonly StreamEvent[] {
    const first = !this.#ended;
    this.#ended = true;
    if (first && this.#reading) {
      // An event without its empty line at the end of the body is dropped by the SSE rules; some upstreams end that way.
      if (this.#isHeld || this.#decoder !== null) this.#parse(`${this.#decoder?.decode() ?? ""}\n\n`);
      if (this.#reading) this.#close();
    }
    return this.#take();
  }

  /** Adds what one event comes to. @throws AttemptError for an answer that broke off. */
  protected abstract read(data: Json, message: EventSourceMessage, events: StreamEvent[]): void;

  /** Adds what was kept for the end. @param broken whether the stream ends in a fault. */
  protected close(_events: StreamEvent[], _broken: boolean): void {
    // Most dialects say everything as it comes.
  }

  /** `[DONE]` was seen. */
  protected mark(_events: StreamEvent[]): void {
    // Where it is not the dialect's, it means nothing.
  }

  /** The event of an unnamed one-line text, where nothing but its strings is to be read; null where there is more to it. */
  protected known(_raw: string): StreamEvent | null {
    return null;
  }

  /** The data of an event; undefined when it is not JSON. */
  protected parse(raw: string): unknown {
    return parseJson(raw);
  }

  get #reading(): boolean {
    return this.fault === null && !this.done;
  }

  #parse(text: string): void {
    const isFirst = !this.#begun;
    if (isFirst) {
      const first = text.trimStart().slice(0, 1);
      this.#begun = first !== "";
      if (first === "[" || first === "{") return this.#fail("JSON where events were asked for");
    }
    const parsed = this.#isHeld ? 0 : this.#wholeEvents(text);
    if (parsed === text.length) return;
    this.#parser ??= this.#newParser(isFirst && parsed === 0);
    this.#parser.feed(parsed === 0 ? text : text.slice(parsed));
    this.#isHeld = text.includes("\r") || !text.endsWith("\n\n");
  }

  /** A read that ends with a line ends with a character: it needs no decoder that keeps the beginning of one. */
  #decoded(chunk: Uint8Array): string {
    // Not `at`, which takes six times as long.
    if (this.#decoder === null && chunk[chunk.length - 1] === LINE_FEED) return WHOLE.decode(chunk);
    this.#decoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
    return this.#decoder.decode(chunk, { stream: true });
  }

  /**
   * Most reads are whole events of one line of data, which need no parser: every stream would keep one, of a kilobyte.
   * @returns the characters that such events take at the beginning of the text.
   */
  #wholeEvents(text: string): number {
    if (text.includes("\r")) return 0;
    let at = 0;
    while (at < text.length) {
      let data = at;
      let event: string | undefined;
      if (isAt("event: ", text, at)) {
        const end = text.indexOf("\n", at);
        event = text.slice(at + "event: ".length, end) || undefined;
        data = end + 1;
      }
      if (data < at || !isAt("data: ", text, data)) return at;
      const end = text.indexOf("\n", data);
      if (end < 0 || text.charCodeAt(end + 1) !== LINE_FEED) return at;
      const raw = text.slice(data + "data: ".length, end);
      at = end + 2;
      const known = event === undefined && raw.length <= this.#maximum && this.#reading ? this.known(raw) : null;
      if (known === null) this.#event({ id: undefined, event, data: raw });
      else if (this.#events === null) this.#events = [known];
      else this.#events.push(known);
    }
    return at;
  }

  #newParser(isFirst: boolean): EventSourceParser {
    const parser = createParser({
      maxBufferSize: this.#maximum + MAX_FRAMING_CHARACTERS,
      onEvent: (message) => this.#event(message),
      onError: (error) => {
        if (error.type === "max-buffer-size-exceeded") this.#fail(TOO_LARGE);
      },
    });
    // A byte order mark is one at the beginning of the stream alone.
    if (!isFirst) parser.feed("\n");
    return parser;
  }

  #take(): readonly StreamEvent[] {
    const events = this.#events;
    if (events === null) return NO_EVENTS;
    this.#events = null;
    return events;
  }

  get #taken(): StreamEvent[] {
    return (this.#events ??= []);
  }

  #event(message: EventSourceMessage): void {
    if (!this.#reading) return;
    const { data: raw } = message;
    if (raw === DONE) return this.mark(this.#taken);
    // The parser measures only what it must hold: without this an event's fate would hang on how its reads were split.
    if (raw.length > this.#maximum) return this.#fail(TOO_LARGE);
    const data = this.parse(raw);
    if (!isJson(data)) return this.#fail("an event that is not JSON");
    try {
      this.read(data, message, this.#taken);
    } catch (error) {
      this.#stop(error);
    }
  }

  #close(): void {
    try {
      this.close(this.#taken, false);
    } catch (error) {
      this.#stop(error);
    }
  }

  #fail(what: string): void {
    // The whole answer had come: an ending or a count cut off behind it must not turn it into a failure.
    if (!this.#reading || (this.#ended && this.complete)) return;
    this.#stop(malformed(what));
  }

  #stop(error: unknown): void {
    if (!(error instanceof AttemptError)) throw error;
    this.close(this.#taken, true);
    this.fault = error;
  }
}

/** Not `startsWith`, which takes twice as long. */
function isAt(part: string, text: string, at: number): boolean {
  for (let i = 0; i < part.length; i++) if (text.charCodeAt(at + i) !== part.charCodeAt(i)) return false;
  return true;
}
