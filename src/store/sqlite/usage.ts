import type { DatabaseSync } from "node:sqlite";
import type { Counts } from "../windows.ts";

type CountColumn = "day" | "day_used" | "hour" | "hour_used" | "minute" | "minute_used";
type UsageRow = Record<"balance" | "charged" | "held" | "streams" | "stop_token" | CountColumn, bigint>;

/** What a user's requests count and cost, as it stands inside one transaction. */
export interface Usage {
  balance: bigint;
  charged: bigint;
  held: bigint;
  streams: number;
  readonly stopToken: number;
  counts: Counts;
}

/**
 * The users of one transaction: each is read once and, if changed, written once, however many of its requests share
 * the commit. `write` belongs before the commit, `forget` after it or after a rollback: nothing is kept longer, because
 * other processes change users too.
 */
export class UsageTable {
  readonly #select;
  readonly #update;
  readonly #read = new Map<string, Usage>();
  readonly #changed = new Set<string>();

  constructor(db: DatabaseSync) {
    this.#select = db.prepare(
      `SELECT balance, charged, held, streams, stop_token, day, day_used, hour, hour_used, minute, minute_used
       FROM users WHERE id = ?`,
    );
    this.#update = db.prepare(
      `UPDATE users SET balance = ?, charged = ?, held = ?, streams = ?,
         day = ?, day_used = ?, hour = ?, hour_used = ?, minute = ?, minute_used = ? WHERE id = ?`,
    );
  }

  /** null for a user that is not there. */
  of(userId: string): Usage | null {
    const known = this.#read.get(userId);
    if (known !== undefined) return known;
    const row = this.#select.get(userId) as UsageRow | undefined;
    if (row === undefined) return null;
    const usage = usageOf(row);
    this.#read.set(userId, usage);
    return usage;
  }

  /** Outside a transaction: as it stands now, not kept. */
  peek(userId: string): Usage | null {
    const row = this.#select.get(userId) as UsageRow | undefined;
    return row === undefined ? null : usageOf(row);
  }

  /** The usage that `of` gave has been changed. */
  touch(userId: string): void {
    this.#changed.add(userId);
  }

  write(): void {
    for (const userId of this.#changed) {
      const { balance, charged, held, streams, counts } = this.#read.get(userId)!;
      const { day, hour, minute } = counts;
      const windows = [day.window, day.used, hour.window, hour.used, minute.window, minute.used] as const;
      this.#update.run(balance, charged, held, streams, ...windows, userId);
    }
  }

  forget(): void {
    this.#read.clear();
    this.#changed.clear();
  }
}

function usageOf(row: UsageRow): Usage {
  return {
    balance: row.balance,
    charged: row.charged,
    held: row.held,
    streams: Number(row.streams),
    stopToken: Number(row.stop_token),
    counts: {
      day: { window: Number(row.day), used: Number(row.day_used) },
      hour: { window: Number(row.hour), used: Number(row.hour_used) },
      minute: { window: Number(row.minute), used: Number(row.minute_used) },
    },
  };
}
