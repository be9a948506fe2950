import type { DatabaseSync } from "node:sqlite";
import { FAILED_OUTCOMES, type HourRow, USAGE_RETENTION_MS, type UsageSource } from "../usage.ts";
import { WINDOW_MS } from "../windows.ts";

/** Entries that one commit rolls up: some milliseconds. */
const ENTRIES_PER_ROLL_UP = 2_000;
/** Rows that are read of an hour at once, and deleted. */
const ROWS_PER_READ = 1_000;
const ROWS_PER_TRIM = 500;
const HOURS_PER_DAY = 24;

const COUNTS = ["requests", "failed", "prompt", "completion", "cached", "reasoning", "charge"] as const;

type StoredRow = Record<"model" | "upstream" | "tier", string> &
  Partial<Record<"user_id" | "key_id", string>> &
  Record<"hour" | (typeof COUNTS)[number], bigint>;

/**
 * What the ledger adds up to by the hour of recording: rolled up behind a watermark, some entries in one commit with it,
 * so that each entry counts once whatever breaks off. Before it is asked it is brought up to date.
 */
export function usageTables(db: DatabaseSync) {
  const state = db.prepare("SELECT rolled_up FROM ledger_state");
  const last = db.prepare("SELECT max(seq) AS seq FROM ledger");
  const setState = db.prepare("UPDATE ledger_state SET rolled_up = ?");
  const restart = db.prepare("UPDATE ledger_state SET rolled_up = 0 WHERE NOT EXISTS (SELECT 1 FROM ledger)");
  const rollUps = [
    db.prepare(rollUpInto("usage_hours", "model, upstream, tier")),
    db.prepare(rollUpInto("usage_of_users", "user_id, key_id, model, upstream, tier")),
  ];
  const ofAll = db.prepare("SELECT * FROM usage_hours WHERE hour >= ? AND hour < ?");
  const ofUser = db.prepare(
    `WITH RECURSIVE hours (hour) AS (VALUES (?1) UNION ALL SELECT hour + 1 FROM hours WHERE hour < ?1 + ${HOURS_PER_DAY - 1})
     SELECT usage_of_users.* FROM hours CROSS JOIN usage_of_users USING (hour) WHERE user_id = ?2`,
  );
  const fromUser = db.prepare(
    `SELECT * FROM usage_of_users WHERE hour = ? AND user_id >= ? ORDER BY user_id LIMIT ${ROWS_PER_READ}`,
  );
  const trimHours = db.prepare("DELETE FROM usage_hours WHERE hour < ?");
  const bound = db.prepare(
    `SELECT hour, user_id FROM usage_of_users ORDER BY hour, user_id LIMIT 1 OFFSET ${ROWS_PER_TRIM}`,
  );
  const trimSome = db.prepare("DELETE FROM usage_of_users WHERE (hour, user_id) <= (?, ?) AND hour < ?");
  const trimRest = db.prepare("DELETE FROM usage_of_users WHERE hour < ?");

  const rolledUp = () => Number(state.get()?.["rolled_up"]);

  /** @param times a bigint, for a number would make the sums floats: 1n to count the entries after `from` up to `to`, -1n to take them out. */
  function count(from: number, to: number, times: 1n | -1n): void {
    for (const statement of rollUps) statement.run(times, from, to);
  }

  const source: UsageSource = {
    ofAll: async (day) => {
      const hour = day * HOURS_PER_DAY;
      return rowsOf(ofAll.all(hour, hour + HOURS_PER_DAY));
    },
    ofUser: async (userId, day) => rowsOf(ofUser.all(day * HOURS_PER_DAY, userId)),
    async byUser(day, first) {
      await new Promise(setImmediate);
      const rows: HourRow[] = [];
      let next: string | null = null;
      for (let hour = day * HOURS_PER_DAY; hour < (day + 1) * HOURS_PER_DAY; hour++) {
        const some = rowsOf(fromUser.all(hour, first));
        rows.push(...some);
        const { userId = null } = (some.length === ROWS_PER_READ && some.at(-1)) || {};
        // Behind the last one there may be more of the same user.
        if (userId !== null && (next === null || userId < next)) next = userId;
      }
      if (next === null) return { rows, next };
      if (next === first) return { rows: rowsOf(ofUser.all(day * HOURS_PER_DAY, first)), next: `${first}\0` };
      const end = next;
      return { rows: rows.filter(({ userId }) => userId < end), next };
    },
  };

  return {
    source,
    rolledUp,

    /** In a commit. @returns whether there is more to be rolled up. */
    rollUp: (): boolean => {
      const [from, end] = [rolledUp(), Number(last.get()?.["seq"] ?? 0)];
      const to = Math.min(from + ENTRIES_PER_ROLL_UP, end);
      if (to <= from) return false;
      count(from, to, 1n);
      setState.run(to);
      return to < end;
    },

    /** In a commit, around a change of the entry. */
    replacing(seq: number, change: () => void): void {
      const isRolledUp = seq <= rolledUp();
      if (isRolledUp) count(seq - 1, seq, -1n);
      change();
      if (isRolledUp) count(seq - 1, seq, 1n);
    },

    /** In a commit that has deleted entries: with the last of them their numbers begin again. */
    trimmed: () => {
      restart.run();
    },

    /** In a commit. @param before when rows of users begin to be kept. @returns whether there may be more. */
    trim(before: number, now: number): boolean {
      trimHours.run(Math.floor((now - USAGE_RETENTION_MS) / WINDOW_MS.hour));
      const oldest = Math.floor(before / WINDOW_MS.hour);
      const found = bound.get() as Pick<StoredRow, "hour" | "user_id"> | undefined;
      if (found?.user_id === undefined) return Number(trimRest.run(oldest).changes) > ROWS_PER_TRIM;
      return Number(trimSome.run(found.hour, found.user_id, oldest).changes) > ROWS_PER_TRIM;
    },
  };
}

function rollUpInto(table: string, names: string): string {
  const failed = FAILED_OUTCOMES.map((outcome) => `'${outcome}'`).join(", ");
  const named = names
    .split(", ")
    .map((name) => `ifnull(${name}, '')`)
    .join(", ");
  const groups = names.split(", ").map((_, index) => index + 2);
  return `INSERT INTO ${table}
    SELECT recorded_at / ${WINDOW_MS.hour}, ${named}, ?1 * count(*), ?1 * sum(outcome IN (${failed})), ?1 * sum(prompt),
      ?1 * sum(completion), ?1 * sum(cached), ?1 * sum(reasoning), ?1 * sum(charge)
    FROM ledger WHERE seq > ?2 AND seq <= ?3 GROUP BY 1, ${groups.join(", ")}
    ON CONFLICT DO UPDATE SET ${COUNTS.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`;
}

function rowsOf(rows: readonly unknown[]): HourRow[] {
  return (rows as StoredRow[]).map((row) => {
    const { user_id: userId = "", key_id: keyId = "", model, upstream, tier, charge } = row;
    return {
      hour: Number(row.hour),
      userId,
      keyId,
      model,
      upstream,
      tier,
      requests: Number(row.requests),
      failed: Number(row.failed),
      prompt: Number(row.prompt),
      completion: Number(row.completion),
      cached: Number(row.cached),
      reasoning: Number(row.reasoning),
      charge,
    };
  });
}
