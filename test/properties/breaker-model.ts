import type { BreakerSettings, BreakerState } from "../../src/kit/index.ts";

/** What an attempt's end says of an upstream. */
export type Verdict = "good" | "bad" | "nothing";

/** One attempt that was let through, under the state that counts for it. */
interface Attempt {
  readonly born: number;
  answered: boolean;
  ended: boolean;
}

/** Milliseconds. */
type Range = readonly [least: number, most: number];

/**
 * The breaker as one would explain it, with every result kept. What it cannot know is where in its bounds a wait lies,
 * and which results of the window's oldest tenth still count: it takes the former from outside, the latter as it comes.
 */
export class BreakerModel {
  settings: BreakerSettings;
  state: BreakerState = "closed";
  /** All states in order, `closed` at first. */
  readonly history: BreakerState[] = ["closed"];
  readonly attempts: Attempt[] = [];
  #results: { readonly at: number; readonly ok: boolean }[] = [];
  #inARow = 0;
  #openings = 0;
  #closedAt = -Infinity;
  #retryAt = 0;

  constructor(settings: BreakerSettings) {
    this.settings = settings;
  }

  get retryAt(): number {
    return this.#retryAt;
  }

  /** Probes that are out. */
  get probing(): number {
    const isOut = ({ born, ended }: Attempt): boolean => born === this.history.length && !ended;
    return this.state === "half_open" ? this.attempts.filter(isOut).length : 0;
  }

  get lets(): boolean {
    return this.state === "closed" || (this.state === "half_open" && this.probing < this.settings.probes);
  }

  begin(): void {
    this.attempts.push({ born: this.history.length, answered: false, ended: false });
  }

  configure(settings: BreakerSettings): void {
    if (settings.window !== this.settings.window) this.#results = [];
    this.settings = settings;
  }

  passed(now: number): void {
    if (this.state === "open" && now >= this.#retryAt) this.#enter("half_open");
  }

  /** The upstream began to answer: good, though what follows may be bad. */
  answered(index: number, now: number): void {
    const attempt = this.attempts[index]!;
    if (attempt.ended || attempt.answered) return;
    attempt.answered = true;
    if (attempt.born === this.history.length) this.#good(now);
  }

  /** @returns how long the upstream may have to rest from now on; null: it need not. `opened` is what it did. */
  ended(index: number, verdict: Verdict, now: number, opened: boolean): Range | null {
    const attempt = this.attempts[index]!;
    if (attempt.ended) return null;
    if (verdict === "good") this.answered(index, now);
    attempt.ended = true;
    if (verdict !== "bad" || attempt.born !== this.history.length) return null;
    if (this.state === "half_open") return this.#open();
    this.#results.push({ at: now, ok: false });
    this.#inARow += 1;
    const [must, may] = this.#rules(now);
    if (!must && !(may && opened)) return null;
    if (now - this.#closedAt >= this.settings.window) this.#openings = 0;
    return this.#open();
  }

  /** As the breaker has chosen. */
  rest(retryAt: number): void {
    this.#retryAt = retryAt;
  }

  #good(now: number): void {
    if (this.state === "half_open") {
      this.#results = [];
      this.#closedAt = now;
      this.#retryAt = 0;
      this.#enter("closed");
    }
    this.#inARow = 0;
    this.#results.push({ at: now, ok: true });
  }

  /** Whether it has to open, and whether it may: the window's edge is exact to a tenth. */
  #rules(now: number): readonly [must: boolean, may: boolean] {
    const { consecutive, window, ratio, minimum } = this.settings;
    if (this.#inARow >= consecutive) return [true, true];
    const since = (age: number): boolean => {
      const results = this.#results.filter(({ at }) => now - at < age);
      return results.length >= minimum && results.filter(({ ok }) => !ok).length >= ratio * results.length;
    };
    const ages = [0.9 * window, ...this.#results.map(({ at }) => now - at + 1e-6).filter((age) => age > 0.9 * window)];
    const possible = ages.filter((age) => age <= window + 1e-6).map(since);
    return [possible.every(Boolean), possible.some(Boolean)];
  }

  #open(): Range {
    const { openFor, maxOpenFor } = this.settings;
    const wait = Math.min(maxOpenFor, openFor * 2 ** this.#openings);
    this.#openings += 1;
    this.#inARow = 0;
    this.#enter("open");
    return [0.8 * wait, Math.min(maxOpenFor, 1.2 * wait)];
  }

  #enter(state: BreakerState): void {
    this.state = state;
    this.history.push(state);
  }
}
