import { once } from "node:events";
import { createServer, type IncomingMessage, request as connect, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request of an agent, and what it was answered. */
export interface Exchanged {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  /** Of the request. */
  body: string;
  /** 0 until the gateway has answered. */
  status: number;
  requestId: string;
  /** JSON pointers. */
  dropped: readonly string[];
  /** The text of an answer that is an error. */
  error: string;
  /** Milliseconds since the tap was made. */
  readonly asked: number;
  /** When the last byte of its answer came; null until then. */
  answered: number | null;
}

/** Stands between one agent and the gateway, or the provider itself, passes everything on and writes down what it was. */
export class Tap {
  readonly seen: Exchanged[] = [];
  readonly #target: URL;
  readonly #prefix: string;
  readonly #server: Server;
  readonly #began = performance.now();

  /** @param target its origin, with what stands before each path. */
  constructor(target: string) {
    this.#target = new URL(target);
    this.#prefix = this.#target.pathname.replace(/\/$/, "");
    this.#server = createServer((request, response) => this.#pass(request, response));
  }

  /** @returns its origin. */
  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const { method = "", url = "/", headers } = request;
    const exchanged: Exchanged = {
      method,
      path: url.split("?")[0] ?? url,
      body: "",
      status: 0,
      requestId: "",
      dropped: [],
      error: "",
      asked: performance.now() - this.#began,
      answered: null,
    };
    this.seen.push(exchanged);
    const { hostname, port } = this.#target;
    const onward = connect({ hostname, port, method, path: this.#prefix + url, headers });
    onward.on("response", (answer) => {
      exchanged.status = answer.statusCode ?? 0;
      exchanged.requestId = answer.headers["x-request-id"]?.toString() ?? "";
      const dropped = answer.headers["x-gateway-dropped"]?.toString() ?? "";
      exchanged.dropped = dropped === "" ? [] : dropped.split(", ").map(decodeURIComponent);
      if (exchanged.status >= 400) answer.on("data", (bytes: Buffer) => (exchanged.error += bytes.toString()));
      response.writeHead(exchanged.status, answer.headers);
      answer.on("error", () => response.destroy());
      answer.on("end", () => (exchanged.answered = performance.now() - this.#began));
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => {
      if (!response.writableFinished) onward.destroy();
    });
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => (exchanged.body = Buffer.concat(chunks).toString()));
    request.pipe(onward);
  }
}
