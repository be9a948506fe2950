import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { isStoreUnavailable, type NewUser, storeUnavailable, type User } from "../../../src/kit/index.ts";
import { createClient } from "../../../src/store/redis/client.ts";
import { RedisConnection } from "../../../src/store/redis/connection.ts";
import { loadScript } from "../../../src/store/redis/scripts.ts";
import { countAt } from "../../../src/store/windows.ts";
import { describeRedis, type RedisServer, startRedis } from "../../support/redis.ts";
import { DAY, digest, HOUR, MINUTE, START, unique } from "../support.ts";
import { type Accounts, accountsOn, KEYS, through } from "./accounts-on.ts";
import { PATIENCE, RUNS } from "../../properties/runs.ts";

let server: RedisServer;
let connection: RedisConnection;
let store: Accounts;

async function connect(): Promise<RedisConnection> {
  const made = new RedisConnection(createClient(server.url), { timeout: 5_000 });
  expect(await made.connect(5_000)).toBe(true);
  return made;
}

const newUser = (more: Partial<NewUser> = {}): NewUser => {
  const id = unique("user");
  return { id, email: `${id}@example.com`, tier: "Free", credits: 0n, ...more };
};
const newKey = (userId: string) => {
  const id = unique("key");
  return { id, userId, name: "laptop", prefix: "rk_01234567", digest: digest(id) };
};
const someone = async (more: Partial<NewUser> = {}) => (await store.addUser(newUser(more)))!;
const text = async (command: string, ...args: (string | number)[]) => String(await connection.call(command, ...args));

const CODE = { client: "192.0.2.1", tries: 5, triesOfOthers: 3 };

const ASIDE = loadScript("user-add", "clock");

/** Takes what is heard, in order. */
class Listener {
  readonly waiting: [string, number][] = [];
  #wake: (() => void) | null = null;

  readonly take = (userId: string, token: number): void => {
    this.waiting.push([userId, token]);
    this.#wake?.();
  };

  async next(): Promise<[string, number]> {
    while (this.waiting.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.waiting.shift()!;
  }
}

/** Waits until a connection other than `before` listens to stops. @returns its name. */
async function listening(before = ""): Promise<string> {
  const look = async () => {
    const [, count] = (await connection.call("PUBSUB", "NUMSUB", KEYS.stops)) as [string, number];
    const id = /\bid=(\d+)/.exec(await text("CLIENT", "LIST", "TYPE", "PUBSUB"))?.[1] ?? before;
    expect([count, id === before]).toEqual([1, false]);
    return id;
  };
  return vi.waitFor(look, { timeout: 10_000, interval: 5 });
}

function unlessUnavailable(error: unknown): null {
  if (isStoreUnavailable(error)) return null;
  throw error;
}

/** Those of `users` that are users, and listed. */
async function among(users: readonly NewUser[]): Promise<User[]> {
  const found = await Promise.all(users.map(({ id }) => store.findUser(id)));
  const there = found.filter((user) => user !== null);
  for (const { id } of there) expect(await connection.call("SISMEMBER", KEYS.users, id)).toBe(1);
  return there;
}

const byAge = (a: User, b: User) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);

const folded = (email: string) => email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** The commands that `work` sends, by name. */
async function sentBy(work: (store: Accounts) => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  const counted = through(connection, (what, go) => {
    sent.push(what);
    return go();
  });
  await work(accountsOn(counted));
  return sent;
}

