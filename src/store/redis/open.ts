import { randomUUID } from "node:crypto";
import { isStoreUnavailable, type Log } from "../../kit/index.ts";
import { createClient, createCluster } from "./client.ts";
import type { Argument } from "./pipeline.ts";
import { RedisConnection } from "./connection.ts";
import { redisStore, type RedisStore } from "./store.ts";

/** Milliseconds that opening waits for the server; later it is connected to in the background. */
const CONNECT_WAIT_MS = 2_000;

/** Milliseconds that a call waits for its answer, as `store.timeout` when it is left out. */
const DEFAULT_TIMEOUT_MS = 1_000;

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
  const { timeout = DEFAULT_TIMEOUT_MS } = options;
  const client = nodes.length > 0 ? createCluster(nodes) : createClient(url);
  const connection = new RedisConnection(client, { timeout, log });
  const store = redisStore(connection, { prefix, instance, timeout, log, clock, lease, retention });
  const reached = await connection.connect(CONNECT_WAIT_MS);
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
    log?.warn({ reason: String(error) }, "store server could not be checked");
  }
  if (strict && warnings.length > 0) throw new Error(warnings.join("; "));
  for (const warning of warnings) log?.warn({}, warning);
}

/** The process serves already: it goes on, and says what is wrong. */
function checkLater(connection: RedisConnection, log: Log | undefined): void {
  check(connection, false, log).catch((error: unknown) => log?.error({}, String(error)));
}

/** The first major version of Redis, and of Valkey as it names itself to Redis clients, whose scripts have flags. */
const OLDEST_MAJOR_VERSION = 7;

interface Servers {
  /** One command on every server that takes writes. */
  callEach(command: string, ...args: readonly Argument[]): Promise<unknown[]>;
  readonly isCluster: boolean;
  /** The number that the address names. */
  readonly database: number;
}

/**
 * What of the servers' settings endangers the store: each as a sentence that names the remedy.
 * @throws Error when a server is too old or has no such database; GatewayError STORE_UNAVAILABLE.
 */
export async function checkServers(servers: Servers): Promise<readonly string[]> {
  await checkDatabase(servers);
  const infos = (await servers.callEach("INFO")).map((text) => parseInfo(String(text)));
  for (const info of infos) {
    const version = info.get("redis_version") ?? "";
    if (Number.parseInt(version, 10) < OLDEST_MAJOR_VERSION)
      throw new Error(`store: the server is Redis ${version}; Redis 7.0 or Valkey 7.2 is needed, or a later one`);
  }
  const warnings = new Set<string>();
  const saves = await savePoints(servers);
  for (const info of infos) {
    if (info.get("cluster_enabled") === "1" && !servers.isCluster)
      warnings.add(
        "store.url names one node of a Cluster, which has some users only; name nodes in store.nodes instead",
      );
    if (info.get("role") === "slave")
      warnings.add("the store's server is a replica and takes no writes; name its primary");
    if (info.get("aof_enabled") === "0" && saves === "none")
      warnings.add("the store's server saves nothing to disk, and a restart loses all accounts; set `appendonly yes`");
    const policy = info.get("maxmemory_policy") ?? "noeviction";
    if (policy !== "noeviction")
      warnings.add(
        `the store's server throws data away when its memory is full (maxmemory-policy ${policy}); set \`maxmemory-policy noeviction\` on it`,
      );
  }
  return [...warnings];
}

/** The client stays in database 0 when the server does not have the one it is told to use: that is another store. */
async function checkDatabase(servers: Servers): Promise<void> {
  const { database } = servers;
  if (database === 0) return;
  try {
    await servers.callEach("SELECT", database);
  } catch (error) {
    if (isStoreUnavailable(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`store.url names database ${database}, which cannot be used (${reason}): name another one`, {
      cause: error,
    });
  }
}

/** Hosted servers do not show their configuration; what they save is unknown then. */
async function savePoints(servers: Servers): Promise<"none" | "some" | "unknown"> {
  try {
    const all = (await servers.callEach("CONFIG", "GET", "save")) as (readonly string[])[];
    return all.some(([, points]) => points === "") ? "none" : "some";
  } catch {
    return "unknown";
  }
}

function parseInfo(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split("\r\n").flatMap((line) => {
      const at = line.indexOf(":");
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)] as const] : [];
    }),
  );
}
