import { type CountWindow, inBackground, isStoreUnavailable, type Log, type Store } from "../kit/index.ts";

/** From the start of one batch to the start of the next: a flood of addresses costs the store 100 calls a second from a process. */
const MIN_INTERVAL_MS = 10;
/** Of one batch: bounds the time for which a batch keeps the store busy. */
const MAX_BATCH_COUNT = 500;
/** Reports that wait for a batch. */
const MAX_WAITING_COUNT = 10_000;
/** Requests wait for a batch no longer than this, which a store that answers is far from. */
const ANSWER_TIMEOUT_MS = 250;
/** After a batch that failed, none is sent for so long. */
const FAILURE_PAUSE_MS = 1_000;

/** What a batch reports to the store of one counter. */
export interface CountReport {
  readonly window: CountWindow;
  readonly name: string;
  /** Called as the batch begins. @returns what is added to the counter. */
  uses(): number;
  /**
   * The counter afterwards, or null when it cannot be had in time; a batch whose answer is late is
   * reported after all, by a second call.
   */
  answered(total: number | null): void;
}

/** Adds to counters that processes share, many at a time: one call of the store after the other. */
export class CountBatches {
  readonly #addCounts: Store["addCounts"];
  readonly #log: Log;
  readonly #waiting: CountReport[] = [];
  #beganAt = -Infinity;
  #timer: NodeJS.Timeout | null = null;
  #underWay = false;
  #failing = false;

  constructor(addCounts: Store["addCounts"], log: Log) {
    this.#addCounts = addCounts;
    this.#log = log;
  }

  /** Whether the store is to be asked: not while it does not answer, nor when too many wait already. */
  get open(): boolean {
    return !this.#failing && this.#waiting.length < MAX_WAITING_COUNT;
  }

  add(report: CountReport): void {
    this.#waiting.push(report);
    this.#next();
  }

  #next(): void {
    if (this.#underWay || this.#timer !== null || this.#waiting.length === 0) return;
    // A batch takes along what comes in the same turn of the event loop.
    const wait = Math.max(0, MIN_INTERVAL_MS - (performance.now() - this.#beganAt));
    this.#timer = setTimeout(() => {
      this.#timer = null;
      inBackground(this.#log, "counting for all processes", this.#send());
    }, wait).unref();
  }

  async #send(): Promise<void> {
    const [first] = this.#waiting;
    if (first === undefined) return;
    this.#beganAt = performance.now();
    this.#underWay = true;
    const batch = this.#take(first.window);
    const late = setTimeout(() => this.#fail(batch), ANSWER_TIMEOUT_MS).unref();
    const totals = await this.#ask(first.window, batch);
    clearTimeout(late);
    if (totals === null) {
      this.#fail(batch);
      setTimeout(() => {
        this.#failing = false;
      }, FAILURE_PAUSE_MS).unref();
    } else {
      this.#failing = false;
      for (const [index, report] of batch.entries()) report.answered(totals[index] ?? null);
    }
    this.#underWay = false;
    this.#next();
  }

  /** @returns null when the store does not answer. */
  async #ask(window: CountWindow, batch: readonly CountReport[]): Promise<readonly (number | null)[] | null> {
    try {
      return await this.#addCounts(
        window,
        batch.map((report) => ({ name: report.name, uses: report.uses() })),
      );
    } catch (error) {
      // That it is away is in the log already.
      if (!isStoreUnavailable(error)) this.#log.error({ err: error }, "each process counts its requests for itself");
      return null;
    }
  }

  /** The first of those that wait, as far as they are of the same window. */
  #take({ name, length, endsAt }: CountWindow): CountReport[] {
    const isOther = ({ window }: CountReport): boolean =>
      window.endsAt !== endsAt || window.length !== length || window.name !== name;
    const other = this.#waiting.slice(0, MAX_BATCH_COUNT).findIndex(isOther);
    return this.#waiting.splice(0, other < 0 ? MAX_BATCH_COUNT : other);
  }

  /** Nobody waits any longer, whether or not their batch has begun. */
  #fail(batch: readonly CountReport[]): void {
    this.#failing = true;
    for (const report of [...batch, ...this.#waiting.splice(0)]) report.answered(null);
  }
}
