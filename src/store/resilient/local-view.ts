import type { Admission, AdmissionResult, Limits, WindowName, Windows } from "../../kit/index.ts";
import {
  type Count,
  counted,
  type Counts,
  countsAt,
  exceeded,
  movedBack,
  NO_COUNTS,
  uncounted,
  WINDOW_MS,
  type WindowIds,
  windowIdsOf,
  windowStates,
} from "../windows.ts";

/** Users whose windows are remembered. */
const MAX_USERS = 10_000;

interface Seen {
  counts: Counts;
  stopToken: number;
}

/** A request that was admitted here and not by the store. */
export interface Local {
  readonly admission: Admission;
  /** Whether the store was asked first, and may have admitted it without an answer. */
  readonly asked: boolean;
  readonly windowIds: WindowIds;
}

interface Running {
  readonly userId: string;
  readonly stream: boolean;
  /** null: the store admitted it. */
  readonly local: Local | null;
}

/**
 * What this process has seen of its users, to go by while the store is away: their windows, and the streams it runs for
 * them. Credits are not known here.
 */
export class LocalView {
  readonly #now: () => number;
  /** The least recently used first. */
  readonly #users = new Map<string, Seen>();
  readonly #running = new Map<string, Running>();
  readonly #streams = new Map<string, number>();
  #size = 0;

  /** @param now Unix milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Requests that run without the store. */
  get size(): number {
    return this.#size;
  }

  /** @param ahead whether requests admitted here are not replayed yet: then the larger count is kept. */
  saw(userId: string, windows: Windows, ahead: boolean): void {
    const user = this.#user(userId);
    const counts = countsOf(windows);
    user.counts = ahead ? larger(counts, user.counts) : counts;
  }

  sawStopToken(userId: string, token: number): void {
    const user = this.#users.get(userId);
    if (user && token > user.stopToken) user.stopToken = token;
  }

  /** The store admitted a request. */
  began({ id, userId, stream }: Admission): void {
    if (stream && !this.#running.has(id)) this.#start(id, { userId, stream, local: null });
  }

  /** As the store would, but for credits and versions. @param asked as in `Local`. */
  admit(admission: Admission, asked: boolean): AdmissionResult {
    const { id, userId, limits, units, stream } = admission;
    const user = this.#user(userId);
    const before = countsAt(user.counts, this.#now());
    const states = (counts: Counts) => windowStates(counts, limits);
    if (this.#running.has(id)) return { ok: true, windows: states(before), stopToken: user.stopToken };
    const after = counted(before, units);
    const full = stream && limits.streams !== null && (this.#streams.get(userId) ?? 0) >= limits.streams;
    const refusal = exceeded(after, limits) ?? (full ? "streams" : null);
    if (refusal) {
      // As in the store: a full count would stay full until the window that is far ahead.
      if (movedBack(before, user.counts)) user.counts = before;
      return { ok: false, refusal, windows: states(before) };
    }
    user.counts = after;
    this.#start(id, { userId, stream, local: { admission, asked, windowIds: windowIdsOf(after) } });
    return { ok: true, windows: states(after), stopToken: user.stopToken };
  }

  /** Frees the stream slot of a request that is still to be settled. @returns whether it was admitted here. */
  release(id: string): boolean {
    const running = this.#running.get(id);
    if (!running) return false;
    if (running.stream) this.#count(running.userId, -1);
    this.#running.set(id, { ...running, stream: false });
    return running.local !== null;
  }

  /** Frees what the request took here. @returns how it was admitted; null: by the store. */
  end(id: string, giveBack: boolean): Local | null {
    const running = this.#running.get(id);
    if (!running) return null;
    this.#running.delete(id);
    const { userId, stream, local } = running;
    if (stream) this.#count(userId, -1);
    if (local === null) return null;
    this.#size--;
    const user = this.#users.get(userId);
    if (giveBack && user) user.counts = uncounted(user.counts, local.windowIds, local.admission.units);
    return local;
  }

  windows(userId: string, limits: Limits): Windows {
    return windowStates(countsAt(this.#users.get(userId)?.counts ?? NO_COUNTS, this.#now()), limits);
  }

  #user(userId: string): Seen {
    const user = this.#users.get(userId) ?? { counts: NO_COUNTS, stopToken: 0 };
    this.#users.delete(userId);
    this.#users.set(userId, user);
    if (this.#users.size > MAX_USERS) {
      const [oldest] = this.#users.keys();
      if (oldest !== undefined) this.#users.delete(oldest);
    }
    return user;
  }

  #start(id: string, running: Running): void {
    this.#running.set(id, running);
    if (running.stream) this.#count(running.userId, 1);
    if (running.local) this.#size++;
  }

  #count(userId: string, by: number): void {
    const streams = (this.#streams.get(userId) ?? 0) + by;
    if (streams === 0) this.#streams.delete(userId);
    else this.#streams.set(userId, streams);
  }
}

/** The counts behind their public view. */
export function countsOf(windows: Windows): Counts {
  const count = (name: WindowName): Count => {
    const { used, resetsAt } = windows[name];
    return { window: resetsAt / WINDOW_MS[name] - 1, used };
  };
  return { day: count("day"), hour: count("hour"), minute: count("minute") };
}

function larger(a: Counts, b: Counts): Counts {
  const count = (name: WindowName): Count => {
    const { window, used } = a[name];
    return window === b[name].window ? { window, used: Math.max(used, b[name].used) } : a[name];
  };
  return { day: count("day"), hour: count("hour"), minute: count("minute") };
}
