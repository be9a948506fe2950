import type { Duplex } from "node:stream";
import { callbackify } from "node:util";
import type * as undici from "undici";
import type { buildConnector } from "undici";
// The whole package, with its fetch, caches and mocks, takes 45 ms of a start and 8 MB.
// @ts-expect-error -- it declares the types of its parts as one
import UndiciPool from "undici/lib/dispatcher/pool.js";
import type { Upstream, UpstreamTls } from "../../kit/index.ts";
import { ForwardPool, proxyConnector, type RequestPool, tunnelConnector } from "./proxied.ts";
import { fingerprintOf, SecureContexts } from "./trust.ts";

type Pool = undici.Pool;
const Pool: typeof undici.Pool = UndiciPool;

export type { RequestPool } from "./proxied.ts";

interface PoolSettings {
  /** Upstreams do not share connections, even to the same address. */
  readonly upstream: Pick<Upstream, "name" | "connections" | "http2" | "tls">;
  readonly origin: string;
  /** Milliseconds. */
  readonly connectTimeout: number;
  /** null: the upstream is asked directly. */
  readonly proxy: URL | null;
}

/** Makes a connection to an upstream in place of TCP and TLS. @throws what a connection fails with */
export type Connect = (upstream: string) => Promise<Duplex>;

/** Connection pools with reference counts: the last release closes a pool. */
export class Pools {
  readonly #connect: Connect | undefined;
  readonly #pools = new Map<string, OpenPool & { uses: number }>();
  readonly #contexts = new SecureContexts();

  constructor(connect?: Connect) {
    this.#connect = connect;
  }

  /** The pool for these settings, opened on first use. Each `acquire` needs its `release`. */
  acquire(settings: PoolSettings): { readonly pool: RequestPool; release(): Promise<void> } {
    const key = keyOf(settings);
    const entry = this.#pools.get(key) ?? { ...this.#open(settings), uses: 0 };
    this.#pools.set(key, entry);
    entry.uses += 1;
    return {
      pool: entry.use,
      release: async () => {
        entry.uses -= 1;
        if (entry.uses > 0) return;
        this.#pools.delete(key);
        if (!entry.pool.closed && !entry.pool.destroyed) await entry.pool.close();
      },
    };
  }

  #open(settings: PoolSettings): OpenPool {
    return openPool(settings, this.#connect, this.#contexts);
  }

  /** Ends every connection at once. */
  async destroy(): Promise<void> {
    await Promise.all(Array.from(this.#pools.values(), ({ pool }) => pool.destroy()));
  }
}

interface OpenPool {
  readonly pool: Pool;
  /** What requests are given: the pool, or what leads them through a proxy. */
  readonly use: RequestPool;
}

function keyOf({ upstream: { name, connections, http2, tls }, origin, connectTimeout, proxy }: PoolSettings): string {
  return JSON.stringify([name, origin, connections, http2, connectTimeout, proxy?.href, fingerprintOf(tls)]);
}

function openPool(settings: PoolSettings, connect: Connect | undefined, contexts: SecureContexts): OpenPool {
  const { upstream, origin, connectTimeout, proxy } = settings;
  const { connections, http2 } = upstream;
  const shared = {
    connections,
    allowH2: http2,
    pipelining: 1,
    // The deadline sweeper covers both; undici would add a timer for each connection.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const open = (address: string, by: undici.Pool.Options["connect"]): Pool =>
    new Pool(address, { ...shared, connect: by });
  if (connect) return direct(open(origin, connector(connect, upstream.name)));
  // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED can turn verification off for the whole process.
  const connecting = { timeout: connectTimeout, rejectUnauthorized: true };
  if (!origin.startsWith("https:")) {
    if (proxy === null) return direct(open(origin, connecting));
    const pool = open(proxy.origin, proxyConnector(proxy, { ...connecting, allowH2: false }));
    return { pool, use: new ForwardPool(pool, proxy, origin) };
  }
  const secure = { ...connecting, ...secureContext(upstream.tls, contexts) };
  return direct(open(origin, proxy === null ? secure : tunnelConnector(proxy, { ...secure, allowH2: http2 })));
}

function direct(pool: Pool): OpenPool {
  return { pool, use: pool };
}

function secureContext(tls: UpstreamTls | undefined, contexts: SecureContexts) {
  return tls === undefined ? {} : { secureContext: contexts.of(tls) };
}

function connector(connect: Connect, upstream: string): buildConnector.connector {
  // undici takes any duplex stream, and asks for no more of it than streams have.
  return callbackify(() => connect(upstream)) as unknown as buildConnector.connector;
}
