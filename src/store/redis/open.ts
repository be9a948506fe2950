import { randomUUID } from "node:crypto";
import { type Log, isStoreUnavailable } from "../../kit/index.ts";
import { checkServers } from "./check.ts";
import { createClient, createCluster } from "./client.ts";
import { RedisConnection } from "./connection.ts";
import { RedisStore } from "./store.ts";

/** Milliseconds that opening waits for the server; later it is connected to in the background. */
const PATIENCE = 2_000;

/** Milliseconds that a call waits for its answer, as `store.timeout` when it is left out. */
const TIMEOUT = 1_000;

export interface OpenRedisOptions {
  /** `redis:` or `rediss:` address of one server; may hold a password. */
  readonly url: string;
  /** Addresses of some nodes of a Cluster, used instead of `url` when there are any. */
  readonly nodes: readonly string[];
  readonly prefix: string;
  readonly instance?: string;
  readonly log?: Log;
  /** Refuses servers that may lose data, instead of warning of them. */
  readonly strict?: boolean;
  /** Unix milliseconds, for tests; without, time is the server's. */
  readonly clock?: () => number;
  readonly timeout?: number;
  readonly retention?: number;
  readonly lease?: number;
}

/**
 * A store that need not be there yet: until it is, every call is STORE_UNAVAILABLE.
 * @throws Error that names the remedy, for a server that cannot be used.
 */
export async function openRedis(options: OpenRedisOptions): Promise<RedisStore> {
  const { url, nodes, prefix, instance = randomUUID(), log, strict = false, clock, lease, retention } = options;
  const { timeout = TIMEOUT } = options;
  const client = nodes.length > 0 ? createCluster(nodes) : createClient(url);
  const connection = new RedisConnection(client, { timeout, log });
  const store = new RedisStore(connection, { prefix, instance, timeout, log, clock, lease, retention });
  const reached = await connection.connect(PATIENCE);
  try {
    if (reached) await check(connection, strict, log);
    else connection.onceReady(() => checkLater(connection, log));
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function check(connection: RedisConnection, strict: boolean, log: Log | undefined): Promise<void> {
  let warnings: readonly string[] = [];
  try {
    warnings = await checkServers(connection);
  } catch (error) {
    if (!isStoreUnavailable(error)) throw error;
    log?.warn({ reason: String(error) }, "the store's server could not be checked");
  }
  if (strict && warnings.length > 0) throw new Error(warnings.join("; "));
  for (const warning of warnings) log?.warn({}, warning);
}

/** The process serves already: it goes on, and says what is wrong. */
function checkLater(connection: RedisConnection, log: Log | undefined): void {
  check(connection, false, log).catch((error: unknown) => log?.error({}, String(error)));
}
