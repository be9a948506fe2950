/** What every step gets, also one that begins late because the process was busy. */
const LEAST_MS = 50;

/** One moment by which several steps are to be over: what one of them takes, the next ones do not have. */
export class Deadline {
  readonly #at: number;

  constructor(milliseconds: number) {
    this.#at = performance.now() + milliseconds;
  }

  /** Milliseconds for the next step. */
  get left(): number {
    return Math.max(LEAST_MS, this.#at - performance.now());
  }

  /** @returns whether `work` ended in time; it goes on all the same. @throws what it throws in time. */
  async bounds(work: Promise<unknown>): Promise<boolean> {
    const late = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => late.resolve(false), this.left);
    try {
      return await Promise.race([work.then(() => true), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
