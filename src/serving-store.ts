import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Log, Snapshot } from "./kit/index.ts";
import { dataFolder, type LoadSettings } from "./loading.ts";
import { isShared, openConfigured } from "./store/open.ts";
import { type ResilientStore, type StoreState, withResilience } from "./store/resilient/store.ts";

export interface ServingStoreOptions {
  readonly snapshot: Snapshot;
  readonly env: LoadSettings["env"];
  /** Of this process among all that share the store. */
  readonly instance: string;
  readonly log: Log;
  readonly strict: boolean;
  /** Unix milliseconds; in place of the system's clock and of the store's own. */
  readonly clock?: () => number;
}

export interface ServingStore {
  readonly store: ResilientStore;
  /** Whether other processes may use it at the same time. */
  readonly shared: boolean;
  readonly state: () => StoreState;
}

/**
 * The configured store as a process serves from it: it may be away, now and then or from the start.
 * @throws Error that names the remedy, for a store or a folder that cannot be used.
 */
export async function openServingStore(options: ServingStoreOptions): Promise<ServingStore> {
  const { snapshot, env, clock, ...rest } = options;
  const now = clock ?? Date.now;
  const address = snapshot.store.url.reveal();
  const journal = address === "memory:" ? null : await journalFile(snapshot, env);
  let state: StoreState = { away: false, pending: 0, rejected: 0, local: 0 };
  const opened = await openConfigured(snapshot.store, { serving: true, now, ...(clock && { clock }), ...rest });
  const store = withResilience(opened, {
    onFailure: () => snapshot.store.onFailure,
    journal,
    onlyRejected: !isShared(snapshot.store),
    log: options.log,
    now,
    onState: (changed) => {
      state = changed;
    },
  });
  return { store, shared: isShared(snapshot.store), state: () => state };
}

/**
 * For settlements that a store on another machine does not take now, and those that any store will never take: a file
 * store has no use of one on the same disk for others, and it is made when it is needed.
 */
async function journalFile({ store, file }: Snapshot, env: LoadSettings["env"]): Promise<string> {
  const folder = dataFolder(store.url.reveal(), file, env);
  // The store makes its own, and says what is wrong with it in its own words.
  if (!isShared(store)) return join(folder, "journal.db");
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`no folder for settlements that the store does not take (${reason}): set GATEWAY_DATA to one`, {
      cause: error,
    });
  }
  return join(folder, "journal.db");
}
