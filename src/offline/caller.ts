import { type Snapshot, type Store, tierOf } from "../kit/index.ts";
import type { Caller } from "./explain.ts";

/**
 * A user as the store has them now. Nothing is counted, charged or noted as used.
 * @param name id or address. @param key id of a key; any will do unless given. @returns null for nobody.
 */
export async function callerOf(
  store: Pick<Store, "findUser" | "windows" | "running" | "listKeys">,
  snapshot: Pick<Snapshot, "tiers">,
  name: string,
  key?: string,
): Promise<Caller | null> {
  const user = await store.findUser(name);
  if (user === null) return null;
  const { id, tier, balance, held } = user;
  const { limits } = tierOf(snapshot, tier);
  const [windows, { streams }, keys] = await Promise.all([
    store.windows(id, limits),
    store.running(id),
    key === undefined ? null : store.listKeys(id),
  ]);
  const keyIsLive = keys === null || keys.some((live) => live.id === key);
  return { id, tier, balance, held, used: { windows, streams }, keyIsLive };
}
