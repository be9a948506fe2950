import { AttemptError, type Secret } from "../../kit/index.ts";

const REFUSED_REST_MS = 60_000;
const MAX_REFUSED_REST_MS = 600_000;
const RATE_LIMIT_REST_MS = 1_000;
/** Whatever a provider asks for: an account whose limit was raised is soon tried again. */
const MAX_TOLD_REST_MS = 300_000;
/** A refusal that one user met confirms another user's only within this time. */
const SUSPICION_MS = 600_000;
/** Bound of one key's models with a cooldown, and of its remembered refusals. */
const MAX_ENTRIES_COUNT = 256;

/** One cooldown of a key, for all models or for one. */
interface Rest {
  /** Unix milliseconds. */
  until: number;
  /** Refusals in a row, each of which doubles the rest. */
  refusals: number;
  /** For operators. */
  reason: string;
  isRefusal: boolean;
}

/** A refusal that somebody met; which other ones confirm it, `failed` says. */
interface Refusal {
  readonly userId: string;
  readonly model: string;
  readonly status: number;
  readonly at: number;
}

/** One key of a pool. */
export interface PooledKey {
  readonly value: string;
  /** In the configured list, from 1: logs name a key by it, never by its value. */
  position: number;
  /** For all models. */
  readonly whole: Rest;
  readonly models: Map<string, Rest>;
  refusals: readonly Refusal[];
  /** The models whose refusals have rested the whole key, until one request tells whether that was right. */
  restedBy: readonly string[];
  /** Models that are refused while others are served, and until when that is believed: they say nothing of the key. */
  readonly apart: Map<string, number>;
}

/** How a key does, without its value. */
export interface KeyState {
  readonly position: number;
  /** In a row. */
  readonly refusals: number;
  /** Unix milliseconds; null: it does not rest, but for single models perhaps. */
  readonly restsUntil: number | null;
}

/** One cooldown, for operators. */
export interface Cooldown {
  readonly scope: "key" | "key_model";
  /** Place of the key in the configured list, from 1. */
  readonly key: number;
  readonly model: string | null;
  readonly reason: string;
  /** Unix milliseconds. */
  readonly until: number;
}

/** What a failed request says of its key. */
export interface KeyVerdict {
  /** Another key may succeed. */
  readonly another: boolean;
  /** The key was refused, but the reason may still be the one request. */
  readonly suspected: boolean;
}

const SUSPECTED: KeyVerdict = { another: true, suspected: true };
const RESTED: KeyVerdict = { another: true, suspected: false };
const NOT_THE_KEY: KeyVerdict = { another: false, suspected: false };

/**
 * The API keys of one upstream, used in turn. A key that fails rests for a time that depends on the failure, for as many
 * models as the failure is evidence for: mostly the one that was asked for.
 */
export class KeyPool {
  #keys: readonly PooledKey[] = [];
  #next = 0;

