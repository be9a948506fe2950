import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { BUSY, sqliteCode, whenFree } from "./commits.ts";
import { APPLICATION_ID, isOlder, migrate } from "./schema.ts";

/** Milliseconds to wait for another process's write. Waiting blocks the event loop: while it serves, a process waits little. */
const WAIT_MS = { serving: 250, otherwise: 5_000 };

/** Files up to this size are checked as a whole at start: some 3 ms a mebibyte. Beyond, damage is found when it is met. */
const CHECKED_BYTES = 64 * 1024 * 1024;

const CORRUPT = 11;
const NOTADB = 26;

export interface OpenDatabase {
  readonly db: DatabaseSync;
  /** Absolute path, symbolic links resolved; null in memory. */
  readonly file: string | null;
  close(): void;
}

/** @throws Error that names the file and the remedy. */
export function openFile(path: string, serving: boolean): OpenDatabase {
  let file = resolve(path);
  const open: DatabaseSync[] = [];
  const close = () => {
    // The lock, opened first, is released last: until then nobody else may serve the file.
    for (const db of open.toReversed()) if (db.isOpen) db.close();
  };
  try {
    file = place(file);
    if (serving) open.push(lock(file, "another process is serving it: stop that one, or set another store.url"));
    const db = new DatabaseSync(file, { timeout: WAIT_MS.otherwise, readBigInts: true });
    open.push(db);
    prepare(db, statSync(file).size);
    if (serving) migrate(db);
    else migrateUnserved(db, file);
    // What the roll-up of the ledger sorts would else go through files on the disk. Not sooner: a migration sorts far more.
    db.exec("PRAGMA temp_store = MEMORY");
    // Says now, not at the first request, that the file is read-only or that somebody does not let go of it.
    if (serving) db.exec(`BEGIN IMMEDIATE; ROLLBACK; PRAGMA busy_timeout = ${WAIT_MS.serving}`);
    return { db, file, close };
  } catch (error) {
    close();
    throw new Error(`cannot open the store ${file}: ${explain(error)}`, { cause: error });
  }
}

export function openMemory(): OpenDatabase {
  const db = new DatabaseSync(":memory:", { readBigInts: true });
  prepare(db, 0);
  migrate(db);
  return { db, file: null, close: () => db.close() };
}

/** Two names of one file give one result, so that they share a lock. */
function place(path: string): string {
  makeFile(path);
  return realpathSync(path);
}

/** Makes the folder and, readable by its owner alone, the file. */
export function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  try {
    // Opens only a file that is new: closing any handle of one in use drops this process's locks on it.
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!existsSync(path)) throw error;
  }
}

/**
 * Held as long as the connection is open; the kernel releases it when the process dies, however it dies.
 * @param taken what to say when another process holds it.
 */
function lock(file: string, taken: string): DatabaseSync {
  const lock = new DatabaseSync(place(`${file}.lock`));
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    if (sqliteCode(error) !== BUSY) throw error;
    throw new Error(taken, { cause: error });
  }
}

function prepare(db: DatabaseSync, size: number): void {
  refuseForeign(db);
  // Write-ahead log: readers and the one writer do not wait for each other. NORMAL: a killed process loses nothing that
  // was committed; a power cut may lose the charges and counts since the last checkpoint, but no account change, which
  // raises this to FULL, and never consistency.
  whenFree(WAIT_MS.otherwise, () => db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL"));
  if (size > 0 && size <= CHECKED_BYTES) refuseCorrupt(db);
}

/** For a command: the tables of a file that an older version serves must not change under it. */
function migrateUnserved(db: DatabaseSync, file: string): void {
  const held = isOlder(db) ? lock(file, "an older version of the gateway is serving it: restart that one first") : null;
  try {
    migrate(db);
  } finally {
    held?.close();
  }
}

function refuseForeign(db: DatabaseSync): void {
  // In one statement, so in one snapshot: between two, another process may make the tables.
  const sql = "SELECT application_id AS id, (SELECT count(*) FROM sqlite_schema) AS tables FROM pragma_application_id";
  const { id, tables } = db.prepare(sql).get() ?? {};
  const ours = Number(id) === APPLICATION_ID;
  const fresh = Number(id) === 0 && Number(tables) === 0;
  if (!ours && !fresh) throw new Error("it is the database of another program: set another store.url");
}

function refuseCorrupt(db: DatabaseSync): void {
  const result = db.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (result !== "ok") throw new Error(`${DAMAGED} (${String(result)})`);
}

const DAMAGED =
  "it is damaged: restore a backup, save what `sqlite3 FILE .recover` finds, or move it away to start empty";

function explain(error: unknown): string {
  switch (sqliteCode(error)) {
    case BUSY:
      return "another process is writing to it and does not finish: try again";
    case CORRUPT:
      return DAMAGED;
    case NOTADB:
      return "it is not a database of the gateway: set another store.url, or move the file away";
    default:
      return error instanceof Error ? `${error.message}${hint(error)}` : String(error);
  }
}

function hint(error: Error): string {
  const permission = "code" in error && ["EACCES", "EPERM", "EROFS"].includes(String(error.code));
  const folder = permission || [8, 14].includes(sqliteCode(error) ?? 0);
  return folder ? ": the process must be allowed to write the file and its folder" : "";
}

const NAME = /^[a-z][a-z0-9-]*$/;

/**
 * The value kept in `<file>.<name>`, readable by its owner alone; without one, `value` is written. The caller holds the
 * database's write lock, so that of two processes the first decides.
 */
export function rememberInFile(file: string, name: string, value: string): string {
  if (!NAME.test(name) || name === "lock") throw new RangeError(`not a name for a remembered value: ${name}`);
  const path = `${file}.${name}`;
  const kept = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (kept) return kept;
  // Written aside and renamed: a process killed in between leaves no half of a secret behind.
  writeFileSync(`${path}.new`, value, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
  syncFolder(dirname(path));
  return value;
}

function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
