import { isStoreUnavailable } from "../../kit/index.ts";

/** Milliseconds between two attempts. */
const PAUSE = 1_000;

/** More than a hanging server can take in one timeout; what is beyond goes with its lease. */
const MOST = 10_000;

/**
 * Admissions whose answer was lost: they may have been executed and count then. Nobody runs them, so they are given
 * back in the background, once the server answers again.
 */
export class LostAdmissions {
  readonly #waiting = new Map<string, string>();
  readonly #delay: number;
  readonly #giveBack: (id: string, userId: string) => Promise<void>;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  /** @param delay milliseconds from the loss to the first attempt. @param giveBack must change nothing when there is nothing. */
  constructor(delay: number, giveBack: (id: string, userId: string) => Promise<void>) {
    this.#delay = delay;
    this.#giveBack = giveBack;
  }

  add(id: string, userId: string): void {
    if (this.#waiting.size >= MOST || this.#closed) return;
    this.#waiting.set(id, userId);
    this.#schedule(this.#delay);
  }

  /** It was admitted after all. */
  forget(id: string): void {
    this.#waiting.delete(id);
  }

  close(): void {
    this.#closed = true;
    this.#waiting.clear();
    if (this.#timer) clearTimeout(this.#timer);
  }

  #schedule(delay: number): void {
    if (this.#closed || this.#waiting.size === 0) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      // It stops at what it cannot do itself: nothing of it may end the process.
      this.#attempt().catch(() => {});
    }, delay).unref();
  }

  async #attempt(): Promise<void> {
    const lost = [...this.#waiting];
    for (const [id, userId] of lost) {
      if (!this.#waiting.has(id)) continue;
      try {
        await this.#giveBack(id, userId);
        this.#waiting.delete(id);
      } catch (error) {
        // A fault of ours is no better the next time.
        if (!isStoreUnavailable(error)) this.#waiting.delete(id);
        break;
      }
    }
    this.#schedule(PAUSE);
  }
}
