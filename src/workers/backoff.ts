/** Milliseconds. */
const YOUNG = 10_000;
const SHORTEST = 100;
const LONGEST = 5_000;

/** How long to wait before a dead worker is replaced: not at all, unless workers die young one after the other. */
export class Backoff {
  #young = 0;

  /** @param lived milliseconds that the worker served; 0 for one that never did. @returns milliseconds. */
  after(lived: number): number {
    if (lived >= YOUNG) {
      this.#young = 0;
      return 0;
    }
    const wait = Math.min(SHORTEST * 2 ** this.#young, LONGEST);
    this.#young += 1;
    return wait;
  }
}
