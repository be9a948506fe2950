import type { DatabaseSync, StatementSync } from "node:sqlite";
import { storeUnavailable } from "../../kit/index.ts";

/** How a method of the store runs; what comes out throws STORE_UNAVAILABLE when the database does not answer. */
type Runs = <Args extends unknown[], T>(work: (...args: Args) => T) => (...args: Args) => T;

export interface Transactions {
  readonly read: Runs;
  /** In one write transaction: all of it is kept, or nothing when it throws. */
  readonly write: Runs;
  /** As `write`, and forced to the disk before it returns: accounts survive a power cut. */
  readonly writeDurably: Runs;
}

export function transactionsOf(db: DatabaseSync): Transactions {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  return {
    read:
      (work) =>
      (...args) =>
        guarded(() => work(...args)),
    write:
      (work) =>
      (...args) =>
        guarded(() => transact(db, begin, commit, () => work(...args))),
    writeDurably:
      (work) =>
      (...args) =>
        guarded(() => {
          db.exec("PRAGMA synchronous = FULL");
          try {
            return transact(db, begin, commit, () => work(...args));
          } finally {
            db.exec("PRAGMA synchronous = NORMAL");
          }
        }),
  };
}

/** Runs `work` in one write transaction: all of it is kept, or nothing when it throws. */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  return transact(db, db.prepare("BEGIN IMMEDIATE"), db.prepare("COMMIT"), work);
}

function transact<T>(db: DatabaseSync, begin: StatementSync, commit: StatementSync, work: () => T): T {
  // Not `run`: what that returns of these takes longer to make than they take.
  begin.get();
  try {
    const result = work();
    commit.get();
    return result;
  } catch (error) {
    // After a full disk or an I/O error SQLite may have rolled back by itself.
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

interface Job {
  run(): unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** What takes part in each commit of a queue beside its jobs. */
interface CommitHooks {
  /** How many jobs may be waited for. */
  expected?(): number;
  /** In the transaction, before the jobs. */
  begun?(): void;
  /** In the transaction, after the jobs. */
  write?(): void;
  committed?(): void;
  /** What the jobs have changed outside of the database has to be as it was. */
  rolledBack?(): void;
}

/** Turns of the event loop that the first job of a commit waits at most. */
const MAX_TURNS = 10;

/**
 * Group commit: what arrives in a few turns of the event loop shares one transaction, in the order of arrival. Each
 * promise settles after the commit.
 */
export class CommitQueue {
  readonly #db: DatabaseSync;
  readonly #hooks: CommitHooks;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  #jobs: Job[] = [];
  #refused = false;

  constructor(db: DatabaseSync, hooks: CommitHooks = {}) {
    this.#db = db;
    this.#hooks = hooks;
    this.#begin = db.prepare("BEGIN IMMEDIATE");
    this.#end = db.prepare("COMMIT");
  }

  /** Whether the database did not take the last commit. */
  get refused(): boolean {
    return this.#refused;
  }

  /** `work` may be rolled back and run again: what it changes outside of the database the hooks put back. */
  add<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#jobs.length === 0) this.#gather(0, MAX_TURNS);
      this.#jobs.push({ run: work, resolve, reject });
    });
  }

  /**
   * Waits as long as each turn of the event loop brings more and more are expected: a commit costs as much as the work of
   * several jobs.
   */
  #gather(seen: number, turns: number): void {
    setImmediate(() => {
      const isWhole = this.#jobs.length >= (this.#hooks.expected?.() ?? Infinity);
      if (isWhole || this.#jobs.length === seen || turns === 0) this.flush();
      else this.#gather(this.#jobs.length, turns - 1);
    });
  }

  /** Commits what is waiting. */
  flush(): void {
    const jobs = this.#jobs;
    this.#jobs = [];
    if (jobs.length > 0) this.#commit(jobs);
  }

  #commit(jobs: readonly Job[]): void {
    let results: unknown[];
    try {
      results = transact(this.#db, this.#begin, this.#end, () => {
        this.#hooks.begun?.();
        const done = jobs.map((job) => job.run());
        this.#hooks.write?.();
        return done;
      });
      this.#refused = false;
      this.#hooks.committed?.();
    } catch (error) {
      this.#refused = isUnavailable(error);
      this.#hooks.rolledBack?.();
      if (jobs.length === 1 || this.#refused) for (const job of jobs) job.reject(storeError(error));
      // One of them is at fault and the whole was rolled back: alone, only the guilty one fails.
      else for (const job of jobs) this.#commit([job]);
      return;
    }
    for (const [index, job] of jobs.entries()) job.resolve(results[index]);
  }
}

/** Another connection has the file. */
export const BUSY = 5;

/** Primary result codes of SQLite with which the database cannot be used for now; the rest are faults in our SQL. */
const UNAVAILABLE: ReadonlySet<number> = new Set([
  BUSY,
  6, // LOCKED
  7, // NOMEM
  8, // READONLY
  9, // INTERRUPT
  10, // IOERR
  11, // CORRUPT
  13, // FULL
  14, // CANTOPEN
  15, // PROTOCOL
  26, // NOTADB
]);

/** The primary result code of an error of node:sqlite; null for any other error. */
export function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return null;
  return error.errcode & 0xff;
}

/** Whether the database itself does not answer: busy, full, broken or closed. */
function isUnavailable(error: unknown): boolean {
  const closed = error instanceof Error && "code" in error && error.code === "ERR_INVALID_STATE";
  return closed || UNAVAILABLE.has(sqliteCode(error) ?? 0);
}

/** What callers of the store get. */
function storeError(error: unknown): unknown {
  return isUnavailable(error) ? storeUnavailable(error) : error;
}

/** Runs database work. @throws GatewayError STORE_UNAVAILABLE when the database does not answer. */
export function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storeError(error);
  }
}

/** As `guarded`, for work that lets others work in between: the database may be closed meanwhile. */
export async function guardedAsync<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storeError(error);
  }
}

/**
 * Tries again while another process has the file, for `wait` milliseconds, in which the event loop stands still. SQLite
 * itself does not wait for the lock that a change of mode takes: two processes making one file would collide.
 */
export function whenFree(wait: number, work: () => void): void {
  const until = performance.now() + wait;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (sqliteCode(error) !== BUSY || performance.now() > until) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
}
