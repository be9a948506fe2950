import { type CountWindow, inBackground, isStoreUnavailable, type Log, type Store } from "../kit/index.ts";

/** Between the beginnings of two rounds: a flood of addresses costs the store 100 calls a second from a process. */
const GAP_MS = 10;
/** Of one round: bounds the time for which a round keeps the store busy. */
const MOST_IN_A_ROUND = 500;
/** That wait for a round. */
const MOST_WAITING = 10_000;
/** Requests wait for a round no longer than this, which a store that answers is far from. */
const PATIENCE_MS = 250;
/** After a round that failed none is begun for so long. */
const PAUSE_MS = 1_000;

/** What a round tells the store of one counter. */
export interface Told {
  readonly window: CountWindow;
  readonly name: string;
  /** Called as the round begins. @returns what is added to the counter. */
  uses(): number;
  /**
   * The counter afterwards, or null when it cannot be had in time; a round that comes in late is told after all, once
   * more.
   */
  answered(total: number | null): void;
}

/** Adds to counters that processes share, many at a time: one call of the store after the other. */
export class CountRounds {
  readonly #addCounts: Store["addCounts"];
  readonly #log: Log;
  readonly #waiting: Told[] = [];
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
    return !this.#failing && this.#waiting.length < MOST_WAITING;
  }

  add(told: Told): void {
    this.#waiting.push(told);
    this.#next();
  }

  #next(): void {
    if (this.#underWay || this.#timer !== null || this.#waiting.length === 0) return;
    // A round takes along what comes in the same turn of the event loop.
    const wait = Math.max(0, GAP_MS - (performance.now() - this.#beganAt));
    this.#timer = setTimeout(() => {
      this.#timer = null;
      inBackground(this.#log, "counting for all processes", this.#round());
    }, wait).unref();
  }

  async #round(): Promise<void> {
    const [first] = this.#waiting;
    if (first === undefined) return;
    this.#beganAt = performance.now();
    this.#underWay = true;
    const round = this.#take(first.window);
    const late = setTimeout(() => this.#fail(round), PATIENCE_MS).unref();
    const totals = await this.#ask(first.window, round);
    clearTimeout(late);
    if (totals === null) {
      this.#fail(round);
      setTimeout(() => {
        this.#failing = false;
      }, PAUSE_MS).unref();
    } else {
      this.#failing = false;
      for (const [index, told] of round.entries()) told.answered(totals[index] ?? null);
    }
    this.#underWay = false;
    this.#next();
  }

  /** @returns null when the store does not answer. */
  async #ask(window: CountWindow, round: readonly Told[]): Promise<readonly (number | null)[] | null> {
    try {
      return await this.#addCounts(
        window,
        round.map((told) => ({ name: told.name, uses: told.uses() })),
      );
    } catch (error) {
      // That it is away is in the log already.
      if (!isStoreUnavailable(error)) this.#log.error({ err: error }, "each process counts its requests for itself");
      return null;
    }
  }

  /** The first of those that wait, as far as they are of the same window. */
  #take({ name, length, endsAt }: CountWindow): Told[] {
    const isOther = ({ window }: Told): boolean =>
      window.endsAt !== endsAt || window.length !== length || window.name !== name;
    const other = this.#waiting.slice(0, MOST_IN_A_ROUND).findIndex(isOther);
    return this.#waiting.splice(0, other < 0 ? MOST_IN_A_ROUND : other);
  }

  /** Nobody waits any longer, whether or not their round has begun. */
  #fail(round: readonly Told[]): void {
    this.#failing = true;
    for (const told of [...round, ...this.#waiting.splice(0)]) told.answered(null);
  }
}
