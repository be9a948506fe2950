import type { Store } from "../../kit/index.ts";
import { LEDGER_RETENTION_MS } from "../limits.ts";
import { accountMethods } from "./accounts.ts";
import { guarded, transactionsOf } from "./commits.ts";
import type { OpenDatabase } from "./database.ts";
import { instanceMethods } from "./instances.ts";
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
