import { storeUnavailable } from "../../kit/index.ts";

/** Calls that may wait for the server at once. */
const MOST_PENDING = 10_000;

/** Milliseconds between two attempts at a server that hangs. */
const PROBE = 100;

/**
 * Lets calls through while the server answers. When one had no answer in time, and nothing else had either since it was
 * sent, the server hangs: calls fail at once but for one probe every 100 ms, until anything is answered.
 */
export class Gate {
  #pending = 0;
  #answeredAt = -Infinity;
  #hanging = false;
  #probedAt = -Infinity;

  /** @param now milliseconds, monotonic. @throws GatewayError STORE_UNAVAILABLE. */
  enter(now: number): void {
    if (this.#pending >= MOST_PENDING) throw storeUnavailable(new Error("redis: too many calls wait for the server"));
    if (this.#hanging) {
      if (now - this.#probedAt < PROBE) throw storeUnavailable(new Error("redis: the server does not answer"));
      this.#probedAt = now;
    }
    this.#pending++;
  }

  /** An answer has come, if only to say no; late ones count too. */
  answered(now: number): void {
    this.#answeredAt = now;
    this.#hanging = false;
  }

  timedOut(sentAt: number, now: number): void {
    if (this.#answeredAt >= sentAt || this.#hanging) return;
    this.#hanging = true;
    this.#probedAt = now;
  }

  /** Nothing is to be expected any more of a call that entered: answered or its connection lost. */
  leave(): void {
    this.#pending--;
  }

  get pending(): number {
    return this.#pending;
  }
}
