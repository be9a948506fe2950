import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { digestOf } from "./file.ts";

/** A server that leaves to its script how a request's body is read and answered. */
export class UploadServer {
  readonly requests: IncomingMessage[] = [];
  readonly #server: Server;

  private constructor(script: (request: IncomingMessage, reply: ServerResponse, index: number) => void) {
    this.#server = createServer((request, reply) => {
      request.on("error", () => undefined);
      script(request, reply, this.requests.push(request) - 1);
    });
  }

  static async start(
    script: (request: IncomingMessage, reply: ServerResponse, index: number) => void,
  ): Promise<UploadServer> {
    const server = new UploadServer(script);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** Answers with the SHA-256 of what was sent. */
export function sayDigest(request: IncomingMessage, reply: ServerResponse): void {
  digestOf(request).then(
    (text) => sayJson(reply, 200, { text }),
    () => undefined,
  );
}

export function sayJson(reply: ServerResponse, status: number, body: object): void {
  reply.writeHead(status, { "content-type": "application/json" });
  reply.end(JSON.stringify(body));
}
