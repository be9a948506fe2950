import { isStoreUnavailable } from "../../kit/index.ts";
import { inBatches } from "./batches.ts";

/** Milliseconds between two attempts. */
const PAUSE = 1_000;

/** More than a hanging server can take in one timeout; what is beyond goes with its lease. */
const MOST = 10_000;

interface Lost {
  readonly userId: string;
  /** Local monotonic milliseconds from which it cannot be executed any more. */
  readonly over: number;
}

/**
 * Admissions whose answer was lost: they may have been executed and count then. Nobody runs them, so they are given
 * back: in the background, once the server answers again, and at once when another request of the user is refused.
 */
export class LostAdmissions {
  readonly #waiting = new Map<string, Lost>();
  readonly #giveBack: (id: string, userId: string) => Promise<void>;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  /** @param giveBack must change nothing when there is nothing. */
  constructor(giveBack: (id: string, userId: string) => Promise<void>) {
    this.#giveBack = giveBack;
  }

  /** @param delay milliseconds for which it may still be executed after what is sent now; 0 when it is executed before. */
  add(id: string, userId: string, delay: number): void {
    if (this.#waiting.size >= MOST || this.#closed) return;
    this.#waiting.set(id, { userId, over: performance.now() + delay });
    this.#schedule(delay);
  }

  /** It was admitted after all. */
  forget(id: string): void {
    this.#waiting.delete(id);
  }

  /**
   * Gives back what the user's lost admissions may have taken, before a limit is told as reached.
   * @returns whether there were any. @throws what giving back throws: then nobody knows what has been reached.
   */
  async giveBackOf(userId: string): Promise<boolean> {
    if (this.#waiting.size === 0) return false;
    const own = [...this.#waiting].filter(([, lost]) => lost.userId === userId);
    await inBatches(own, ([id]) => this.#try(id));
    return own.length > 0;
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
    for (const id of this.#waiting.keys()) {
      try {
        await this.#try(id);
      } catch (error) {
        if (isStoreUnavailable(error)) break;
        // A fault of ours is no better the next time.
        this.#waiting.delete(id);
      }
    }
    this.#schedule(PAUSE);
  }

  /** One that may still be executed stays, to be given back again. */
  async #try(id: string): Promise<void> {
    const lost = this.#waiting.get(id);
    if (!lost) return;
    const isOver = performance.now() >= lost.over;
    await this.#giveBack(id, lost.userId);
    if (isOver && this.#waiting.get(id) === lost) this.#waiting.delete(id);
  }
}
