import assert from "node:assert/strict";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Admission, storeUnavailable } from "../../../src/kit/index.ts";
import type { Connection } from "../../../src/store/redis/connection.ts";
import { packEntry } from "../../../src/store/redis/ledger.ts";
import { createKeys } from "../../../src/store/redis/scripts.ts";
import { LedgerSweep } from "../../../src/store/redis/sweep.ts";
import { describeRedis, redisOfSuite } from "../../support/redis.ts";
import { connect, instanceOn, withClock } from "../../properties/instances.ts";
import { FEW_RUNS, PATIENCE } from "../../properties/runs.ts";
import { allPages, allUsage, inOrder, usageOf } from "../contract/ledger.ts";
import { addUser, admission, charged, DAY, RECORD, START, unique } from "../support.ts";
import { openAt } from "./support.ts";

const LEASE_MS = 60_000;
const SWEEPS = new Set(["sweep-take", "sweep-apply", "sweep-commit"]);

describeRedis("on Redis, the sweep", () => {
  const server = redisOfSuite();
  let connection: Awaited<ReturnType<typeof connect>>;
  beforeAll(async () => {
    connection = await connect(server.url);
  });
  afterAll(() => connection.close());

  type Fate = "executed" | "lost" | "dropped";

  /** A way to the server on which calls of the sweep may be executed or not, and their answers be lost. */
  function lossy(fates: readonly Fate[]): Connection {
    let calls = 0;
    return {
      ...withClock(connection, () => START),
      async run(script, keys, args) {
        const fate = SWEEPS.has(script.name) ? (fates[calls++ % fates.length] ?? "executed") : "executed";
        if (fate === "dropped") throw storeUnavailable(new Error("dropped"));
        const reply = await connection.run(script, keys, args);
        if (fate === "lost") throw storeUnavailable(new Error("lost"));
        return reply;
      },
    };
  }

  test(
    "counts each entry once, wherever it breaks off and whoever sweeps, also what was given up and settled later",
    async () => {
      const what = fc.constantFrom("settle", "settle", "leave", "settle late", "sweep", "sweep all", "two sweep");
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.record({ what, user: fc.nat(2), at: fc.nat(1) }), { minLength: 1, maxLength: 25 }),
          fc.array(fc.constantFrom<Fate>("executed", "executed", "lost", "dropped"), { minLength: 1, maxLength: 12 }),
          async (steps, fates) => {
            const clock = { now: START };
            const prefix = `${unique("sweep")}:`;
            const [a, b] = ["a", "b"].map((instance) =>
              instanceOn(
                withClock(connection, () => clock.now),
                { prefix, instance, lease: LEASE_MS },
              ),
            );
            const sweeps = [fates, fates.toReversed()].map(
              (own) => new LedgerSweep(lossy(own), createKeys(prefix), 90 * DAY, () => {}),
            );
            const stores = [a!, b!];
            const users = await Promise.all(Array.from({ length: 3 }, () => addUser(a!, 1_000n)));
            const left: Admission[] = [];
            for (const { what, user, at } of steps) {
              const store = stores[at]!;
              const request = admission(users[user]!.id, { hold: 1n });
              if (what === "settle" || what === "leave") await store.admit(request);
              if (what === "settle") await store.settle(charged(request, 3n));
              if (what === "leave") {
                left.push(request);
                clock.now += LEASE_MS;
                // Gives up what has no lease any more.
                const next = admission(request.userId);
                await store.admit(next);
                await store.settle(charged(next, 1n));
              }
              const late = what === "settle late" ? left.pop() : undefined;
              if (late !== undefined) await store.settle(charged(late, 5n));
              for (const { id } of users) sweeps[at]!.note(id);
              const swept = {
                sweep: () => [sweeps[at]!.sweep()],
                "sweep all": () => [sweeps[at]!.pass(0)],
                "two sweep": () => sweeps.map((sweep) => sweep.sweepUsers(users.map(({ id }) => id))),
              }[what as string];
              await Promise.allSettled(swept?.() ?? []);
            }
            await stores[1]!.sweepAll();
            const entries = (
              await Promise.all(users.map(({ id: userId }) => allPages(a!, { userId, limit: 1_000 })))
            ).flatMap((pages) => pages.entries);
            const listed = (await allPages(a!, { limit: 7 })).entries;
            assert.deepEqual(listed.map(({ id }) => id).toSorted(), entries.map(({ id }) => id).toSorted());
            for (const by of [[], ["userId"], ["model", "upstream"]] as const) {
              const rows = await allUsage(a!, { per: "hour", by, limit: 50 });
              assert.deepEqual(inOrder(rows), usageOf(entries, { per: "hour", by }));
            }
            const userId = users[0]!.id;
            const own = await allUsage(b!, { per: "day", by: ["model"], userId, limit: 50 });
            const ofUser = entries.filter((entry) => entry.userId === userId);
            assert.deepEqual(inOrder(own), usageOf(ofUser, { per: "day", by: ["model"] }));
            await Promise.all(sweeps.map((sweep) => sweep.close()));
            await Promise.all(stores.map((store) => store.close()));
          },
        ),
        { numRuns: FEW_RUNS },
      );
    },
    PATIENCE,
  );

  test("finds what was recorded before there was one, 1,000 entries, and what a dead process has left", async () => {
    const prefix = `${unique("t")}:`;
    const [dead, next] = [await openAt(server.url, { prefix }), await openAt(server.url, { prefix })];
    const user = await addUser(dead, 10_000n);
    const requests = Array.from({ length: 1_000 }, () => admission(user.id));
    await Promise.all(requests.map((request) => dead.admit(request)));
    await Promise.all(requests.map((request) => dead.settle(charged(request, 2n))));
    // As an older version left it.
    await server.client.del(createKeys(prefix).unswept(user.id));
    expect((await next.ledgerPage({ limit: 10 })).entries).toEqual([]);
    await next.sweepAll();
    expect((await allPages(next, { limit: 300 })).entries).toHaveLength(1_000);
    expect(await allUsage(next, { per: "day", by: [], limit: 9 })).toMatchObject([{ requests: 1_000, charge: 2_000n }]);
    expect(await server.client.exists(createKeys(prefix).unswept(user.id))).toBe(0);
  });

  test("is done once more when a process ends", async () => {
    const prefix = `${unique("t")}:`;
    const [leaving, other] = [await openAt(server.url, { prefix }), await openAt(server.url, { prefix })];
    const user = await addUser(leaving, 10n);
    const request = admission(user.id);
    await leaving.admit(request);
    await leaving.settle(charged(request, 2n));
    expect((await other.ledgerPage({ limit: 1 })).entries).toEqual([]);
    await leaving.close();
    expect((await other.ledgerPage({ limit: 1 })).entries).toMatchObject([{ id: request.id }]);
  });

  test("keeps nothing longer than the ledger, but for the sums of all", async () => {
    const prefix = `${unique("t")}:`;
    const store = await openAt(server.url, { prefix, retention: 30 * DAY });
    const user = await addUser(store, 10n);
    const request = admission(user.id);
    await store.admit(request);
    await store.settle(charged(request, 2n));
    const keys = createKeys(prefix);
    expect(await server.client.pttl(keys.unswept(user.id))).toBeGreaterThan(29 * DAY);
    await store.usage({ per: "day", by: [], from: 0, to: 2 ** 43, limit: 1 });
    const day = Math.floor(Date.now() / DAY);
    const [list, numbers, sums, users] = keys.ledgerDay(day);
    for (const key of [list, numbers, users, keys.usageOf(user.id, day)]) {
      const ttl = await server.client.pttl(key);
      expect(ttl).toBeGreaterThan(29 * DAY);
      expect(ttl).toBeLessThanOrEqual(31 * DAY);
    }
    expect(await server.client.pttl(sums)).toBeGreaterThan(399 * DAY);
  });

  test("breaks off while the server is away, and goes on", async () => {
    const prefix = `${unique("t")}:`;
    let isAway = true;
    const way: Connection = {
      ...withClock(connection, () => START),
      run: async (...call) => {
        if (isAway) throw storeUnavailable(new Error("away"));
        return connection.run(...call);
      },
    };
    const store = await openAt(server.url, { prefix });
    const user = await addUser(store, 10n);
    const request = admission(user.id);
    await store.admit(request);
    await store.settle({ ...charged(request, 2n), record: { ...RECORD, tier: "Lite" } });
    const sweep = new LedgerSweep(way, createKeys(prefix), 90 * DAY, () => {});
    onTestFinished(() => sweep.close());
    sweep.note(user.id);
    await expect(sweep.sweep()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    isAway = false;
    await sweep.sweep();
    expect(await server.client.hget(createKeys(prefix).user(user.id), "swept")).toBe("1");
  });

  test("a cursor of a day that is far ahead leads to the newest day", async () => {
    const store = await openAt(server.url);
    const { id: userId } = await addUser(store, 1_000n);
    const request = admission(userId);
    await store.admit(request);
    await store.settle(charged(request, 1n));
    const cursor = Buffer.from("9007199254740991 5").toString("base64url");
    const { entries } = await store.ledgerPage({ limit: 10, cursor });
    expect(entries.map(({ id }) => id)).toEqual([request.id]);
  });

  test("what was recorded here is in every answer, also of calls at the same time", async () => {
    const store = await openAt(server.url);
    const { id: userId } = await addUser(store, 1_000n);
    for (let recorded = 1; recorded <= 5; recorded++) {
      const request = admission(userId);
      await store.admit(request);
      await store.settle(charged(request, 1n));
      const pages = await Promise.all(Array.from({ length: 3 }, async () => store.ledgerPage({ limit: 10 })));
      expect(pages.map(({ entries }) => entries.length)).toEqual([recorded, recorded, recorded]);
    }
  });

  test("what was swept late hides nothing that was recorded after it", async () => {
    const prefix = `${unique("late")}:`;
    const store = await openAt(server.url, { prefix });
    const { id: early } = await addUser(store, 1_000n);
    const { id: userId } = await addUser(store, 1_000n);
    const request = admission(userId);
    await store.admit(request);
    await store.settle(charged(request, 1n));
    const [entry] = (await store.ledgerPage({ limit: 10 })).entries;
    const at = entry!.recordedAt;
    // Of a process that died before it had swept.
    const left = charged(admission(early), 1n);
    await server.client.rpush(createKeys(prefix).ledger(early), `${at - 1_000} ${packEntry(left)}`);
    await store.sweepAll();
    const idsFrom = async (from: number, limit: number) =>
      (await allPages(store, { from, limit })).entries.map(({ id }) => id).toSorted();
    expect(await idsFrom(at, 10)).toEqual([request.id]);
    expect(await idsFrom(at, 1)).toEqual([request.id]);
    expect(await idsFrom(at - 1_000, 1)).toEqual([request.id, left.id].toSorted());
  });

  test("what is being swept when its process ends is in the ledger of all", async () => {
    const prefix = `${unique("end")}:`;
    const [store, other] = [await openAt(server.url, { prefix }), await openAt(server.url, { prefix })];
    const { id: userId } = await addUser(store, 1_000n);
    const request = admission(userId);
    await store.admit(request);
    await store.settle(charged(request, 1n));
    const asked = Promise.try(() => store.ledgerPage({ limit: 1 })).catch(() => null);
    await new Promise(setImmediate);
    await Promise.all([store.close(), asked]);
    expect((await other.ledgerPage({ limit: 1 })).entries.map(({ id }) => id)).toEqual([request.id]);
  });

  test("a page goes on behind the one before, also when an older entry was taken back in between", async () => {
    const prefix = `${unique("back")}:`;
    const keys = createKeys(prefix);
    const store = await openAt(server.url, { prefix });
    const { id: userId } = await addUser(store, 1_000n);
    const ids: string[] = [];
    for (let index = 0; index < 4; index++) {
      const request = admission(userId);
      await store.admit(request);
      await store.settle(charged(request, 1n));
      ids.unshift(request.id);
    }
    const { cursor } = await store.ledgerPage({ limit: 1 });
    // As when a request that was given up goes on after all.
    for (const text of await server.client.lrange(keys.ledger(userId), 0, 1)) {
      await server.client.lrem(keys.ledger(userId), 1, text);
      await server.client.rpush(keys.unswept(userId), `-${text}`);
    }
    await store.sweepAll();
    const rest = await store.ledgerPage({ limit: 1, cursor: cursor! });
    expect(rest.entries.map(({ id }) => id)).toEqual([ids[1]]);
    const { entries } = await allPages(store, { limit: 1 });
    expect(entries.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  });

  test("a page of a user goes on behind the one before, whatever comes and goes in the same second", async () => {
    const prefix = `${unique("second")}:`;
    const { ledger } = createKeys(prefix);
    const store = await openAt(server.url, { prefix });
    const { id: userId } = await addUser(store, 1_000n);
    const at = Math.floor(Date.now() / 1_000) * 1_000;
    const entryOf = (id: string) => `${at} ${packEntry({ ...charged(admission(userId), 1n), id })}`;
    await server.client.rpush(ledger(userId), ...["a", "b", "c", "d"].map(entryOf));
    const first = await store.ledgerPage({ userId, limit: 1 });
    await server.client.rpush(ledger(userId), entryOf("e"));
    const second = await store.ledgerPage({ userId, limit: 1, cursor: first.cursor! });
    await server.client.lrem(ledger(userId), 1, entryOf("c"));
    const third = await store.ledgerPage({ userId, limit: 2, cursor: second.cursor! });
    const given = [first, second, third].map(({ entries }) => entries.map(({ id }) => id));
    expect([given, third.cursor]).toEqual([[["d"], ["c"], ["b", "a"]], expect.any(String)]);
    const behind = await store.ledgerPage({ userId, limit: 2, cursor: third.cursor! });
    expect(behind).toEqual({ entries: [], cursor: null });
  });
});
