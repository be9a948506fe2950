import type { DatabaseSync } from "node:sqlite";
import type { Admission, AdmissionResult, Limits, Refusal, Settlement, Windows } from "../kit/index.ts";
import { ledgerTable } from "./ledger.ts";
import { counted, countsAt, exceeded, windowStates } from "./windows.ts";
import type { Counts } from "./windows.ts";

type UsageRow = Record<"balance" | "held" | "streams" | CountColumn, bigint>;
type CountColumn = "day" | "day_used" | "hour" | "hour_used" | "minute" | "minute_used";
type ReservationRow = Record<"units" | "stream" | "hold" | "day" | "hour" | "minute", bigint>;

/**
 * Running requests and what they count. `admit`, `settle` and `giveUpAll` write: they must run inside a transaction,
 * and a throw must roll it back.
 */
export function requestTables(db: DatabaseSync, now: () => number) {
  const ledger = ledgerTable(db);
  const usage = db.prepare(
    "SELECT balance, held, streams, day, day_used, hour, hour_used, minute, minute_used FROM users WHERE id = ?",
  );
  const isRunning = db.prepare("SELECT 1 FROM reservations WHERE id = ?");
  const reserve = db.prepare("INSERT INTO reservations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
  const count = db.prepare(
    `UPDATE users SET held = held + ?, streams = streams + ?,
       day = ?, day_used = ?, hour = ?, hour_used = ?, minute = ?, minute_used = ? WHERE id = ?`,
  );
  const release = db.prepare(
    "DELETE FROM reservations WHERE id = ? AND user_id = ? RETURNING units, stream, hold, day, hour, minute",
  );
  const settleUser = db.prepare(
    "UPDATE users SET balance = balance - ?, held = held - ?, streams = streams - ? WHERE id = ?",
  );
  // Not below 0: after a clock that went back and forth, a window of the same number may have been opened afresh.
  const uncount = db.prepare(
    `UPDATE users SET day_used = max(0, day_used - iif(day = ?, ?, 0)), hour_used = max(0, hour_used - (hour = ?)),
       minute_used = max(0, minute_used - (minute = ?)) WHERE id = ?`,
  );
  const running = db.prepare(
    `SELECT count(*) AS requests, ifnull(sum(stream), 0) AS streams, ifnull(sum(hold), 0) AS held
     FROM reservations WHERE user_id = ?`,
  );

  const usageOf = (userId: string) => usage.get(userId) as UsageRow | undefined;

  return {
    ledger,

    admit(admission: Admission): AdmissionResult {
      const { id, userId, limits, units, stream, hold } = admission;
      const row = usageOf(userId);
      if (!row) throw new Error(`cannot admit a request of an unknown user: ${userId}`);
      const at = now();
      const before = countsAt(countsOf(row), at);
      const after = counted(before, units);
      const refusal = refusalOf(admission, row, after);
      // An admission that is repeated has been counted already, perhaps as the last one that fitted.
      if (refusal && !isRunning.get(id)) return { ok: false, refusal, windows: windowStates(before, limits) };
      const { day, hour, minute } = after;
      const slot = Number(stream);
      const places = [day.window, hour.window, minute.window] as const;
      const { changes } = reserve.run(id, userId, units, slot, hold, ...places, admission.model, at);
      if (Number(changes) === 0) return { ok: true, windows: windowStates(before, limits) };
      count.run(hold, slot, day.window, day.used, hour.window, hour.used, minute.window, minute.used, userId);
      return { ok: true, windows: windowStates(after, limits) };
    },

    /** An id that is not running changes nothing: it was settled, given back or given up before. */
    settle({ id, userId, giveBack, charge, record }: Settlement): void {
      if (charge < 0n || (charge > 0n && !record)) {
        throw new RangeError(`settlement ${id}: a charge is not negative and needs a record`);
      }
      const row = release.get(id, userId) as ReservationRow | undefined;
      if (!row) return;
      const charged = record && ledger.append(id, userId, charge, record) ? charge : 0n;
      settleUser.run(charged, row.hold, row.stream, userId);
      if (giveBack) uncount.run(row.day, row.units, row.hour, row.minute, userId);
    },

    /**
     * For the start of a serving process, which holds the file's lock: every reservation found is of a dead one. Slots
     * and holds are released, what was counted stays counted, and each request leaves a record without a charge.
     */
    giveUpAll(): void {
      ledger.appendGivenUp(now());
      db.exec("DELETE FROM reservations; UPDATE users SET held = 0, streams = 0 WHERE held <> 0 OR streams <> 0");
    },

    windows(userId: string, limits: Limits): Windows {
      const row = usageOf(userId);
      return windowStates(countsAt(row ? countsOf(row) : NOTHING, now()), limits);
    },

    running(userId: string) {
      const row = running.get(userId) as Record<"requests" | "streams" | "held", bigint>;
      return { requests: Number(row.requests), streams: Number(row.streams), held: row.held };
    },
  };
}

const NOTHING: Counts = { day: { window: 0, used: 0 }, hour: { window: 0, used: 0 }, minute: { window: 0, used: 0 } };

function countsOf(row: UsageRow): Counts {
  return {
    day: { window: Number(row.day), used: Number(row.day_used) },
    hour: { window: Number(row.hour), used: Number(row.hour_used) },
    minute: { window: Number(row.minute), used: Number(row.minute_used) },
  };
}

function refusalOf({ hold, enforceCredits, stream, limits }: Admission, row: UsageRow, after: Counts): Refusal | null {
  if (enforceCredits && hold > 0n && row.balance - row.held < hold) return "credits";
  const window = exceeded(after, limits);
  if (window) return window;
  return stream && limits.streams !== null && row.streams >= limits.streams ? "streams" : null;
}
