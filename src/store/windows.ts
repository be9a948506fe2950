import type { Limits, WindowName, Windows, WindowState } from "../kit/index.ts";

/** How long ledger entries are kept unless `store.retention` is set. */
export const LEDGER_RETENTION_MS = 90 * 86_400_000;

/** Of the audit log. */
export const MAX_AUDIT_ENTRIES = 50_000;

/** Users that one page of a search looks at. */
export const USERS_PER_PAGE = 1_000;

/** Names counted in one window: a flood of names takes no more memory. */
export const MAX_COUNTS_PER_WINDOW = 100_000;

/** Kept of one plugin's values. */
export const MAX_SPACE_BYTES = 64 * 1024 * 1024;

/** Kept answers to one user's requests with idempotency keys, as they are stored. */
export const MAX_USER_ANSWER_BYTES = 64 * 1024 * 1024;

/** Expired idempotency keys that each new one takes away: more than it adds, so that they never pile up. */
export const EXPIRED_KEYS_PER_CALL = 2;

/** What a value takes beside itself, about; what many small ones are bounded by. */
export const VALUE_OVERHEAD_BYTES = 100;

/** Milliseconds. Unix time has no leap seconds, so multiples of these are UTC's own days, hours and minutes. */
export const WINDOW_MS: Readonly<Record<WindowName, number>> = { day: 86_400_000, hour: 3_600_000, minute: 60_000 };

const NAMES = ["day", "hour", "minute"] as const satisfies readonly WindowName[];

/** Use of one calendar window; `window` is its number since the epoch. */
export interface Count {
  readonly window: number;
  readonly used: number;
}

export type Counts = Readonly<Record<WindowName, Count>>;

export const NO_COUNTS: Counts = {
  day: { window: 0, used: 0 },
  hour: { window: 0, used: 0 },
  minute: { window: 0, used: 0 },
};

/** The stored counts as they stand at `now`: a window that has passed counts 0. */
export function countsAt(stored: Counts, now: number): Counts {
  return {
    day: countAt(stored.day, WINDOW_MS.day, now),
    hour: countAt(stored.hour, WINDOW_MS.hour, now),
    minute: countAt(stored.minute, WINDOW_MS.minute, now),
  };
}

/** As `countsAt`, for one window of `length` milliseconds. */
export function countAt(stored: Count, length: number, now: number): Count {
  const window = Math.floor(now / length);
  if (stored.window < window) return { window, used: 0 };
  // The clock went back. By one window: stay in the later one, else a clock that wavers at an edge opens it afresh each
  // time. By more: take the count along, else a clock that was once far ahead locks the user out until then.
  return stored.window - window <= 1 ? stored : { window, used: stored.used };
}

/** Whether a clock that went back took a count along, out of a window that is far ahead of it. */
export function movedBack(counts: Counts, stored: Counts): boolean {
  return NAMES.some((name) => counts[name].window < stored[name].window);
}

/** One request more: `units` of the day, 1 of hour and minute. */
export function counted(counts: Counts, units: number): Counts {
  return {
    day: { window: counts.day.window, used: counts.day.used + units },
    hour: { window: counts.hour.window, used: counts.hour.used + 1 },
    minute: { window: counts.minute.window, used: counts.minute.used + 1 },
  };
}

/** The first window whose limit `counts` exceeds, in the order of precedence. */
export function exceeded(counts: Counts, limits: Limits): WindowName | null {
  if (limits.day !== null && counts.day.used > limits.day) return "day";
  if (limits.hour !== null && counts.hour.used > limits.hour) return "hour";
  return limits.minute !== null && counts.minute.used > limits.minute ? "minute" : null;
}

/** The public view of counts. */
export function windowStates(counts: Counts, limits: Limits): Windows {
  return {
    day: stateOf(counts.day, limits.day, WINDOW_MS.day),
    hour: stateOf(counts.hour, limits.hour, WINDOW_MS.hour),
    minute: stateOf(counts.minute, limits.minute, WINDOW_MS.minute),
  };
}

function stateOf({ window, used }: Count, limit: number | null, length: number): WindowState {
  return { used, limit, resetsAt: (window + 1) * length };
}

/** The numbers of the windows that a request was counted in. */
export type WindowIds = Readonly<Record<WindowName, number>>;

export function windowIdsOf({ day, hour, minute }: Counts): WindowIds {
  return { day: day.window, hour: hour.window, minute: minute.window };
}

/** Takes a request out of the windows it was counted in, as far as they are still the current ones. */
export function uncounted({ day, hour, minute }: Counts, windowIds: WindowIds, units: number): Counts {
  return {
    day: reduced(day, windowIds.day, units),
    hour: reduced(hour, windowIds.hour, 1),
    minute: reduced(minute, windowIds.minute, 1),
  };
}

/** Not below 0: after a clock that went back and forth, a window of the same number may have been opened afresh. */
function reduced(count: Count, window: number, units: number): Count {
  return count.window === window ? { window: count.window, used: Math.max(0, count.used - units) } : count;
}
