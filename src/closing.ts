import { isStoreUnavailable, type Log } from "./kit/index.ts";

/** What has been opened, to be closed in reverse: also after a start that failed half-way. */
export class Closing {
  readonly #log: Log;
  #closers: (() => Promise<void>)[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  add(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  /** Whatever one of them throws, the others are closed. */
  async all(): Promise<void> {
    const closers = this.#closers.toReversed();
    this.#closers = [];
    for (const close of closers) {
      try {
        await close();
      } catch (err) {
        // Last uses of keys, and what an admission without an answer may have taken: nothing that is charged.
        if (isStoreUnavailable(err)) this.#log.warn({}, "the store is away: it is not told of this end");
        else this.#log.error({ err }, "close failed");
      }
    }
  }
}
