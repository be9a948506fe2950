import type { Redis } from "ioredis";
import type { Period } from "./evidence.ts";

/** Milliseconds between looks, and beyond which an answer is late: the machine is at its limit. */
const EVERY = 100;
const LATE = 400;

/**
 * Asks the store's server itself, over and over, and keeps when it was slow to answer, for whatever reason, and when this
 * process, which may stand between server and gateways, was.
 */
export class StallWatch {
  readonly stalls: Period[] = [];
  readonly #timer: NodeJS.Timeout;
  #asking = false;
  #lookedAt = Date.now();

  constructor(client: Redis) {
    this.#timer = setInterval(() => {
      const now = Date.now();
      if (now - this.#lookedAt > LATE) this.stalls.push({ from: this.#lookedAt, until: now });
      this.#lookedAt = now;
      if (this.#asking) return;
      this.#asking = true;
      const from = Date.now();
      const noted = (): void => {
        this.#asking = false;
        const until = Date.now();
        if (until - from > LATE) this.stalls.push({ from, until });
      };
      client.ping().then(noted, noted);
    }, EVERY);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
