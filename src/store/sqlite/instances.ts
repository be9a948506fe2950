import type { CountWindow, Uses } from "../../kit/index.ts";
import { MAX_COUNTS_PER_WINDOW } from "../limits.ts";

/** What instances say of themselves, where all of them are this process. */
export class Instances {
  readonly #now: () => number;
  readonly #said = new Map<string, { readonly state: string; readonly until: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  announce(instance: string, state: string, ttl: number): void {
    this.#said.set(instance, { state, until: this.#now() + ttl });
  }

  announced(): Map<string, string> {
    const now = this.#now();
    const live = new Map<string, string>();
    for (const [instance, { state, until }] of this.#said) {
      if (until > now) live.set(instance, state);
      else this.#said.delete(instance);
    }
    return live;
  }
}

/** For which counts outlive their window: clocks may go back. */
const COUNTS_KEPT_MS = 60_000;

/** Counts of windows that processes share, where all of them are this process. */
export class WindowCounts {
  readonly #now: () => number;
  readonly #windows = new Map<string, { readonly endsAt: number; readonly counts: Map<string, number> }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  addCounts({ name, length, endsAt }: CountWindow, uses: readonly Uses[]): (number | null)[] {
    const now = this.#now();
    for (const [key, window] of this.#windows) if (window.endsAt + COUNTS_KEPT_MS <= now) this.#windows.delete(key);
    const key = `${name} ${length} ${endsAt}`;
    const { counts } = this.#windows.get(key) ?? { counts: new Map<string, number>() };
    this.#windows.set(key, { endsAt, counts });
    return uses.map((use) => {
      const before = counts.get(use.name);
      if (before === undefined && counts.size >= MAX_COUNTS_PER_WINDOW) return null;
      const count = (before ?? 0) + use.uses;
      counts.set(use.name, count);
      return count;
    });
  }
}
