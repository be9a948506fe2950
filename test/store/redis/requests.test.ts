import { describe, expect, onTestFinished, test } from "vitest";
import type { Admission, GatewayError, Settlement, Store } from "../../../src/kit/index.ts";
import { createKeys } from "../../../src/store/redis/scripts.ts";
import { createClient } from "../../../src/store/redis/client.ts";
import { RedisConnection } from "../../../src/store/redis/connection.ts";
import { LEASE_MS, Leases } from "../../../src/store/redis/leases.ts";
import { Requests } from "../../../src/store/redis/requests.ts";
import type { RedisStore } from "../../../src/store/redis/store.ts";
import { accountMethods } from "../../../src/store/redis/accounts.ts";
import { describeRedis, redisOfSuite } from "../../support/redis.ts";
import { through } from "./accounts-on.ts";
import { openAt, PATIENT } from "./support.ts";
import { DAY, HOUR, MINUTE, OPEN, RECORD, START, addUser, admission, charged, givenBack, unique } from "../support.ts";

async function admitted(store: Store, userId: string, more: Partial<Admission> = {}): Promise<Admission> {
  const request = admission(userId, more);
  expect(await store.admit(request)).toMatchObject({ ok: true });
  return request;
}

const used = async (store: Store, userId: string) => {
  const { day, hour, minute } = await store.windows(userId, OPEN);
  return [day.used, hour.used, minute.used];
};

/** A ledger entry as it is stored. */
const packed = (id: string, endedAt: number) =>
  JSON.stringify([id, "r", null, "m", null, "served", 0, 1, endedAt, "1", 0]);

const start = () => START;

