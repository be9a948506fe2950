import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";

/** How a stream ended, seen by its client. */
export interface Ended {
  readonly status: number;
  readonly text: string;
  /** False when the connection broke before the body was whole. */
  readonly whole: boolean;
  /** By `performance.now()`. */
  readonly at: number;
}

/** A client that keeps its connections, as SDKs do. */
export class KeptClient {
  readonly #agent = new Agent({ keepAlive: true });

  /** POSTs JSON. */
  open(url: string, headers: Readonly<Record<string, string>>, body: unknown): KeptStream {
    const options = { method: "POST", agent: this.#agent, headers: { "content-type": "application/json", ...headers } };
    const call = request(url, options);
    call.end(JSON.stringify(body));
    return new KeptStream(call);
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** One request of such a client, read as it comes. */
export class KeptStream {
  /** Of the body, so far. */
  text = "";
  readonly ended: Promise<Ended>;
  readonly #call: ClientRequest;
  #next = Promise.withResolvers<void>();

  constructor(call: ClientRequest) {
    this.#call = call;
    const ended = Promise.withResolvers<Ended>();
    this.ended = ended.promise;
    this.ended.catch(() => undefined);
    call.on("error", (error) => ended.reject(error));
    call.on("response", (response: IncomingMessage) => {
      response.setEncoding("utf8");
      response.on("error", () => undefined);
      response.on("data", (chunk: string) => {
        this.text += chunk;
        this.#tell();
      });
      response.on("close", () => {
        const { statusCode: status = 0, complete: whole } = response;
        ended.resolve({ status, text: this.text, whole, at: performance.now() });
        this.#tell();
      });
    });
  }

  /** Whether it went over a connection that an earlier one had left. */
  get reused(): boolean {
    return this.#call.reusedSocket;
  }

  /** Waits until the body so far holds `part`. @throws Error when it ends without. */
  async until(part: string): Promise<void> {
    let over = false;
    const end = (): void => {
      over = true;
      this.#tell();
    };
    this.ended.then(end, end);
    while (!this.text.includes(part)) {
      if (over) throw new Error(`the stream ended without ${part}: ${this.text.slice(-300)}`);
      await this.#next.promise;
    }
  }

  #tell(): void {
    const { resolve } = this.#next;
    this.#next = Promise.withResolvers();
    resolve();
  }
}
