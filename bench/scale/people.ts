import { newId } from "../../src/accounts/users.ts";
import { createKey, digest } from "../../src/accounts/api-keys.ts";
import { NANOS_PER_UNIT } from "../../src/kit/index.ts";
import { openRedis } from "../../src/store/redis/open.ts";
import type { RedisStore } from "../../src/store/redis/store.ts";

/** A user with one key, as an operator makes them. */
export interface Person {
  readonly userId: string;
  readonly keyId: string;
  readonly secret: string;
  readonly digest: Uint8Array;
}

/** Connections of their own to one server, as so many gateway processes have them. */
export const STORES = 4;
/** Calls that one of them has under way. */
const AT_ONCE = 16;

/** As a gateway opens them, but patient: on a busy machine a late answer is not what is measured. */
export function openStores(url: string): Promise<readonly RedisStore[]> {
  return Promise.all(
    Array.from({ length: STORES }, (_, index) =>
      openRedis({ url, nodes: [], prefix: "gw:", instance: `bench-${index}`, timeout: 10_000 }),
    ),
  );
}

/** Works on every item, each always through the same of the stores. */
export async function eachThrough<Item>(
  stores: readonly RedisStore[],
  items: readonly Item[],
  work: (store: RedisStore, item: Item, index: number) => unknown,
): Promise<void> {
  const runners = stores.flatMap((store, first) => {
    let next = first;
    return Array.from({ length: AT_ONCE }, async () => {
      for (let at = next; at < items.length; at = next) {
        next += stores.length;
        await work(store, items[at]!, at);
      }
    });
  });
  await Promise.all(runners);
}

export async function addPeople(stores: readonly RedisStore[], count: number): Promise<readonly Person[]> {
  const people: Person[] = [];
  await eachThrough(stores, Array.from({ length: count }), async (store, _, index) => {
    const userId = newId("user");
    // Of an address's usual length, and nobody else's.
    const email = `${userId.slice(-16)}@example.com`;
    await store.addUser({ id: userId, email, tier: "Max", credits: 1_000n * NANOS_PER_UNIT });
    const { body } = await createKey(store, { userId, name: "default" });
    people[index] = { userId, keyId: body.id, secret: body.key, digest: digest(body.key) };
  });
  return people;
}
