import type { CountWindow, Uses } from "../../kit/index.ts";

/** Of a window; bounds what a flood of names takes. */
export const MOST_COUNTS = 100_000;
/** For which counts outlive their window: clocks may go back. */
const KEPT_MS = 60_000;

/** Counts of windows that processes share, where all of them are this process. */
export class WindowCounts {
  readonly #now: () => number;
  readonly #windows = new Map<string, { readonly endsAt: number; readonly counts: Map<string, number> }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  addCounts({ name, length, endsAt }: CountWindow, uses: readonly Uses[]): (number | null)[] {
    const now = this.#now();
    for (const [key, window] of this.#windows) if (window.endsAt + KEPT_MS <= now) this.#windows.delete(key);
    const key = `${name} ${length} ${endsAt}`;
    const { counts } = this.#windows.get(key) ?? { counts: new Map<string, number>() };
    this.#windows.set(key, { endsAt, counts });
    return uses.map((use) => {
      const before = counts.get(use.name);
      if (before === undefined && counts.size >= MOST_COUNTS) return null;
      const count = (before ?? 0) + use.uses;
      counts.set(use.name, count);
      return count;
    });
  }
}
