import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { Identity } from "./certificates.ts";

export interface TestProxy {
  /** `http://127.0.0.1:PORT`, without a password. */
  readonly url: string;
  readonly host: string;
  /** What it was asked for, as `CONNECT name:443` or `POST http://name/path`. */
  readonly asked: string[];
  /** The `Proxy-Authorization` of each. */
  readonly authorizations: (string | undefined)[];
}

interface ProxyOptions {
  /** Answers everything with this status. */
  readonly refuse?: number;
  /** Answers nothing. */
  readonly hang?: boolean;
  /** Speaks TLS itself. */
  readonly identity?: Identity;
}

/** A forward proxy for tests: every host that it is asked for is this machine, on the port that was asked for. */
export async function startProxy({ refuse, hang = false, identity }: ProxyOptions = {}): Promise<TestProxy> {
  const [asked, authorizations]: [string[], (string | undefined)[]] = [[], []];
  const sockets = new Set<Socket>();
  const note = ({ method, url, headers }: IncomingMessage): void => {
    asked.push(`${method} ${url}`);
    authorizations.push(headers["proxy-authorization"]);
  };
  const server: Server = identity === undefined ? createServer() : createSecureServer({ ...identity });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  server.on("connect", (req: IncomingMessage, socket: Socket, head: Buffer) => {
    note(req);
    socket.on("error", () => {});
    if (hang) return;
    if (refuse !== undefined) return void socket.end(`HTTP/1.1 ${refuse} No\r\ncontent-length: 0\r\n\r\n`);
    const target = connect(Number(req.url!.split(":").at(-1)), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      target.write(head);
      socket.pipe(target).pipe(socket);
    });
    sockets.add(target);
    target.on("error", () => void socket.destroy());
  });
  server.on("request", (req, res) => {
    note(req);
    if (hang) return;
    if (refuse !== undefined) return void res.writeHead(refuse).end();
    const { port, pathname, search } = new URL(req.url!);
    const { "proxy-authorization": _, ...headers } = req.headers;
    const options = { host: "127.0.0.1", port, method: req.method, path: pathname + search, headers };
    const onward = request(options, (answer) => {
      res.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(res);
    });
    onward.on("error", () => void res.destroy());
    req.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `${identity === undefined ? "http" : "https"}://${host}`, host, asked, authorizations };
}