/** What only a store of several processes shows. */
describeRedis("on Redis, requests", () => {
  const server = redisOfSuite();

  /** Some processes of one store, with one clock. */
  async function processes<const Names extends readonly string[]>(...instances: Names) {
    const clock = { now: START };
    const prefix = `${unique("p")}:`;
    const open = (instance: string) => openAt(server.url, { prefix, instance, clock: () => clock.now });
    const stores = (await Promise.all(instances.map(open))) as { readonly [Key in keyof Names]: RedisStore };
    return { clock, stores, prefix, keys: createKeys(prefix) };
  }

  describe("a lease", () => {
    test("that has ended frees slot and hold, keeps what was counted and leaves a record without a charge", async () => {
      const { clock, stores, keys } = await processes("a", "b");
      const [dead, other] = stores;
      const user = await addUser(dead, 1_000n);
      const limits = { ...OPEN, streams: 1 };
      const lost = await admitted(dead, user.id, { stream: true, hold: 600n, units: 5, model: "route/a b", limits });
      const next = admission(user.id, { stream: true, hold: 900n, limits });
      clock.now += LEASE_MS - 1;
      expect(await other.running(user.id)).toEqual({ requests: 1, streams: 1, held: 600n });
      clock.now += 1;
      expect(await other.running(user.id)).toEqual({ requests: 0, streams: 0, held: 0n });
      expect(await other.admit(next)).toMatchObject({ ok: true, windows: { day: { used: 6 } } });
      expect(await other.running(user.id)).toEqual({ requests: 1, streams: 1, held: 900n });
      expect(await other.ledger(user.id)).toEqual([
        {
          id: lost.id,
          userId: user.id,
          requestId: lost.id,
          keyId: null,
          model: "route/a b",
          upstream: null,
          outcome: "shutdown",
          usage: { prompt: 0, completion: 0, cached: 0, reasoning: 0 },
          estimated: true,
          receivedAt: START,
          endedAt: START + LEASE_MS,
          charge: 0n,
        },
      ]);
      expect(await server.client.pttl(keys.abandoned(user.id))).toBeGreaterThan(0);
    });

    test("that has ended: a late settlement charges once, in the record's place", async () => {
      const { clock, stores } = await processes("a", "b");
      const [dead, other] = stores;
      const user = await addUser(dead, 1_000n);
      const lost = await admitted(dead, user.id, { stream: true, hold: 600n });
      clock.now += LEASE_MS;
      await admitted(other, user.id);
      for (const store of [dead, other, dead]) await store.settle(charged(lost, 250n));
      expect(await other.ledger(user.id)).toEqual([{ ...RECORD, id: lost.id, userId: user.id, charge: 250n }]);
      expect(await other.findUser(user.id)).toMatchObject({ balance: 750n, held: 0n, granted: 1_000n });
      expect(await other.running(user.id)).toEqual({ requests: 1, streams: 0, held: 0n });
    });

    test("that has ended: what is given back late is as if it had never been", async () => {
      const { clock, stores } = await processes("a", "b");
      const [dead, other] = stores;
      const user = await addUser(dead, 1_000n);
      const lost = await admitted(dead, user.id, { hold: 600n, units: 5 });
      clock.now += LEASE_MS;
      const running = await admitted(other, user.id);
      await dead.settle(givenBack(lost));
      expect(await other.ledger(user.id)).toEqual([]);
      expect((await other.windows(user.id, OPEN)).day.used).toBe(1);
      await other.settle(givenBack(running));
      expect(await other.findUser(user.id)).toMatchObject({ balance: 1_000n, held: 0n });
    });

    test("is prolonged by the process that runs the request, and by no other", async () => {
      const { clock, stores } = await processes("a", "b");
      const [a, b] = stores;
      const user = await addUser(a);
      const requests = await Promise.all([a, b].map((store) => admitted(store, user.id, { stream: true })));
      for (let turn = 0; turn < 10; turn++) {
        clock.now += LEASE_MS / 4;
        await a.renew();
      }
      expect(await b.running(user.id)).toMatchObject({ streams: 1 });
      await admitted(b, user.id);
      expect((await b.ledger(user.id)).map(({ id }) => id)).toEqual([requests[1]!.id]);
    });

    test("ends no more than once, whoever looks at the same time", async () => {
      const { clock, stores } = await processes("a", "b", "c");
      const user = await addUser(stores[0], 1_000n);
      const lost = await Promise.all(Array.from({ length: 30 }, () => admitted(stores[0], user.id, { hold: 10n })));
      clock.now += LEASE_MS;
      await Promise.all(stores.map((store) => admitted(store, user.id)));
      expect(await stores[1].ledger(user.id)).toHaveLength(lost.length);
      expect(await stores[1].findUser(user.id)).toMatchObject({ balance: 1_000n, held: 0n });
    });

    test("of hundreds that have ended all are given up, at most a hundred by one call", async () => {
      const { clock, stores } = await processes("a");
      const user = await addUser(stores[0], 1_000n);
      await Promise.all(Array.from({ length: 250 }, () => admitted(stores[0], user.id, { hold: 1n })));
      clock.now += LEASE_MS;
      const seen: number[] = [];
      for (let turn = 0; turn < 3; turn++) {
        await admitted(stores[0], user.id);
        seen.push((await stores[0].ledger(user.id)).length);
      }
      expect(seen).toEqual([100, 200, 250]);
      expect(await stores[0].findUser(user.id)).toMatchObject({ held: 0n });
    });
  });

  describe("a renewal", () => {
    test("registers again what the server has lost: slots, holds and stop tokens", async () => {
      const { stores } = await processes("a", "b");
      const [a, b] = stores;
      const user = await addUser(a, 1_000n);
      await a.stopStreams(user.id);
      const stream = await admitted(a, user.id, { stream: true, hold: 300n });
      await admitted(a, user.id, { hold: 200n });
      await server.client.flushall();
      await a.renew();
      expect(await b.running(user.id), "of a user who is not there nothing is kept").toMatchObject({ requests: 0 });
      expect(await server.client.dbsize()).toBe(0);
      await b.addUser({ ...user, credits: 1_000n });
      await a.renew();
      await a.renew();
      expect(await b.running(user.id)).toEqual({ requests: 2, streams: 1, held: 500n });
      expect(await b.findUser(user.id)).toMatchObject({ balance: 1_000n, held: 500n });
      expect(await b.stopStreams(user.id)).toEqual({ token: 1, streams: 0 });
      expect(await b.stopStreams(user.id), "admitted under the token 1").toEqual({ token: 2, streams: 1 });
      await a.settle(charged(stream, 100n));
      expect(await b.findUser(user.id)).toMatchObject({ balance: 900n, held: 200n });
    });

    test("takes back what was given up while the process hung", async () => {
      const { clock, stores } = await processes("a", "b");
      const [a, b] = stores;
      const user = await addUser(a, 1_000n);
      const stream = await admitted(a, user.id, { stream: true, hold: 300n });
      clock.now += LEASE_MS;
      const other = await admitted(b, user.id);
      expect(await b.ledger(user.id)).toHaveLength(1);
      await a.renew();
      expect(await b.running(user.id)).toEqual({ requests: 2, streams: 1, held: 300n });
      expect(await b.ledger(user.id)).toEqual([]);
      await a.settle(charged(stream, 100n));
      await b.settle(givenBack(other));
      expect(await b.findUser(user.id)).toMatchObject({ balance: 900n, held: 0n });
      expect((await b.windows(user.id, OPEN)).day.used, "counted once").toBe(1);
    });

    test("does not bring back what was settled, in whatever order the answers come", async () => {
      const { stores } = await processes("a");
      const [a] = stores;
      const user = await addUser(a, 1_000n);
      const request = admission(user.id, { hold: 10n, stream: true });
      // The settlement is sent before the answer to the admission has come.
      await Promise.all([a.admit(request), a.settle(charged(request, 5n)), a.renew()]);
      await a.renew();
      expect(await a.running(user.id)).toEqual({ requests: 0, streams: 0, held: 0n });
      expect(await a.findUser(user.id)).toMatchObject({ balance: 995n, held: 0n });
    });
  });

  describe("a buried process", () => {
    test("has no leases any more, for those that hear of it and those that start later", async () => {
      const { clock, stores, keys, prefix } = await processes("dead", "b");
      const [dead, b] = stores;
      const user = await addUser(dead, 1_000n);
      const limits = { ...OPEN, streams: 2 };
      const lost = await admitted(dead, user.id, { stream: true, hold: 600n, limits });
      const mine = await admitted(b, user.id, { stream: true, hold: 100n, limits });
      const late = await openAt(server.url, { prefix, clock: () => clock.now });
      const heard = new Promise<string>((resolve) => {
        const other = server.client.duplicate();
        onTestFinished(() => other.disconnect());
        other.on("message", (_, instance) => resolve(instance));
        void other.subscribe(keys.deaths);
      });
      await expect.poll(() => server.client.pubsub("NUMSUB", keys.deaths)).toEqual([keys.deaths, 4]);
      await b.markInstanceDead("dead");
      expect(await heard).toBe("dead");
      for (const store of [b, late]) {
        await expect.poll(() => store.running(user.id)).toEqual({ requests: 1, streams: 1, held: 100n });
      }
      const after = await openAt(server.url, { prefix, clock: () => clock.now });
      await expect.poll(() => after.running(user.id)).toMatchObject({ streams: 1 });
      await admitted(after, user.id, { stream: true, hold: 900n, limits });
      expect(await b.ledger(user.id)).toMatchObject([{ id: lost.id, outcome: "shutdown", charge: 0n }]);
      await b.settle(charged(lost, 50n));
      await b.settle(charged(mine, 50n));
      expect(await b.findUser(user.id)).toMatchObject({ balance: 900n, held: 900n });
    });

    test("does not bury itself: it is told of its own death and goes on", async () => {
      const { stores } = await processes("a");
      const user = await addUser(stores[0]);
      await admitted(stores[0], user.id, { stream: true });
      await stores[0].markInstanceDead("a");
      expect(await stores[0].running(user.id)).toMatchObject({ streams: 1 });
    });
  });

  describe("versions", () => {
    test("an admission under another version is refused before anything else, and changes nothing", async () => {
      const { stores } = await processes("a");
      const [store] = stores;
      const user = await addUser(store, 10n);
      const { version } = (await store.principalOf(user.id))!;
      await admitted(store, user.id, { version, hold: 10n });
      await store.setTier(user.id, "Max");
      const none = { day: 0, hour: 0, minute: 0, streams: 0 };
      const before = [await store.findUser(user.id), await used(store, user.id), await store.running(user.id)];
      const stale = admission(user.id, { version, limits: none, hold: 99n, stream: true });
      const windows = await store.windows(user.id, none);
      expect(await store.admit(stale)).toEqual({ ok: false, refusal: "principal", windows });
      expect([await store.findUser(user.id), await used(store, user.id), await store.running(user.id)]).toEqual(before);
      const { version: fresh } = (await store.principalOf(user.id))!;
      expect(await store.admit({ ...stale, version: fresh })).toMatchObject({ refusal: "credits" });
    });

    test("a user who is gone is refused as a principal that is out of date", async () => {
      const { stores } = await processes("a");
      const request = admission("user_gone", { version: 1 });
      expect(await stores[0].admit(request)).toMatchObject({ ok: false, refusal: "principal" });
      expect(await server.client.keys("*user_gone*")).toEqual([]);
    });
  });

  describe("settlement", () => {
    test("is once per id, however many processes repeat it at once", async () => {
      const { stores } = await processes("a", "b", "c");
      const user = await addUser(stores[0], 1_000n);
      const requests = await Promise.all(stores.map((store) => admitted(store, user.id, { hold: 100n })));
      const all = requests.flatMap((request) => [charged(request, 7n), charged(request, 9n), givenBack(request)]);
      await Promise.all(stores.flatMap((store) => all.map((one) => store.settle(one))));
      const charges = (await stores[0].ledger(user.id)).map(({ charge }) => charge);
      const owned = (await stores[0].findUser(user.id))!;
      expect(owned).toMatchObject({ held: 0n, balance: 1_000n - charges.reduce((sum, one) => sum + one, 0n) });
      expect(charges.length).toBeLessThanOrEqual(requests.length);
    });

    test("of a reservation that the server has lost: charged by the process that admitted it, the first time only", async () => {
      const { stores, keys } = await processes("a", "b");
      const [a, b] = stores;
      const user = await addUser(a, 1_000n);
      const requests = [await admitted(a, user.id), await admitted(a, user.id)];
      // A failover to a replica that had not heard of them yet.
      await server.client.del(keys.reservations(user.id), keys.leases(user.id), keys.streams(user.id));
      for (const request of requests) await b.settle(charged(request, 5n));
      expect(await b.ledger(user.id), "nobody's").toEqual([]);
      for (let turn = 0; turn < 2; turn++) await a.settle(charged(requests[0]!, 5n));
      await a.settle(givenBack(requests[1]!));
      await a.settle(charged(requests[1]!, 5n));
      expect((await b.ledger(user.id)).map(({ id }) => id)).toEqual([requests[0]!.id]);
      expect(await b.findUser(user.id)).toMatchObject({ balance: 995n, held: 0n, granted: 1_000n });
    });

    test.each([
      ["known: charged at once", [0], [true, false], 2],
      ["taken for an hour less: asked once more and charged", [HOUR], [true, false], 3],
      ["taken for less twice: the next try is the first again", [HOUR, HOUR], ["STORE_UNAVAILABLE", true, false], 4],
    ])("of a lost reservation, the server's clock %s", async (_, errors, results, calls) => {
      const connection = new RedisConnection(createClient(server.url), { timeout: PATIENT.timeout });
      onTestFinished(() => connection.close());
      await connection.connect(PATIENT.timeout);
      // By how much it is too low, each time that the server tells its time.
      const low = [...errors];
      let asked = 0;
      const misheard = through(connection, async (what, go) => {
        const reply = await go();
        if (what === "settle") asked++;
        if (what === "settle" && Array.isArray(reply)) return [reply[0], Number(reply[1]) - (low.shift() ?? 0)];
        if (what !== "TIME") return reply;
        const [seconds, micros] = reply as [string, string];
        return [String(Number(seconds) - (low.shift() ?? 0) / 1_000), micros];
      });
      const keys = createKeys(`${unique("p")}:`);
      const leases = new Leases(misheard, keys, "a", LEASE_MS);
      // With a test's clock an admission does not learn of the server's.
      const options = { instance: "a", lease: LEASE_MS, timeout: 1_000, retention: 1e10, clock: start };
      const requests = new Requests(misheard, keys, leases, options);
      onTestFinished(() => requests.close());
      await requests.setClock();
      const user = unique("user");
      await accountMethods(misheard, keys, start, () => 0).addUser({
        id: user,
        email: user,
        tier: "Free",
        credits: 100n,
      });
      const request = admission(user);
      expect(await requests.admit(request)).toMatchObject({ ok: true });
      await server.client.del(keys.reservations(user), keys.leases(user));

      const settle = () =>
        requests.settle(charged(request, 5n)).catch((error: unknown) => (error as GatewayError).code);
      const said: unknown[] = [];
      while (said.length < results.length) said.push(await settle());
      expect([said, asked]).toEqual([results, calls]);
      expect(await requests.methods.ledger(user)).toMatchObject([{ id: request.id, charge: 5n }]);
    });

    test("amounts of 62 bits are exact; beyond, nothing is changed", async () => {
      const { stores } = await processes("a");
      const [store] = stores;
      const most = 2n ** 61n - 1n;
      const user = await addUser(store, most);
      const cases: readonly [hold: bigint, ok: boolean][] = [
        [most + 1n, false],
        [most, true],
        [1n, false],
      ];
      for (const [hold, ok] of cases) expect(await store.admit(admission(user.id, { hold }))).toMatchObject({ ok });
      expect(await store.findUser(user.id)).toMatchObject({ balance: most, held: most });
      const free = await admitted(store, user.id, { hold: 2n ** 62n - 1n, enforceCredits: false });
      await store.settle(charged(free, 2n ** 62n - 1n));
      expect(await store.findUser(user.id)).toMatchObject({ balance: most - 2n ** 62n + 1n, held: most });
      const before = [await store.findUser(user.id), await store.running(user.id), await used(store, user.id)];
      const request = await admitted(store, user.id);
      const wrong: readonly Settlement[] = [charged(request, 2n ** 62n), charged(request, 2n ** 70n)];
      for (const one of wrong) await expect(store.settle(one)).rejects.toThrow(RangeError);
      const unfit: readonly Partial<Admission>[] = [{ hold: 2n ** 63n }, { hold: -1n }, { units: 0.5 }, { units: -1 }];
      for (const one of unfit) await expect(store.admit(admission(user.id, one))).rejects.toThrow(RangeError);
      await store.settle(givenBack(request));
      expect([await store.findUser(user.id), await store.running(user.id), await used(store, user.id)]).toEqual(before);
    });

    test("a balance that cannot fall any further: an error, and nothing is half done", async () => {
      const { stores, keys } = await processes("a");
      const [store] = stores;
      const user = await addUser(store, 0n);
      await server.client.hset(keys.user(user.id), { balance: `-${2n ** 63n - 1n}`, available: `-${2n ** 63n - 1n}` });
      const request = await admitted(store, user.id, { stream: true });
      const before = await server.client.hgetall(keys.user(user.id));
      await expect(store.settle(charged(request, 100n))).rejects.toThrow("overflow");
      expect(await server.client.hgetall(keys.user(user.id))).toEqual(before);
      expect(await store.running(user.id)).toMatchObject({ streams: 1 });
      expect(await store.ledger(user.id)).toEqual([]);
    });

    test("what is older than 90 days leaves the ledger, and the sums stay", async () => {
      const { stores, keys } = await processes("a");
      const [store] = stores;
      const user = await addUser(store, 1_000n);
      const old = Date.now() - 91 * DAY;
      for (let index = 0; index < 5; index++)
        await server.client.rpush(keys.ledger(user.id), `${old} ${packed(`ex_old${index}`, 1)}`);
      expect(await store.ledger(user.id)).toHaveLength(5);
      const lengths: number[] = [];
      for (let turn = 0; turn < 4; turn++) {
        await store.settle(charged(await admitted(store, user.id), turn === 0 ? 5n : 0n));
        lengths.push((await store.ledger(user.id)).length);
      }
      expect(lengths, "two go for each that comes").toEqual([4, 3, 3, 4]);
      const sums = await server.client.hmget(keys.user(user.id), "balance", "charged", "granted");
      expect(sums).toEqual(["995", "5", "1000"]);
    });

    test("a long ledger is read in pages, whole and in order", async () => {
      const { stores, keys } = await processes("a");
      const [store] = stores;
      const user = await addUser(store);
      const pipeline = server.client.pipeline();
      for (let index = 0; index < 2_500; index++) {
        pipeline.rpush(keys.ledger(user.id), `${Date.now()} ${packed(`ex_${index}`, 5_000 - index)}`);
      }
      await pipeline.exec();
      const entries = await store.ledger(user.id);
      expect(entries).toHaveLength(2_500);
      expect(entries[0]).toMatchObject({ id: "ex_2499", endedAt: 2_501, usage: { prompt: 0, reasoning: 0 } });
    });
  });

  test("a hold that nobody runs any more is found when nothing is left of its reservation", async () => {
    const { stores, keys } = await processes("a");
    const [store] = stores;
    const user = await addUser(store, 1_000n);
    await admitted(store, user.id, { hold: 700n });
    await server.client.del(keys.reservations(user.id), keys.leases(user.id), keys.streams(user.id));
    await admitted(store, user.id, { hold: 900n });
    expect(await store.findUser(user.id)).toMatchObject({ balance: 1_000n, held: 900n });
  });

  test("a clock that goes back opens no window afresh and locks nobody out", async () => {
    const { clock, stores } = await processes("a");
    const [store] = stores;
    const user = await addUser(store);
    for (const [name, length] of [
      ["day", DAY],
      ["hour", 60 * MINUTE],
      ["minute", MINUTE],
    ] as const) {
      clock.now = START + 40 * DAY;
      const limits = { ...OPEN, [name]: (await store.windows(user.id, OPEN))[name].used + 1 };
      const admit = async () => (await store.admit(admission(user.id, { limits }))).ok;
      expect([await admit(), await admit()]).toEqual([true, false]);
      clock.now -= 1;
      expect(await admit(), "wavering at the edge").toBe(false);
      clock.now -= 5 * length;
      expect(await admit(), `the ${name} comes along`).toBe(false);
      clock.now += length;
      expect(await admit(), "and ends").toBe(true);
      clock.now += 40 * DAY;
    }
  });
});
