import type { DatabaseSync } from "node:sqlite";
import type { Admission, AdmissionResult, LedgerRecord, Limits, Refusal } from "../../kit/index.ts";
import type { Settlement, WindowName, Windows } from "../../kit/index.ts";
import { ledgerTable } from "./ledger.ts";
import { counted, countsAt, exceeded, tookAlong, windowStates } from "../windows.ts";
import type { Count, Counts } from "../windows.ts";
import { type Usage, UsageTable } from "./usage.ts";

type ReservationRow = Record<"units" | "stream" | "hold" | "day" | "hour" | "minute", bigint>;

/**
 * Running requests and what they count. `admit`, `settle` and `giveUpAll` write: they must run inside a transaction,
 * and a throw must roll it back.
 */
export function requestTables(db: DatabaseSync, now: () => number) {
  const ledger = ledgerTable(db);
  const users = new UsageTable(db);
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

  return {
    ledger,

    /** Belongs before the commit of whatever called `admit` or `settle`. */
    write: () => users.write(),
    /** Belongs after the commit, and after a rollback. */
    forget: () => users.forget(),

    admit(admission: Admission): AdmissionResult {
      const { id, userId, limits, units, stream, hold } = admission;
      const user = users.of(userId);
      if (!user) throw new Error(`cannot admit a request of an unknown user: ${userId}`);
      const at = now();
      const before = countsAt(user.counts, at);
      const after = counted(before, units);
      const refusal = refusalOf(admission, user, after);
      // An admission that is repeated has been counted already, perhaps as the last one that fitted.
      if (refusal && !reservation.get(id)) {
        // Kept, or a full count would stay full until the window that is far ahead.
        if (tookAlong(before, user.counts)) {
          user.counts = before;
          users.touch(userId);
        }
        return { ok: false, refusal, windows: windowStates(before, limits) };
      }
      const { day, hour, minute } = after;
      const slot = Number(stream);
      const places = [day.window, hour.window, minute.window] as const;
      const { changes } = reserve.run(id, userId, units, slot, hold, ...places, admission.model, at, user.stopToken);
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
    },

    /**
     * An id that is not running changes nothing: it was settled or given back before. One that was given up is charged
     * all the same; its slot and hold are free already. @returns whether it changed something.
     */
    settle({ id, userId, giveBack, charge, record }: Settlement): boolean {
      if (charge < 0n || (charge > 0n && !record)) {
        throw new RangeError(`settlement ${id}: a charge is not negative and needs a record`);
      }
      const row = release.get(id, userId) as ReservationRow | undefined;
      const write = (record: LedgerRecord) =>
        row ? ledger.append(id, userId, charge, record) : ledger.replaceGivenUp(id, userId, charge, record);
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
        if (giveBack) user.counts = uncounted(user.counts, placesOf(row), Number(row.units));
      }
      users.touch(userId);
      return true;
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
      return windowStates(countsAt(users.peek(userId)?.counts ?? NOTHING, now()), limits);
    },

    running(userId: string) {
      const row = running.get(userId) as Record<"requests" | "streams" | "held", bigint>;
      return { requests: Number(row.requests), streams: Number(row.streams), held: row.held };
    },
  };
}

const NOTHING: Counts = { day: { window: 0, used: 0 }, hour: { window: 0, used: 0 }, minute: { window: 0, used: 0 } };

function placesOf({ day, hour, minute }: ReservationRow): Places {
  return { day: Number(day), hour: Number(hour), minute: Number(minute) };
}

/** The numbers of the windows that a request was counted in. */
export type Places = Readonly<Record<WindowName, number>>;

/** Takes a request out of the windows it was counted in, as far as they are still the current ones. */
export function uncounted({ day, hour, minute }: Counts, places: Places, units: number): Counts {
  return {
    day: less(day, places.day, units),
    hour: less(hour, places.hour, 1),
    minute: less(minute, places.minute, 1),
  };
}

/** Not below 0: after a clock that went back and forth, a window of the same number may have been opened afresh. */
function less(count: Count, window: number, units: number): Count {
  return count.window === window ? { window: count.window, used: Math.max(0, count.used - units) } : count;
}

function refusalOf({ hold, enforceCredits, stream, limits }: Admission, user: Usage, after: Counts): Refusal | null {
  if (enforceCredits && hold > 0n && user.balance - user.held < hold) return "credits";
  const window = exceeded(after, limits);
  if (window) return window;
  return stream && limits.streams !== null && user.streams >= limits.streams ? "streams" : null;
}
