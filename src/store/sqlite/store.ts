import type { CountWindow, Store, Uses } from "../../kit/index.ts";
import { LEDGER_RETENTION_MS, MAX_COUNTS_PER_WINDOW } from "../windows.ts";
import { accountMethods } from "./accounts.ts";
import { guarded, type Transactions, transactionsOf } from "./commits.ts";
import { type OpenDatabase, rememberInFile } from "./database.ts";
import { requestsOf } from "./requests.ts";
import { signInMethods } from "./sign-in.ts";

/** Between looks for old entries of the ledger, and between deletions while there are more. */
const TRIM_INTERVAL_MS = 60_000;
const TRIM_PAUSE_MS = 50;

export type SqliteStore = ReturnType<typeof sqliteStore>;

/** The store on an SQLite database, in a file or in memory. Takes over `database` and closes it. */
export function sqliteStore(database: OpenDatabase, now: () => number) {
  const { db } = database;
  const transactions = transactionsOf(db);
  const requests = requestsOf(db, transactions, now);
  let trimming: NodeJS.Timeout | null = null;

  const methods = {
    ...requests.methods,
    ...accountMethods(db, transactions, now),
    ...signInMethods(db, transactions, now),
    ...instanceMethods(database, transactions, now),

    close(): void {
      if (!db.isOpen) return;
      if (trimming) clearTimeout(trimming);
      requests.flush();
      guarded(() => database.close());
    },
  } satisfies Store;

  return {
    ...methods,

    /** Ends what a dead process left running; only for the process that holds the file's lock. */
    recover: requests.abandonAll,

    /** Deletes entries of the ledger that are older than `retention` milliseconds, some at a time, until it is closed. */
    keepTrimmed(retention = LEDGER_RETENTION_MS): void {
      const trim = async (): Promise<void> => {
        let more = true;
        try {
          more = await requests.trimLedger(now() - retention);
        } catch {
          // The disk is full, or the file is closed: nothing is lost by trying later.
          more = false;
        }
        if (db.isOpen) trimIn(more ? TRIM_PAUSE_MS : TRIM_INTERVAL_MS);
      };
      const trimIn = (wait: number): void => {
        trimming = setTimeout(() => {
          trim().catch(() => trimIn(TRIM_INTERVAL_MS));
        }, wait).unref();
      };
      trimIn(TRIM_PAUSE_MS);
    },
  };
}

/** The store's role of what processes share: one process serves a file, so most of it is in memory. */
function instanceMethods({ db, file }: OpenDatabase, { read, write }: Transactions, now: () => number) {
  const states = new Map<string, { readonly state: string; readonly until: number }>();
  const counts = new WindowCounts(now);
  const remembered = new Map<string, string>();
  const listeners = new Set<(text: string) => void>();
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

    /** One process serves a file: it tells itself. */
    broadcast(text: string): void {
      for (const listener of listeners) listener(text);
    },

    onBroadcast(listener: (text: string) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
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
            ping();
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
