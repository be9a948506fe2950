import { storeUnavailable } from "../../kit/index.ts";

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
export function isUnavailable(error: unknown): boolean {
  const closed = error instanceof Error && "code" in error && error.code === "ERR_INVALID_STATE";
  return closed || UNAVAILABLE.has(sqliteCode(error) ?? 0);
}

/** What callers of the store are told. */
export function storeError(error: unknown): unknown {
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
