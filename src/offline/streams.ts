import { Duplex } from "node:stream";

type Done = (error?: Error | null) => void;

const BROKEN: readonly [code: string, message: string] = ["ECONNRESET", "read ECONNRESET"];

/**
 * One end of a connection inside of the process, with as much of a TCP socket as HTTP servers and clients ask for. What
 * is written at one end arrives at the other in a later turn of the event loop, as from a network.
 */
export class StreamEnd extends Duplex {
  /** Of the other end. */
  readonly remoteAddress: string;
  /** Whose connection it is; empty for a client's. */
  readonly upstream: string;
  readonly #touch: () => void;
  #peer: StreamEnd | null = null;
  #taken: Done | null = null;

  private constructor(isServer: boolean, remoteAddress: string, upstream: string, touch: () => void) {
    super({ allowHalfOpen: isServer });
    this.remoteAddress = remoteAddress;
    this.upstream = upstream;
    this.#touch = touch;
  }

  /** @returns both ends, the client's first. */
  static pair(address: string, upstream: string, touch: () => void): readonly [client: StreamEnd, server: StreamEnd] {
    const client = new StreamEnd(false, "127.0.0.1", upstream, touch);
    const server = new StreamEnd(true, address, upstream, touch);
    client.#peer = server;
    server.#peer = client;
    return [client, server];
  }

  override _read(): void {
    this.#touch();
    this.#give();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#later(() => this.#peer!.#arrive(chunk, done));
  }

  override _writev(chunks: { readonly chunk: Buffer }[], done: Done): void {
    const joined = Buffer.concat(chunks.map(({ chunk }) => Buffer.from(chunk)));
    this.#later(() => this.#peer!.#arrive(joined, done));
  }

  override _final(done: Done): void {
    this.#later(() => {
      if (!this.#peer!.destroyed) this.#peer!.push(null);
      done();
    });
  }

  override _destroy(error: Error | null, done: Done): void {
    const peer = this.#peer!;
    this.#later(() => {
      if (!peer.destroyed && !this.writableFinished) peer.push(null);
    });
    // The other end goes on writing to nobody.
    this.#give();
    done(error);
  }

  /** The other end reads a reset. */
  resetAndDestroy(): this {
    const peer = this.#peer!;
    this.#later(() => peer.destroy(Object.assign(new Error(BROKEN[1]), { code: BROKEN[0] })));
    this.destroy();
    return this;
  }

  /** Ends once everything is written. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  // Nothing inside of a process is slow of itself.
  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  #arrive(chunk: Buffer, done: Done): void {
    // Bytes for an end that is gone are lost, as in a network.
    if (this.destroyed || this.readableEnded) return done();
    if (this.push(chunk)) return done();
    this.#taken = done;
  }

  /** The other end may write again. */
  #give(): void {
    const taken = this.#taken;
    this.#taken = null;
    taken?.();
  }

  #later(work: () => void): void {
    this.#touch();
    setImmediate(() => {
      this.#touch();
      work();
    });
  }
}