  /** The keys in force from now on; one that was there before keeps its state. No keys at all is one empty key. */
  adopt(secrets: readonly Secret[]): void {
    const before = new Map(this.#keys.map((key) => [key.value, key]));
    const values = secrets.length === 0 ? [""] : new Set(secrets.map((secret) => secret.reveal()));
    this.#keys = Array.from(values, (value, index) => {
      const key = before.get(value) ?? newKey(value);
      key.position = index + 1;
      return key;
    });
  }

  /**
   * The next key that does not rest for the model and is not among `tried`; null without such a key. A first request
   * (`tried` empty) is given the key that is free soonest if that is within `maxWait` milliseconds.
   * @throws AttemptError "resting" when every key rests for longer.
   */
  pick(model: string, tried: readonly PooledKey[], now: number, maxWait: number): PooledKey | null {
    const keys = this.#keys;
    let soonest: PooledKey | null = null;
    let soonestAt = Infinity;
    for (let step = 0; step < keys.length; step += 1) {
      const index = (this.#next + step) % keys.length;
      const key = keys[index];
      if (key === undefined || tried.includes(key)) continue;
      const until = restsUntil(key, model);
      if (until <= now) {
        this.#next = index + 1;
        return key;
      }
      if (until < soonestAt) [soonest, soonestAt] = [key, until];
    }
    if (soonest === null || tried.length > 0) return null;
    const wait = soonestAt - now;
    if (wait <= maxWait) return soonest;
    throw new AttemptError("resting", "every key of the upstream rests", { retryAfter: wait });
  }

  /**
   * Whether every key rests for longer than `maxWait` milliseconds, so that nothing would be sent.
   * @param model by default all models.
   */
  allResting(now: number, maxWait: number, model?: string): boolean {
    return this.#keys.length > 0 && this.#keys.every((key) => restsUntil(key, model) - now > maxWait);
  }

  /**
   * Notes how a key fared. A rate limit rests it for the model, and for all models when it is the account's or a second
   * model meets one. An empty account rests it for all. A refusal rests it once a second user has met the same, for what
   * one user asks can provoke it (moderation, a file of somebody else's): a 403 for the model, until another model meets
   * the same, any other for all models.
   */
  failed(key: PooledKey, model: string, error: AttemptError, userId: string, now: number): KeyVerdict {
    const { failure, status } = error;
    if (failure === "rate_limited") {
      limit(key, model, error, now);
      return RESTED;
    }
    if (failure === "quota") {
      park(key.whole, `the account has nothing left${told(error)}`, error, now);
      return RESTED;
    }
    if (failure !== "credentials") return NOT_THE_KEY;
    // Nothing was sent: the key is no valid header value, or got no token. With one key alone the breaker counts it.
    if (status === 0) {
      if (this.#keys.length > 1) park(key.whole, "no request can be signed with it", error, now);
      return RESTED;
    }
    const known = key.refusals.filter(({ at }) => now - at < SUSPICION_MS);
    const others = known.filter((one) => one.userId !== userId && one.status === status);
    const isSame = (one: Refusal): boolean => one.userId === userId && one.status === status && one.model === model;
    const kept = known.filter((one) => !isSame(one)).slice(1 - MAX_ENTRIES_COUNT);
    key.refusals = [...kept, { userId, model, status, at: now }];
    if (isOfKey(status)) {
      if (others.length === 0) return SUSPECTED;
      refuse(key, null, error, now);
      return RESTED;
    }
    const elsewhere = others.filter((one) => one.model !== model && !isApart(key, one.model, now));
    if (elsewhere.length > 0 && !isApart(key, model, now)) refuseAll(key, [model, elsewhere[0]!.model], error, now);
    else if (others.some((one) => one.model === model)) refuse(key, model, error, now);
    else return SUSPECTED;
    return RESTED;
  }

  /** In the order in which they are configured. */
  states(now: number): readonly KeyState[] {
    return this.#keys.map(({ position, whole: { refusals, until } }) => {
      return { position, refusals, restsUntil: until > now ? until : null };
    });
  }

  /** In the order of the keys, those of a whole key first. */
  cooldowns(now: number): readonly Cooldown[] {
    return this.#keys.flatMap(({ position: key, whole, models }) => {
      const all = [[null, whole] as const, ...models].filter(([, { until }]) => until > now);
      return all.map(([model, { reason, until }]): Cooldown => {
        return { scope: model === null ? "key" : "key_model", key, model, reason, until };
      });
    });
  }

  /** Ends every cooldown, and forgets what would lead to the next. @returns how many there were. */
  clear(now: number): number {
    const ended = this.cooldowns(now).length;
    for (const key of this.#keys) {
      Object.assign(key.whole, newRest());
      key.models.clear();
      key.apart.clear();
      key.refusals = [];
      key.restedBy = [];
    }
    return ended;
  }

  /** Rests every key for the model, as an offline gateway is told that they do. */
  rest(model: string, until: number, reason: string, now: number): void {
    for (const key of this.#keys) Object.assign(restOf(key, model, now), { until, reason });
  }

  /** The values of all keys for a probe, those that do not rest first; changes neither turns nor rests. */
  candidates(now: number): readonly string[] {
    const rests = ({ whole }: PooledKey): number => Number(whole.until > now);
    return this.#keys.toSorted((a, b) => rests(a) - rests(b)).map(({ value }) => value);
  }

  /**
   * @param refused the keys refused for the same request that this one served, with what they were refused by: the keys
   * were the reason, and they rest.
   */
  served(key: PooledKey, model: string, refused: readonly RefusedKey[], now: number): void {
    // The rests stay: this request may have begun before the failure that made them.
    key.whole.refusals = 0;
    const rest = key.models.get(model);
    if (rest !== undefined) rest.refusals = 0;
    if (key.refusals.length > 0) {
      key.refusals = key.refusals.filter((one) => !isOfKey(one.status) && one.model !== model);
    }
    if (key.restedBy.length > 0) noteApart(key, model, now);
    for (const { key: other, error } of refused) refuse(other, isOfKey(error.status) ? null : model, error, now);
  }
}

export interface RefusedKey {
  readonly key: PooledKey;
  readonly error: AttemptError;
}

