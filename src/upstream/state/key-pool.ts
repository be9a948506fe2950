import { AttemptError, type Secret } from "../../kit/index.ts";

const REFUSED_REST_MS = 60_000;
const MAX_REFUSED_REST_MS = 600_000;
const RATE_LIMIT_REST_MS = 1_000;
/** A refusal that one user met confirms another user's only within this time. */
const SUSPICION_MS = 600_000;

/** One key of a pool. */
export interface PooledKey {
  readonly value: string;
  /** In the configured list, from 1: logs name a key by it, never by its value. */
  position: number;
  /** Unix milliseconds. */
  parkedUntil: number;
  /** Refusals in a row, each of which doubles the rest. */
  refusals: number;
  /** A refusal that only one user has met so far; null without. */
  suspicion: { readonly userId: string; readonly status: number; readonly at: number } | null;
}

/** How a key does, without its value. */
export interface KeyState extends Pick<PooledKey, "position" | "refusals"> {
  /** Unix milliseconds; null: it does not rest. */
  readonly restsUntil: number | null;
}

/** What a failed request says of its key. */
export interface KeyVerdict {
  /** Another key may succeed. */
  readonly another: boolean;
  /** The key was refused, but the reason may still be the one request. */
  readonly suspected: boolean;
}

/** The API keys of one upstream, used in turn; a key that fails rests for a time that depends on the failure. */
export class KeyPool {
  #keys: readonly PooledKey[] = [];
  #next = 0;

  /** The keys in force from now on; one that was there before keeps its state. No keys at all is one empty key. */
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
   * The next key that does not rest and is not among `tried`; null when there is none. A first request (`tried` empty)
   * is given the key that is free soonest if that is within `maxWait` milliseconds.
   * @throws AttemptError "resting" when every key rests for longer.
   */
  pick(tried: readonly PooledKey[], now: number, maxWait: number): PooledKey | null {
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
    if (wait <= maxWait) return soonest;
    throw new AttemptError("resting", "every key of the upstream rests", { retryAfter: wait });
  }

  /** Whether every key rests for longer than `maxWait` milliseconds, so that nothing would be sent. */
  allResting(now: number, maxWait: number): boolean {
    return this.#keys.length > 0 && this.#keys.every(({ parkedUntil }) => parkedUntil - now > maxWait);
  }

  /**
   * Notes how a key fared. A rate limit and an empty account rest it at once; a refusal once a second user has met the
   * same, for what one user asks can provoke it (moderation, a file of somebody else's).
   */
  failed(key: PooledKey, { failure, retryAfter, status }: AttemptError, userId: string, now: number): KeyVerdict {
    if (failure === "rate_limited") {
      key.parkedUntil = now + (retryAfter ?? RATE_LIMIT_REST_MS);
      return { another: true, suspected: false };
    }
    if (failure === "quota") park(key, now);
    if (failure !== "credentials") return { another: failure === "quota", suspected: false };
    // Nothing was sent: the key is no valid header value, or got no token. With one key alone the breaker counts it.
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

  /** In the order in which they are configured. */
  states(now: number): readonly KeyState[] {
    return this.#keys.map(({ position, refusals, parkedUntil }) => {
      return { position, refusals, restsUntil: parkedUntil > now ? parkedUntil : null };
    });
  }

  /** The values of all keys for a probe, those that do not rest first; changes neither turns nor rests. */
  candidates(now: number): readonly string[] {
    const rests = ({ parkedUntil }: PooledKey): number => Number(parkedUntil > now);
    return this.#keys.toSorted((a, b) => rests(a) - rests(b)).map(({ value }) => value);
  }

  /**
   * @param refused the keys refused for the same request that this one served: the keys were the reason, and they rest.
   */
  served(key: PooledKey, refused: readonly PooledKey[], now: number): void {
    // `parkedUntil` stays: this request may have begun before the failure that parked the key.
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
