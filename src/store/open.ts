import type { Store } from "../kit/index.ts";
import { openFile, openMemory } from "./database.ts";
import { SqliteStore } from "./sqlite.ts";

export interface StoreOptions {
  /** Takes the file's lock and ends what a dead process left running. false: for commands, also while it is served. */
  readonly serving: boolean;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Opens `sqlite:<path>` (made with its folder when missing) or `memory:`.
 * @throws Error that names the file and the remedy.
 */
export async function openStore(url: string, { serving, now }: StoreOptions): Promise<Store> {
  const store = new SqliteStore(openDatabase(url, serving), now);
  try {
    if (serving) store.recover();
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
