import { CONTENT_MARKS, type Format, STAMP_BYTES, stampNow, STREAM_ENDS } from "./wire.ts";

/** The beginning of a stream is kept: it has the nonce, and says what went wrong. */
const MAX_SHOWN_CHARACTERS = 1_024;

/** Checks the answers of one connection, one after the other: whole, and each of its own request. */
export class AnswerCheck {
  readonly #mark: string;
  readonly #ending: string;
  /** Told the delay of each event of content, in microseconds. */
  readonly #onDelay: ((microseconds: number) => void) | null;
  /** Events of content that a stream must have; null: a JSON answer. */
  #length: number | null = null;
  #nonce = "";
  #text = "";
  #events = 0;
  /** What may be the beginning of an event of content. */
  #tail = "";
  #end = "";

  constructor(format: Format = "openai", onDelay: ((microseconds: number) => void) | null = null) {
    this.#mark = CONTENT_MARKS[format];
    this.#ending = STREAM_ENDS[format];
    this.#onDelay = onDelay;
  }

  /** A request has been sent. */
  begin(length: number | null, nonce: string): void {
    this.#length = length;
    this.#nonce = nonce;
    this.#text = this.#tail = this.#end = "";
    this.#events = 0;
  }

  /** A piece of the body. @returns how many events of content it ends. */
  body(bytes: Buffer): number {
    const text = bytes.toString("latin1");
    if (this.#length === null || this.#text.length < MAX_SHOWN_CHARACTERS) this.#text += text;
    if (this.#length === null) return 0;
    const found = this.#count(this.#tail + text);
    this.#events += found;
    this.#end = text.length < this.#ending.length ? (this.#end + text).slice(-this.#ending.length) : text;
    return found;
  }

  /** Counts marks with their stamps; both may be split between reads. */
  #count(text: string): number {
    const markBytes = this.#mark.length;
    const now = this.#onDelay ? stampNow() : 0;
    let found = 0;
    let from = 0;
    let at = text.indexOf(this.#mark);
    for (; at >= 0 && at + markBytes + STAMP_BYTES <= text.length; at = text.indexOf(this.#mark, from)) {
      from = at + markBytes + STAMP_BYTES;
      this.#onDelay?.(now - Number(text.slice(at + markBytes, from)));
      found++;
    }
    this.#tail = text.slice(at < 0 ? Math.max(from, text.length - markBytes + 1) : at);
    return found;
  }

  /** The answer is over. @returns what is wrong with it, or null. */
  end(status: number): string | null {
    const whole = this.#length === null || (this.#events === this.#length && this.#end.endsWith(this.#ending));
    if (status === 200 && whole && this.#text.includes(this.#nonce)) return null;
    return `${status} with ${this.#events} events: ${this.#text.slice(0, 300)}`;
  }
}
