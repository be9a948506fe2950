import { isStoreUnavailable } from "../../kit/index.ts";
import type { Argument } from "./connection.ts";

/** The first major version of Redis, and of Valkey as it names itself to Redis clients, whose scripts have flags. */
const OLDEST = 7;

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
    if (Number.parseInt(version, 10) < OLDEST)
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
      warnings.add(
        "the store's server keeps nothing on disk: a restart of it loses all accounts; set `appendonly yes` on it",
      );
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