describeRedis("accounts on Redis", () => {
  beforeAll(async () => {
    server = await startRedis();
    connection = await connect();
    store = accountsOn(connection);
  });
  afterAll(async () => {
    await connection.close();
    await server.stop();
  });

  describe("principals", () => {
    test("are one round trip by user and two by key, and carry the user's version", async () => {
      const { id } = await someone();
      const key = newKey(id);
      await store.addKey(key, 5);
      const found = { userId: id, tier: "Free", version: 1 };
      expect(await store.principalByDigest(key.digest)).toEqual({ ...found, keyId: key.id });
      expect(await store.principalOf(id)).toEqual({ ...found, keyId: null });
      expect(await store.principalOf("user_nobody")).toBeNull();
      expect(await sentBy((on) => on.principalByDigest(key.digest))).toEqual(["GET", "principal"]);
      expect(await sentBy((on) => on.principalByDigest(digest("nothing")))).toEqual(["GET"]);
      expect(await sentBy((on) => on.principalOf(id))).toEqual(["HMGET"]);
    });

    test("have another version after each change that they must notice, and only then", async () => {
      const { id } = await someone();
      const keys = [newKey(id), newKey(id)] as const;
      const steps: readonly (readonly [boolean, () => Promise<unknown>])[] = [
        [false, async () => store.addKey(keys[0], 5)],
        [false, async () => store.addKey(keys[1], 5)],
        [true, async () => store.setTier(id, "Max")],
        [false, async () => store.grant(id, 5n)],
        [false, async () => store.touchKeys(new Map([[keys[0].id, 1]]))],
        [true, async () => store.revokeKey(keys[0].id)],
        [false, async () => store.revokeKey(keys[0].id)],
        [false, async () => store.stopStreams(id)],
      ];
      let version = 1;
      for (const [changes, step] of steps) {
        await step();
        if (changes) version += 1;
        expect(await store.principalOf(id), `after ${step}`).toMatchObject({ version });
      }
    });

    test("are never those of a pointer that leads to a key of another digest", async () => {
      const { id } = await someone();
      const key = newKey(id);
      await store.addKey(key, 5);
      const other = digest("left behind");
      const pointer = KEYS.keyByDigest(Buffer.from(other).toString("hex"));
      await connection.call("SET", pointer, JSON.stringify([id, key.id]));
      expect(await store.principalByDigest(other)).toBeNull();
    });
  });

  describe("users", () => {
    test("10,000 of them are listed in steps between which the server is free", async () => {
      const all = Array.from({ length: 10_000 }, (_, index) => newUser({ credits: BigInt(index) }));
      // As addUser leaves them, in a fifth of the time.
      for (let at = 0; at < all.length; at += 500) {
        await Promise.all(
          all.slice(at, at + 500).flatMap(({ id, email, tier, credits }) => {
            const amounts = ["balance", String(credits), "available", String(credits), "granted", String(credits)];
            const fields = ["email", email, "tier", tier, ...amounts, "created", START + at];
            return [connection.call("HSET", KEYS.user(id), ...fields), connection.call("SADD", KEYS.users, id)];
          }),
        );
      }
      let [most, underWay, page] = [0, 0, 0];
      const commands = new Set<string>();
      const watched = through(connection, async (what, go) => {
        commands.add(what);
        most = Math.max(most, ++underWay);
        const reply = await go();
        underWay -= 1;
        if (what === "SSCAN") page = Math.max(page, (reply as [string, string[]])[1].length);
        return reply;
      });
      const listed = await accountsOn(watched).listUsers();
      expect(commands).toEqual(new Set(["SSCAN", "HMGET"]));
      expect(most).toBeLessThanOrEqual(200);
      expect(page).toBeLessThan(1_000);
      const ids = new Set(all.map(({ id }) => id));
      const ours = listed.filter(({ id }) => ids.has(id));
      expect(ours).toHaveLength(10_000);
      expect(new Set(ours.map(({ id }) => id)).size).toBe(10_000);
      expect(listed).toEqual(listed.toSorted(byAge));
    });

    test("of an earlier version are found, once swept, with as much work as a page takes", async () => {
      const word = unique("earlier").replace("_", "");
      const known = await someone({ email: `${word}.b@example.com` });
      for (const name of ["c", "a"]) {
        const amounts = ["balance", "5", "available", "5", "granted", "5", "charged", "0"];
        const fields = ["email", `${word}.${name}@example.com`, "tier", "Free", ...amounts, "created", START];
        await connection.call("HSET", KEYS.user(`${word}.${name}`), ...fields, "version", 1, "stop", 0);
        await connection.call("SADD", KEYS.users, `${word}.${name}`);
      }
      // A sign-up that nobody has completed: it makes no search sweep again.
      await connection.call("SADD", KEYS.users, `${word}.nobody`);
      const commands: string[] = [];
      const watched = accountsOn(through(connection, async (what, go) => (commands.push(what), go())));
      const first = await watched.findUsers({ search: word, limit: 2 });
      expect(first.users.map(({ id }) => id)).toEqual([`${word}.a`, known.id]);
      const second = await watched.findUsers({ search: word, limit: 2, after: first.next! });
      expect(second).toMatchObject({ users: [{ id: `${word}.c` }], next: null });
      commands.length = 0;
      await watched.findUsers({ search: word, limit: 1 });
      expect(commands).not.toContain("SSCAN");
      expect(commands.filter((command) => command === "HMGET").length).toBeLessThanOrEqual(3);
    });

    test("a page of a search that looked at an address without a user goes on behind it", async () => {
      const word = unique("gone").replace("_", "");
      const all = Array.from({ length: 1_001 }, (_, index) => `${word}.${String(index).padStart(4, "0")}`);
      await connection.call("ZADD", KEYS.addresses, 0, `${word}.0000@example.com ${word}.nobody`);
      await Promise.all(
        all.flatMap((id, index) => {
          const amounts = ["balance", "5", "available", "5", "granted", "5", "charged", "0"];
          const tier = index === 1_000 ? "Max" : "Free";
          const fields = ["email", `${id}@example.com`, "tier", tier, ...amounts, "created", START];
          return [
            connection.call("HSET", KEYS.user(id), ...fields),
            connection.call("SADD", KEYS.users, id),
            connection.call("ZADD", KEYS.addresses, 0, `${id}@example.com ${id}`),
          ];
        }),
      );
      const first = await store.findUsers({ search: word, tier: "Max", limit: 2 });
      expect(first).toEqual({ users: [], next: `${word}.0998@example.com` });
      const second = await store.findUsers({ search: word, tier: "Max", limit: 2, after: first.next! });
      expect(second).toMatchObject({ users: [{ id: all.at(-1) }], next: null });
    });

    test(
      "of one address there is one, however sign-ups take turns and wherever they stop",
      async () => {
        const SIGN_UPS = 3;
        const events = fc.array(fc.record({ who: fc.nat(SIGN_UPS - 1), what: fc.constantFrom("expires", "dies") }), {
          maxLength: 3,
        });
        const property = fc.asyncProperty(fc.scheduler(), events, async (scheduler, events) => {
          const email = `${unique("shared")}@example.com`;
          const users = Array.from({ length: SIGN_UPS }, () => newUser({ email, credits: 7n }));
          const dead = new Set<string>();
          const signUps = users.map(async (user) => {
            const slow = through(connection, async (what, go) => {
              await scheduler.schedule(Promise.resolve(), what);
              if (dead.has(user.id)) throw storeUnavailable(new Error("dead"));
              return go();
            });
            return accountsOn(slow).addUser(user).catch(unlessUnavailable);
          });
          const disturbances = events.map(async ({ who, what }) => {
            const { id } = users[who]!;
            await scheduler.schedule(Promise.resolve(), what);
            if (what === "dies") dead.add(id);
            else await connection.call("DEL", KEYS.newUser(id));
          });
          const made = await scheduler.waitFor(Promise.all(signUps));
          await scheduler.waitFor(Promise.all(disturbances));

          const found = await store.findUser(email);
          const there = await among(users);
          expect(there).toEqual(found ? [found] : []);
          const winners = made.filter((user) => user !== null);
          expect(winners).toEqual(winners.map(() => found));
          // The next one has the address, unless one before it has it or is completed by it.
          const next = newUser({ email, credits: 7n });
          const last = await store.addUser(next);
          const now = await store.findUser(email);
          expect(await among([...users, next])).toEqual([now]);
          expect(found ?? now).toEqual(now);
          expect(last).toEqual(now!.id === next.id ? now : null);
        });
        await expect(fc.assert(property, { numRuns: RUNS })).resolves.toBeUndefined();
      },
      PATIENCE,
    );

    test(
      "whose addresses differ in the case of ASCII letters alone are one",
      async () => {
        // Which are one letter to somebody, the Kelvin sign among them.
        const alike = [
          ["a", "A"],
          ["k", "K", "\u212a"],
          ["i", "I", "\u0130", "\u0131"],
          ["ä", "Ä"],
          ["ß", "ss", "SS"],
          ["{", "}"],
        ];
        const pair = fc
          .constantFrom(...alike)
          .chain((letters) => fc.tuple(...Array(2).fill(fc.constantFrom(...letters))));
        const property = fc.asyncProperty(fc.array(pair, { minLength: 1, maxLength: 3 }), async (pairs) => {
          const host = unique("host");
          const [first, second] = [0, 1].map((side) => `${pairs.map((pair) => pair[side]).join("")}@${host}`) as [
            string,
            string,
          ];
          const user = await someone({ email: first });
          const same = folded(first) === folded(second);
          expect(await store.findUser(second)).toEqual(same ? user : null);
          expect((await store.addUser(newUser({ email: second }))) === null).toBe(same);
        });
        await expect(fc.assert(property, { numRuns: RUNS })).resolves.toBeUndefined();
      },
      PATIENCE,
    );

    test("keep what they are when somebody else is made under their id", async () => {
      const user = await someone({ credits: 7n });
      const again = newUser({ id: user.id, tier: "Max" });
      expect(await store.addUser(again)).toBeNull();
      expect(await store.findUser(user.id)).toEqual(user);
      expect(await store.findUser(again.email)).toEqual(again.email === user.email ? user : null);
    });

    test(
      "own to the nano-unit what was granted, whatever is held, up to what an account can hold",
      async () => {
        const [least, most] = [-(2n ** 61n), 2n ** 61n - 1n];
        const amount = fc.oneof(
          fc.bigInt({ min: -10n, max: 10n }),
          fc.bigInt({ min: least, max: most }),
          fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
          fc.constantFrom(most, least, most - least, least - most, 2n ** 62n, -(2n ** 62n), 2n ** 63n, -(2n ** 63n)),
        );
        const hold = fc.bigInt({ min: 0n, max: 2n ** 60n });
        const property = fc.asyncProperty(fc.array(amount, { maxLength: 12 }), hold, async (amounts, held) => {
          const { id } = await someone();
          await connection.call("HINCRBY", KEYS.user(id), "available", String(-held));
          let balance = 0n;
          for (const amount of amounts) {
            const fits = balance + amount >= least && balance + amount <= most;
            if (fits) balance += amount;
            const answer = await store.grant(id, amount).catch(({ code }: { code: unknown }) => ({ code }));
            expect(answer).toMatchObject(fits ? { balance, granted: balance, held } : { code: "INVALID_REQUEST" });
            expect(await store.findUser(id)).toMatchObject({ balance, granted: balance, held });
          }
        });
        await expect(fc.assert(property, { numRuns: RUNS })).resolves.toBeUndefined();
      },
      PATIENCE,
    );
  });

  test("nothing is noted of a key that is no more, even when its pointer was left behind", async () => {
    const { id } = await someone();
    const key = newKey(id);
    await store.addKey(key, 5);
    await store.touchKeys(new Map([[key.id, 1]]));
    const pointer = KEYS.keyById(key.id);
    const left = await text("GET", pointer);
    await store.revokeKey(key.id);
    await connection.call("SET", pointer, left);
    await store.touchKeys(new Map([[key.id, 2]]));
    expect(await connection.call("EXISTS", KEYS.keyUses(id))).toBe(0);
    expect(await store.revokeKey(key.id)).toBe(false);
    expect(await connection.call("EXISTS", pointer)).toBe(0);
  });

  describe("stops", () => {
    test("do not count a stream whose lease has ended", async () => {
      const { id } = await someone();
      for (const [stream, ends] of [
        ["running", START + 1],
        ["dead", START],
      ] as const) {
        await connection.call("ZADD", KEYS.streams(id), 0, stream);
        await connection.call("ZADD", KEYS.leases(id), ends, stream);
      }
      expect(await accountsOn(connection, () => START).stopStreams(id)).toEqual({ token: 1, streams: 1 });
      await connection.call("DEL", KEYS.streams(id), KEYS.leases(id));
    });

    test("are heard by every process, also after its connection was lost, until it lets go", async () => {
      const other = await connect();
      const [heard, second] = [new Listener(), new Listener()];
      const letGo = accountsOn(other).onStop(heard.take);
      accountsOn(other).onStop(second.take);
      const { id } = await someone();
      const first = await listening();
      await connection.call("PUBLISH", KEYS.stops, "no token");
      await store.stopStreams(id);
      expect([await heard.next(), await second.next()]).toEqual(Array.from([1, 1], (token) => [id, token]));
      await connection.call("CLIENT", "KILL", "TYPE", "pubsub");
      await listening(first);
      await store.stopStreams(id);
      expect([await heard.next(), await second.next()]).toEqual(Array.from([2, 2], (token) => [id, token]));
      letGo();
      await store.stopStreams(id);
      expect(await second.next()).toEqual([id, 3]);
      expect(heard.waiting).toEqual([]);
      await other.close();
    });

    test("of a user who is not there are told to nobody", async () => {
      const heard = new Listener();
      const letGo = store.onStop(heard.take);
      await listening();
      const { id } = await someone();
      await store.stopStreams("user_nobody");
      await store.stopStreams(id);
      expect(await heard.next()).toEqual([id, 1]);
      letGo();
    });
  });

  describe("changes", () => {
    test("are heard by another store, and once its connection was lost, that some may have been missed", async () => {
      const other = await connect();
      const heard: (string | null)[] = [];
      accountsOn(other).onChange((userId) => heard.push(userId));
      const next = (expected: readonly (string | null)[]) =>
        expect.poll(() => heard.splice(0), { timeout: 10_000 }).toEqual(expected);
      await next([null]);
      const { id } = await someone();
      const key = newKey(id);
      await store.addKey(key, 5);
      await store.revokeKey(key.id);
      await next([id]);
      await store.setTier(id, "Max");
      await next([id]);
      await connection.call("CLIENT", "KILL", "TYPE", "pubsub");
      await next([null]);
      await store.setTier(id, "Lite");
      await next([id]);
      await other.close();
    });
  });

  test("a server whose memory is full refuses what would take more, and ends what is to end", async () => {
    const { id } = await someone();
    const key = newKey(id);
    await store.addKey(key, 5);
    await store.putCode({ email: "full@example.com", ...CODE, digest: digest("1"), expiresAt: Date.now() + MINUTE });
    const family = unique("family");
    await store.addFamily({ id: family, userId: id, digest: digest(family), expiresAt: Date.now() + MINUTE });
    const before = await store.findUser(id);
    const rotation = { digest: digest(family), successor: digest(`${family} 1`), grace: 0 };
    await connection.call("CONFIG", "SET", "maxmemory", 1);
    try {
      const refused: readonly (() => Promise<unknown>)[] = [
        async () => store.addUser(newUser()),
        async () => store.addKey(newKey(id), 5),
        async () => store.grant(id, 5n),
        async () => store.throttle([{ name: "full", limit: 5 }], MINUTE),
        async () => store.rotate(rotation),
        async () => store.remember("full", "x"),
        async () => store.linkIdentity("https://id.example", "full", id),
      ];
      for (const call of refused) await expect(call(), `${call}`).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(await store.findUser(id)).toEqual(before);
      expect(await store.principalByDigest(key.digest)).not.toBeNull();
      expect(await store.stopStreams(id)).toEqual({ token: 1, streams: 0 });
      expect(await store.takeCode("full@example.com", "elsewhere", [digest("1")])).toBe(true);
      expect(await store.revokeKey(key.id)).toBe(true);
      await store.endFamily(digest(family));
    } finally {
      await connection.call("CONFIG", "SET", "maxmemory", 0);
    }
    expect(await store.principalByDigest(key.digest)).toBeNull();
    expect(await store.rotate(rotation)).toBeNull();
  });

  describe("instances", () => {
    test("whose time is over are forgotten", async () => {
      const clock = { now: START };
      const timed = accountsOn(connection, () => clock.now);
      await connection.call("DEL", KEYS.instances);
      await timed.publishInstance("a", "one", 100);
      await timed.publishInstance("b", "", 50);
      clock.now += 50;
      await timed.publishInstance("a", "two", 100);
      expect(await connection.call("HLEN", KEYS.instances)).toBe(1);
    });
  });

  describe("by the server's clock", () => {
    test("everything lasts as long as it says", async () => {
      const before = Date.now();
      const { createdAt, id } = await someone();
      expect(Math.abs(createdAt - before)).toBeLessThan(MINUTE);

      for (const [expiresAt, good] of [
        [before - MINUTE, false],
        [before + MINUTE, true],
      ] as const) {
        await store.putCode({ email: "clock@example.com", ...CODE, digest: digest("1"), expiresAt });
        expect(await store.takeCode("clock@example.com", "elsewhere", [digest("1")])).toBe(good);
        const family = unique("family");
        await store.addFamily({ id: family, userId: id, digest: digest(family), expiresAt });
        const rotation = { digest: digest(family), successor: digest(`${family} 1`), grace: 0 };
        expect(await store.rotate(rotation)).toEqual(good ? { userId: id, expiresAt } : null);
      }

      await store.publishInstance("here", "x", MINUTE);
      await store.publishInstance("gone", "x", 0);
      const said = await store.listInstances();
      expect([said.has("here"), said.has("gone")]).toEqual([true, false]);

      const counters = [{ name: unique("counter"), limit: 0 }];
      const wait = (await store.throttle(counters, DAY))!;
      // On either side of a midnight that may pass in between.
      expect([DAY - (before % DAY), DAY]).toSatisfy((ends: number[]) =>
        ends.some((end) => wait <= end && end - wait < MINUTE),
      );
    });

    test("whatever does not outlive its purpose goes by itself", async () => {
      const { id } = await someone();
      const at = Date.now();
      await store.putCode({ email: "ttl@example.com", ...CODE, digest: digest("1"), expiresAt: at + HOUR });
      const family = unique("family");
      await store.addFamily({ id: family, userId: id, digest: digest(family), expiresAt: at + DAY });
      await store.rotate({ digest: digest(family), successor: digest(`${family} 1`), grace: 0 });
      await store.throttle([{ name: "ttl", limit: 1 }], HOUR);
      await store.addCounts({ name: "ttl", length: HOUR, endsAt: at + HOUR }, [{ name: "a", uses: 1 }]);
      await store.publishInstance("ttl", "x", MINUTE);
      await connection.run(ASIDE, [KEYS.user("user_ttl"), KEYS.newUser("user_ttl")], [0, "e", "Free", "0", MINUTE]);
      // Of what a user's sign-up writes in several steps, nothing goes.
      const key = newKey(id);
      await store.addKey(key, 5);
      const hex = Buffer.from(key.digest).toString("hex");
      const lasting = [KEYS.user(id), KEYS.address(`${id}@example.com`), KEYS.apiKeys(id)];
      for (const name of [...lasting, KEYS.keyById(key.id), KEYS.keyByDigest(hex)]) {
        expect(await connection.call("PTTL", name), `${name} stays`).toBe(-1);
      }
      const durable = /^test:(u:|ks:|kt:|users$|addresses$|e:|k:|kid:|i:|m:)/;
      const kept: string[] = [];
      let fleeting = 0;
      for (let cursor = "0"; ;) {
        const [next, keys] = (await connection.call("SCAN", cursor, "COUNT", 1_000)) as [string, string[]];
        for (const key of keys.filter((name) => !durable.test(name))) {
          fleeting += 1;
          if ((await connection.call("PTTL", key)) === -1) kept.push(key);
        }
        if (next === "0") break;
        cursor = next;
      }
      expect(kept).toEqual([]);
      expect(fleeting).toBeGreaterThanOrEqual(6);
      expect(Number(await text("PTTL", KEYS.family(family)))).toBeGreaterThan(DAY);
    });
  });

  describe("a clock that goes back", () => {
    test(
      "counts as windows.ts does, and no full counter stays full",
      async () => {
        const step = fc.record({
          time: fc.constantFrom(0, 1, HOUR - 1, HOUR, 2 * HOUR, DAY, -1, -HOUR, -HOUR - 1, -2 * HOUR, -DAY),
          names: fc.subarray(["a", "b"]),
          limit: fc.integer({ min: 0, max: 3 }),
        });
        const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          const clock = { now: START };
          const timed = accountsOn(connection, () => clock.now);
          const salt = unique("back");
          const model = new Map<string, { window: number; used: number }>();
          for (const { time, names, limit } of steps) {
            clock.now += time;
            const counts = names.map((name) => {
              const stored = model.get(name) ?? { window: 0, used: 0 };
              return { name, stored, count: countAt(stored, HOUR, clock.now) };
            });
            const full = counts.filter(({ count }) => count.used >= limit);
            for (const { name, stored, count } of full) if (count.window < stored.window) model.set(name, count);
            const ends = full.map(({ count }) => (count.window + 1) * HOUR - clock.now);
            if (full.length === 0) {
              for (const { name, count } of counts) model.set(name, { window: count.window, used: count.used + 1 });
            }
            const counters = names.map((name) => ({ name: `${salt} ${name}`, limit }));
            expect(await timed.throttle(counters, HOUR)).toBe(full.length > 0 ? Math.max(...ends) : null);
          }
        });
        await expect(fc.assert(property, { numRuns: RUNS })).resolves.toBeUndefined();
      },
      PATIENCE,
    );
  });
});
