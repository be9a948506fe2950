import { promisify } from "node:util";
import { zstdCompress, zstdDecompress } from "node:zlib";

export type CountTokens = (text: string) => Promise<number>;

/** Shorter texts are kept as they are: packed they would save less than their connections take. */
const PLAIN_CHARACTERS = 16 * 1024;
/** Packed text comes in pieces of this many bytes. */
const PACKING = { chunkSize: 128 * 1024 };
const CHARACTERS_PER_TOKEN = 4;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/**
 * A text that may have to be counted, such as a prompt while its answer streams. Most upstreams count themselves, so its
 * tokens are counted only when one has not: that costs some forty times what packing the text does.
 */
export class KeptText {
  readonly #characters: number;
  #kept: string | { readonly packed: Buffer };

  constructor(text: string) {
    this.#characters = text.length;
    this.#kept = text;
  }

  /** Bytes that it takes; of a text that is not packed about so many. */
  get bytes(): number {
    return typeof this.#kept === "string" ? this.#characters : this.#kept.packed.length;
  }

  /** Off the event loop. @throws Error of a packer without memory; the text is kept as it is then. */
  async pack(): Promise<void> {
    if (typeof this.#kept !== "string" || this.#characters <= PLAIN_CHARACTERS) return;
    this.#kept = { packed: await compress(this.#kept, PACKING) };
  }

  /** Never rejects: a tokenizer that fails must not make an answer free. A guess by length then stands in. */
  async tokens(countTokens: CountTokens): Promise<number> {
    try {
      const kept = this.#kept;
      return await countTokens(typeof kept === "string" ? kept : (await decompress(kept.packed, PACKING)).toString());
    } catch {
      return Math.ceil(this.#characters / CHARACTERS_PER_TOKEN);
    }
  }
}
