import { Pool } from "undici";

export interface PoolSettings {
  /** Upstreams do not share connections, even to the same address. */
  readonly upstream: string;
  readonly origin: string;
  readonly connections: number;
  readonly http2: boolean;
  /** Milliseconds. */
  readonly connectTimeout: number;
}

/** Connection pools with reference counts: the last release closes a pool. */
export class Pools {
  readonly #pools = new Map<string, { readonly pool: Pool; uses: number }>();

  /** The pool for these settings, opened on first use. Each `acquire` needs its `release`. */
  acquire(settings: PoolSettings): { readonly pool: Pool; release(): Promise<void> } {
    const key = JSON.stringify(settings);
    const entry = this.#pools.get(key) ?? { pool: openPool(settings), uses: 0 };
    this.#pools.set(key, entry);
    entry.uses += 1;
    return {
      pool: entry.pool,
      release: async () => {
        entry.uses -= 1;
        if (entry.uses > 0) return;
        this.#pools.delete(key);
        if (!entry.pool.closed && !entry.pool.destroyed) await entry.pool.close();
      },
    };
  }

  /** Ends every connection at once. */
  async destroy(): Promise<void> {
    await Promise.all(Array.from(this.#pools.values(), ({ pool }) => pool.destroy()));
  }
}

function openPool({ origin, connections, http2, connectTimeout }: PoolSettings): Pool {
  return new Pool(origin, {
    connections,
    allowH2: http2,
    pipelining: 1,
    // The deadline sweeper covers both; undici would add a timer for each connection.
    headersTimeout: 0,
    bodyTimeout: 0,
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED can turn verification off for the whole process.
    connect: { timeout: connectTimeout, rejectUnauthorized: true },
  });
}
