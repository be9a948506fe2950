import type { DatabaseSync } from "node:sqlite";
import type { LedgerEntry, LedgerRecord, OutcomeKind, Tags, Usage } from "../../kit/index.ts";

/** Old entries that go in one commit: a few milliseconds of a blocked event loop. */
const ENTRIES_PER_TRIM = 100;

/** Columns of counts that most requests have none of. */
const OPTIONAL_COLUMNS = {
  characters: "characters",
  milliseconds: "milliseconds",
  images: "images",
  cache_write: "cacheWrite",
  cache_write_1h: "cacheWrite1h",
} as const;
type OptionalColumn = keyof typeof OPTIONAL_COLUMNS;

type LedgerRow = Record<"user_id" | "id" | "request_id" | "model", string> &
  Record<"key_id" | "upstream", string | null> &
  Record<
    "prompt" | "completion" | "cached" | "reasoning" | "estimated" | "received_at" | "ended_at" | "charge",
    bigint
  > &
  Record<OptionalColumn, bigint> & { outcome: OutcomeKind; tags: string };

/** The ledger: one row a settled request, never changed afterwards; one that was abandoned may still be settled. */
export function ledgerTable(db: DatabaseSync) {
  const insert = db.prepare(
    "INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const insertAbandoned = db.prepare(
    `INSERT INTO ledger SELECT user_id, id, id, NULL, model, NULL, 'shutdown', 0, 0, 0, 0, 1, created_at, ?, 0, 0, 0, 0, 0, 0, ''
     FROM reservations WHERE true ON CONFLICT DO NOTHING`,
  );
  // As `insertAbandoned` leaves them: a request that was settled has a request id of its own.
  const replaceAbandoned = db.prepare(
    `UPDATE ledger SET request_id = ?, key_id = ?, model = ?, upstream = ?, outcome = ?, prompt = ?, completion = ?,
       cached = ?, reasoning = ?, estimated = ?, received_at = ?, ended_at = ?, charge = ?, characters = ?,
       milliseconds = ?, images = ?, cache_write = ?, cache_write_1h = ?, tags = ?
     WHERE user_id = ? AND id = ? AND request_id = id AND outcome = 'shutdown' AND charge = 0`,
  );
  const select = db.prepare("SELECT * FROM ledger WHERE user_id = ? ORDER BY ended_at, id");
  const find = db.prepare("SELECT 1 FROM ledger WHERE user_id = ? AND id = ?");
  const trim = db.prepare(
    `DELETE FROM ledger WHERE (user_id, id) IN
       (SELECT user_id, id FROM ledger WHERE ended_at < ? ORDER BY ended_at LIMIT ${ENTRIES_PER_TRIM})`,
  );

  return {
    /** @returns false when the id has been recorded before. */
    append(id: string, userId: string, charge: bigint, record: LedgerRecord): boolean {
      return Number(insert.run(userId, id, ...columnsOf(charge, record)).changes) === 1;
    },

    /** Puts what is known by now in the place of what `appendAbandoned` recorded. @returns false when that is not there. */
    replaceAbandoned(id: string, userId: string, charge: bigint, record: LedgerRecord): boolean {
      return Number(replaceAbandoned.run(...columnsOf(charge, record), userId, id).changes) === 1;
    },

    /** Records every reservation as ended by a crash: free, and nothing is known of its use. */
    appendAbandoned(endedAt: number): void {
      insertAbandoned.run(endedAt);
    },

    /** Which of these ids have been recorded. */
    recorded: (userId: string, ids: readonly string[]) => new Set(ids.filter((id) => find.get(userId, id))),

    /** Deletes some of what ended before. @returns whether there may be more. */
    trim: (before: number) => Number(trim.run(before).changes) === ENTRIES_PER_TRIM,

    /** Oldest first. */
    of(userId: string): LedgerEntry[] {
      return (select.all(userId) as LedgerRow[]).map((row) => ({
        id: row.id,
        userId: row.user_id,
        requestId: row.request_id,
        keyId: row.key_id,
        model: row.model,
        upstream: row.upstream,
        outcome: row.outcome,
        usage: {
          prompt: Number(row.prompt),
          completion: Number(row.completion),
          cached: Number(row.cached),
          reasoning: Number(row.reasoning),
          ...optionalCountsOf(row),
        },
        estimated: row.estimated === 1n,
        receivedAt: Number(row.received_at),
        endedAt: Number(row.ended_at),
        charge: row.charge,
        ...(row.tags !== "" && { tags: JSON.parse(row.tags) as Tags }),
      }));
    },
  };
}

/** In the order of the table, after its key. */
function columnsOf(charge: bigint, record: LedgerRecord) {
  const { requestId, keyId, model, upstream, outcome, usage, estimated, receivedAt, endedAt } = record;
  const { prompt, completion, cached, reasoning } = usage;
  const { characters = 0, milliseconds = 0, images = 0, cacheWrite = 0, cacheWrite1h = 0 } = usage;
  const names = [requestId, keyId, model, upstream, outcome] as const;
  const counts = [prompt, completion, cached, reasoning, Number(estimated)] as const;
  return [
    ...names,
    ...counts,
    receivedAt,
    endedAt,
    charge,
    characters,
    milliseconds,
    images,
    cacheWrite,
    cacheWrite1h,
    record.tags === undefined ? "" : JSON.stringify(record.tags),
  ] as const;
}

/** Counts of which there are none are left out. */
function optionalCountsOf(row: Record<OptionalColumn, bigint>): Partial<Usage> {
  const columns = (Object.keys(OPTIONAL_COLUMNS) as OptionalColumn[]).filter((column) => row[column] > 0n);
  return Object.fromEntries(columns.map((column) => [OPTIONAL_COLUMNS[column], Number(row[column])]));
}
