import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type AbortReason, type Cancellation, CancellationSource, type Client, type Log } from "../kit/index.ts";
import { headOf, type HttpExchange, refusalOf, respond } from "./respond.ts";

const EVENT_STREAM = /^text\/event-stream\b/;

/** The client's end of one connection. Whatever is called after the connection has closed does nothing. */
export class ServerClient implements Client {
  readonly #http: HttpExchange;
  readonly #res: ServerResponse;
  readonly #log: Log;
  readonly #abort = new CancellationSource();
  #streaming = false;
  #events = 0;
  /** Of the connection, when the answer's head was made. */
  #bytesBefore = 0;
  /** The head has gone to the connection, and what follows it has to be framed in chunks. */
  #chunked = false;
  /** The connection is to say when it has taken all. */
  #draining = false;
  #drained: (() => void) | null = null;
  #onShutdown: (() => void) | null = null;

  constructor(http: HttpExchange, log: Log) {
    this.#http = http;
    this.#res = http.res;
    this.#log = log;
    this.#res.on("close", () => {
      if (!this.#res.writableFinished) this.abort("client_gone");
    });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get cancellation(): Cancellation {
    return this.#abort;
  }

  /** Whether a stream of events has begun and not ended. */
  get streaming(): boolean {
    return this.#streaming && !this.#res.writableEnded && !this.#res.destroyed;
  }

  /** Nothing more can be written to it. */
  get over(): boolean {
    return this.#res.writableEnded || this.#res.destroyed;
  }

  /** Events written of a stream. */
  get events(): number {
    return this.#events;
  }

  /** Bytes of a begun stream on its connection, its head included. */
  get bytes(): number {
    return this.#res.headersSent ? Math.max(0, (this.#res.socket?.bytesWritten ?? 0) - this.#bytesBefore) : 0;
  }

  abort(reason: AbortReason): void {
    this.#abort.abort(reason);
    if (reason === "shutdown") this.#onShutdown?.();
  }

  onShutdown(listener: () => void): void {
    this.#onShutdown = listener;
  }

  answer(
    status: number,
    contentType: string,
    body: string | Uint8Array,
    headers: Readonly<Record<string, string>>,
    requestId?: string,
  ): void {
    respond(this.#as(requestId), status, contentType, headers, body);
  }

  /** The exchange as it is answered under another request's id. */
  #as(requestId: string | undefined): HttpExchange {
    const http = this.#http;
    if (requestId === undefined || requestId === http.requestId) return http;
    const idHeader = http.errorStyle?.requestIdHeader;
    // Beside each name its value: that of the same id under another name.
    const always = http.always.map((text, at, all) => (at % 2 === 1 && all[at - 1] === idHeader ? requestId : text));
    return { ...http, requestId, always };
  }

  /** The head leaves with the first write, in one packet. */
  startStream(contentType: string, headers: Readonly<Record<string, string>>): void {
    if (this.#res.headersSent || this.#res.destroyed) return;
    // What `headers` was made of, and nothing else is from now on; a stream may live for minutes.
    this.#http.req.rawHeaders = [];
    const head = headOf(this.#http, contentType, headers);
    if (EVENT_STREAM.test(contentType)) {
      this.#streaming = true;
      // Proxies on the way would hold events back.
      head.push("Cache-Control", "no-cache", "X-Accel-Buffering", "no");
    }
    this.#bytesBefore = this.#res.socket?.bytesWritten ?? 0;
    this.#res.writeHead(200, head);
  }

  write(chunk: string | Uint8Array, events = 0): boolean {
    this.#events += events;
    const res = this.#res;
    if (res.destroyed || res.writableEnded || chunk.length === 0) return true;
    const { socket } = res;
    let taken;
    if (this.#chunked && typeof chunk === "string" && socket?.writable) {
      // A chunk of an answer is four writes to Node, put together again a tick later: a fifth of what an event costs.
      taken = socket.write(`${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`);
    } else {
      taken = res.write(chunk);
      this.#chunked = res.chunkedEncoding;
    }
    if (taken) return true;
    if (!this.#draining) {
      this.#draining = true;
      // Behind a pipelined answer that is not out yet there is no socket so far.
      (socket ?? res).once("drain", this.#onDrain);
    }
    return false;
  }

  onDrain(listener: () => void): void {
    this.#drained = listener;
  }

  end(last: string): void {
    if (this.#res.destroyed || this.#res.writableEnded) return;
    this.#res.end(last);
  }

  /** The client still gets what was written, but not the last chunk, by which it would take it for the whole. */
  cut(): void {
    const res = this.#res;
    if (res.destroyed || res.writableEnded) return;
    // Behind a pipelined answer that is not out yet there is no socket so far.
    if (res.socket === null) res.once("socket", (socket: Socket) => this.#cut(socket));
    else this.#cut(res.socket);
  }

  #cut(socket: Socket): void {
    // What was written in this turn is handed to the socket at its end.
    setImmediate(() => {
      // HTTP/1.0 has no chunks: only a reset tells a cut from an end.
      if (this.#res.chunkedEncoding) socket.destroySoon();
      else socket.resetAndDestroy();
    });
  }

  refuse(error: unknown, headers: Readonly<Record<string, string>>, requestId?: string): void {
    // It has left: nobody hears, and what it broke off is no fault.
    if (this.#res.destroyed) return;
    const refusal = refusalOf(error, this.#as(requestId));
    if (refusal.code === "INTERNAL") {
      this.#log.error({ err: error, request_id: this.#http.requestId }, "request failed");
    }
    if (this.#res.headersSent) return this.end("");
    this.answer(refusal.status, refusal.contentType, refusal.body, { ...headers, ...refusal.headers }, requestId);
  }

  readonly #onDrain = (): void => {
    this.#draining = false;
    if (!this.#res.writableEnded) this.#drained?.();
  };
}
