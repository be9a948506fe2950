import type { Admission, AdmissionResult, Limits, Store, WindowName, Windows } from "../kit/index.ts";

/** What a user has used before the room was opened. */
export interface Used {
  readonly windows: Windows;
  /** Streams that run elsewhere. */
  readonly streams: number;
}

const WINDOWS: readonly WindowName[] = ["day", "hour", "minute"];

/**
 * Counters that users bring with them, until their windows end. The store itself begins at nothing: its limits are what
 * the users have left, so that it decides on its own terms.
 */
export class CarriedCounters {
  readonly #now: () => number;
  readonly #users = new Map<string, Used>();

  /** @param now Unix milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  add(userId: string, used: Used): void {
    this.#users.set(userId, used);
  }

  /** The same store, with what was used before. */
  in<Kind extends Store>(store: Kind): Kind {
    const admit = async (admission: Admission): Promise<AdmissionResult> => {
      const { userId, limits } = admission;
      const result = await store.admit({ ...admission, limits: this.#left(userId, limits) });
      return { ...result, windows: this.#whole(userId, limits, result.windows) };
    };
    const windows = async (userId: string, limits: Limits): Promise<Windows> =>
      this.#whole(userId, limits, await store.windows(userId, limits));
    return { ...store, admit, windows };
  }

  /** Of a user in a window that has not ended. */
  #carried(userId: string, name: WindowName): number {
    const window = this.#users.get(userId)?.windows[name];
    return window === undefined || this.#now() >= window.resetsAt ? 0 : window.used;
  }

  #left(userId: string, limits: Limits): Limits {
    const left = (name: WindowName): number | null => {
      const limit = limits[name];
      return limit === null ? null : limit - this.#carried(userId, name);
    };
    const streams = limits.streams === null ? null : limits.streams - (this.#users.get(userId)?.streams ?? 0);
    return { day: left("day"), hour: left("hour"), minute: left("minute"), streams };
  }

  #whole(userId: string, limits: Limits, windows: Windows): Windows {
    const whole = WINDOWS.map((name) => {
      const { used, resetsAt } = windows[name];
      return [name, { used: used + this.#carried(userId, name), limit: limits[name], resetsAt }] as const;
    });
    return Object.fromEntries(whole) as Windows;
  }
}