/** A 403 is often about a model that the account may not call. */
function isOfKey(status: number): boolean {
  return status !== 403;
}

function newRest(): Rest {
  return { until: -Infinity, refusals: 0, reason: "", isRefusal: false };
}

function newKey(value: string): PooledKey {
  return { value, position: 0, whole: newRest(), models: new Map(), refusals: [], restedBy: [], apart: new Map() };
}

function restsUntil({ whole, models }: PooledKey, model: string | undefined): number {
  const rest = model === undefined || models.size === 0 ? undefined : models.get(model);
  return rest === undefined ? whole.until : Math.max(whole.until, rest.until);
}

/** The rest of one model, made on first use. Those that have ended make room. */
function restOf({ models }: PooledKey, model: string, now: number): Rest {
  const known = models.get(model);
  if (known !== undefined) return known;
  if (models.size >= MAX_ENTRIES_COUNT) {
    for (const [name, { until }] of models) if (until <= now) models.delete(name);
    const [soonest] = [...models].toSorted(([, a], [, b]) => a.until - b.until);
    if (models.size >= MAX_ENTRIES_COUNT && soonest !== undefined) models.delete(soonest[0]);
  }
  const made = newRest();
  models.set(model, made);
  return made;
}

/** One that ends later stays: it may be of a request that was sent after this one. */
function extend(rest: Rest, until: number, reason: string, isRefusal: boolean): void {
  if (until < rest.until) return;
  Object.assign(rest, { until, reason, isRefusal });
}

/** As long as the provider says, else longer with each refusal in a row. */
function park(rest: Rest, reason: string, { retryAfter }: AttemptError, now: number): void {
  const known = Math.min(MAX_REFUSED_REST_MS, REFUSED_REST_MS * 2 ** rest.refusals);
  const wait = retryAfter === null ? known : Math.min(MAX_TOLD_REST_MS, retryAfter);
  extend(rest, now + wait, reason, true);
  rest.refusals += 1;
}

function limit(key: PooledKey, model: string, error: AttemptError, now: number): void {
  const until = now + Math.min(MAX_TOLD_REST_MS, error.retryAfter ?? RATE_LIMIT_REST_MS);
  if (error.ofAccount) return extend(key.whole, until, `rate limit of the account${told(error)}`, false);
  const isLimited = ([name, rest]: readonly [string, Rest]): boolean =>
    name !== model && rest.until > now && !rest.isRefusal;
  if ([...key.models].some(isLimited)) {
    extend(key.whole, until, `rate limit that a second model has met${told(error)}`, false);
  }
  extend(restOf(key, model, now), until, `rate limit${told(error)}`, false);
}

/** @param model null: for all. */
function refuse(key: PooledKey, model: string | null, error: AttemptError, now: number): void {
  if (model === null) {
    key.refusals = [];
    return park(key.whole, `the provider refuses the key${told(error)}`, error, now);
  }
  const isRefused = ([name, rest]: readonly [string, Rest]): boolean =>
    name !== model && rest.until > now && rest.isRefusal && !isApart(key, name, now);
  const other = isApart(key, model, now) ? undefined : [...key.models].find(isRefused);
  if (other !== undefined) return refuseAll(key, [model, other[0]], error, now);
  if (key.apart.has(model)) key.apart.set(model, now + SUSPICION_MS);
  park(restOf(key, model, now), `the provider refuses the key for this model${told(error)}`, error, now);
}

function refuseAll(key: PooledKey, models: readonly string[], error: AttemptError, now: number): void {
  key.restedBy = models;
  park(key.whole, `the provider refuses the key for a second model${told(error)}`, error, now);
}

/** The key serves other models: those that had rested it are refused for themselves alone. */
function noteApart(key: PooledKey, served: string, now: number): void {
  const { apart, restedBy, whole } = key;
  // It may have begun before the rest.
  if (whole.until > now) return;
  key.restedBy = [];
  if (restedBy.includes(served)) return;
  for (const [name, until] of apart) if (until <= now || apart.size >= MAX_ENTRIES_COUNT) apart.delete(name);
  for (const name of restedBy) apart.set(name, now + SUSPICION_MS);
}

function isApart({ apart }: PooledKey, model: string, now: number): boolean {
  return (apart.get(model) ?? -Infinity) > now;
}

/** The provider's status and identifiers; its own words may quote what a client sent. */
function told({ status, reason }: AttemptError): string {
  const parts = [status > 0 ? String(status) : "", reason].filter(Boolean);
  return parts.length === 0 ? "" : ` (${parts.join(" ")})`;
}
