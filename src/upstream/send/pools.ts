import type { Duplex } from "node:stream";
import { callbackify } from "node:util";
import type * as undici from "undici";
import type { buildConnector } from "undici";
// The whole package, with its fetch, caches and mocks, takes 45 ms of a start and 8 MB.
// @ts-expect-error -- it declares the types of its parts as one
import UndiciPool from "undici/lib/dispatcher/pool.js";

type Pool = undici.Pool;
const Pool: typeof undici.Pool = UndiciPool;

/** What one request needs of a connection pool. */
export type RequestPool = Pick<Pool, "dispatch" | "stats">;

interface PoolSettings {
  /** Upstreams do not share connections, even to the same address. */
  readonly upstream: string;
  readonly origin: string;
  /** null: without a bound. */
  readonly connections: number | null;
  readonly http2: boolean;
  /** Milliseconds. */
  readonly connectTimeout: number;
}

/** Makes a connection to an upstream in place of TCP and TLS. @throws what a connection fails with */
export type Connect = (upstream: string) => Promise<Duplex>;

/** Connection pools with reference counts: the last release closes a pool. */
export class Pools {
  readonly #connect: Connect | undefined;
  readonly #pools = new Map<string, { readonly pool: Pool; uses: number }>();

  constructor(connect?: Connect) {
    this.#connect = connect;
  }

  /** The pool for these settings, opened on first use. Each `acquire` needs its `release`. */
  acquire(settings: PoolSettings): { readonly pool: Pool; release(): Promise<void> } {
    const key = JSON.stringify(settings);
    const entry = this.#pools.get(key) ?? { pool: openPool(settings, this.#connect), uses: 0 };
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

function openPool(
  { upstream, origin, connections, http2, connectTimeout }: PoolSettings,
  connect: Connect | undefined,
): Pool {
  return new Pool(origin, {
    connections,
    allowH2: http2,
    pipelining: 1,
    // The deadline sweeper covers both; undici would add a timer for each connection.
    headersTimeout: 0,
    bodyTimeout: 0,
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED can turn verification off for the whole process.
    connect: connect ? connector(connect, upstream) : { timeout: connectTimeout, rejectUnauthorized: true },
  });
}

function connector(connect: Connect, upstream: string): buildConnector.connector {
  // undici takes any duplex stream, and asks for no more of it than streams have.
  return callbackify(() => connect(upstream)) as unknown as buildConnector.connector;
}
