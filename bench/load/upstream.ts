/**
 * The mock upstream of the load bench: canned answers over node:net, so that it costs a fraction of what it measures.
 * `node upstream.ts`: listens on a free port of loopback and prints it.
 */
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { answerBody, events, nonceOf, NONCE_BYTES, RATE } from "./wire.ts";

const TICK = 1000 / RATE;
const HEAD = "HTTP/1.1 200 OK\r\ncontent-type:";
const ANSWER = answerBody();
const ANSWER_MESSAGE = `${HEAD} application/json\r\ncontent-length: ${ANSWER.length}\r\n\r\n${ANSWER}`;
const { first, content, last } = events();
const STREAM_MESSAGE = `${HEAD} text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n${chunk(first)}`;
const CONTENT = Buffer.from(chunk(content));
const LAST = Buffer.from(`${chunk(last)}0\r\n\r\n`);

interface Stream {
  readonly socket: Socket;
  readonly begun: number;
  /** Events of content it is to have. */
  readonly length: number;
  sent: number;
}

/** Starts the mock upstream on a free port of loopback. */
export async function startUpstream(): Promise<{ readonly port: number; close(): void }> {
  const streams = new Set<Stream>();
  const server = createServer({ noDelay: true }, (socket) => serve(socket, streams));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // One millisecond, so that the streams do not all speak at once.
  const timer = setInterval(() => advance(streams), 1);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close() {
      clearInterval(timer);
      server.close();
      for (const stream of streams) stream.socket.destroy();
    },
  };
}

function serve(socket: Socket, streams: Set<Stream>): void {
  const answer = Buffer.from(ANSWER_MESSAGE);
  const answerNonce = answer.indexOf(nonceOf(0));
  let kept: Buffer | null = null;
  let stream: Stream | null = null;
  socket.on("data", (bytes: Buffer) => {
    const request = kept ? Buffer.concat([kept, bytes]) : bytes;
    const bodyAt = request.indexOf("\r\n\r\n") + 4;
    const length =
      bodyAt < 4 ? Infinity : Number(/content-length: *(\d+)/i.exec(request.toString("latin1", 0, bodyAt))?.[1] ?? 0);
    if (request.length < bodyAt + length) {
      kept = request;
      return;
    }
    kept = null;
    const nonceAt = request.indexOf("nonce-", bodyAt);
    if (request.includes('"stream":true', bodyAt)) {
      const nonce = request.toString("latin1", nonceAt, nonceAt + NONCE_BYTES);
      socket.write(STREAM_MESSAGE.replace(nonceOf(0), nonce));
      const length = Number(/"max_tokens":(\d+)/.exec(request.toString("latin1", bodyAt))?.[1]);
      stream = { socket, begun: performance.now(), length, sent: 0 };
      streams.add(stream);
    } else {
      request.copy(answer, answerNonce, nonceAt, nonceAt + NONCE_BYTES);
      socket.write(answer);
    }
  });
  socket.on("error", () => undefined);
  socket.on("close", () => stream && streams.delete(stream));
}

/** Writes what is due, each event on its own. */
function advance(streams: Set<Stream>): void {
  const now = performance.now();
  for (const stream of streams) {
    const due = Math.min(stream.length, Math.floor((now - stream.begun) / TICK));
    for (; stream.sent < due; stream.sent++) stream.socket.write(CONTENT);
    if (stream.sent === stream.length) {
      stream.socket.write(LAST);
      streams.delete(stream);
    }
  }
}

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

if (import.meta.main) {
  const { port } = await startUpstream();
  process.stdout.write(`${port}\n`);
}
