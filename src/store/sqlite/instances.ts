import type { CountWindow, Uses } from "../../kit/index.ts";
import { MAX_COUNTS_PER_WINDOW } from "../limits.ts";
import type { Transactions } from "./commits.ts";
import { type OpenDatabase, rememberInFile } from "./database.ts";

/** The store's role of what processes share: one process serves a file, so most of it is in memory. */
export function instanceMethods({ db, file }: OpenDatabase, { read, write }: Transactions, now: () => number) {
  const states = new Map<string, { readonly state: string; readonly until: number }>();
  const counts = new WindowCounts(now);
  const remembered = new Map<string, string>();
  const ping = read(() => db.exec("SELECT 1 FROM users LIMIT 1"));

  return {
    ping,

    publishInstance(instance: string, state: string, ttl: number): void {
      ping();
      states.set(instance, { state, until: now() + ttl });
    },

    listInstances(): Map<string, string> {
      ping();
      const at = now();
      for (const [instance, { until }] of states) if (until <= at) states.delete(instance);
      return new Map([...states].map(([instance, { state }]) => [instance, state]));
    },

    /** What a dead process left is abandoned at the start of the next one. */
    markInstanceDead: ping,

    addCounts(window: CountWindow, uses: readonly Uses[]) {
      ping();
      return counts.addCounts(window, uses);
    },

    remember:
      file === null
        ? (name: string, value: string): string => {
            const kept = remembered.get(name) ?? value;
            remembered.set(name, kept);
            return kept;
          }
        : write((name: string, value: string) => rememberInFile(file, name, value)),
  };
}

/** Counts outlive their window by this: clocks may go back. */
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
