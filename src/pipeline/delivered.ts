/** A stream's produced text waits here, in characters, before it is counted: the bound of its memory. */
const SEGMENT = 32 * 1024;

/** Counts produced text by tokenizer without keeping a stream's whole text: full segments are counted as they fill. */
export class Delivered {
  #text = "";
  #counted: Promise<number> = Promise.resolve(0);
  readonly #count: (text: string) => Promise<number>;

  constructor(count: (text: string) => Promise<number>) {
    this.#count = count;
  }

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= SEGMENT) this.#flush();
  }

  /** Tokens of everything added so far. */
  async tokens(): Promise<number> {
    this.#flush();
    return this.#counted;
  }

  #flush(): void {
    if (this.#text === "") return;
    const segment = this.#text;
    this.#text = "";
    const before = this.#counted;
    this.#counted = Promise.all([before, countOrGuess(this.#count, segment)]).then(([sum, tokens]) => sum + tokens);
  }
}

/**
 * Tokens of a text. A tokenizer that fails must not make an answer free, nor surface as an unhandled rejection in a
 * stream that later brings its own count: four characters then stand for a token.
 */
export async function countOrGuess(count: (text: string) => Promise<number>, text: string): Promise<number> {
  try {
    return await count(text);
  } catch {
    return Math.ceil(text.length / 4);
  }
}
