import { setImmediate as nextTurn, setTimeout as realTime } from "node:timers/promises";
import { DenseSet } from "../kit/index.ts";
import type { Sweeper, SweptEntry } from "../upstream/send/deadlines.ts";

/** Turns of the event loop without anything happening after which nothing will: longer than the store gathers a commit. */
const IDLE_TURNS = 12;
/** A longer turn was spent on work, such as a long body that is written in parts. */
const IDLE_TURN_MS = 1;
/** Work off the event loop, such as decompression, is not seen by turns: it gets some looks before a deadline passes … */
const LOOK_MS = 2;
const LOOKS_COUNT = 2;
/** … and more while a plugin, which may read a file, has not returned. */
const HOOK_LOOKS_COUNT = 100;
/** A gateway that serves besides is never idle: what is asked of it offline must end all the same. */
const MAX_SETTLING_MS = 1_000;
/** For work that nothing offline can end, such as a plugin that waits for a network. */
const MAX_STUCK_MS = 10_000;

/** For work of which nothing comes though time passes, as with heartbeats of a stream that never ends. */
const MAX_REAL_MS = 60_000;

/** A clock that stands still until everything that can happen at one moment has happened. */
export class VirtualClock implements Sweeper {
  readonly #entries = new DenseSet<SweptEntry>();
  /** Simulated delays: while one runs, nobody else is at work. */
  readonly #pauses = new Set<SweptEntry>();
  readonly #maxRealMs: number;
  #now: number;
  #happened = 0;
  #held = 0;
  #hooks = 0;

  /** @param now Unix milliseconds. @param options.maxRealMs milliseconds after which `until` gives up */
  constructor(now: number, { maxRealMs = MAX_REAL_MS } = {}) {
    this.#now = now;
    this.#maxRealMs = maxRealMs;
  }

  /** Unix milliseconds. */
  readonly now = (): number => this.#now;

  /** Something happened: what follows from it is waited for. */
  readonly touch = (): void => {
    this.#happened += 1;
  };

  watch(entry: SweptEntry): void {
    this.touch();
    this.#entries.add(entry);
  }

  unwatch(entry: SweptEntry): void {
    this.touch();
    this.#entries.delete(entry);
  }

  schedule(at: number, callback: () => void): () => void {
    const cancel = (): void => this.unwatch(entry);
    const entry: SweptEntry = {
      due: at,
      index: -1,
      expire() {
        cancel();
        callback();
      },
    };
    this.watch(entry);
    return cancel;
  }

  /** A delay that is part of what is simulated. @throws when `signal` is aborted */
  readonly pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        this.unwatch(entry);
        this.#pauses.delete(entry);
        signal.removeEventListener("abort", onAbort);
      };
      const onAbort = (): void => {
        end();
        reject(signal.reason);
      };
      const entry: SweptEntry = {
        due: this.#now + milliseconds,
        index: -1,
        expire() {
          end();
          resolve();
        },
      };
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener("abort", onAbort);
      this.#pauses.add(entry);
      this.watch(entry);
    });

  /** A plugin's hook: it may wait for time, and for what is not done on the event loop. */
  async during<Result>(hook: () => Result | Promise<Result>): Promise<Result> {
    this.#hooks += 1;
    try {
      return await hook();
    } finally {
      this.#hooks -= 1;
      this.touch();
    }
  }

  /** The clock stands still until `work`, which is not done on the event loop, has ended. */
  async hold<Result>(work: Promise<Result>): Promise<Result> {
    this.#held += 1;
    try {
      return await work;
    } finally {
      this.#held -= 1;
      this.touch();
    }
  }

  /** Lets everything happen that waits for no time. @param isEnough asked each turn: ends it early. */
  async settle(isEnough: () => boolean = () => false): Promise<void> {
    const giveUpAt = performance.now() + MAX_SETTLING_MS;
    let seen = this.#happened;
    for (let idle = 0; idle < IDLE_TURNS && !isEnough();) {
      const before = performance.now();
      // Turns would take the time of what is waited for.
      await (this.#held === 0 ? nextTurn() : realTime(1));
      const after = performance.now();
      const isIdle = this.#held === 0 && this.#happened === seen && after - before < IDLE_TURN_MS;
      idle = isIdle ? idle + 1 : 0;
      seen = this.#happened;
      if (this.#held === 0 && after > giveUpAt) return;
    }
  }

  /** Lets so much time pass, moment by moment. */
  async advance(milliseconds: number): Promise<void> {
    const until = this.#now + milliseconds;
    for (;;) {
      await this.settle();
      const next = this.#next();
      if (next === null || next.due > until) break;
      this.#passTo(next.due);
    }
    this.#passTo(until);
    await this.settle();
  }

  /** Lets as much time pass as `work` takes. @throws what it throws; Error when it can never end */
  async until<Result>(work: Promise<Result>): Promise<Result> {
    const running = new Set([work]);
    const ended = (): void => {
      running.clear();
      this.touch();
    };
    work.then(ended, ended);
    const begunAt = performance.now();
    let stuckSince: number | null = null;
    while (running.size > 0) {
      await this.settle(() => running.size === 0);
      if (running.size === 0) break;
      if (performance.now() - begunAt > this.#maxRealMs) throw stuck();
      const next = this.#next();
      if (next !== null && this.#pauses.size === 0 && (await this.#happensStill())) continue;
      if (next !== null) {
        this.#passTo(next.due);
        continue;
      }
      stuckSince ??= performance.now();
      if (performance.now() - stuckSince > MAX_STUCK_MS) throw stuck();
      await realTime(1);
    }
    return work;
  }

  /** Whether something that is not done on the event loop has been at work. */
  async #happensStill(): Promise<boolean> {
    const before = this.#happened;
    const looks = this.#hooks > 0 ? HOOK_LOOKS_COUNT : LOOKS_COUNT;
    // Looks, not time: a process that was stopped meanwhile has had none.
    for (let look = 0; look < looks && this.#happened === before; look += 1) await realTime(LOOK_MS);
    return this.#happened !== before;
  }

  #next(): SweptEntry | null {
    let next: SweptEntry | null = null;
    this.#entries.each((entry) => {
      if (entry.due < (next?.due ?? Infinity)) next = entry;
    });
    return next;
  }

  #passTo(at: number): void {
    this.#now = Math.max(this.#now, at);
    this.#entries.each((entry) => {
      if (entry.due <= this.#now) entry.expire(this.#now);
    });
    this.touch();
  }
}

function stuck(): Error {
  return new Error("a request waits for nothing that can happen");
}
