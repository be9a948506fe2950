import { LRUCache } from "lru-cache";
import type { Identities, Principal, Store } from "../kit/index.ts";
import { digest, isKeyShaped } from "./keys.ts";
import type { Tokens } from "./tokens.ts";

/** For how long a look-up is believed: a key that another process revokes works no longer than this. */
const CACHE_MS = 500;
const CACHED = { max: 10_000, ttl: CACHE_MS, ttlResolution: 0 };
const FLUSH_MS = 30_000;

export interface IdentitiesOptions {
  readonly store: Store;
  readonly tokens: Pick<Tokens, "verify">;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds between writes of the keys' last use. */
  readonly flushEvery?: number;
}

/** Says who calls. `close` writes what is still to be noted. A failing store is an error, never "unknown". */
export function createIdentities({
  store,
  tokens,
  now,
  flushEvery = FLUSH_MS,
}: IdentitiesOptions): Identities & { close(): Promise<void> } {
  // Apart, so that a flood of bad keys cannot push the good ones out. Keyed by the whole secret.
  const known = new LRUCache<string, Principal>(CACHED);
  const unknown = new LRUCache<string, true>(CACHED);
  /** Look-ups under way: a cold cache asks the store once a key. */
  const pending = new Map<string, Promise<Principal | null>>();
  let used = new Map<string, number>();

  async function lookUp(secret: string): Promise<Principal | null> {
    const principal = await store.principalByDigest(digest(secret));
    if (principal) known.set(secret, principal);
    else unknown.set(secret, true);
    return noted(principal);
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
      // Kept for the next time; what was used since is newer.
      used = new Map([...flushed, ...used]);
      throw error;
    }
  }

  // The store is away: the requests themselves say so, and the next flush tries again.
  const timer = setInterval(() => void flush().catch(() => {}), flushEvery).unref();

  return {
    byKey(secret) {
      if (!isKeyShaped(secret) || unknown.has(secret)) return null;
      const principal = known.get(secret);
      if (principal) return noted(principal);
      const shared = pending.get(secret);
      if (shared) return shared;
      // Deleted in a later turn than it is set, even by a store that throws at once: else a failure would stay for ever.
      const look = lookUp(secret).finally(() => pending.delete(secret));
      pending.set(secret, look);
      return look;
    },

    async byToken(token) {
      const claims = await tokens.verify(token);
      if (!claims) return null;
      // The tier in force is the stored one, not the token's (decisions 2.6).
      const user = await store.findUser(claims.userId);
      return user?.id === claims.userId ? { userId: user.id, tier: user.tier, keyId: null } : null;
    },

    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
