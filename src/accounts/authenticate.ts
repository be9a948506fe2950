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
  const unknown = new LRUCache<string, true>(lookUpCache(maxKeys));
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
    if (!isKeyShaped(secret) || unknown.has(secret)) return null;
    const principal = hasHeardAll() ? principals.presumed(secret) : principals.known(secret);
    if (principal) return live(secret, principal);
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
    if (!isExpired(principal.keyLimits, now())) return noted(principal);
    principals.drop(secret);
    return null;
  }

  function noted(principal: Principal | null): Principal | null {
    if (principal?.keyId) used.set(principal.keyId, now());
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
      return store.principalOf(claims.userId);
    },

    async close() {
      unsubscribe();
      clearInterval(timer);
      await flush();
    },
  };
}

/** A key that another process revokes works no longer than this. */
const CACHE_MS = 500;
const MAX_LOOK_UPS_COUNT = 10_000;
/** A bound for a cache that grows up to it: with `max` it would take room for all entries at once, 45 bytes each. */
const entries = (maxCount: number) => ({ maxSize: maxCount, sizeCalculation: () => 1 });
const lookUpCache = (maxKeys: number) => ({
  ...entries(Math.min(MAX_LOOK_UPS_COUNT, maxKeys)),
  ttl: CACHE_MS,
  ttlResolution: 0,
});
/** For principals whose versions are confirmed with each use. */
const VERSIONED_CACHE = { ttl: 10 * 60_000, ttlResolution: 0 };
const MAX_KEYS_COUNT = 100_000;

/** Principals by the whole secrets of their keys: looked up just now (`known`), or to be confirmed (`presumed`). */
export class Principals {
  readonly #known: LRUCache<string, Principal>;
  readonly #presumed: LRUCache<string, Principal>;
  readonly #secrets = new WeakMap<Principal, string>();
  /** How often changes may have been missed so far, and how often when each principal was looked up. */
  #misses = 0;
  readonly #lookedUp = new WeakMap<Principal, number>();
  /** Users to the secrets that are presumed to be theirs. */
  readonly #ofUser = new Map<string, Set<string>>();

  constructor(maxKeys = MAX_KEYS_COUNT) {
    this.#known = new LRUCache(lookUpCache(maxKeys));
    this.#presumed = new LRUCache({
      ...VERSIONED_CACHE,
      ...entries(maxKeys),
      dispose: (principal, secret) => this.#gone(principal, secret),
    });
  }

  known(secret: string): Principal | undefined {
    return this.#known.get(secret);
  }

  presumed(secret: string): Principal | undefined {
    const last = this.last(secret);
    return last && this.#lookedUp.get(last) === this.#misses ? last : undefined;
  }

  /** As it was looked up last, unless a change of it has come since. */
  last(secret: string): Principal | undefined {
    return this.#presumed.get(secret);
  }

  /** Just looked up. */
  add(secret: string, principal: Principal): void {
    // First, because replacing an entry calls `#gone`, which also clears the other cache.
    this.#presumed.set(secret, principal);
    this.#known.set(secret, principal);
    this.#secrets.set(principal, secret);
    this.#lookedUp.set(principal, this.#misses);
    const secrets = this.#ofUser.get(principal.userId);
    if (secrets) secrets.add(secret);
    else this.#ofUser.set(principal.userId, new Set([secret]));
  }

  drop(secret: string): void {
    this.#presumed.delete(secret);
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
    this.#known.clear();
  }

  /** Users of whom anything is presumed. */
  get users(): number {
    return this.#ofUser.size;
  }

  #gone({ userId }: Principal, secret: string): void {
    this.#known.delete(secret);
    const secrets = this.#ofUser.get(userId);
    secrets?.delete(secret);
    if (secrets?.size === 0) this.#ofUser.delete(userId);
  }
}
