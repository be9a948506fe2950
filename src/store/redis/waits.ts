/** Milliseconds between two looks at what waits; shorter for a timeout that is itself short. */
const LOOK_EVERY = 50;

/** One question that has been asked. */
export interface Wait {
  /** Attended milliseconds at which it was asked. */
  readonly since: number;
  readonly giveUp: () => void;
}

/**
 * Bounds how long questions wait for their answers, in time during which this process could have read them: a turn of
 * the event loop that takes seconds counts as two looks. A process short of CPU would otherwise take its own delay for
 * the server's, and all that it has asked for lost.
 */
export class Waits {
  readonly #timeout: number;
  readonly #every: number;
  /** In the order in which they were asked. */
  readonly #waiting = new Set<Wait>();
  #timer: NodeJS.Timeout | null = null;
  #attended = 0;
  #lookedAt = 0;

  /** @param timeout milliseconds. */
  constructor(timeout: number) {
    this.#timeout = timeout;
    this.#every = Math.max(1, Math.min(LOOK_EVERY, Math.floor(timeout / 5)));
  }

  /** Milliseconds in which answers could have been read; only differences mean anything, while something waits. */
  get attended(): number {
    const passed = this.#timer === null ? 0 : performance.now() - this.#lookedAt;
    return this.#attended + Math.min(passed, 2 * this.#every);
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** @param giveUp called when the timeout has passed, unless the wait has been ended. */
  begin(giveUp: () => void): Wait {
    if (this.#timer === null) {
      this.#lookedAt = performance.now();
      this.#timer = setInterval(() => this.#look(), this.#every);
    }
    const wait = { since: this.attended, giveUp };
    this.#waiting.add(wait);
    return wait;
  }

  end(wait: Wait): void {
    this.#waiting.delete(wait);
  }

  /** Nobody is given up any more. */
  close(): void {
    this.#waiting.clear();
    this.#stop();
  }

  #stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  #look(): void {
    this.#attended = this.attended;
    this.#lookedAt = performance.now();
    if (this.#waiting.size === 0) return this.#stop();
    for (const wait of this.#waiting) {
      if (this.#attended - wait.since < this.#timeout) return;
      // What lies in the socket is read between timers and immediates.
      setImmediate(() => {
        if (this.#waiting.delete(wait)) wait.giveUp();
      });
    }
  }
}
