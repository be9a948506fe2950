import { CONTENT_EVENT } from "./wire.ts";

/** Checks the answers of one connection, one after the other: whole, and each of its own request. */
export class AnswerCheck {
  /** Events of content that a stream must have; null: a JSON answer. */
  #length: number | null = null;
  #nonce = "";
  #text = "";
  #events = 0;
  #tail = "";

  /** A request has been sent. */
  begin(length: number | null, nonce: string): void {
    this.#length = length;
    this.#nonce = nonce;
    this.#text = this.#tail = "";
    this.#events = 0;
  }

  /** A piece of the body. @returns how many events of content it ends. */
  body(bytes: Buffer): number {
    const text = bytes.toString("latin1");
    if (this.#length === null || this.#text === "") this.#text += text;
    if (this.#length === null) return 0;
    let found = 0;
    // An event may be split between reads: the end of the last one is searched again, short of a whole mark.
    const searched = this.#tail + text;
    for (let at = searched.indexOf(CONTENT_EVENT); at >= 0; at = searched.indexOf(CONTENT_EVENT, at + 1)) found++;
    this.#events += found;
    this.#tail = searched.slice(1 - CONTENT_EVENT.length);
    return found;
  }

  /** The answer is over. @returns what is wrong with it, or null. */
  end(status: number): string | null {
    const whole = this.#length === null || (this.#events === this.#length && this.#tail.endsWith("[DONE]\n\n"));
    if (status === 200 && whole && this.#text.includes(this.#nonce)) return null;
    return `${status} with ${this.#events} events: ${this.#text.slice(0, 300)}`;
  }
}
