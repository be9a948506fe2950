import { Slots, type Slotted } from "../../kit/index.ts";

/** Something that must happen by `due` (Unix milliseconds), which may be moved while it is watched. */
export interface Watched extends Slotted {
  due: number;
  /** Called on every tick from `due` on until the entry is unwatched or `due` has moved. */
  expire(now: number): void;
}

const TICK = 50;

/** One coarse timer for every deadline of the process: a timer per request costs more than the check of all of them. */
export class Wheel {
  readonly #now: () => number;
  readonly #watched = new Slots<Watched>();
  #interval: NodeJS.Timeout | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  watch(entry: Watched): void {
    this.#watched.add(entry);
    // Sweeping after the poll phase: bytes that arrived while the loop was blocked move a deadline before it is judged.
    this.#interval ??= setInterval(() => setImmediate(() => this.#sweep()), TICK).unref();
  }

  unwatch(entry: Watched): void {
    this.#watched.delete(entry);
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
    this.#watched.each((entry) => {
      if (entry.due <= now) entry.expire(now);
    });
    if (this.#watched.size > 0 || this.#interval === null) return;
    clearInterval(this.#interval);
    this.#interval = null;
  }
}
