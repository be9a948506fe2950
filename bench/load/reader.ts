/** What a reader tells as it goes. */
export interface Reading {
  /** A piece of body; a chunk of chunked encoding may come in several. */
  body(bytes: Buffer): void;
  /** The answer is over, `status` is its status. */
  end(status: number): void;
}

/**
 * Reads HTTP/1.1 answers off one connection, one after the other: the cheapest that is correct for answers with a
 * length or in chunks. It knows nothing else; an answer it cannot read is an error, for a bench must not guess.
 */
export class AnswerReader {
  readonly #reading: Reading;
  #state: "head" | "length" | "size" | "chunk" | "trailer" = "head";
  /** Bytes of an unfinished line or head. */
  #kept: Buffer | null = null;
  #left = 0;
  #status = 0;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  feed(bytes: Buffer): void {
    let rest: Buffer = this.#kept ? Buffer.concat([this.#kept, bytes]) : bytes;
    this.#kept = null;
    while (rest.length > 0) {
      const used = this.#step(rest);
      if (used === 0) {
        // What it came in is read into again.
        this.#kept = Buffer.from(rest);
        return;
      }
      rest = rest.subarray(used);
    }
  }

  /** @returns how many bytes were used; 0 when more are needed. */
  #step(bytes: Buffer): number {
    switch (this.#state) {
      case "head":
        return this.#head(bytes);
      case "size":
        return this.#size(bytes);
      case "trailer":
        return this.#trailer(bytes);
      default:
        return this.#body(bytes);
    }
  }

  #head(bytes: Buffer): number {
    const end = bytes.indexOf("\r\n\r\n");
    if (end < 0) return 0;
    const head = bytes.toString("latin1", 0, end).toLowerCase();
    this.#status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
    if (length !== undefined) {
      this.#left = Number(length);
      this.#state = "length";
      if (this.#left === 0) this.#finish();
    } else if (/\r\ntransfer-encoding: *chunked/.test(head)) this.#state = "size";
    else throw new Error(`an answer with neither length nor chunks: ${head.split("\r\n", 1)[0]}`);
    return end + 4;
  }

  #size(bytes: Buffer): number {
    const end = bytes.indexOf("\r\n");
    if (end < 0) return 0;
    const size = Number.parseInt(bytes.toString("latin1", 0, end), 16);
    if (Number.isNaN(size)) throw new Error("a chunk without a size");
    // The line end after a chunk is counted as part of it, and left out when it is told.
    this.#left = size + 2;
    this.#state = size === 0 ? "trailer" : "chunk";
    return end + 2;
  }

  #trailer(bytes: Buffer): number {
    if (bytes.length < 2) return 0;
    if (bytes.toString("latin1", 0, 2) !== "\r\n") throw new Error("trailers are not expected");
    this.#finish();
    return 2;
  }

  #body(bytes: Buffer): number {
    const taken = Math.min(this.#left, bytes.length);
    const lineEnd = this.#state === "chunk" ? 2 : 0;
    const body = Math.min(taken, Math.max(0, this.#left - lineEnd));
    if (body > 0) this.#reading.body(bytes.subarray(0, body));
    this.#left -= taken;
    if (this.#left === 0) {
      if (this.#state === "length") this.#finish();
      else this.#state = "size";
    }
    return taken;
  }

  #finish(): void {
    this.#state = "head";
    this.#reading.end(this.#status);
  }
}
