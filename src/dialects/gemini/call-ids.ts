import { sha256, stripSignature } from "../tool-ids.ts";

const USABLE = /^[\w-]{1,64}$/;

/** Gives each call of one answer an id: the upstream's own where it is usable and new, else one made of `seed`. */
export class CallIds {
  readonly #seed: string;
  readonly #used = new Set<string>();

  /** @param seed names the answer: equal seeds give equal ids. */
  constructor(seed: string) {
    this.#seed = seed;
  }

  next(own: unknown): string {
    const usable = typeof own === "string" && USABLE.test(own) && stripSignature(own) === own && !this.#used.has(own);
    const id = usable ? own : `call_${sha256(`${this.#seed}/${this.#used.size}`).slice(0, 24)}`;
    this.#used.add(id);
    return id;
  }
}
