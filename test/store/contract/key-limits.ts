import { describe, expect, test } from "vitest";
import type { KeyLimits, NewKey, Store } from "../../../src/kit/index.ts";
import { addUser, digest, MINUTE, unique } from "../support.ts";

function newKey(userId: string, limits?: KeyLimits): NewKey {
  const id = unique("key");
  return { id, userId, name: "n", prefix: "rk_01234567", digest: digest(id), ...(limits && { limits }) };
}

/** What a key may do less than its user. */
export function keyLimitSuite(store: () => Store, clock: { now: number }): void {
  describe("limits of keys", () => {
    test("come back as they were given, with the key and with its principal", async () => {
      const user = await addUser(store());
      const all: KeyLimits[] = [
        { models: ["route/*", 'a"b\\ {"limits":{"expiresAt":1}}'] },
        { tags: { team: '{"expiresAt":1}', app: "名前 🔑" } },
        { budget: { amount: 2n ** 61n, per: "month" } },
        {
          expiresAt: clock.now + MINUTE,
          models: ["*"],
          tags: { a: "b" },
          budget: { amount: 1n, per: "total" },
        },
      ];
      for (const limits of all) {
        const key = newKey(user.id, limits);
        const added = await store().addKey(key, 50);
        expect(added?.limits).toEqual(limits);
        expect((await store().principalByDigest(key.digest))?.keyLimits).toEqual(limits);
      }
      expect((await store().listKeys(user.id)).map(({ limits }) => limits)).toEqual(expect.arrayContaining(all));
      const free = newKey(user.id);
      expect(await store().addKey(free, 50)).not.toHaveProperty("limits");
      expect(await store().principalByDigest(free.digest)).not.toHaveProperty("keyLimits");
    });

    test("one that has expired is as one that is not there", async () => {
      const user = await addUser(store());
      const expiresAt = clock.now + MINUTE;
      const [key, other] = [newKey(user.id, { expiresAt }), newKey(user.id)];
      await store().addKey(key, 50);
      await store().addKey(other, 50);
      clock.now = expiresAt - 1;
      expect(await store().principalByDigest(key.digest)).toMatchObject({ keyId: key.id });
      expect(await store().listKeys(user.id)).toHaveLength(2);
      clock.now = expiresAt;
      expect(await store().principalByDigest(key.digest)).toBeNull();
      expect((await store().listKeys(user.id)).map(({ id }) => id)).toEqual([other.id]);
      expect(await store().revokeKey(key.id, user.id)).toBe(false);
      expect(await store().principalByDigest(other.digest)).not.toBeNull();
    });

    test("those that have expired make room for others", async () => {
      const user = await addUser(store());
      const expiresAt = clock.now + MINUTE;
      // A name cannot pass for an expiry.
      const named = { ...newKey(user.id), name: '","limits":{"expiresAt":1}' };
      for (const key of [newKey(user.id, { expiresAt }), newKey(user.id, { expiresAt: expiresAt + 1 }), named])
        await store().addKey(key, 3);
      expect(await store().addKey(newKey(user.id), 3)).toBeNull();
      clock.now = expiresAt;
      expect(await store().addKey(newKey(user.id), 3)).not.toBeNull();
      expect(await store().addKey(newKey(user.id), 3)).toBeNull();
      const listed = (await store().listKeys(user.id)).map(({ id }) => id);
      expect(listed).toHaveLength(3);
      expect(listed).toContain(named.id);
    });
  });
}
