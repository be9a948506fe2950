interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** Time that moves only when told to; `now` and `schedule` fit kit's Host. */
export class ManualClock {
  #time: number;
  readonly #timers = new Set<Timer>();

  constructor(start = Date.UTC(2026, 0, 15, 12, 0, 0)) {
    this.#time = start;
  }

  readonly now = (): number => this.#time;

  readonly schedule = (at: number, callback: () => void): (() => void) => {
    const timer = { at, callback };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  };

  /** Timers that have neither fired nor been cancelled. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves time on, firing what falls due in order; a timer sees the time it was due. */
  advance(milliseconds: number): void {
    const end = this.#time + milliseconds;
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#timers.delete(next);
      this.#time = Math.max(this.#time, next.at);
      next.callback();
    }
    this.#time = end;
  }

  #next(end: number): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= end && (earliest === undefined || timer.at < earliest.at)) earliest = timer;
    }
    return earliest;
  }
}
