/** Half past noon and five seconds: no calendar window ends while a test runs. */
const START = Date.UTC(2026, 0, 15, 12, 30, 5);

/** The gateway's clock: it runs like the real one, from a fixed time, and can be stopped or moved on. */
export class TestClock {
  #time = START;
  #since: number | null = performance.now();

  readonly now = (): number => this.#time + (this.#since === null ? 0 : Math.floor(performance.now() - this.#since));

  /** Timeouts stand still too. */
  stop(): void {
    this.#time = this.now();
    this.#since = null;
  }

  /** Runs on from where it stopped. */
  start(): void {
    this.#time = this.now();
    this.#since = performance.now();
  }

  advance(milliseconds: number): void {
    this.#time += milliseconds;
  }

  /** Whole seconds until the calendar window ends. */
  secondsLeft(window: "day" | "hour" | "minute"): number {
    const length = { day: 86_400_000, hour: 3_600_000, minute: 60_000 }[window];
    return Math.ceil((length - (this.now() % length)) / 1000);
  }
}
