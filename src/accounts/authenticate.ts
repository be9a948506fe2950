import { LRUCache } from "lru-cache";
import {
  type Awaitable,
  type Identities,
  isExpired,
  isStoreUnavailable,
  type Principal,
  type Store,
} from "../kit/index.ts";
import { digest, isKeyShaped } from "./api-keys.ts";
import type { Tokens } from "./tokens.ts";

const FLUSH_MS = 30_000;

export interface AuthenticationOptions {
  readonly store: Store;
  readonly tokens: Pick<Tokens, "verify">;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Whether keys looked up before are accepted while the store does not answer. */
  readonly onFailure?: () => "closed" | "open";
  /** Milliseconds between writes of the keys' last use. */
  readonly flushEvery?: number;
  /** Keys remembered at once. */
  readonly maxKeys?: number;
}

/**
 * Authenticates API keys and access tokens. `close` writes the last uses still in memory. A store that fails is an
 * error, never an unknown key.
 */
export function createAuthentication({
  store,
  tokens,
  now,
  onFailure = () => "closed",
  flushEvery = FLUSH_MS,
  maxKeys = MAX_KEYS_COUNT,
}: AuthenticationOptions): Identities & { close(): Promise<void> } {
  // A cache of its own, so that a flood of bad keys cannot push the good ones out. Keyed by the whole secret.
  const principals = new Principals(maxKeys);
  const unknown = new LRUCache<string, true>({
    ...entries(Math.min(MAX_UNKNOWN_COUNT, maxKeys)),
    ttl: KNOWN_MS,
    ttlResolution: 0,
  });
  /** Look-ups under way: concurrent requests with one key ask the store once. */
  const pending = new Map<string, Promise<Principal | null>>();
  let used = new Map<string, number>();
  let changes = 0;
  let version: number | undefined;

  const unsubscribe = store.onChange((userId) => {
    changes++;
    if (userId === null) principals.doubtAll();
    else principals.dropUser(userId);
  });

  async function lookUp(secret: string): Promise<Principal | null> {
    const before = changes;
    let principal: Principal | null;
    try {
      principal = await store.principalByDigest(digest(secret));
    } catch (error) {
      const last = principals.last(secret);
      if (last && onFailure() === "open" && isStoreUnavailable(error)) return live(secret, last);
      throw error;
    }
    if (!principal) {
      unknown.set(secret, true);
      principals.drop(secret);
      // Not cached when a change came during the look-up: the answer may be older.
    } else if (changes === before) principals.add(secret, principal);
    return noted(principal);
  }

  function byKey(secret: string): Awaitable<Principal | null> {
    const principal = hasHeardAll() ? principals.presumed(secret) : principals.known(secret);
    if (principal) return live(secret, principal);
    if (!isKeyShaped(secret) || unknown.has(secret)) return null;
    const shared = pending.get(secret);
    if (shared) return shared;
    // `finally` runs after `set` even if the store throws synchronously: otherwise the failure would stay for ever.
    const look = lookUp(secret).finally(() => pending.delete(secret));
    pending.set(secret, look);
    return look;
  }

  /** Whether every principal that may have changed has been dropped. */
  function hasHeardAll(): boolean {
    if (store.accountsVersion === undefined) return false;
    try {
      const current = store.accountsVersion();
      if (current !== version) {
        version = current;
        changes++;
        principals.doubtAll();
      }
      return true;
    } catch {
      // The store does not answer: whoever looks a key up is told so.
      return false;
    }
  }

  /** Of a principal that is remembered: a key expires meanwhile. */
  function live(secret: string, principal: Principal): Principal | null {
    const at = now();
    if (!isExpired(principal.keyLimits, at)) return noted(principal, at);
    principals.drop(secret);
    return null;
  }

  function noted(principal: Principal | null, at = now()): Principal | null {
    if (principal?.keyId) used.set(principal.keyId, at);
    return principal;
  }

  async function flush(): Promise<void> {
    if (used.size === 0) return;
    const flushed = used;
    used = new Map();
    try {
      await store.touchKeys(flushed);
    } catch (error) {
      // Kept for the next flush; later uses win.
      used = new Map([...flushed, ...used]);
      throw error;
    }
  }

  // A failure needs no log of its own: requests report the store, and the next flush tries again.
  const timer = setInterval(() => {
    flush().catch(() => {});
  }, flushEvery).unref();

  return {
    byKey,

    presume(secret) {
      const principal = store.accountsVersion === undefined ? principals.presumed(secret) : null;
      return principal?.version === undefined ? byKey(secret) : live(secret, principal);
    },

    async confirm(principal) {
      if (principal.version === undefined) return true;
      const current = await store.principalOf(principal.userId);
      return current?.version === principal.version;
    },

    forget(principal) {
      principals.forget(principal);
    },

    async byToken(token) {
      const claims = await tokens.verify(token);
      if (!claims) return null;
      // The tier in force is the stored one, not the token's: a token may be older than a change of tier.
      const principal = await store.principalOf(claims.userId);
      // Ended since the token was issued.
      return (principal?.sessions ?? 0) === (claims.sessions ?? 0) ? principal : null;
    },

    async close() {
      unsubscribe();
      clearInterval(timer);
      await flush();
    },
  };
}

