import type { Deadline } from "./deadline.ts";
import { isStoreUnavailable, type Log } from "./kit/index.ts";

/** Closes one thing; what takes as long as it may asks how long that is. */
type Close = (deadline: Deadline | null) => Promise<void>;

/** What has been opened, to be closed in reverse: also after a start that failed half-way. */
export class Closing {
  readonly #log: Log;
  #closers: Close[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  add(close: Close): void {
    this.#closers.push(close);
  }

  /** Whatever one of them throws, the others are closed. @param deadline of all; null: each takes what it needs. */
  async all(deadline: Deadline | null): Promise<void> {
    const closers = this.#closers.toReversed();
    this.#closers = [];
    let late = 0;
    for (const close of closers) {
      try {
        const closed = close(deadline);
        if (deadline === null) await closed;
        else if (!(await deadline.bounds(closed))) late++;
      } catch (err) {
        // Last uses of keys, and what an admission without an answer may have taken: nothing that is charged.
        if (isStoreUnavailable(err)) this.#log.warn({}, "the store is away: it is not told of this end");
        else this.#log.error({ err }, "close failed");
      }
    }
    if (late > 0) this.#log.warn({ late }, "not everything was closed in time: passed over");
  }
}
