/** Something that must happen by `due` (Unix milliseconds), which may be moved while it is watched. */
export interface Watched {
  due: number;
  /** Kept by the wheel; -1 to begin with. */
  slot: number;
  /** Called on every tick from `due` on until the entry is unwatched or `due` has moved. */
  expire(now: number): void;
}

const TICK = 50;

/** One coarse timer for every deadline of the process: a timer per request costs more than the check of all of them. */
export class Wheel {
  readonly #now: () => number;
  /**
   * A list with holes filled from its end. In a Set, each rehash leaves behind a dead table that keeps the entries of
   * its time alive until the next full collection: measured, a third of the cost of a request.
   */
  readonly #watched: Watched[] = [];
  #interval: NodeJS.Timeout | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  watch(entry: Watched): void {
    entry.slot = this.#watched.push(entry) - 1;
    // Sweeping after the poll phase: bytes that arrived while the loop was blocked move a deadline before it is judged.
    this.#interval ??= setInterval(() => setImmediate(() => this.#sweep()), TICK).unref();
  }

  unwatch(entry: Watched): void {
    if (entry.slot < 0) return;
    const last = this.#watched.pop();
    if (last !== undefined && last !== entry) {
      this.#watched[entry.slot] = last;
      last.slot = entry.slot;
    }
    entry.slot = -1;
  }

  /** `Host.schedule`: calls back once about when `at` (Unix milliseconds) is reached; returns what cancels it. */
  schedule(at: number, callback: () => void): () => void {
    const cancel = (): void => this.unwatch(entry);
    const entry: Watched = {
      due: at,
      slot: -1,
      expire() {
        cancel();
        callback();
      },
    };
    this.watch(entry);
    return cancel;
  }

  #sweep(): void {
    const now = this.#now();
    // Backwards, because an entry that leaves is replaced by one that has been seen.
    for (let index = this.#watched.length - 1; index >= 0; index -= 1) {
      const entry = this.#watched[index];
      if (entry && entry.due <= now) entry.expire(now);
    }
    if (this.#watched.length > 0 || this.#interval === null) return;
    clearInterval(this.#interval);
    this.#interval = null;
  }
}
