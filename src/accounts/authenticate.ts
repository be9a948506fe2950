import { LRUCache } from "lru-cache";
import { type Awaitable, type Identities, isStoreUnavailable, type Principal, type Store } from "../kit/index.ts";
import { digest, isKeyShaped } from "./api-keys.ts";
import { LOOK_UP_CACHE, Principals } from "./principals.ts";
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
}: AuthenticationOptions): Identities & { close(): Promise<void> } {
  // A cache of its own, so that a flood of bad keys cannot push the good ones out. Keyed by the whole secret.
  const principals = new Principals();
  const unknown = new LRUCache<string, true>(LOOK_UP_CACHE);
  /** Look-ups under way: concurrent requests with one key ask the store once. */
  const pending = new Map<string, Promise<Principal | null>>();
  let used = new Map<string, number>();
  let changes = 0;

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
      if (last && onFailure() === "open" && isStoreUnavailable(error)) return noted(last);
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
    const principal = principals.known(secret);
    if (principal) return noted(principal);
    const shared = pending.get(secret);
    if (shared) return shared;
    // `finally` runs after `set` even if the store throws synchronously: otherwise the failure would stay for ever.
    const look = lookUp(secret).finally(() => pending.delete(secret));
    pending.set(secret, look);
    return look;
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
      const principal = principals.presumed(secret);
      return principal?.version === undefined ? byKey(secret) : noted(principal);
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
