/**
 * The mock upstream of the load bench: canned answers over node:net, so that it costs a fraction of what it measures.
 * `node upstream.ts`: listens on a free port of loopback and prints it. `upstreamState` and `setRate` ask it.
 */
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import {
  answerBody,
  CONTENT_MARKS,
  events,
  FORMATS,
  type Format,
  nonceOf,
  NONCE_BYTES,
  PATHS,
  RATE,
  stampNow,
  stampOf,
} from "./wire.ts";

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type:";
const ANSWER_MESSAGE = jsonMessage(answerBody());
const CHUNK_END = "\r\n";
/** Where a body says that it asks for a stream: it is not searched to its end, which costs more than all else. */
const SEARCHED_BYTES = 512;
/** Of larger requests only the beginning is read; streams are not among them. */
const MAX_KEPT_BYTES = 64 * 1024;
/** A stream whose reader is so far behind gets no more until it reads. */
const MAX_WAITING_BYTES = 256 * 1024;

/** A stream's parts as they are written. */
interface Messages {
  readonly first: string;
  readonly content: Buffer;
  readonly stampAt: number;
  readonly last: Buffer;
}

interface Stream {
  readonly socket: Socket;
  readonly messages: Messages;
  readonly begun: number;
  /** Events of content a second. */
  readonly rate: number;
  /** Events of content it is to have. */
  readonly length: number;
  sent: number;
}

export interface UpstreamState {
  /** Streams that have neither ended nor been closed. */
  readonly open: number;
}

const MESSAGES: Readonly<Record<Format, Messages>> = {
  openai: messagesOf("openai"),
  anthropic: messagesOf("anthropic"),
};

/** Starts the mock upstream on a free port of loopback. */
export async function startUpstream(): Promise<{ readonly port: number; close(): void }> {
  const upstream = new Upstream();
  const server = createServer({ noDelay: true }, (socket) => upstream.serve(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 4096, resolve));
  // One millisecond, so that the streams do not all speak at once.
  const timer = setInterval(() => upstream.advance(), 1);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close() {
      clearInterval(timer);
      server.close();
      upstream.close();
    },
  };
}

export async function upstreamState(port: number): Promise<UpstreamState> {
  return (await (await fetch(`http://127.0.0.1:${port}/state`)).json()) as UpstreamState;
}

/** Of streams that begin from now on. @param rate 0: after their first event of content they are silent. */
export async function setRate(port: number, rate: number): Promise<void> {
  await (await fetch(`http://127.0.0.1:${port}/rate/${rate}`)).json();
}

class Upstream {
  readonly #streams = new Set<Stream>();
  #rate = RATE;

  serve(socket: Socket): void {
    const answer = Buffer.from(ANSWER_MESSAGE);
    const answerNonce = answer.indexOf(nonceOf(0));
    let kept: Buffer | null = null;
    /** Of a large request, which is counted instead of kept. */
    let bytesLeft = 0;
    let stream: Stream | null = null;
    socket.on("data", (bytes: Buffer) => {
      if (bytesLeft > 0) {
        bytesLeft -= bytes.length;
        if (bytesLeft === 0) socket.write(answer);
        return;
      }
      const request = kept ? Buffer.concat([kept, bytes]) : bytes;
      const bodyAt = request.indexOf("\r\n\r\n") + 4;
      const head = bodyAt < 4 ? "" : request.toString("latin1", 0, bodyAt);
      const length = bodyAt < 4 ? Infinity : Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      const missing = bodyAt + length - request.length;
      const isLarge = length !== Infinity && length > MAX_KEPT_BYTES && request.length - bodyAt > SEARCHED_BYTES;
      kept = missing > 0 && !isLarge ? request : null;
      if (kept) return;
      if (head.startsWith("GET ")) return void socket.write(this.#control(head));
      const nonceAt = request.indexOf("nonce-", bodyAt);
      if (isStreamed(request, bodyAt)) {
        stream = this.#begin(socket, head, request, bodyAt, nonceAt);
        return;
      }
      request.copy(answer, answerNonce, nonceAt, nonceAt + NONCE_BYTES);
      if (missing > 0) bytesLeft = missing;
      else socket.write(answer);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => stream && this.#streams.delete(stream));
  }

  #begin(socket: Socket, head: string, request: Buffer, bodyAt: number, nonceAt: number): Stream {
    const format = FORMATS.find((name) => head.startsWith(`POST ${PATHS[name]} `)) ?? "openai";
    const messages = MESSAGES[format];
    socket.write(messages.first.replace(nonceOf(0), request.toString("latin1", nonceAt, nonceAt + NONCE_BYTES)));
    const length = Number(/"max_(?:completion_)?tokens":(\d+)/.exec(request.toString("latin1", bodyAt))?.[1]);
    const stream = { socket, messages, begun: performance.now(), rate: this.#rate, length, sent: 0 };
    // The first at once: until there is content, a proxy may wait with everything.
    writeContent(stream);
    this.#streams.add(stream);
    return stream;
  }

  /** Writes what is due, each event on its own. */
  advance(): void {
    const now = performance.now();
    for (const stream of this.#streams) {
      const due = Math.min(stream.length, 1 + Math.floor(((now - stream.begun) / 1_000) * stream.rate));
      while (stream.sent < due && stream.socket.writableLength < MAX_WAITING_BYTES) writeContent(stream);
      if (stream.sent === stream.length) {
        stream.socket.write(stream.messages.last);
        this.#streams.delete(stream);
      }
    }
  }

  #control(head: string): string {
    const rate = /^GET \/rate\/([\d.]+) /.exec(head)?.[1];
    if (rate !== undefined) this.#rate = Number(rate);
    return jsonMessage(JSON.stringify({ open: this.#streams.size }));
  }

  close(): void {
    for (const { socket } of this.#streams) socket.destroy();
  }
}

function writeContent(stream: Stream): void {
  const { content, stampAt } = stream.messages;
  const event = Buffer.from(content);
  event.write(stampOf(stampNow()), stampAt, "latin1");
  stream.socket.write(event);
  stream.sent++;
}

function isStreamed(request: Buffer, bodyAt: number): boolean {
  const near = (from: number) => request.toString("latin1", from, from + SEARCHED_BYTES).includes('"stream":true');
  return near(bodyAt) || near(Math.max(bodyAt, request.length - SEARCHED_BYTES));
}

function messagesOf(format: Format): Messages {
  const { first, content, last } = events(format);
  const mark = CONTENT_MARKS[format];
  const message = chunk(content);
  return {
    first: `${HEAD} text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n${chunk(first)}`,
    content: Buffer.from(message),
    stampAt: message.indexOf(mark) + mark.length,
    last: Buffer.from(`${chunk(last)}0\r\n\r\n`),
  };
}

function jsonMessage(body: string): string {
  return `${HEAD} application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

function chunk(text: string): string {
  return `${text.length.toString(16)}${CHUNK_END}${text}${CHUNK_END}`;
}

if (import.meta.main) {
  const { port } = await startUpstream();
  process.stdout.write(`${port}\n`);
}
