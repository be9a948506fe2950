import { afterAll, beforeAll, expect, test } from "vitest";
import { type NewFamily, type NewKey, storeUnavailable } from "../../../src/kit/index.ts";
import { createClient } from "../../../src/store/redis/client.ts";
import { type Connection, RedisConnection } from "../../../src/store/redis/connection.ts";
import { describeRedis, type RedisServer, startRedis } from "../../support/redis.ts";
import { digest, HOUR, unique } from "../support.ts";
import { type Accounts, accountsOn, KEYS, through } from "./accounts-on.ts";

/** How a process dies at a command: before it is sent, or after it was executed and before the answer is there. */
const DEATHS = ["before", "after"] as const;

/** Everything fails from the n-th command on. */
function dying(inner: Connection, at: number, death: (typeof DEATHS)[number]): Connection & { alive(): boolean } {
  let sent = 0;
  const connection = through(inner, async (_, go) => {
    sent += 1;
    if (sent === at && death === "after") await go();
    if (sent >= at) throw storeUnavailable(new Error("dead"));
    return go();
  });
  return { ...connection, alive: () => sent < at };
}

interface Scenario<World> {
  /** What is there before. */
  prepare(store: Accounts): Promise<World>;
  /** What dies midway and is then repeated. */
  act(store: Accounts, world: World): Promise<unknown>;
  /** What holds whenever it died. */
  holds?(store: Accounts, world: World): Promise<void>;
  /** What holds once it was repeated without dying; `answer` is the repetition's. */
  done(store: Accounts, world: World, answer: unknown): Promise<void>;
}

let server: RedisServer;
let connection: RedisConnection;
let store: Accounts;

const exists = async (key: string) => (await connection.call("EXISTS", key)) === 1;
const newUser = (more = {}) => {
  const id = unique("user");
  return { id, email: `${id}@Example.com`, tier: "Free", credits: 7n, ...more };
};
const someone = async () => (await store.addUser(newUser()))!.id;
const newKey = (userId: string): NewKey => {
  const id = unique("key");
  return { id, userId, name: "laptop", prefix: "rk_01234567", digest: digest(id) };
};
const newFamily = (userId: string): NewFamily => {
  const id = unique("family");
  return { id, userId, digest: digest(`${id} 0`), expiresAt: Date.now() + HOUR };
};

/** A key is listed exactly when it is good. @returns whether it is. */
async function isLive({ id, userId, digest }: NewKey): Promise<boolean> {
  const principal = await store.principalByDigest(digest);
  expect((await store.listKeys(userId)).filter((key) => key.id === id)).toHaveLength(principal ? 1 : 0);
  expect([null, { userId, keyId: id, tier: "Free", version: principal?.version }]).toContainEqual(principal);
  return principal !== null;
}

/** The address has one user or none, whole. */
async function ofAddress(email: string) {
  const found = await store.findUser(email);
  const listed = (await store.listUsers()).filter((user) => user.email.toLowerCase() === email.toLowerCase());
  expect(listed).toEqual(found ? [{ ...found, balance: 7n, granted: 7n, held: 0n, tier: "Free" }] : []);
  return found;
}

/**
 * Dies at the first command, at the second, and so on, each time in a world of its own, until it is through alive.
 * @returns how often it died.
 */
async function survives<World>(death: (typeof DEATHS)[number], scenario: Scenario<World>): Promise<number> {
  for (let at = 1; ; at++) {
    const world = await scenario.prepare(store);
    const doomed = dying(connection, at, death);
    const failed: unknown = await scenario.act(accountsOn(doomed), world).then(
      () => null,
      (error: unknown) => error,
    );
    if (doomed.alive()) {
      if (failed !== null) throw failed;
      return at - 1;
    }
    expect(failed, `at command ${at}`).toMatchObject({ code: "STORE_UNAVAILABLE" });
    await scenario.holds?.(store, world);
    await scenario.done(store, world, await scenario.act(store, world));
    await scenario.holds?.(store, world);
  }
}

