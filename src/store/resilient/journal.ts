import { DatabaseSync } from "node:sqlite";
import type { Admission, Settlement } from "../../kit/index.ts";
import { BUSY, CommitQueue, sqliteCode, transaction, whenFree } from "../sqlite/commits.ts";
import { makeFile } from "../sqlite/database.ts";

/** Milliseconds to wait for another process's write, and while a new file is made. Waiting blocks the event loop. */
const WAIT_MS = { writing: 250, making: 2_000 };

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
 * Settlements that the store has not acknowledged, in an SQLite file that every process of a machine shares. A write is on the disk
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
    makeFile(file);
    makeFile(`${file}.lock`);
    this.#lock = new DatabaseSync(`${file}.lock`);
    this.#db = new DatabaseSync(file, { timeout: WAIT_MS.writing });
    try {
      // FULL: a settlement that was acknowledged survives a power cut.
      whenFree(WAIT_MS.making, () => this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"));
      whenFree(WAIT_MS.making, () => transaction(this.#db, () => this.#db.exec(TABLES)));
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
    this.#queue = new CommitQueue(this.#db);
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

/** A settlement that the store has not acknowledged. */
export interface Entry {
  readonly settlement: Settlement;
  /** Of a request that was admitted without the store, which has to admit it first; else null. */
  readonly admission: Admission | null;
  /** Whether the store may have got that admission: asked without an answer, or a replay that was broken off. */
  readonly tried: boolean;
}

/** A settlement that the store will not take. */
export interface Rejection {
  readonly id: string;
  /** null when what was kept cannot be read. */
  readonly settlement: Settlement | null;
  readonly reason: string;
  /** Unix milliseconds of the first refusal. */
  readonly at: number;
}

/** Frees slot and hold of a request that cannot be settled; what it has counted stays. */
export function releaseOf({ id, userId }: Settlement): Settlement {
  return { id, userId, giveBack: false, charge: 0n, record: null };
}

type Text<T, Amount extends keyof T> = Omit<T, Amount> & Readonly<Record<Amount, string>>;

/** As JSON, in which amounts are decimal strings. */
interface Written {
  readonly settlement: Text<Settlement, "charge">;
  readonly admission: Omit<Text<Admission, "hold">, "budget" | "fullHold"> | null;
}

/** All but `tried`, which changes, and the budget of an admission, by which nobody is refused any more. */
export function encode({ settlement, admission }: Entry): string {
  const written: Written = { settlement: { ...settlement, charge: String(settlement.charge) }, admission: null };
  if (admission === null) return JSON.stringify(written);
  const { budget: _budget, fullHold: _fullHold, hold, ...rest } = admission;
  return JSON.stringify({ ...written, admission: { ...rest, hold: String(hold) } } satisfies Written);
}

/** @throws SyntaxError or TypeError for anything but what `encode` wrote. */
export function decode(body: string, tried: boolean): Entry {
  const { settlement, admission } = JSON.parse(body) as Written;
  return {
    settlement: { ...settlement, charge: BigInt(settlement.charge) },
    admission: admission && { ...admission, hold: BigInt(admission.hold) },
    tried,
  };
}

export interface Kept {
  /** From 1, in the order of arrival; never used again. */
  readonly seq: number;
  readonly id: string;
  /** An Error when what is there cannot be read. */
  readonly entry: Entry | Error;
}

export interface Replayed {
  readonly seq: number;
  /** Why the store will never take it; null: it has. */
  readonly rejected: string | null;
}

/** Entries that wait for the store. */
export interface Queue {
  readonly size: number;
  /** @param after beyond this number. */
  oldest(limit: number, after: number): Kept[];
  /** The store is about to get these entries' admissions. */
  mark(seqs: readonly number[]): void;
  /** @param at Unix milliseconds. */
  remove(replayed: readonly Replayed[], at: number): void;
}

interface Waiting {
  entry: Entry;
  readonly settled: PromiseWithResolvers<void>;
}

/** What could not be written down; it ends with the process. */
export class MemoryQueue implements Queue {
  readonly #waiting = new Map<number, Waiting>();
  readonly #seqs = new Map<string, number>();
  #last = 0;

  get size(): number {
    return this.#waiting.size;
  }

  /** Resolves when the entry is removed. */
  write(entry: Entry): Promise<void> {
    const settled = Promise.withResolvers<void>();
    this.#waiting.set(++this.#last, { entry, settled });
    this.#seqs.set(entry.settlement.id, this.#last);
    return settled.promise;
  }

  /** What `write` gave for this id, while the entry is here. */
  settled(id: string): Promise<void> | null {
    return this.#waiting.get(this.#seqs.get(id) ?? 0)?.settled.promise ?? null;
  }

  oldest(limit: number, after: number): Kept[] {
    const later = [...this.#waiting].filter(([seq]) => seq > after);
    return later.slice(0, limit).map(([seq, { entry }]) => ({ seq, id: entry.settlement.id, entry }));
  }

  mark(seqs: readonly number[]): void {
    for (const seq of seqs) {
      const waiting = this.#waiting.get(seq);
      if (waiting) waiting.entry = { ...waiting.entry, tried: true };
    }
  }

  remove(replayed: readonly Replayed[]): void {
    for (const { seq, rejected } of replayed) {
      const waiting = this.#waiting.get(seq);
      if (!waiting) continue;
      this.#waiting.delete(seq);
      this.#seqs.delete(waiting.entry.settlement.id);
      if (rejected === null) waiting.settled.resolve();
      else waiting.settled.reject(new Error(rejected));
    }
  }
}
