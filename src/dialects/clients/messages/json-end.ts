/** Tells when the pieces of a JSON object have come to its end, without keeping them. */
export class JsonEnd {
  reached = false;
  #depth = 0;
  #quoted = false;
  #escaped = false;

  feed(piece: string): void {
    for (let at = 0; at < piece.length && !this.reached; at++) this.#next(piece[at]!);
  }

  #next(character: string): void {
    if (this.#quoted) {
      if (this.#escaped) this.#escaped = false;
      else if (character === "\\") this.#escaped = true;
      else if (character === '"') this.#quoted = false;
    } else if (character === '"') this.#quoted = true;
    else if (character === "{" || character === "[") this.#depth += 1;
    else if ((character === "}" || character === "]") && --this.#depth <= 0) this.reached = true;
  }
}
