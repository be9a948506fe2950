import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { StringDecoder } from "node:string_decoder";

const PIECE = 64 * 1024;

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** A string and bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown;
  /** Sent in pieces without a length. */
  readonly chunked?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly bytes: Buffer;
  /** False when the connection broke before the body was whole. */
  readonly whole: boolean;
}

/** One request on a connection of its own, in the test's hands: read bit by bit, paused, or given up. */
export class Exchange {
  /** Of the body, so far. */
  text = "";
  readonly #decoder = new StringDecoder("utf8");
  readonly #chunks: Buffer[] = [];
  readonly #check: (answer: Answer) => void;
  readonly #request: ClientRequest;
  readonly #head = Promise.withResolvers<IncomingMessage>();
  readonly #over = Promise.withResolvers<Answer>();
  readonly #invited = Promise.withResolvers<void>();
  readonly #waiting = new Set<() => void>();

  /** @param check of every answer that is read to its end; throws for one that cannot be right. */
  constructor(
    url: string,
    { method = "POST", headers = {}, body, chunked = false }: Sent = {},
    check: (answer: Answer) => void = () => undefined,
  ) {
    this.#check = check;
    const payload = payloadOf(body);
    const length = payload === null || chunked ? {} : { "content-length": String(payload.length) };
    this.#request = request(url, { method, headers: { ...length, ...headers }, agent: false });
    // What is not awaited by its test must not count as an unhandled rejection.
    this.#head.promise.catch(() => undefined);
    this.#over.promise.catch(() => undefined);
    this.#request.on("response", (response) => this.#read(response));
    this.#request.on("continue", () => this.#invited.resolve());
    this.#request.on("error", (error) => {
      this.#head.reject(error);
      this.#over.reject(error);
      this.#told();
    });
    if (payload === null || !chunked) this.#request.end(payload ?? undefined);
    else this.#sendPieces(payload);
  }

  /** With `Expect: 100-continue`: the server reads the body. */
  invited(): Promise<void> {
    return this.#invited.promise;
  }

  /** The head of the answer. @throws Error when the connection broke before it. */
  head(): Promise<IncomingMessage> {
    return this.#head.promise;
  }

  /** The answer, when the connection is through with it. @throws Error when it broke before the head. */
  async whole(): Promise<Answer> {
    const answer = await this.#over.promise;
    if (answer.whole) this.#check(answer);
    return answer;
  }

  /** Bytes of the body so far. */
  get received(): number {
    return this.#chunks.reduce((sum, { length }) => sum + length, 0);
  }

  /** Waits until the body so far holds `part`. @throws Error when it ends without. */
  async until(part: string | RegExp): Promise<string> {
    const holds = (): boolean => (typeof part === "string" ? this.text.includes(part) : part.test(this.text));
    let over = false;
    const end = (): void => {
      over = true;
      this.#told();
    };
    this.#over.promise.then(end, end);
    while (!holds()) {
      if (over) throw new Error(`the answer ended without ${String(part)}: …${this.text.slice(-300)}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
    return this.text;
  }

  /** Reads nothing more until `resume`. */
  async pause(): Promise<void> {
    (await this.head()).pause();
  }

  async resume(): Promise<void> {
    (await this.head()).resume();
  }

  /** Goes away. */
  leave(): void {
    this.#request.destroy();
  }

  #sendPieces(payload: Buffer): void {
    for (let at = 0; at < payload.length; at += PIECE) this.#request.write(payload.subarray(at, at + PIECE));
    this.#request.end();
  }

  #read(response: IncomingMessage): void {
    this.#head.resolve(response);
    response.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.text += this.#decoder.write(chunk);
      this.#told();
    });
    response.on("error", () => undefined);
    response.on("close", () => {
      const { statusCode: status = 0, headers, complete } = response;
      this.#over.resolve({ status, headers, text: this.text, bytes: Buffer.concat(this.#chunks), whole: complete });
    });
  }

  #told(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

function payloadOf(body: unknown): Buffer | null {
  if (body === undefined) return null;
  if (typeof body === "string") return Buffer.from(body);
  return body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
}

/** One request on a connection of its own, to its end. */
export function send(url: string, sent: Sent = {}): Promise<Answer> {
  return new Exchange(url, sent).whole();
}

/** What an error is made of: status, code, content type, body. */
export function shown({ status, headers, text }: Answer): readonly unknown[] {
  return [status, headers["x-error-code"], headers["content-type"], text];
}

/** The payloads of a stream's `data:` lines. */
export function dataOf(text: string): readonly string[] {
  return text.split("\n\n").flatMap((block) => (block.startsWith("data: ") ? [block.slice("data: ".length)] : []));
}

/** Waits until `check` holds. @throws Error after `within` milliseconds. */
export async function eventually(check: () => boolean | Promise<boolean>, within = 5_000): Promise<void> {
  const until = performance.now() + within;
  while (!(await check())) {
    if (performance.now() > until) throw new Error(`it did not come true within ${within} ms: ${String(check)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
