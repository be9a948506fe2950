/**
 * The yardstick: the least a Node proxy can do over node:http and undici. It relays bytes and reads nothing.
 * `node bare.ts ORIGIN`: listens on a free port of loopback and prints it.
 */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";
import type { Dispatcher } from "undici";

/** One relayed request; the fewest objects for it. */
class Relay implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse;
  #controller: Dispatcher.DispatchController | null = null;
  #ended = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on("close", () => this.#ended || this.#controller?.abort(new Error("the client has gone")));
    response.on("drain", () => this.#controller?.resume());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    const { "transfer-encoding": _, connection: __, ...rest } = headers;
    this.#response.writeHead(status, rest);
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (!this.#response.write(bytes)) controller.pause();
  }

  onResponseEnd(): void {
    this.#ended = true;
    this.#response.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#ended = true;
    if (this.#response.headersSent) this.#response.destroy();
    else this.#response.writeHead(502).end(error.message);
  }
}

/** Starts the bare proxy in front of `origin` on a free port of loopback. */
export async function startBare(origin: string): Promise<{ readonly port: number; close(): Promise<void> }> {
  const pool = new Pool(origin, { connections: null, allowH2: false });
  const server = createServer((request, response) => relay(pool, request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async close() {
      server.close();
      server.closeAllConnections();
      await pool.destroy();
    },
  };
}

function relay(pool: Pool, request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on("data", (bytes: Buffer) => chunks.push(bytes));
  request.on("end", () => {
    const { authorization, "content-type": type, accept } = request.headers;
    const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    const headers = { authorization, "content-type": type, accept };
    pool.dispatch({ path: request.url ?? "/", method: "POST", headers, body }, new Relay(response));
  });
}

if (import.meta.main) {
  const { port } = await startBare(process.argv[2] ?? "");
  process.stdout.write(`${port}\n`);
}
