import { setImmediate as nextTurn, setTimeout as realTime } from "node:timers/promises";
import { Heap } from "./heap.ts";

/** Turns of the event loop that work may take at one moment: a store's commit takes some … */
const MAX_TURNS = 50;
/** … and a plugin that reads a file some milliseconds. What takes longer, such as a network, is overtaken by the clock. */
const MAX_LOOKS_COUNT = 50;

interface Timer {
  readonly at: number;
  callback: (() => void) | null;
}

/**
 * Time of a replay: it passes from one moment to the next at which something was to happen, once all work of the moment
 * before has been done. Work that is not done in one turn of the event loop says so by `during`.
 */
export class ReplayClock {
  readonly #timers = new Heap<Timer>((a, b) => a.at - b.at);
  #now: number;
  #working = 0;

  /** @param now Unix milliseconds. */
  constructor(now: number) {
    this.#now = now;
  }

  /** Unix milliseconds, whole ones as a store counts in. */
  readonly now = (): number => Math.floor(this.#now);

  /** At once, when it has passed. @returns calls it off */
  readonly schedule = (at: number, callback: () => void): (() => void) => {
    const timer: Timer = { at, callback };
    this.#timers.add(timer);
    return () => {
      timer.callback = null;
    };
  };

  /** Time stands still until `work` has ended. */
  async during<Result>(work: Promise<Result>): Promise<Result> {
    this.#working += 1;
    try {
      return await work;
    } finally {
      this.#working -= 1;
    }
  }

  /** Lets everything happen that was to happen until then, what is due at that moment included. */
  async advance(to: number): Promise<void> {
    for (;;) {
      const next = this.#timers.least;
      if (next === null || next.at > to) break;
      this.#now = Math.max(this.#now, next.at);
      let happened = false;
      while ((this.#timers.least?.at ?? Infinity) <= this.#now) {
        const { callback } = this.#timers.take()!;
        callback?.();
        happened ||= callback !== null;
        // What is due at one moment happens one after the other, as in a process.
        if (callback !== null) await Promise.resolve();
      }
      if (happened) await this.settle();
    }
    this.#now = Math.max(this.#now, to);
  }

  /** Lets time pass until `isOver`, or nothing can happen any more. */
  async end(isOver: () => boolean): Promise<void> {
    for (;;) {
      await this.settle();
      const next = this.#timers.least;
      if (isOver() || next === null) return;
      await this.advance(next.at);
    }
  }

  /** Lets the work of this moment be done. */
  async settle(): Promise<void> {
    await nextTurn();
    let turns = 0;
    while (this.#working > 0 && turns < MAX_TURNS + MAX_LOOKS_COUNT) {
      await (turns < MAX_TURNS ? nextTurn() : realTime(1));
      // What ended in this turn may begin something else.
      if (this.#working === 0) await nextTurn();
      turns += 1;
    }
  }
}
