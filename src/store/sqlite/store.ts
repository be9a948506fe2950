import { hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { CountWindow, Store, Uses } from "../../kit/index.ts";
import { LEDGER_RETENTION_MS, MAX_COUNTS_PER_WINDOW, MAX_SPACE_BYTES, VALUE_OVERHEAD_BYTES } from "../windows.ts";
import { accountMethods } from "./accounts.ts";
import { auditTable } from "./audit.ts";
import { guarded, type Transactions, transactionsOf } from "./commits.ts";
import { type OpenDatabase, rememberInFile } from "./database.ts";
import { idempotencyMethods } from "./idempotency.ts";
import { requestsOf } from "./requests.ts";
import { signInMethods } from "./sign-in.ts";

/** Between looks for old entries of the ledger, and between deletions while there are more. */
const TRIM_INTERVAL_MS = 60_000;
const TRIM_PAUSE_MS = 50;

export type SqliteStore = ReturnType<typeof sqliteStore>;

/** As many as keys are remembered; 450 bytes each. */
const MAX_KNOWN_COUNT = 100_000;

/**
 * The store on an SQLite database, in a file or in memory. Takes over `database` and closes it.
 * @param maxKnown users, and budgets of keys, that are kept in memory although nothing of them runs.
 */
export function sqliteStore(database: OpenDatabase, now: () => number, maxKnown = MAX_KNOWN_COUNT) {
  const { db } = database;
  const transactions = transactionsOf(db);
  const requests = requestsOf(db, transactions, now, maxKnown);
  const audit = auditTable(db, transactions, now);
  const idempotency = idempotencyMethods(db, transactions, requests.queue, now);
  let trimming: NodeJS.Timeout | null = null;

  const methods = {
    ...requests.methods,
    ...accountMethods(db, transactions, now, requests),
    ...signInMethods(db, transactions, now),
    ...instanceMethods(database, transactions, now),
    ...audit.methods,
    ...valueMethods(db, transactions, now),
    ...idempotency.methods,

    close(): void {
      if (!db.isOpen) return;
      if (trimming) clearTimeout(trimming);
      requests.end();
      guarded(() => database.close());
    },
  } satisfies Store;

  return {
    ...methods,

    tidyLedger: requests.tidyLedger,

    /** Ends what a dead process left running; only for the process that holds the file's lock. */
    recover: requests.abandonAll,

    /**
     * Deletes entries of the ledger and the audit log that are older than `retention` milliseconds, and idempotency keys
     * that have expired, some at a time, until it is closed.
     */
    keepTrimmed(retention = LEDGER_RETENTION_MS): void {
      const trim = async (): Promise<void> => {
        let more = true;
        try {
          const isMoreAudit = audit.trim(now() - retention);
          const areMoreKeys = idempotency.trim();
          more = (await requests.tidyLedger(now() - retention)) || isMoreAudit || areMoreKeys;
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

const isStorable = (count: bigint): boolean => BigInt.asIntN(64, count) === count;
const INTEGER = /^(?:0|-?[1-9]\d*)$/;
/** Expired values that each new one takes away: more than it adds, so that they never pile up. */
const EXPIRED_VALUES_PER_CALL = 2;

const digestOf = (key: string): Buffer => hash("sha256", key, "buffer");

type ValueRow = { value: string; bytes: bigint; expires_at: bigint };

/** The store's role of what plugins keep. */
function valueMethods(db: DatabaseSync, { read, write }: Transactions, now: () => number) {
  const find = db.prepare("SELECT value, bytes, expires_at FROM plugin_values WHERE space = ? AND digest = ?");
  const save = db.prepare(
    `INSERT INTO plugin_values VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET value = excluded.value, bytes = excluded.bytes, expires_at = excluded.expires_at`,
  );
  const remove = db.prepare("DELETE FROM plugin_values WHERE space = ? AND digest = ?");
  const soonest = db.prepare(
    "SELECT digest, bytes, expires_at FROM plugin_values WHERE space = ? ORDER BY expires_at LIMIT 1",
  );
  const sum = db.prepare("SELECT ifnull(sum(bytes), 0) AS bytes FROM plugin_values WHERE space = ?");
  const live = (space: string, digest: Buffer): ValueRow | null => {
    const row = find.get(space, digest) as ValueRow | undefined;
    return row !== undefined && Number(row.expires_at) > now() ? row : null;
  };
  /** By space; read again after a transaction that was rolled back. */
  let sizes = new Map<string, number>();
  const changes = <Args extends unknown[], T>(work: (...args: Args) => T): ((...args: Args) => T) =>
    write((...args: Args) => {
      try {
        return work(...args);
      } catch (error) {
        sizes = new Map();
        throw error;
      }
    });
  const sizeOf = (space: string): number => sizes.get(space) ?? Number(sum.get(space)?.["bytes"]);

  function drop(space: string, digest: Uint8Array, bytes: bigint | undefined): void {
    const size = sizeOf(space);
    if (remove.run(space, digest).changes > 0) sizes.set(space, size - Number(bytes ?? 0n));
  }

  function put(space: string, digest: Buffer, value: string, expiresAt: number): void {
    drop(space, digest, (find.get(space, digest) as ValueRow | undefined)?.bytes);
    const bytes = Buffer.byteLength(value) + VALUE_OVERHEAD_BYTES;
    for (let removed = 0; ; removed += 1) {
      const next = soonest.get(space) as { digest: Uint8Array; bytes: bigint; expires_at: bigint } | undefined;
      const isExpired = removed < EXPIRED_VALUES_PER_CALL && Number(next?.expires_at) <= now();
      if (next === undefined || (!isExpired && sizeOf(space) + bytes <= MAX_SPACE_BYTES)) break;
      drop(space, next.digest, next.bytes);
    }
    sizes.set(space, sizeOf(space) + bytes);
    save.run(space, digest, value, bytes, expiresAt);
  }

  return {
    getValue: read((space: string, key: string): string | null => live(space, digestOf(key))?.value ?? null),

    setValue: changes((space: string, key: string, value: string, ttl: number): void => {
      put(space, digestOf(key), value, now() + ttl);
    }),

    addToValue: changes((space: string, key: string, amount: bigint, ttl: number): bigint => {
      const digest = digestOf(key);
      const row = live(space, digest);
      const before = row?.value ?? "0";
      const count = INTEGER.test(before) && isStorable(BigInt(before)) ? BigInt(before) + amount : null;
      if (count === null || !isStorable(count)) {
        throw new RangeError("the value is no whole number, or would have more than 64 bits");
      }
      put(space, digest, String(count), row === null ? now() + ttl : Number(row.expires_at));
      return count;
    }),

    deleteValue: changes((space: string, key: string): void => {
      const digest = digestOf(key);
      drop(space, digest, (find.get(space, digest) as ValueRow | undefined)?.bytes);
    }),
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
