import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { NewGrant, Store, User, UserQuery } from "../../../src/kit/index.ts";
import { addUser, admission, digest, MINUTE, OPEN, unique } from "../support.ts";

const grantOf = (userId: string, more: Partial<NewGrant> = {}): NewGrant => ({
  id: unique("grant"),
  userId,
  amount: 5n,
  reason: "goodwill",
  by: "ops",
  idempotencyKey: null,
  ...more,
});

/** Who there is, who may do nothing any more, and who was given what. */
export function userSuite(store: () => Store, clock: { now: number }, numRuns: number): void {
  async function pages(query: Omit<UserQuery, "limit" | "after">, limit: number): Promise<User[]> {
    const found: User[] = [];
    for (let after: string | undefined; ;) {
      const { users, next } = await store().findUsers({ ...query, limit, after });
      found.push(...users);
      expect(users.length).toBeLessThanOrEqual(limit);
      if (next === null) return found;
      after = next;
    }
  }

  async function playGrants(steps: readonly { amount: bigint; key: string | null }[]): Promise<void> {
    const user = await addUser(store());
    const seen = new Map<string, bigint>();
    let balance = 0n;
    for (const { amount, key } of steps) {
      await store().addGrant(grantOf(user.id, { amount, idempotencyKey: key }));
      if (key === null || !seen.has(key)) balance += amount;
      if (key !== null && !seen.has(key)) seen.set(key, amount);
    }
    const { grants } = await store().listGrants(user.id, { limit: 50, after: null });
    expect(grants.reduce((sum, grant) => sum + grant.amount, 0n)).toBe(balance);
    expect(await store().findUser(user.id)).toMatchObject({ balance, granted: balance });
    expect(grants[0]?.balance ?? 0n).toBe(balance);
  }

  describe("users that are searched for", () => {
    test("are found by how their address begins, page by page, in its order", async () => {
      const word = unique("find").replace("_", "");
      const names = ["b", "a", "a.b", "a-b", "a_", "ab", "Z"];
      const added = new Map<string, User>();
      for (const [index, name] of names.entries()) {
        const [id, email] = [unique("user"), `${word}.${name}@example.com`];
        const user = await store().addUser({ id, email, tier: index % 2 === 0 ? "Free" : "Max", credits: 5n });
        added.set(email, user!);
      }
      await store().addUser({ id: unique("user"), email: `${word}@example.com`, tier: "Free", credits: 0n });
      const all = await pages({ search: `${word.toUpperCase()}.` }, 50);
      expect(new Set(all.map(({ email }) => email))).toEqual(new Set(added.keys()));
      for (const limit of [1, 2, 3, 7]) expect(await pages({ search: `${word}.` }, limit)).toEqual(all);
      const max = await pages({ search: `${word}.`, tier: "Max" }, 2);
      expect(max).toEqual(all.filter(({ tier }) => tier === "Max"));
      expect(await pages({ search: `${word}.a@` }, 2)).toEqual([added.get(`${word}.a@example.com`)]);
      expect(await pages({ search: `${word}.nobody` }, 2)).toEqual([]);
      for (const strange of ["%", "_", "*", "[", "\u007f", "' OR 1=1 --", "\ud800"])
        expect(await pages({ search: `${word}${strange}` }, 5)).toEqual([]);
    });

    test("are found by their id", async () => {
      const user = await addUser(store(), 5n);
      expect(await store().findUsers({ search: user.id, limit: 5 })).toEqual({ users: [user], next: null });
      expect(await pages({ search: user.id, tier: "Max" }, 5)).toEqual([]);
    });

    test("without a search are all", async () => {
      const user = await addUser(store());
      const all = await pages({}, 100);
      expect(all).toContainEqual(user);
      expect(new Set(all.map(({ id }) => id))).toEqual(new Set((await store().listUsers()).map(({ id }) => id)));
    });
  });

  describe("a user who is disabled", () => {
    test("has no principal and no new requests, keeps what is kept, and may come back", async () => {
      const user = await addUser(store(), 100n);
      const id = unique("key");
      await store().addKey({ id, userId: user.id, name: "n", prefix: "rk_", digest: digest(id) }, 5);
      const before = await store().principalByDigest(digest(id));
      const stream = admission(user.id, { stream: true, hold: 10n });
      await store().admit(stream);
      clock.now += 1;
      const disabled = await store().setDisabled(user.id, true);
      expect(disabled).toEqual({ ...user, held: 10n, disabledAt: clock.now });
      expect(await store().findUser(user.id)).toEqual(disabled);
      expect(await store().principalByDigest(digest(id))).toBeNull();
      expect(await store().principalOf(user.id)).toBeNull();
      expect((await store().stopTokens([user.id])).get(user.id), "its streams are told").toBe(1);
      const late = admission(user.id, { hold: 1n, ...(before?.version !== undefined && { version: before.version }) });
      expect(await store().admit(late), "of one who was looked up before").toMatchObject({ refusal: "principal" });
      await store().settle({ id: stream.id, userId: user.id, giveBack: true, charge: 0n, record: null });
      clock.now += MINUTE;
      expect(await store().setDisabled(user.id, true), "since when it was first").toMatchObject({
        disabledAt: disabled!.disabledAt,
      });
      expect(await pages({ search: user.email, disabled: true }, 5)).toHaveLength(1);
      expect(await pages({ search: user.email, disabled: false }, 5)).toEqual([]);
      const enabled = await store().setDisabled(user.id, false);
      expect(enabled).toEqual({ ...user, held: 0n });
      expect(await store().principalByDigest(digest(id))).toMatchObject({ userId: user.id, keyId: id });
      const { version } = (await store().principalOf(user.id))!;
      expect(await store().admit(admission(user.id, { hold: 1n, ...(version && { version }) }))).toMatchObject({
        ok: true,
      });
      expect((await store().listKeys(user.id)).map((key) => key.id)).toEqual([id]);
    });

    test("what was used without the store is counted all the same", async () => {
      const user = await addUser(store());
      await store().setDisabled(user.id, true);
      expect(await store().admit(admission(user.id, { limits: OPEN, enforceCredits: false }))).toMatchObject({
        ok: true,
      });
    });

    test("is pushed as a change; nobody is not there", async () => {
      const user = await addUser(store());
      const heard: (string | null)[] = [];
      const letGo = store().onChange((userId) => heard.push(userId));
      await expect
        .poll(async () => (await store().setDisabled(user.id, true), heard.includes(user.id)), { timeout: 10_000 })
        .toBe(true);
      letGo();
      expect(await store().setDisabled("user_nobody", true)).toBeNull();
    });
  });

  describe("grants", () => {
    test("are kept, the newest first, page by page", async () => {
      const user = await addUser(store(), 100n);
      const added = [];
      for (const [index, amount] of [7n, -20n, 2n ** 60n].entries()) {
        const grant = grantOf(user.id, { amount, reason: `名前 "${index}"\n` });
        added.unshift(await store().addGrant(grant));
        expect(added[0]).toEqual({ ...grant, balance: expect.any(BigInt), createdAt: clock.now });
      }
      expect(added.map((grant) => grant!.balance)).toEqual([87n + 2n ** 60n, 87n, 107n]);
      expect(await store().findUser(user.id)).toMatchObject({ balance: 87n + 2n ** 60n, granted: 87n + 2n ** 60n });
      expect(await store().listGrants(user.id, { limit: 5, after: null })).toEqual({ grants: added, next: null });
      const first = await store().listGrants(user.id, { limit: 2, after: null });
      expect(first).toEqual({ grants: added.slice(0, 2), next: expect.any(Number) });
      await store().addGrant(grantOf(user.id));
      expect(await store().listGrants(user.id, { limit: 2, after: first.next })).toEqual({
        grants: added.slice(2),
        next: null,
      });
      expect(await store().listGrants("user_nobody", { limit: 2, after: null })).toEqual({ grants: [], next: null });
    });

    test("with the same idempotency key there is one, of each user", async () => {
      const [user, other] = [await addUser(store()), await addUser(store())];
      const idempotencyKey = "a key: 名前";
      const first = await store().addGrant(grantOf(user.id, { idempotencyKey }));
      const repeated = grantOf(user.id, { idempotencyKey, amount: 9n, reason: "else" });
      expect(await Promise.all([1, 2, 3].map(async () => store().addGrant(repeated)))).toEqual([first, first, first]);
      expect(await store().findUser(user.id)).toMatchObject({ balance: 5n });
      expect(await store().addGrant(grantOf(other.id, { idempotencyKey }))).toMatchObject({ userId: other.id });
      expect((await store().listGrants(user.id, { limit: 5, after: null })).grants).toHaveLength(1);
    });

    test("of nobody, or of more than an account can hold, there is none", async () => {
      const user = await addUser(store());
      expect(await store().addGrant(grantOf("user_nobody"))).toBeNull();
      const tooMuch = (async () => store().addGrant(grantOf(user.id, { amount: 2n ** 62n })))();
      await expect(tooMuch).rejects.toMatchObject({ code: "INVALID_REQUEST" });
      expect(await store().listGrants(user.id, { limit: 5, after: null })).toEqual({ grants: [], next: null });
    });

    test("random ones add up", async () => {
      const one = fc.record({ amount: fc.bigInt({ min: -9n, max: 9n }), key: fc.option(fc.nat(3).map(String)) });
      const all = fc.asyncProperty(fc.array(one, { maxLength: 8 }), playGrants);
      await fc.assert(all, { numRuns: Math.ceil(numRuns / 5) });
    });
  });
}
