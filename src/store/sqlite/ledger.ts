import type { DatabaseSync } from "node:sqlite";
import type {
  LedgerEntry,
  LedgerPage,
  LedgerQuery,
  LedgerRecord,
  OutcomeKind,
  Tags,
  Usage,
  UsageQuery,
} from "../../kit/index.ts";
import { type Listed, ledgerPageOf, wrongCursor } from "../pages.ts";
import { usagePageOf } from "../usage.ts";
import { WINDOW_MS } from "../windows.ts";
import { type CommitQueue, guardedAsync } from "./commits.ts";
import { usageTables } from "./usage.ts";

/** Old entries that go in one commit: a few milliseconds of a blocked event loop. */
const ENTRIES_PER_TRIM = 100;
/** Entries read by one statement: some milliseconds. */
const ENTRIES_PER_READ = 500;

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
  Record<"key_id" | "upstream" | "tier", string | null> &
  Record<
    | "seq"
    | "previous"
    | "recorded_at"
    | "prompt"
    | "completion"
    | "cached"
    | "reasoning"
    | "estimated"
    | "received_at"
    | "ended_at"
    | "charge",
    bigint
  > &
  Record<OptionalColumn, bigint> & { outcome: OutcomeKind; tags: string };

/**
 * The ledger: one row a settled request at the end of the table, never changed afterwards; one that was abandoned may still
 * be settled. Without an index, whose pages a crowd of users would write all over: each row names the same user's row
 * before it, and the user's own the latest. What is trimmed ends these chains.
 */
