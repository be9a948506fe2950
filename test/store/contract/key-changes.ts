import { describe, expect, test } from "vitest";
import type { ApiKey, KeyChange, KeyLimits, KeyRoll, NewKey, Store } from "../../../src/kit/index.ts";
import { addUser, admission, digest, MINUTE, RECORD, unique } from "../support.ts";

const ALL: KeyLimits = {
  models: ["route/*"],
  budget: { amount: 100n, per: "total" },
  tags: { team: "search" },
  scopes: ["inference"],
  addresses: ["10.0.0.0/8"],
};

const nextOf = (id = unique("key")): KeyRoll["next"] => ({ id, prefix: "rk_89abcdef", digest: digest(id) });

/** Keys that are changed and rolled while they live. */
export function keyChangeSuite(store: () => Store, clock: { now: number }): void {
  async function withKey(limits?: KeyLimits) {
    const user = await addUser(store(), 1_000n);
    const id = unique("key");
    const key: NewKey = { id, userId: user.id, name: "n", prefix: "rk_01234567", digest: digest(id) };
    await store().addKey({ ...key, ...(limits && { limits }) }, 50);
    return key;
  }
  const listed = async (userId: string) => new Map((await store().listKeys(userId)).map((key) => [key.id, key]));
  const rolled = async (keyId: string, more: Partial<KeyRoll> = {}) => {
    const roll = { next: nextOf(), graceEndsAt: clock.now + MINUTE, maximum: 50, ...more };
    return { result: await store().rollKey(keyId, roll), next: roll.next };
  };

  describe("changes of keys", () => {
    test("each field changes alone, and null takes a limit away", async () => {
      const key = await withKey(ALL);
      const steps: readonly (readonly [KeyChange, string, KeyLimits])[] = [
        [{ name: "other" }, "other", ALL],
        [{ limits: { models: ["a", "b"] } }, "other", { ...ALL, models: ["a", "b"] }],
        [
          { limits: { models: null, tags: null } },
          "other",
          { budget: ALL.budget!, scopes: ["inference"], addresses: ["10.0.0.0/8"] },
        ],
        [{ limits: { scopes: ["usage"], addresses: null } }, "other", { budget: ALL.budget!, scopes: ["usage"] }],
        [
          { limits: { budget: { amount: 7n, per: "day" }, scopes: null } },
          "other",
          { budget: { amount: 7n, per: "day" } },
        ],
      ];
      for (const [change, name, limits] of steps) {
        expect(await store().changeKey(key.id, change, key.userId)).toMatchObject({ id: key.id, name, limits });
        expect((await store().principalByDigest(key.digest))?.keyLimits).toEqual(limits);
        expect((await listed(key.userId)).get(key.id)).toMatchObject({ name, limits, prefix: key.prefix });
      }
      expect(await store().changeKey(key.id, { limits: { budget: null } })).not.toHaveProperty("limits");
      expect(await store().principalByDigest(key.digest)).not.toHaveProperty("keyLimits");
    });

    test("the expiry moves both ways, and a key that has expired stays so", async () => {
      const key = await withKey({ expiresAt: clock.now + MINUTE });
      const later = clock.now + 10 * MINUTE;
      await store().changeKey(key.id, { limits: { expiresAt: later } });
      clock.now += 5 * MINUTE;
      expect(await store().principalByDigest(key.digest)).not.toBeNull();
      await store().changeKey(key.id, { limits: { expiresAt: null } });
      clock.now = later + MINUTE;
      expect(await store().principalByDigest(key.digest)).not.toBeNull();
      await store().changeKey(key.id, { limits: { expiresAt: clock.now + 1 } });
      clock.now += 1;
      expect(await store().principalByDigest(key.digest)).toBeNull();
      expect(await store().changeKey(key.id, { limits: { expiresAt: null } })).toBeNull();
    });

    test("nobody changes or rolls a key of another user, or one that is not there", async () => {
      const [key, other] = [await withKey(), await withKey()];
      expect(await store().changeKey(key.id, { name: "x" }, other.userId)).toBeNull();
      expect(await store().changeKey("key_none", { name: "x" })).toBeNull();
      const roll: KeyRoll = { next: nextOf(), graceEndsAt: null, maximum: 50 };
      const unknown = { ok: false, reason: "unknown" };
      expect(await store().rollKey(key.id, roll, other.userId)).toEqual(unknown);
      expect(await store().rollKey("key_none", roll)).toEqual(unknown);
      expect((await listed(key.userId)).get(key.id)?.name).toBe("n");
      expect(await store().principalByDigest(roll.next.digest)).toBeNull();
    });

    test("a change is pushed, or seen by the version", async () => {
      const key = await withKey();
      const heard: (string | null)[] = [];
      const unsubscribe = store().onChange((userId) => heard.push(userId));
      const before = await store().principalByDigest(key.digest);
      await store().changeKey(key.id, { limits: { scopes: ["usage"] } });
      const after = await store().principalByDigest(key.digest);
      await expect.poll(() => heard).toContain(key.userId);
      expect(before?.version === undefined || before.version !== after?.version).toBe(true);
      unsubscribe();
    });
  });

  describe("rolled keys", () => {
    test("both serve until the grace is over; the new one has the settings of the old", async () => {
      const key = await withKey({ ...ALL, expiresAt: clock.now + 60 * MINUTE });
      const { result, next } = await rolled(key.id);
      const until = clock.now + MINUTE;
      expect(result).toMatchObject({ ok: true, until, key: { id: next.id, name: "n", prefix: next.prefix } });
      const limits = { ...ALL, expiresAt: clock.now + 60 * MINUTE, budget: { ...ALL.budget!, account: key.id } };
      expect((result as { key: ApiKey }).key.limits).toEqual(limits);
      const both = await listed(key.userId);
      expect(both.get(key.id)?.limits).toEqual({ ...ALL, expiresAt: until, replacedBy: next.id });
      expect(await store().principalByDigest(key.digest)).toMatchObject({ keyId: key.id });
      clock.now = until;
      expect(await store().principalByDigest(key.digest)).toBeNull();
      expect(await store().principalByDigest(next.digest)).toMatchObject({ keyId: next.id, keyLimits: limits });
      expect([...(await listed(key.userId)).keys()]).toEqual([next.id]);
    });

    test("without a grace the old one is gone at once", async () => {
      const key = await withKey();
      const { result, next } = await rolled(key.id, { graceEndsAt: null, maximum: 1 });
      expect(result).toMatchObject({ ok: true, until: clock.now });
      expect(await store().principalByDigest(key.digest)).toBeNull();
      expect(await store().principalByDigest(next.digest)).toMatchObject({ keyId: next.id });
      expect([...(await listed(key.userId)).keys()]).toEqual([next.id]);
    });

    test("an old key does not live longer by being rolled, and is rolled once", async () => {
      const expiresAt = clock.now + 10;
      const key = await withKey({ expiresAt });
      const { result, next } = await rolled(key.id);
      expect(result).toMatchObject({ ok: true, until: expiresAt });
      const again = await rolled(key.id);
      expect(again.result).toEqual({ ok: false, reason: "rolled", replacedBy: next.id });
      expect(await store().principalByDigest(again.next.digest)).toBeNull();
      expect((await rolled(next.id)).result.ok).toBe(true);
    });

    test("the old key counts as one until it is gone", async () => {
      const key = await withKey();
      const full = await rolled(key.id, { maximum: 1 });
      expect(full.result).toEqual({ ok: false, reason: "full" });
      expect(await store().principalByDigest(full.next.digest)).toBeNull();
      expect((await listed(key.userId)).get(key.id)).not.toHaveProperty("limits");
    });

    test("all keys of a chain of rolls spend of one budget, also when keys of it are revoked", async () => {
      const key = await withKey({ budget: { amount: 100n, per: "total" } });
      const { userId } = key;
      const ids = [key.id];
      for (let rolls = 0; rolls < 2; rolls += 1) ids.push((await rolled(ids.at(-1)!)).next.id);
      const spend = async (keyId: string, charge: bigint) => {
        const { limits } = (await listed(userId)).get(keyId)!;
        const { account = keyId, amount, per } = limits!.budget!;
        const budget = { keyId: account, amount, per };
        const request = admission(userId, { hold: charge, budget });
        const admitted = await store().admit(request);
        if (!admitted.ok) return admitted.refusal;
        await store().settle({
          id: request.id,
          userId,
          giveBack: false,
          charge,
          record: { ...RECORD, receivedAt: clock.now },
          budget: { keyId: account, per },
        });
        return "ok";
      };
      for (const id of ids) expect(await spend(id, 30n)).toBe("ok");
      for (const id of ids) {
        expect((await listed(userId)).get(id)?.budget).toMatchObject({ spent: 90n, held: 0n });
        expect(await spend(id, 20n)).toBe("budget");
      }
      await store().revokeKey(ids[0]!);
      await store().changeKey(ids[2]!, { limits: { budget: { amount: 95n, per: "total" } } });
      expect(await spend(ids[2]!, 6n)).toBe("budget");
      expect(await spend(ids[2]!, 5n)).toBe("ok");
      expect((await listed(userId)).get(ids[2]!)?.budget).toMatchObject({ spent: 95n, held: 0n });
    });
  });
}
