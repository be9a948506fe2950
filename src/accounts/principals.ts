import { LRUCache } from "lru-cache";
import type { Principal } from "../kit/index.ts";

/** A key that another process revokes works no longer than this. */
const CACHE_MS = 500;
export const LOOK_UP_CACHE = { max: 10_000, ttl: CACHE_MS, ttlResolution: 0 };
/** For principals whose versions are confirmed with each use. */
const VERSIONED_CACHE = { max: 100_000, ttl: 10 * 60_000, ttlResolution: 0 };

/** Principals by the whole secrets of their keys: looked up just now (`known`), or to be confirmed (`presumed`). */
export class Principals {
  readonly #known = new LRUCache<string, Principal>(LOOK_UP_CACHE);
  readonly #presumed = new LRUCache<string, Principal>({
    ...VERSIONED_CACHE,
    dispose: (principal, secret) => this.#gone(principal, secret),
  });
  readonly #secrets = new WeakMap<Principal, string>();
  /** How often changes may have been missed so far, and how often when each principal was looked up. */
  #misses = 0;
  readonly #lookedUp = new WeakMap<Principal, number>();
  /** Users to the secrets that are presumed to be theirs. */
  readonly #ofUser = new Map<string, Set<string>>();

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
