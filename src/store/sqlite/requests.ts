import type { DatabaseSync } from "node:sqlite";
import type {
  Admission,
  AdmissionResult,
  LedgerRecord,
  Limits,
  Refusal,
  Settlement,
  Windows,
} from "../../kit/index.ts";
import {
  counted,
  type Counts,
  countsAt,
  exceeded,
  movedBack,
  NO_COUNTS,
  uncounted,
  type WindowIds,
  windowStates,
} from "../windows.ts";
import { CommitQueue, type Transactions } from "./commits.ts";
import { ledgerTable } from "./ledger.ts";

type ReservationRow = Record<"units" | "stream" | "hold" | "day" | "hour" | "minute", bigint>;

/** Running requests, what they count, and the ledger. `now` is Unix milliseconds. */
export function requestsOf(db: DatabaseSync, transactions: Transactions, now: () => number) {
  const { read, write } = transactions;
  const ledger = ledgerTable(db);
  const users = new UsageTable(db);
  const queue = new CommitQueue(db, users);
  const reservation = db.prepare("SELECT stop_token FROM reservations WHERE id = ?");
  const reserve = db.prepare(
    "INSERT INTO reservations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const release = db.prepare(
    "DELETE FROM reservations WHERE id = ? AND user_id = ? RETURNING units, stream, hold, day, hour, minute",
  );
  const running = db.prepare(
    `SELECT count(*) AS requests, ifnull(sum(stream), 0) AS streams, ifnull(sum(hold), 0) AS held
     FROM reservations WHERE user_id = ?`,
  );

  /** Inside of a commit of the queue, as `settle`. */
  function admit(admission: Admission): AdmissionResult {
    const { id, userId, limits, units, stream, hold } = admission;
    const user = users.of(userId);
    if (!user) throw new Error(`cannot admit a request of an unknown user: ${userId}`);
    const at = now();
    const before = countsAt(user.counts, at);
    const after = counted(before, units);
    const refusal = refusalOf(admission, user, after);
    // An admission that is repeated has been counted already, perhaps as the last one that fitted.
    if (refusal && !reservation.get(id)) {
      // Written: the clock was set back, and the stored window lies in the future, where the count would stay full.
      if (movedBack(before, user.counts)) {
        user.counts = before;
        users.touch(userId);
      }
      return { ok: false, refusal, windows: windowStates(before, limits) };
    }
    const { day, hour, minute } = after;
    const slot = Number(stream);
    const windowIds = [day.window, hour.window, minute.window] as const;
    const { changes } = reserve.run(id, userId, units, slot, hold, ...windowIds, admission.model, at, user.stopToken);
    if (Number(changes) === 0) {
      // The token it was admitted under: a stop since then is meant for it.
      const stopToken = Number(reservation.get(id)?.["stop_token"]);
      return { ok: true, windows: windowStates(before, limits), stopToken };
    }
    user.held += hold;
    user.streams += slot;
    user.counts = after;
    users.touch(userId);
    return { ok: true, windows: windowStates(after, limits), stopToken: user.stopToken };
  }

  /**
   * An id that is not running changes nothing: it was settled or given back before. One that was abandoned is charged
   * all the same; its slot and hold are free already. @returns whether it changed something.
   */
  function settle({ id, userId, giveBack, charge, record }: Settlement): boolean {
    if (charge < 0n || (charge > 0n && !record)) {
      throw new RangeError(`settlement ${id}: a charge is not negative and needs a record`);
    }
    const row = release.get(id, userId) as ReservationRow | undefined;
    const write = (record: LedgerRecord) =>
      row ? ledger.append(id, userId, charge, record) : ledger.replaceAbandoned(id, userId, charge, record);
    const written = record !== null && write(record);
    const user = row || written ? users.of(userId) : null;
    if (!user) return false;
    if (written) {
      user.balance -= charge;
      user.charged += charge;
    }
    if (row) {
      user.held -= row.hold;
      user.streams -= Number(row.stream);
      if (giveBack) user.counts = uncounted(user.counts, windowIdsOf(row), Number(row.units));
    }
    users.touch(userId);
    return true;
  }

  return {
    /** The store's role of admission. */
    methods: {
      admit: (admission: Admission) => queue.add(() => admit(admission)),
      settle: (settlement: Settlement) => queue.add(() => settle(settlement)),

      windows: read((userId: string, limits: Limits): Windows =>
        windowStates(countsAt(users.peek(userId)?.counts ?? NO_COUNTS, now()), limits),
      ),

      running: read((userId: string) => {
        const row = running.get(userId) as Record<"requests" | "streams" | "held", bigint>;
        return { requests: Number(row.requests), streams: Number(row.streams), held: row.held };
      }),

      ledger: read((userId: string) => ledger.of(userId)),
      recorded: read(ledger.recorded),
      ...stopMethods(db, transactions),
    },

    /**
     * For the start of a serving process, which holds the file's lock: every reservation found is of a dead one. Slots
     * and holds are released, what was counted stays counted, and each request leaves a record without a charge.
     */
    abandonAll: write((): void => {
      ledger.appendAbandoned(now());
      db.exec("DELETE FROM reservations; UPDATE users SET held = 0, streams = 0 WHERE held <> 0 OR streams <> 0");
    }),

    /** Deletes some entries of the ledger that ended before. @returns whether there may be more. */
    trimLedger: (before: number) => queue.add(() => ledger.trim(before)),

    /** Commits what waits. */
    flush: () => queue.flush(),
  };
}

function windowIdsOf({ day, hour, minute }: ReservationRow): WindowIds {
  return { day: Number(day), hour: Number(hour), minute: Number(minute) };
}

function refusalOf({ hold, enforceCredits, stream, limits }: Admission, user: Usage, after: Counts): Refusal | null {
  if (enforceCredits && hold > 0n && user.balance - user.held < hold) return "credits";
  const window = exceeded(after, limits);
  if (window) return window;
  return stream && limits.streams !== null && user.streams >= limits.streams ? "streams" : null;
}

type CountColumn = "day" | "day_used" | "hour" | "hour_used" | "minute" | "minute_used";
type UsageRow = Record<"balance" | "charged" | "held" | "streams" | "stop_token" | CountColumn, bigint>;

/** What a user's requests count and cost, as it stands inside one transaction. */
interface Usage {
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
class UsageTable {
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

/** Stop tokens: what ends a user's streams. */
function stopMethods(db: DatabaseSync, { read, write }: Transactions) {
  const raise = db.prepare("UPDATE users SET stop_token = stop_token + 1 WHERE id = ? RETURNING stop_token");
  // Tokens rise by 1: streams under still lower ones have been stopped before.
  const countStopped = db.prepare(
    "SELECT count(*) AS streams FROM reservations WHERE user_id = ? AND stream = 1 AND stop_token = ? - 1",
  );
  const select = db.prepare("SELECT id, stop_token FROM users WHERE id IN (SELECT value FROM json_each(?))");

  return {
    /** Counts each stream once, however often it is stopped. A user who is not there has none. */
    stopStreams: write((userId: string) => {
      const token = Number(raise.get(userId)?.["stop_token"] ?? 0);
      return { token, streams: Number(countStopped.get(userId, token)?.["streams"]) };
    }),

    stopTokens: read((userIds: readonly string[]): Map<string, number> => {
      const tokens = new Map(userIds.map((id) => [id, 0]));
      for (const row of select.all(JSON.stringify(userIds))) tokens.set(String(row["id"]), Number(row["stop_token"]));
      return tokens;
    }),

    /** One process serves a file: nobody else stops its streams. */
    onStop: () => () => {},
  };
}
