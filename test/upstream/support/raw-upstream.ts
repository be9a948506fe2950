import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

export interface RawRequest {
  readonly socket: Socket;
  readonly head: string;
  readonly body: string;
  /** Counts the requests of this server from 0. */
  readonly index: number;
  /** The bearer token. */
  readonly key: string;
}

/** A server that reads requests and leaves every byte of the answer to its script. */
export class RawUpstream {
  readonly requests: RawRequest[] = [];
  readonly sockets = new Set<Socket>();
  connections = 0;
  readonly #server: Server;

  private constructor(script: (request: RawRequest) => void) {
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.connections += 1;
      this.sockets.add(socket);
      socket.on("close", () => this.sockets.delete(socket));
      socket.on("error", () => undefined);
      let received = "";
      socket.on("data", (chunk) => {
        received += chunk.toString("latin1");
        for (;;) {
          const end = received.indexOf("\r\n\r\n");
          if (end < 0) return;
          const head = received.slice(0, end);
          const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
          if (received.length < end + 4 + length) return;
          const body = received.slice(end + 4, end + 4 + length);
          received = received.slice(end + 4 + length);
          const key = /authorization: Bearer (\S*)/i.exec(head)?.[1] ?? "";
          const request: RawRequest = { socket, head, body, index: this.requests.length, key };
          this.requests.push(request);
          script(request);
        }
      });
    });
  }

  static async start(script: (request: RawRequest) => void): Promise<RawUpstream> {
    const upstream = new RawUpstream(script);
    upstream.#server.listen(0, "127.0.0.1");
    await once(upstream.#server, "listening");
    return upstream;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** An HTTP/1.1 response with a content length. */
export function response(status: number, headers: Record<string, string>, body: string): string {
  const fields = { "content-length": String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} X\r\n${lines.join("")}\r\n${body}`;
}

export function answer(content: string): string {
  const choice = { index: 0, message: { role: "assistant", content }, finish_reason: "stop" };
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  return response(200, { "content-type": "application/json" }, JSON.stringify({ id: "c", choices: [choice], usage }));
}

/** Head of a chunked event stream; follow it with `chunk`s and `LAST_CHUNK`. */
export const STREAM_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
export const LAST_CHUNK = "0\r\n\r\n";

export function chunk(body: string | Buffer): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

/** One event of a chat stream. */
export function event(content: string, finish: string | null = null): string {
  return `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;
}

export const DONE = "data: [DONE]\n\n";
