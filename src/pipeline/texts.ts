import { promisify } from "node:util";
import { zstdCompress, zstdDecompress } from "node:zlib";
import {
  type AnswerFormat,
  type Exchange,
  firstTarget,
  mediaTokensAt,
  type Snapshot,
  type Target,
} from "../kit/index.ts";

export type CountTokens = (text: string) => Promise<number>;

/** Of the produced text that is kept for the tokenizer, which is asked only when the upstream has not counted. */
const MAX_KEPT_CHARACTERS = 256 * 1024;
/** Of text that are kept singly. */
const MAX_PIECES = 16;
/** Shorter texts are kept as they are: compressed they would save less than their connections take. */
const MIN_PACKED_CHARACTERS = 16 * 1024;
const ZSTD = { chunkSize: 128 * 1024 };
/** About as many as a token has. */
export const CHARACTERS_PER_TOKEN = 4;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** A text that comes in pieces, for a tokenizer. */
export class ProducedText {
  /** The beginning of the text, and behind it what came last. */
  #text = "";
  #last: string[] = [];
  #keptCharacters = 0;
  /** Characters that came beyond `#text`. */
  #unkeptCharacters = 0;

  get characters(): number {
    return this.#keptCharacters + this.#unkeptCharacters;
  }

  add(text: string): void {
    if (this.#keptCharacters >= MAX_KEPT_CHARACTERS) {
      this.#unkeptCharacters += text.length;
      return;
    }
    this.#keptCharacters += text.length;
    this.#last.push(text);
    if (this.#last.length === MAX_PIECES) this.#join();
  }

  /** Put together one by one, each piece would be kept, and a string for every two: ten times what the text takes. */
  #join(): void {
    this.#text += this.#last.join("");
    this.#last = [];
  }

  /**
   * Of what came behind so many characters. Text that was not kept is taken to have as many tokens a character as the text
   * that was. Never rejects.
   */
  async tokens(countTokens: CountTokens, from = 0): Promise<number> {
    const characters = this.characters - from;
    if (characters <= 0) return 0;
    this.#join();
    const kept = this.#text.slice(Math.min(from, this.#text.length - 1));
    const tokens = await new PackedText(kept).tokens(countTokens);
    return Math.ceil((tokens * characters) / Math.min(kept.length, characters));
  }
}

interface Prompted {
  readonly format: Pick<AnswerFormat, "promptText">;
  readonly exchange: Pick<Exchange, "call" | "model">;
  readonly target: Target | null;
}

/**
 * A text that may have to be counted, such as a prompt while its answer streams. Most upstreams count themselves, so its
 * tokens are counted only when one has not: counting costs some forty times what compressing does.
 */
export class PackedText {
  readonly #characters: number;
  /** Tokens of what goes with it and is no text. */
  readonly #more: number;
  #content: string | { readonly compressed: Buffer };

  constructor(text: string, more = 0) {
    this.#characters = text.length;
    this.#more = more;
    this.#content = text;
  }

  /** A request's prompt, with what its media count at the target that serves, or that would have been tried first. */
  static ofPrompt({ format, exchange, target }: Prompted, { upstreams }: Pick<Snapshot, "upstreams">): PackedText {
    const { call, model } = exchange;
    return new PackedText(format.promptText(), mediaTokensAt(call.media, target ?? firstTarget(model), upstreams));
  }

  /** Bytes of memory; exact once it is compressed. */
  get bytes(): number {
    return typeof this.#content === "string" ? this.#characters : this.#content.compressed.length;
  }

  /** Compresses a long text, off the event loop. @throws Error without memory for it; the text stays as it is then. */
  async pack(): Promise<void> {
    if (typeof this.#content !== "string" || this.#characters <= MIN_PACKED_CHARACTERS) return;
    this.#content = { compressed: await compress(this.#content, ZSTD) };
  }

  /** Never rejects: a tokenizer that fails must not make an answer free. The length then gives an estimate. */
  async tokens(countTokens: CountTokens): Promise<number> {
    try {
      const content = this.#content;
      const text = typeof content === "string" ? content : (await decompress(content.compressed, ZSTD)).toString();
      return this.#more + (await countTokens(text));
    } catch {
      return this.#more + Math.ceil(this.#characters / CHARACTERS_PER_TOKEN);
    }
  }
}
