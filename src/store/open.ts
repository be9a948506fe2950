import type { Log, Store, StoreSettings } from "../kit/index.ts";
import { openFile, openMemory } from "./sqlite/database.ts";
import { sqliteStore } from "./sqlite/store.ts";

export interface StoreOptions {
  /** Takes the file's lock and ends what a dead process left running. false: for commands, also while it is served. */
  readonly serving: boolean;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds for which a serving process keeps entries of the ledger; 90 days when it is left out. */
  readonly retention?: number;
}

export interface ConfiguredOptions extends StoreOptions {
  /** This process's name among those that share the store, without blanks; random when left out. */
  readonly instance?: string;
  readonly log?: Log;
  /** Refuses a Redis that may lose data, instead of warning of it. */
  readonly strict?: boolean;
  /** Unix milliseconds, for tests: a Redis is asked for the time when this is left out. `now` is not used for one. */
  readonly clock?: () => number;
}

/** Whether several processes may use the store at once. */
export function isShared({ url, nodes }: Pick<StoreSettings, "url" | "nodes">): boolean {
  return nodes.length > 0 || /^rediss?:/i.test(url.reveal());
}

/**
 * Opens what the configuration names: a Redis or Valkey, alone or as a Cluster, or what `openStore` opens.
 * @throws Error that names the remedy. A Redis that cannot be reached is none: it is connected to when it is there.
 */
export async function openConfigured(
  {
    url,
    nodes,
    prefix,
    timeout,
    retention,
  }: Pick<StoreSettings, "url" | "nodes" | "prefix" | "timeout"> & Partial<Pick<StoreSettings, "retention">>,
  options: ConfiguredOptions,
): Promise<Store> {
  const address = url.reveal();
  if (!isShared({ url, nodes }))
    return openStore(address, { ...options, ...(retention !== undefined && { retention }) });
  const { instance, log, strict, clock } = options;
  // A gateway on SQLite starts without the client of Redis.
  const { openRedis } = await import("./redis/open.ts");
  const addresses = nodes.map((node) => node.reveal());
  return openRedis({ url: address, nodes: addresses, prefix, timeout, retention, instance, log, strict, clock });
}

/**
 * Opens `sqlite:<path>` (made with its folder when missing) or `memory:`.
 * @throws Error that names the file and the remedy.
 */
export async function openStore(url: string, { serving, now, retention }: StoreOptions): Promise<Store> {
  const store = sqliteStore(openDatabase(url, serving), now);
  try {
    if (serving) {
      store.recover();
      store.keepTrimmed(retention);
    }
    return store;
  } catch (error) {
    store.close();
    throw error;
  }
}

function openDatabase(url: string, serving: boolean) {
  if (url === "memory:") return openMemory();
  if (url.startsWith("sqlite:") && url.length > "sqlite:".length) return openFile(url.slice("sqlite:".length), serving);
  // The rest of the address may hold a password.
  const scheme = /^[a-z+]*:/i.exec(url)?.[0] ?? "no scheme";
  throw new Error(`store.url: ${scheme} is not supported; use sqlite:FILE or memory:`);
}
