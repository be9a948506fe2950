import { existsSync } from "node:fs";
import type { Snapshot, Store } from "../kit/index.ts";
import { openConfigured } from "../store/open.ts";
import { EXIT, ExitError } from "./options.ts";

/** Opens the configured store to read from it; one that is not there is not made. @throws ExitError */
export async function openExisting({ store: settings }: Pick<Snapshot, "store">): Promise<Store> {
  const [, path] = /^sqlite:(.*)$/s.exec(settings.url.reveal()) ?? [];
  if (path !== undefined && !existsSync(path)) throw new ExitError(EXIT.failed, `there is no store at ${path}`);
  return openConfigured(settings, { serving: false, now: Date.now });
}

/** What a store said, which is closed afterwards. @throws ExitError for one that does not answer. */
export async function askStore<T>(snapshot: Pick<Snapshot, "store">, ask: (store: Store) => Promise<T>): Promise<T> {
  const store = await openExisting(snapshot);
  try {
    return await ask(store);
  } catch (error) {
    if (error instanceof ExitError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ExitError(EXIT.failed, `the store does not answer: ${reason}`);
  } finally {
    await store.close();
  }
}
