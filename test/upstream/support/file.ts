import { createHash, randomBytes } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import type { Upload } from "../../../src/kit/index.ts";

export const BLOCK = randomBytes(64 * 1024);

/** A file of so many blocks that counts how far it was read, and how many of its readers are open. */
export class File implements Upload {
  readonly name = "a.wav";
  readonly contentType = "audio/wav";
  readonly size: number;
  reads = 0;
  reading = 0;
  /** Bytes of the latest read. */
  given = 0;
  readonly #block: Uint8Array;

  constructor(blocks: number, block: Uint8Array = BLOCK) {
    this.#block = block;
    this.size = blocks * block.length;
  }

  async *read(): AsyncGenerator<Uint8Array, void, undefined> {
    this.reads += 1;
    this.reading += 1;
    try {
      for (let at = 0; at < this.size; at += this.#block.length) {
        await turn();
        this.given = at + this.#block.length;
        yield this.#block;
      }
    } finally {
      this.reading -= 1;
    }
  }

  digest(): Promise<string> {
    return digestOf(new File(this.size / this.#block.length, this.#block).read());
  }
}

/** Reads a whole body and says its SHA-256. */
export async function digestOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const digest = createHash("sha256");
  for await (const bytes of body) digest.update(bytes);
  return digest.digest("hex");
}
