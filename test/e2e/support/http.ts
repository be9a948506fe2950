import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** False when the connection broke before the body was whole. */
  readonly whole: boolean;
}

/** One request on a connection of its own, in the test's hands: read bit by bit, paused, or given up. */
export class Exchange {
  /** Of the body, so far. */
  text = "";
  readonly #request: ClientRequest;
  readonly #head = Promise.withResolvers<IncomingMessage>();
  readonly #over = Promise.withResolvers<Answer>();
  readonly #waiting = new Set<() => void>();

  constructor(url: string, { method = "POST", headers = {}, body }: Sent = {}) {
    const payload = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
    const length = payload === undefined ? {} : { "content-length": String(Buffer.byteLength(payload)) };
    this.#request = request(url, { method, headers: { ...length, ...headers }, agent: false });
    // What is not awaited by its test must not count as an unhandled rejection.
    this.#head.promise.catch(() => undefined);
    this.#over.promise.catch(() => undefined);
    this.#request.on("response", (response) => this.#read(response));
    this.#request.on("error", (error) => {
      this.#head.reject(error);
      this.#over.reject(error);
      this.#told();
    });
    this.#request.end(payload);
  }

  /** The head of the answer. @throws Error when the connection broke before it. */
  head(): Promise<IncomingMessage> {
    return this.#head.promise;
  }

  /** The answer, when the connection is through with it. @throws Error when it broke before the head. */
  whole(): Promise<Answer> {
    return this.#over.promise;
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

  #read(response: IncomingMessage): void {
    this.#head.resolve(response);
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      this.text += chunk;
      this.#told();
    });
    response.on("error", () => undefined);
    response.on("close", () => {
      const { statusCode = 0, headers, complete } = response;
      this.#over.resolve({ status: statusCode, headers, text: this.text, whole: complete });
    });
  }

  #told(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
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