/** A key that another process revokes works no longer than this. */
const KNOWN_MS = 500;
/** For principals whose versions are confirmed with each use, and for a store that does not answer. */
const PRESUMED_MS = 10 * 60_000;
const MAX_UNKNOWN_COUNT = 10_000;
const MAX_KEYS_COUNT = 100_000;
/** A bound for a cache that grows up to it: with `max` it would take room for all entries at once, 45 bytes each. */
const entries = (maxCount: number) => ({ maxSize: maxCount, sizeCalculation: () => 1 });

interface LookedUp {
  readonly principal: Principal;
  /** By the clock for durations. */
  readonly at: number;
  /** How often changes may have been missed until then. */
  readonly misses: number;
}

/** Principals by the whole secrets of their keys, with the time at which each was looked up. */
export class Principals {
  readonly #lookedUp: LRUCache<string, LookedUp>;
  readonly #secrets = new WeakMap<Principal, string>();
  #misses = 0;
  /** Users to the secrets that are known to be theirs. */
  readonly #ofUser = new Map<string, Set<string>>();

  constructor(maxKeys = MAX_KEYS_COUNT) {
    this.#lookedUp = new LRUCache({
      ...entries(maxKeys),
      dispose: ({ principal }, secret) => this.#gone(principal, secret),
    });
  }

  /** Looked up just now, and no change may have been missed since. */
  known(secret: string): Principal | undefined {
    const last = this.#lookedUp.get(secret);
    return last && this.#holds(last, KNOWN_MS) ? last.principal : undefined;
  }

  /** Looked up some time ago: whether it still holds is to be asked. */
  presumed(secret: string): Principal | undefined {
    const last = this.#lookedUp.get(secret);
    return last && this.#holds(last, PRESUMED_MS) ? last.principal : undefined;
  }

  /** As it was looked up last, unless a change of it has come since. */
  last(secret: string): Principal | undefined {
    const last = this.#lookedUp.get(secret);
    return last && isYounger(last, PRESUMED_MS) ? last.principal : undefined;
  }

  /** Just looked up. */
  add(secret: string, principal: Principal): void {
    this.#lookedUp.set(secret, { principal, at: performance.now(), misses: this.#misses });
    this.#secrets.set(principal, secret);
    const secrets = this.#ofUser.get(principal.userId);
    if (secrets) secrets.add(secret);
    else this.#ofUser.set(principal.userId, new Set([secret]));
  }

  drop(secret: string): void {
    this.#lookedUp.delete(secret);
  }

  forget(principal: Principal): void {
    const secret = this.#secrets.get(principal);
    if (secret !== undefined) this.drop(secret);
  }

  dropUser(userId: string): void {
    for (const secret of this.#ofUser.get(userId) ?? []) this.drop(secret);
  }

  /**
   * Changes may have been missed: every principal is looked up again. `last` keeps them, for a store that fails once
   * may fail again before the look-up.
   */
  doubtAll(): void {
    this.#misses++;
  }

  /** Users of whom anything is known. */
  get users(): number {
    return this.#ofUser.size;
  }

  #holds(last: LookedUp, forMs: number): boolean {
    return last.misses === this.#misses && isYounger(last, forMs);
  }

  #gone({ userId }: Principal, secret: string): void {
    const secrets = this.#ofUser.get(userId);
    secrets?.delete(secret);
    if (secrets?.size === 0) this.#ofUser.delete(userId);
  }
}

function isYounger({ at }: LookedUp, ms: number): boolean {
  return performance.now() - at <= ms;
}
