import { AttemptError, type Secret } from "../../kit/index.ts";

const REFUSED_REST_MS = 60_000;
const MAX_REFUSED_REST_MS = 600_000;
const RATE_LIMIT_REST_MS = 1_000;
/** What one user met is no longer held against a key when another meets it later than this. */
const SUSPICION_MS = 600_000;

/** One key of a pool and why it rests. */
export interface PooledKey {
  readonly value: string;
  /** In the configured list, from 1: what a log may say of a key. */
  position: number;
  /** Unix milliseconds. */
  parkedUntil: number;
  /** Refusals in a row, each of which doubles the park. */
  refusals: number;
  /** A refusal that only one user has met so far; null without. */
  suspicion: { readonly userId: string; readonly status: number; readonly at: number } | null;
}

/** What a failed try says of its key. */
export interface KeyVerdict {
  /** Another key may fare better. */
  readonly another: boolean;
  /** The key was refused, but nothing shows yet that it was not for the one request's sake. */
  readonly suspected: boolean;
}

/** The API keys of one upstream, in turn; a key that fails rests for as long as its failure class says. */
export class KeyPool {
  #keys: readonly PooledKey[] = [];
  #next = 0;

  /** The keys in force from now on; one that was there before keeps its park. No keys at all is one empty key. */
  adopt(secrets: readonly Secret[]): void {
    const before = new Map(this.#keys.map((key) => [key.value, key]));
    const values = secrets.length === 0 ? [""] : new Set(secrets.map((secret) => secret.reveal()));
    this.#keys = Array.from(values, (value, index) => {
      const key = before.get(value) ?? {
        value,
        position: 0,
        parkedUntil: -Infinity,
        refusals: 0,
        suspicion: null,
      };
      key.position = index + 1;
      return key;
    });
  }

  /**
   * The next key that does not park and is not among `tried`; null when there is none. A first try (`tried` empty) is
   * given the key that is free soonest if that is within `patience` milliseconds.
   * @throws AttemptError "resting" when every key rests for longer.
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
    if (wait <= patience) return soonest;
    throw new AttemptError("resting", "every key of the upstream rests", { retryAfter: wait });
  }

  /** Whether every key rests for longer than `patience` milliseconds, so that nothing would be sent. */
  allResting(now: number, patience: number): boolean {
    return this.#keys.length > 0 && this.#keys.every(({ parkedUntil }) => parkedUntil - now > patience);
  }

  /**
   * Notes how a key fared. A rate limit and an empty account park it at once; a refusal once a second user has met the
   * same, for what one user asks can provoke it (moderation, a file of somebody else's; decisions 5.1a).
   */
  failed(key: PooledKey, { failure, retryAfter, status }: AttemptError, userId: string, now: number): KeyVerdict {
    if (failure === "rate_limited") {
      key.parkedUntil = now + (retryAfter ?? RATE_LIMIT_REST_MS);
      return { another: true, suspected: false };
    }
    if (failure === "quota") park(key, now);
    if (failure !== "credentials") return { another: failure === "quota", suspected: false };
    // No answer to a request: the key could not be sent, or no token was had for it. Of a lone one the breaker hears.
    if (status === 0) {
      if (this.#keys.length > 1) park(key, now);
      return { another: true, suspected: false };
    }
    const { suspicion } = key;
    const confirmed =
      suspicion !== null &&
      suspicion.userId !== userId &&
      suspicion.status === status &&
      now - suspicion.at < SUSPICION_MS;
    if (confirmed) park(key, now);
    else if (suspicion?.userId !== userId || suspicion.status !== status) key.suspicion = { userId, status, at: now };
    return { another: true, suspected: !confirmed };
  }

  /** Every key's value in the order in which to show that one of them is good; nobody's turn or park changes. */
  candidates(now: number): readonly string[] {
    const rests = ({ parkedUntil }: PooledKey): number => Number(parkedUntil > now);
    return this.#keys.toSorted((a, b) => rests(a) - rests(b)).map(({ value }) => value);
  }

  /** @param refused the keys that were refused the very request that this one serves: it is theirs, and they park. */
  served(key: PooledKey, refused: readonly PooledKey[], now: number): void {
    // Its park stays: this may be the answer to a request from before the failure.
    key.refusals = 0;
    key.suspicion = null;
    for (const other of refused) park(other, now);
  }
}

function park(key: PooledKey, now: number): void {
  key.parkedUntil = now + Math.min(MAX_REFUSED_REST_MS, REFUSED_REST_MS * 2 ** key.refusals);
  key.refusals += 1;
  key.suspicion = null;
}