export function ledgerTable(db: DatabaseSync, now: () => number) {
  const usage = usageTables(db);
  const insert = db.prepare(
    "INSERT INTO ledger VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  insert.setReadBigInts(false);
  const reservations = db.prepare(
    `SELECT reservations.id, user_id, model, reservations.created_at, last_entry
     FROM reservations JOIN users ON users.id = user_id ORDER BY user_id`,
  );
  const setLast = db.prepare("UPDATE users SET last_entry = ? WHERE id = ?");
  const noteAbandoned = db.prepare("INSERT INTO abandoned VALUES (?, ?) ON CONFLICT DO NOTHING");
  const findAbandoned = db.prepare(
    "SELECT seq FROM abandoned JOIN ledger USING (seq) WHERE abandoned.id = ? AND user_id = ?",
  );
  const forgetAbandoned = db.prepare("DELETE FROM abandoned WHERE id = ?");
  const replace = db.prepare(
    `UPDATE ledger SET request_id = ?, key_id = ?, model = ?, upstream = ?, outcome = ?, prompt = ?, completion = ?,
       cached = ?, reasoning = ?, estimated = ?, received_at = ?, ended_at = ?, charge = ?, characters = ?,
       milliseconds = ?, images = ?, cache_write = ?, cache_write_1h = ?, tags = ?, tier = ?
     WHERE seq = ?`,
  );
  const lastOf = db.prepare("SELECT last_entry FROM users WHERE id = ?");
  // A number may be used again once all rows are gone: what a chain leads to is looked at before it is believed.
  const chain = db.prepare(
    `WITH RECURSIVE chain (seq) AS (
       VALUES (?1)
       UNION ALL
       SELECT previous FROM chain CROSS JOIN ledger USING (seq) WHERE user_id = ?2 AND previous < seq
       LIMIT ?3
     )
     SELECT ledger.* FROM chain CROSS JOIN ledger USING (seq) WHERE user_id = ?2`,
  );
  const below = db.prepare("SELECT * FROM ledger WHERE seq <= ? ORDER BY seq DESC LIMIT ?");
  const ends = db.prepare("SELECT min(seq) AS first, max(seq) AS last FROM ledger");
  const timeOf = db.prepare("SELECT recorded_at FROM ledger WHERE seq = ?");
  const newest = db.prepare("SELECT recorded_at FROM ledger ORDER BY seq DESC LIMIT 1");
  const oldest = db.prepare(`SELECT seq, recorded_at FROM ledger ORDER BY seq LIMIT ${ENTRIES_PER_TRIM}`);
  const trim = db.prepare("DELETE FROM ledger WHERE seq <= ?");
  const trimAbandoned = db.prepare("DELETE FROM abandoned WHERE seq <= ?");

  let latest = Number(newest.get()?.["recorded_at"] ?? 0);
  /** Goes back with the clock only when that goes back by more than an hour: pages and intervals need an order. */
  function recordedAt(): number {
    const at = now();
    latest = at < latest && latest - at < WINDOW_MS.hour ? latest : at;
    return latest;
  }

  function add(previous: number, userId: string, id: string, charge: bigint, record: LedgerRecord): number {
    const row = rowOf(previous, userId, id, recordedAt(), charge, record);
    return Number(insert.run(...row).lastInsertRowid);
  }

  /** The user's rows from this one on, the newest first; the last one leads to the next. */
  function rowsFrom(seq: number, userId: string, count = ENTRIES_PER_READ): LedgerRow[] {
    return chain.all(seq, userId, count) as LedgerRow[];
  }

  /** The number of the last row that was recorded before. */
  function lastBefore(time: number | undefined): number {
    const { first, last } = ends.get() ?? {};
    if (time === undefined || last === null) return Number(last);
    let [low, high] = [Number(first) - 1, Number(last)];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      // Numbers have no gaps; one that is gone all the same was recorded long ago.
      if (Number(timeOf.get(middle)?.["recorded_at"] ?? 0) < time) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  function firstOf({ userId, to }: LedgerQuery): number {
    return userId === undefined ? lastBefore(to) : Number(lastOf.get(userId)?.["last_entry"] ?? 0);
  }

  function* allRows(userId: string): Generator<LedgerRow[]> {
    let rows = rowsFrom(firstOf({ userId, limit: 1 }), userId);
    for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
      yield rows;
      rows = rowsFrom(nextOf(last), userId);
    }
  }

  return {
    usage,

    /** @param previous the number of the user's entry before. @returns the number of this one. */
    append: add,

    /** Puts what is known by now in the place of what `appendAbandoned` recorded. @returns false when that is not there. */
    replaceAbandoned(id: string, userId: string, charge: bigint, record: LedgerRecord): boolean {
      const found = findAbandoned.get(id, userId);
      if (found === undefined) return false;
      const seq = Number(found["seq"]);
      const [, , , , ...known] = rowOf(0, userId, id, 0, charge, record);
      usage.replacing(seq, () => replace.run(...known, seq));
      forgetAbandoned.run(id);
      return true;
    },

    /** Records every reservation as ended by a crash: free, and nothing is known of its use. */
    appendAbandoned(endedAt: number): void {
      const last = new Map<string, number>();
      for (const row of reservations.all()) {
        const [id, userId] = [String(row["id"]), String(row["user_id"])];
        const previous = last.get(userId) ?? Number(row["last_entry"]);
        const record = abandonedRecord(id, String(row["model"]), Number(row["created_at"]), endedAt);
        const seq = add(previous, userId, id, 0n, record);
        noteAbandoned.run(id, seq);
        last.set(userId, seq);
      }
      for (const [userId, seq] of last) setLast.run(seq, userId);
    },

    /** Which of these ids have been recorded: read from the user's end, with turns of the event loop in between. */
    async recorded(userId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
      const [searched, found] = [new Set(ids), new Set<string>()];
      for (const rows of allRows(userId)) {
        for (const { id } of rows) if (searched.has(id)) found.add(id);
        if (found.size === searched.size) break;
        await new Promise(setImmediate);
      }
      return found;
    },

    page: (query: LedgerQuery): Promise<LedgerPage> =>
      ledgerPageOf(query, async (position, count): Promise<Listed[]> => {
        // Others get their turn: a page may be looked for among thousands.
        if (position !== null) await new Promise(setImmediate);
        const { userId } = query;
        const first = position === null ? firstOf(query) : numberIn(position);
        if (userId !== undefined) {
          return rowsFrom(first, userId, count).map((row) => ({ entry: recordedOf(row), next: placeOf(nextOf(row)) }));
        }
        const rows = below.all(first, count) as LedgerRow[];
        return rows.map((row) => ({ entry: recordedOf(row), next: placeOf(Number(row.seq) - 1) }));
      }),

    /** Deletes some of what was recorded before, as far as it is rolled up. @returns whether there may be more. */
    trim(before: number): boolean {
      const isOld = (at: number) => at < before || at > now() + WINDOW_MS.day;
      const rows = oldest.all() as Pick<LedgerRow, "seq" | "recorded_at">[];
      const kept = rows.findIndex((row) => !isOld(Number(row.recorded_at)));
      const last = rows.at(kept === -1 ? -1 : kept - 1)?.seq;
      if (kept === 0 || last === undefined || last > usage.rolledUp()) return false;
      trim.run(last);
      trimAbandoned.run(last);
      usage.trimmed();
      return kept === -1 && rows.length === ENTRIES_PER_TRIM;
    },

    /** Oldest first. */
    of(userId: string): LedgerEntry[] {
      const entries = [...allRows(userId)].flat().map(entryOf);
      return entries.toSorted((a, b) => a.endedAt - b.endedAt || (a.id < b.id ? -1 : 1));
    },
  };
}

/** The number of the same user's row before it; 0 for none, or for one that was used before all rows were gone. */
function nextOf({ seq, previous }: LedgerRow): number {
  return previous < seq ? Number(previous) : 0;
}

/** The store's roles of the ledger, but for what is asked with admissions. */
export function ledgerMethods(ledger: ReturnType<typeof ledgerTable>, queue: CommitQueue, now: () => number) {
  const { usage } = ledger;
  return {
    recorded: (userId: string, ids: readonly string[]) => guardedAsync(() => ledger.recorded(userId, ids)),
    ledgerPage: (query: LedgerQuery) => guardedAsync(() => ledger.page(query)),
    usage: (query: UsageQuery) =>
      guardedAsync(async () => {
        while (await queue.add(usage.rollUp));
        return usagePageOf(query, usage.source, now());
      }),

    /** Rolls up some entries, and deletes some of what was recorded before. @returns whether there may be more to do. */
    tidyLedger: async (before: number): Promise<boolean> => {
      if (await queue.add(usage.rollUp)) return true;
      const isMore = await queue.add(() => ledger.trim(before));
      return (await queue.add(() => usage.trim(before, now()))) || isMore;
    },
  };
}

/** As a cursor has it. */
function placeOf(seq: number): string | null {
  return seq === 0 ? null : String(seq);
}

function numberIn(place: string): number {
  if (!/^\d{1,15}$/.test(place)) throw wrongCursor();
  return Number(place);
}

function recordedOf(row: LedgerRow) {
  return { ...entryOf(row), recordedAt: Number(row.recorded_at) };
}

function entryOf(row: LedgerRow): LedgerEntry {
  return {
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
    ...(row.tier !== null && { tier: row.tier }),
  };
}

function abandonedRecord(id: string, model: string, receivedAt: number, endedAt: number): LedgerRecord {
  const usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };
  const names = { requestId: id, keyId: null, model, upstream: null, outcome: "shutdown" } as const;
  return { ...names, usage, estimated: true, receivedAt, endedAt };
}

/** In the order of the table, after its key. One array and no other: each request makes one. */
function rowOf(previous: number, userId: string, id: string, at: number, charge: bigint, record: LedgerRecord) {
  const { usage } = record;
  return [
    previous,
    userId,
    id,
    at,
    record.requestId,
    record.keyId,
    record.model,
    record.upstream,
    record.outcome,
    usage.prompt,
    usage.completion,
    usage.cached,
    usage.reasoning,
    record.estimated ? 1 : 0,
    record.receivedAt,
    record.endedAt,
    charge,
    usage.characters ?? 0,
    usage.milliseconds ?? 0,
    usage.images ?? 0,
    usage.cacheWrite ?? 0,
    usage.cacheWrite1h ?? 0,
    record.tags === undefined ? "" : JSON.stringify(record.tags),
    record.tier ?? null,
  ] as const;
}

/** Counts of which there are none are left out. */
function optionalCountsOf(row: Record<OptionalColumn, bigint>): Partial<Usage> {
  const columns = (Object.keys(OPTIONAL_COLUMNS) as OptionalColumn[]).filter((column) => row[column] > 0n);
  return Object.fromEntries(columns.map((column) => [OPTIONAL_COLUMNS[column], Number(row[column])]));
}
