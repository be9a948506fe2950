import { AttemptError, type Secret } from "../kit/index.ts";

const CREDENTIALS_PARK = 60_000;
const CREDENTIALS_PARK_MAXIMUM = 600_000;
const RATE_LIMIT_PARK = 1_000;

/** One key of a pool and why it rests. */
export interface PooledKey {
  readonly value: string;
  /** In the configured list, from 1: what a log may say of a key. */
  position: number;
  /** Unix milliseconds. */
  parkedUntil: number;
  cause: AttemptError | null;
  /** Refusals in a row, each of which doubles the rest. */
  refusals: number;
}

/** The API keys of one upstream, in turn; a key that fails rests for as long as its failure class says. */
export class KeyPool {
  #keys: readonly PooledKey[] = [];
  #next = 0;

  /** The keys in force from now on; one that was there before keeps its rest. No keys at all is one empty key. */
  adopt(secrets: readonly Secret[]): void {
    const before = new Map(this.#keys.map((key) => [key.value, key]));
    const values = secrets.length === 0 ? [""] : new Set(secrets.map((secret) => secret.reveal()));
    this.#keys = Array.from(values, (value, index) => {
      const key = before.get(value) ?? { value, position: 0, parkedUntil: -Infinity, cause: null, refusals: 0 };
      key.position = index + 1;
      return key;
    });
  }

  /**
   * The next key that does not rest and is not among `tried`; null when there is none. A first try (`tried` empty) is
   * given the key that is free soonest if that is within `patience` milliseconds.
   * @throws AttemptError of the soonest key's class when every key rests for longer.
   */
  pick(tried: readonly PooledKey[], now: number, patience: number): PooledKey | null {
    const keys = this.#keys;
    let soonest: PooledKey | null = null;
    for (let step = 0; step < keys.length; step += 1) {
      const index = (this.#next + step) % keys.length;
      const key = keys[index];
      if (key === undefined || tried.includes(key)) continue;
      if (key.parkedUntil <= now) {
        this.#next = index + 1;
        return key;
      }
      if (soonest === null || key.parkedUntil < soonest.parkedUntil) soonest = key;
    }
    if (soonest === null || tried.length > 0) return null;
    const wait = soonest.parkedUntil - now;
    if (wait <= patience || soonest.cause === null) return soonest;
    const { failure, message, status } = soonest.cause;
    throw new AttemptError(failure, message, { status, retryAfter: wait, cause: soonest.cause });
  }

  /** Notes how a key fared; true when another key may fare better. */
  failed(key: PooledKey, error: AttemptError, now: number): boolean {
    if (error.failure === "rate_limited") {
      park(key, now + (error.retryAfter ?? RATE_LIMIT_PARK), error);
      return true;
    }
    // A 404 is about the model, not the key.
    if (error.failure !== "credentials" || error.status === 404) return false;
    // A lone key that rested would turn one refusal into a minute of them.
    if (this.#keys.length > 1) {
      park(key, now + Math.min(CREDENTIALS_PARK_MAXIMUM, CREDENTIALS_PARK * 2 ** key.refusals), error);
      key.refusals += 1;
    }
    return true;
  }

  /** Every key's value in the order in which to show that one of them is good; nobody's turn or rest changes. */
  candidates(now: number): readonly string[] {
    const rests = ({ parkedUntil }: PooledKey): number => Number(parkedUntil > now);
    return this.#keys.toSorted((a, b) => rests(a) - rests(b)).map(({ value }) => value);
  }

  served(key: PooledKey): void {
    // Its rest stays: this may be the answer to a request from before the failure.
    key.refusals = 0;
  }
}

function park(key: PooledKey, until: number, cause: AttemptError): void {
  key.parkedUntil = until;
  key.cause = cause;
}
