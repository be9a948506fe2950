import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CommitQueue, transaction } from "../sqlite/commits.ts";
import { BUSY, sqliteCode } from "../sqlite/failures.ts";
import { decode, encode, type Entry, type Rejection } from "./entry.ts";
import type { Kept, Queue, Replayed } from "./queue.ts";
import { whenFree } from "../sqlite/when-free.ts";

/** Milliseconds to wait for another process's write, and while a new file is made. Waiting blocks the event loop. */
const WAIT = { writing: 250, making: 2_000 };

const TABLES = `
  CREATE TABLE IF NOT EXISTS entries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL,
    tried INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS rejected (
    id TEXT PRIMARY KEY,
    body TEXT NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT;`;

/**
 * What the store has still to be told, in an SQLite file that every process of a machine shares. A write is on the disk
 * before it resolves. Throws what node:sqlite throws.
 */
export class Journal implements Queue {
  readonly file: string;
  readonly #db: DatabaseSync;
  readonly #queue: CommitQueue;
  readonly #lock: DatabaseSync;
  readonly #insert;
  readonly #oldest;
  readonly #mark;
  readonly #remove;
  readonly #reject;
  readonly #settled;
  readonly #keep;
  readonly #latest;
  readonly #count;
  #size = 0;
  #rejected = 0;

  constructor(file: string) {
    this.file = file;
    make(file);
    make(`${file}.lock`);
    this.#lock = new DatabaseSync(`${file}.lock`);
    this.#db = new DatabaseSync(file, { timeout: WAIT.writing });
    try {
      // FULL: a settlement that was acknowledged survives a power cut.
      whenFree(WAIT.making, () => this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"));
      whenFree(WAIT.making, () => transaction(this.#db, () => this.#db.exec(TABLES)));
      this.#insert = this.#db.prepare("INSERT INTO entries (id, body, tried) VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
      this.#oldest = this.#db.prepare("SELECT seq, id, body, tried FROM entries WHERE seq > ? ORDER BY seq LIMIT ?");
      this.#mark = this.#db.prepare("UPDATE entries SET tried = 1 WHERE seq = ?");
      this.#remove = this.#db.prepare("DELETE FROM entries WHERE seq = ?");
      this.#reject = this.#db.prepare(
        `INSERT INTO rejected SELECT id, body, ?, ? FROM entries WHERE seq = ?
         ON CONFLICT DO UPDATE SET body = excluded.body, reason = excluded.reason`,
      );
      this.#settled = this.#db.prepare("DELETE FROM rejected WHERE id = (SELECT id FROM entries WHERE seq = ?)");
      this.#keep = this.#db.prepare("INSERT INTO rejected VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING");
      this.#latest = this.#db.prepare("SELECT id, body, reason, at FROM rejected ORDER BY at DESC, id LIMIT ?");
      this.#count = this.#db.prepare(
        "SELECT (SELECT count(*) FROM entries) AS entries, (SELECT count(*) FROM rejected) AS rejected",
      );
      this.refresh();
    } catch (error) {
      this.#lock.close();
      this.#db.close();
      throw error;
    }
    this.#queue = new CommitQueue(this.#db, { write() {}, forget() {} });
  }

  /** Entries of all processes, as last seen. */
  get size(): number {
    return this.#size;
  }

  /** Entries of all processes that the store will never take, as last seen. */
  get rejected(): number {
    return this.#rejected;
  }

  /** As SQLite has them. */
  settings(): object {
    return {
      ...this.#db.prepare("PRAGMA journal_mode").get(),
      ...this.#db.prepare("PRAGMA synchronous").get(),
    };
  }

  refresh(): void {
    const { entries, rejected } = this.#count.get() ?? {};
    this.#size = Number(entries);
    this.#rejected = Number(rejected);
  }

  /** Of two with the same id the first one stays. */
  async write(entry: Entry): Promise<void> {
    const { id } = entry.settlement;
    const { changes } = await this.#queue.add(() => this.#insert.run(id, encode(entry), Number(entry.tried)));
    this.#size += Number(changes);
  }

  oldest(limit: number, after: number): Kept[] {
    return (this.#oldest.all(after, limit) as { seq: number; id: string; body: string; tried: number }[]).map(
      ({ seq, id, body, tried }) => ({ seq, id, entry: read(body, tried === 1) }),
    );
  }

  mark(seqs: readonly number[]): void {
    if (seqs.length === 0) return;
    transaction(this.#db, () => {
      for (const seq of seqs) this.#mark.run(seq);
    });
  }

  remove(replayed: readonly Replayed[], at: number): void {
    if (replayed.length === 0) return;
    transaction(this.#db, () => {
      for (const { seq, rejected } of replayed) {
        if (rejected === null) this.#settled.run(seq);
        else this.#reject.run(rejected, at, seq);
        this.#remove.run(seq);
      }
    });
    this.refresh();
  }

  /** Keeps what the store will not take. */
  async reject(entry: Entry, reason: string, at: number): Promise<void> {
    await this.#queue.add(() => this.#keep.run(entry.settlement.id, encode(entry), reason, at));
    this.refresh();
  }

  /** Newest first. */
  rejections(limit: number): Rejection[] {
    const rows = this.#latest.all(limit) as { id: string; body: string; reason: string; at: number }[];
    return rows.map(({ id, body, reason, at }) => {
      const entry = read(body, true);
      return { id, settlement: entry instanceof Error ? null : entry.settlement, reason, at };
    });
  }

  /**
   * Lets what was rejected be tried once more: another version of the gateway may do better. What was rejected before
   * `oldest` is dropped. @returns how many were.
   */
  retry(oldest: number): number {
    return transaction(this.#db, () => {
      const { changes } = this.#db.prepare("DELETE FROM rejected WHERE at < ?").run(oldest);
      this.#db.exec(
        "INSERT INTO entries (id, body, tried) SELECT id, body, 1 FROM rejected WHERE true ON CONFLICT DO NOTHING",
      );
      return Number(changes);
    });
  }

  /**
   * Runs `work` unless another process replays now: of an admission that is replayed by two, one could come after the
   * other's settlement. The kernel releases the lock when the process dies, however it dies.
   */
  async alone(work: () => Promise<void>): Promise<void> {
    try {
      this.#lock.exec("BEGIN EXCLUSIVE");
    } catch (error) {
      if (sqliteCode(error) === BUSY) return;
      throw error;
    }
    try {
      await work();
    } finally {
      if (this.#lock.isOpen) this.#lock.exec("ROLLBACK");
    }
  }

  close(): void {
    if (!this.#db.isOpen) return;
    this.#queue.flush();
    this.#db.close();
    this.#lock.close();
  }
}

function read(body: string, tried: boolean): Entry | Error {
  try {
    return decode(body, tried);
  } catch (error) {
    return new Error("the entry cannot be read", { cause: error });
  }
}

/** Makes the folder and, readable by its owner alone, the file. */
function make(file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  try {
    // Opens only a file that is new: closing any handle of one in use drops this process's locks on it.
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (!existsSync(file)) throw error;
  }
}
