import { describe, expect, test } from "vitest";
import type { Store } from "../../../src/kit/index.ts";
import { addUser, admission, charged, digest, givenBack, OPEN, unique } from "../support.ts";

const ISSUER = "https://id.example";

/** A user goes, and the ledger stays. */
export function deletionSuite(store: () => Store, clock: { now: number }): void {
  async function signedUp() {
    const user = await addUser(store(), 1_000n);
    const id = unique("key");
    const key = { id, userId: user.id, name: "Ada's laptop", prefix: "rk_01234567", digest: digest(id) };
    const budget = { amount: 500n, per: "total" } as const;
    await store().addKey({ ...key, limits: { budget, addresses: ["192.0.2.7"] } }, 50);
    const subject = unique("subject");
    await store().linkIdentity(ISSUER, subject, user.id);
    const code = { email: user.email, client: "192.0.2.1", digest: digest(user.id), tries: 5, triesOfOthers: 3 };
    await store().putCode({ ...code, expiresAt: clock.now + 600_000 });
    return { user, key, subject, budget: { keyId: key.id, ...budget } };
  }

  describe("a deleted user", () => {
    test("is nobody: by id, address, key, identity, code, and in no list", async () => {
      const { user, key, subject } = await signedUp();
      const heard: (string | null)[] = [];
      const unsubscribe = store().onChange((userId) => heard.push(userId));
      const stop = (await store().stopTokens([user.id])).get(user.id)!;
      expect(await store().deleteUser(user.id)).toBe(true);
      await expect.poll(() => heard).toContain(user.id);
      unsubscribe();
      expect((await store().stopTokens([user.id])).get(user.id)).toBeGreaterThan(stop);
      for (const name of [user.id, user.email, user.email.toUpperCase()]) {
        expect(await store().findUser(name)).toBeNull();
        expect((await store().findUsers({ search: name, limit: 10 })).users).toEqual([]);
      }
      expect((await store().listUsers()).map(({ id }) => id)).not.toContain(user.id);
      expect(await store().principalByDigest(key.digest)).toBeNull();
      expect(await store().principalOf(user.id)).toBeNull();
      expect(await store().listKeys(user.id)).toEqual([]);
      expect(await store().revokeKey(key.id)).toBe(false);
      expect(await store().findIdentity(ISSUER, subject)).toBeNull();
      expect(await store().takeCode(user.email, "192.0.2.1", [digest(user.id)])).toBe(false);
    });

    test("stays deleted", async () => {
      const { user, key } = await signedUp();
      await store().deleteUser(user.id);
      expect(await store().deleteUser(user.id)).toBe(false);
      expect(await store().deleteUser("user_nobody")).toBe(false);
      expect(await store().setDisabled(user.id, false)).toBeNull();
      expect(await store().changeKey(key.id, { name: "back" })).toBeNull();
      const grant = { id: unique("grant"), userId: user.id, amount: 1n, reason: "", by: "x", idempotencyKey: null };
      expect(await store().addGrant(grant)).toBeNull();
      expect(await store().principalOf(user.id)).toBeNull();
    });

    test("has what runs settled, and the ledger under the id", async () => {
      const { user, budget } = await signedUp();
      const before = admission(user.id, { hold: 100n, budget });
      await store().admit(before);
      await store().settle(charged(before, 40n));
      const running = [admission(user.id, { hold: 100n, budget }), admission(user.id, { hold: 50n })];
      for (const request of running) await store().admit(request);
      await store().deleteUser(user.id);
      expect(await store().settle(charged(running[0]!, 70n))).toBe(true);
      expect(await store().settle(givenBack(running[1]!))).toBe(true);
      expect(await store().running(user.id)).toEqual({ requests: 0, streams: 0, held: 0n });
      expect((await store().ledger(user.id)).map(({ charge }) => charge)).toEqual([40n, 70n]);
      expect((await store().windows(user.id, OPEN)).minute.used).toBe(2);
    });

    test("leaves address and identity to whoever signs up next", async () => {
      const { user, subject } = await signedUp();
      const { user: other, key } = await signedUp();
      await store().deleteUser(user.id);
      const id = unique("user");
      const next = await store().addUser({ id, email: user.email, tier: "Free", credits: 0n });
      expect(next).toMatchObject({ id, email: user.email, balance: 0n });
      expect(await store().linkIdentity(ISSUER, subject, id)).toMatchObject({ id });
      expect(await store().findIdentity(ISSUER, subject)).toMatchObject({ id });
      expect(await store().ledger(id)).toEqual([]);
      expect(await store().principalByDigest(key.digest)).toMatchObject({ userId: other.id });
    });
  });
}