describeRedis("accounts on Redis: a process that dies at any command of", () => {
  beforeAll(async () => {
    server = await startRedis();
    connection = new RedisConnection(createClient(server.url), { timeout: 5_000 });
    await connection.connect(5_000);
    store = accountsOn(connection);
  });
  afterAll(async () => {
    await connection.close();
    await server.stop();
  });

  test.each(DEATHS)("addUser, then another sign-up of the address: %s it is executed", async (death) => {
    const deaths = survives(death, {
      prepare: async () => ({ first: newUser(), second: newUser() }),
      act: async (store, { first }) => store.addUser(first),
      holds: async (_, { first }) => void (await ofAddress(first.email)),
      async done(store, { first, second }) {
        await store.addUser({ ...second, email: first.email.toUpperCase() });
        expect((await ofAddress(first.email))!.id).toBe(first.id);
        expect(await store.findUser(second.id)).toBeNull();
      },
    });
    await expect(deaths).resolves.toBeGreaterThan(0);
  });

  test.each(DEATHS)("addUser, whose address another sign-up takes over: %s it is executed", async (death) => {
    const deaths = survives(death, {
      prepare: async () => ({ first: newUser(), second: newUser(), turns: { taken: 0 } }),
      // First a process that dies, then another one, after what the first wrote aside has gone.
      async act(store, { first, second, turns }) {
        if (turns.taken++ === 0) return store.addUser(first);
        await connection.call("DEL", KEYS.newUser(first.id));
        return store.addUser({ ...second, email: first.email });
      },
      holds: async (_, { first }) => void (await ofAddress(first.email)),
      async done(store, { first, second }, answer) {
        const user = (await ofAddress(first.email))!;
        expect(user.id).toBe(answer === null ? first.id : second.id);
        expect(await store.findUser(answer === null ? second.id : first.id)).toBeNull();
      },
    });
    await expect(deaths).resolves.toBeGreaterThan(0);
  });

  test.each(DEATHS)("addKey, up to the last that fits: %s it is executed", async (death) => {
    const deaths = survives(death, {
      prepare: async () => newKey(await someone()),
      act: async (store, key) => store.addKey(key, 1),
      holds: async (_, key) => void (await isLive(key)),
      async done(store, key, answer) {
        expect(answer).toMatchObject({ id: key.id, name: "laptop", lastUsedAt: null });
        expect(await isLive(key)).toBe(true);
        const other = newKey(key.userId);
        expect(await store.addKey(other, 1)).toBeNull();
        expect(await isLive(other)).toBe(false);
        expect(await isLive(key)).toBe(true);
      },
    });
    await expect(deaths).resolves.toBeGreaterThan(0);
  });

  test.each(DEATHS)("addKey, one too many: %s it is executed", async (death) => {
    const deaths = survives(death, {
      async prepare(store) {
        const userId = await someone();
        const [first, second] = [newKey(userId), newKey(userId)];
        await store.addKey(first, 1);
        return { first, second };
      },
      act: async (store, { second }) => store.addKey(second, 1),
      async holds(_, { first, second }) {
        expect([await isLive(first), await isLive(second)]).toEqual([true, false]);
      },
      async done(_, { second }, answer) {
        expect(answer).toBeNull();
        for (const key of [KEYS.keyById(second.id), KEYS.keyByDigest(Buffer.from(second.digest).toString("hex"))]) {
          expect(await exists(key), `${key} is left`).toBe(false);
        }
      },
    });
    await expect(deaths).resolves.toBeGreaterThan(0);
  });

  test.each(DEATHS)("revokeKey: %s it is executed", async (death) => {
    const deaths = survives(death, {
      async prepare(store) {
        const key = newKey(await someone());
        await store.addKey(key, 5);
        return { key, version: (await store.principalOf(key.userId))!.version! };
      },
      act: async (store, { key }) => store.revokeKey(key.id, key.userId),
      async holds(store, { key, version }) {
        const live = await isLive(key);
        expect((await store.principalOf(key.userId))!.version === version).toBe(live);
      },
      async done(_, { key }) {
        expect(await isLive(key)).toBe(false);
        for (const left of [KEYS.keyById(key.id), KEYS.keyByDigest(Buffer.from(key.digest).toString("hex"))]) {
          expect(await exists(left), `${left} is left`).toBe(false);
        }
      },
    });
    await expect(deaths).resolves.toBeGreaterThan(0);
  });

  test.each(DEATHS)("touchKeys: %s it is executed", async (death) => {
    const deaths = survives(death, {
      async prepare(store) {
        const keys = [newKey(await someone()), newKey(await someone())];
        for (const key of keys) await store.addKey(key, 5);
        return keys;
      },
      act: (store, keys) => store.touchKeys(new Map(keys.map(({ id }) => [id, 500]))),
      async holds(store, keys) {
        for (const { userId } of keys) expect((await store.listKeys(userId))[0]!.lastUsedAt).toBeOneOf([null, 500]);
      },
      async done(store, keys) {
        for (const { userId } of keys) expect((await store.listKeys(userId))[0]!.lastUsedAt).toBe(500);
      },
    });
    await expect(deaths).resolves.toBeGreaterThan(0);
  });

  test.each(DEATHS)("addFamily: %s it is executed", async (death) => {
    const deaths = survives(death, {
      prepare: async () => newFamily(await someone()),
      act: async (store, family) => store.addFamily(family),
      async done(store, { id, userId, digest: first, expiresAt }) {
        const rotation = { digest: first, successor: digest(`${id} 1`), grace: 0 };
        expect(await store.rotate(rotation)).toEqual({ userId, expiresAt });
      },
    });
    await expect(deaths).resolves.toBeGreaterThan(0);
  });

  test.each(DEATHS)("rotate: %s it is executed", async (death) => {
    const deaths = survives(death, {
      async prepare(store) {
        const family = newFamily(await someone());
        await store.addFamily(family);
        return family;
      },
      act: async (store, { id }) =>
        store.rotate({ digest: digest(`${id} 0`), successor: digest(`${id} 1`), grace: HOUR }),
      async done(store, { id, userId, expiresAt }, answer) {
        expect(answer).toEqual({ userId, expiresAt });
        const next = { digest: digest(`${id} 1`), successor: digest(`${id} 2`), grace: 0 };
        expect(await store.rotate(next), "the one live token").toEqual({ userId, expiresAt });
        expect(await store.rotate({ ...next, digest: digest(`${id} 0`), successor: digest(`${id} 1`) })).toBeNull();
        expect(await store.rotate({ ...next, digest: digest(`${id} 2`), successor: digest(`${id} 3`) })).toBeNull();
      },
    });
    await expect(deaths).resolves.toBeGreaterThan(0);
  });

  test.each(DEATHS)("endFamily: %s it is executed", async (death) => {
    const deaths = survives(death, {
      async prepare(store) {
        const family = newFamily(await someone());
        await store.addFamily(family);
        return family;
      },
      act: async (store, { digest: token }) => store.endFamily(token),
      async done(store, { id, digest: token }) {
        expect(await store.rotate({ digest: token, successor: digest(`${id} 1`), grace: HOUR })).toBeNull();
      },
    });
    await expect(deaths).resolves.toBeGreaterThan(0);
  });

  test.each(DEATHS)("linkIdentity: %s it is executed", async (death) => {
    const deaths = survives(death, {
      prepare: async () => ({ subject: unique("subject"), users: [await someone(), await someone()] as const }),
      act: async (store, { subject, users }) => store.linkIdentity("https://id.example", subject, users[0]),
      async holds(store, { subject, users }) {
        expect((await store.findIdentity("https://id.example", subject))?.id).toBeOneOf([undefined, users[0]]);
      },
      async done(store, { subject, users }, answer) {
        expect(answer).toMatchObject({ id: users[0] });
        expect(await store.linkIdentity("https://id.example", subject, users[1])).toMatchObject({ id: users[0] });
      },
    });
    await expect(deaths).resolves.toBeGreaterThan(0);
  });

  test.each(DEATHS)("setTier: %s it is executed", async (death) => {
    const deaths = survives(death, {
      prepare: async (store) => (await store.principalOf(await someone()))!,
      act: async (store, { userId }) => store.setTier(userId, "Max"),
      async holds(store, before) {
        const { tier, version } = (await store.principalOf(before.userId))!;
        expect(version === before.version).toBe(tier === "Free");
      },
      done: async (store, { userId }) => expect(await store.principalOf(userId)).toMatchObject({ tier: "Max" }),
    });
    await expect(deaths).resolves.toBeGreaterThan(0);
  });

  test.each(DEATHS)("grant: %s it is executed", async (death) => {
    const deaths = survives(death, {
      prepare: someone,
      act: async (store, userId) => store.grant(userId, 5n),
      async holds(store, userId) {
        const { balance, granted, held } = (await store.findUser(userId))!;
        expect([granted, held]).toEqual([balance, 0n]);
      },
      // An amount has no id: one that was executed without an answer is granted a second time.
      done: async (store, userId) => expect((await store.findUser(userId))!.balance).toBeOneOf([12n, 17n]),
    });
    await expect(deaths).resolves.toBeGreaterThan(0);
  });
});
