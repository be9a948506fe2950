import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createKeys } from "../../../src/store/redis/scripts.ts";
import { type OpenRedisOptions, openRedis } from "../../../src/store/redis/open.ts";
import type { RedisStore } from "../../../src/store/redis/store.ts";
import { type RedisCluster, type RedisServer, describeRedis, startCluster } from "../../support/redis.ts";
import { PATIENT, UNAVAILABLE } from "./support.ts";
import { FEW_RUNS } from "../../properties/runs.ts";
import { storeSuite } from "../contract/suite.ts";
import { OPEN, addUser, admission, charged, unique } from "../support.ts";

// A script or command whose keys are in two slots is refused by a Cluster: that the suite passes shows there is none.
describeRedis("on a Redis Cluster", () => {
  let cluster: RedisCluster;
  let stores = 0;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.stop());

  storeSuite(
    "cluster",
    ({ now }) => openRedis({ url: "", nodes: cluster.urls, prefix: `suite${++stores}:`, clock: now, ...PATIENT }),
    FEW_RUNS,
  );

  const open = async (more: Partial<OpenRedisOptions> = {}): Promise<RedisStore> => {
    const options = { url: "", nodes: cluster.urls, prefix: `${unique("c")}:`, timeout: PATIENT.timeout, ...more };
    const store = await openRedis(options);
    onTestFinished(() => store.close());
    return store;
  };

  const slotOf = (key: string) => cluster.servers[0]!.client.call("CLUSTER", "KEYSLOT", key) as Promise<number>;

  test("all keys of a user are in one slot, of 10,000 ids under any prefix", async () => {
    const prefixes = ["", "gw:", "*", "名前:", "[^a]?:", "u:", "x".repeat(200)];
    for (let turn = 0; turn < 100; turn++) {
      const checks = Array.from({ length: 100 }, async (_, index) => {
        const id = `user_${randomUUID()}${index % 2 ? `:${randomUUID()}*\\` : ""}`;
        const keys = createKeys(prefixes[index % prefixes.length]!);
        const { user, windows, reservations, leases, streams, abandoned, ledger, newUser, apiKeys, keyUses } = keys;
        const { unswept } = keys;
        const day = (id: string) => keys.usageOf(id, index);
        const own = [user, windows, reservations, leases, streams, abandoned, ledger, newUser, apiKeys, keyUses];
        const all = [...own, unswept, day];
        return new Set(await Promise.all([id, ...all.map((key) => key(id))].map(slotOf))).size;
      });
      expect(new Set(await Promise.all(checks))).toEqual(new Set([1]));
    }
  });

  test("users are spread over the nodes; a stop and a burial reach every process", async () => {
    const prefix = `${unique("c")}:`;
    const [a, b] = [await open({ prefix, instance: "a" }), await open({ prefix, instance: "b" })];
    const users = await Promise.all(Array.from({ length: 60 }, () => addUser(a, 1_000n)));
    const requests = users.map(({ id }) => admission(id, { hold: 10n, stream: true }));
    await Promise.all(requests.map((request) => a.admit(request)));
    for (const { client } of cluster.servers) expect((await client.keys(`${prefix}q:*`)).length).toBeGreaterThan(0);
    const stopped = new Set<string>();
    b.onStop((userId) => stopped.add(userId));
    const pushed = async () => {
      await Promise.all(users.map(({ id }) => a.stopStreams(id)));
      return stopped.size;
    };
    await expect.poll(pushed, { timeout: 10_000 }).toBe(users.length);
    const late = await open({ prefix, instance: "late" });
    const left = (store: RedisStore) => async () => {
      const all = await Promise.all(users.map(({ id }) => store.running(id)));
      return all.reduce((sum, { streams }) => sum + streams, 0);
    };
    expect(await left(late)()).toBe(60);
    await b.markInstanceDead("a");
    for (const store of [b, late]) await expect.poll(left(store), { timeout: 10_000 }).toBe(0);
    await Promise.all(requests.map((request) => a.settle(charged(request, 5n))));
    expect(new Set((await b.listUsers()).map(({ balance, held }) => `${balance} ${held}`))).toEqual(new Set(["995 0"]));
  });

  test("a slot that moves to another node: nothing fails, nothing is lost or done twice", async () => {
    const prefix = `${unique("c")}:`;
    const store = await open({ prefix });
    const user = await addUser(store, 1_000n);
    const running = admission(user.id, { hold: 100n, stream: true });
    await store.admit(running);
    const slot = await slotOf(user.id);
    const owner = await ownerOf(cluster, slot);
    const target = cluster.servers.find((server) => server !== owner)!;
    const moving = { over: false };
    let admitted = 1;
    const traffic = async () => {
      for (let turn = 0; !moving.over || turn < 20; turn++) {
        const request = admission(user.id, { hold: 1n });
        await store.admit(request);
        await store.settle(charged(request, 1n));
        admitted++;
      }
    };
    const moves = async () => {
      await move(slot, owner, target);
      moving.over = true;
    };
    await Promise.all([moves(), traffic()]);
    await store.settle(charged(running, 50n));
    expect(await ownerOf(cluster, slot)).toBe(target);
    expect((await store.windows(user.id, OPEN)).day.used).toBe(admitted);
    expect(await store.findUser(user.id)).toMatchObject({ balance: 950n - BigInt(admitted - 1), held: 0n });
    expect(await store.ledger(user.id)).toHaveLength(admitted);
  });

  test("a node that dies and comes back: unavailable, then well again without a restart", async () => {
    const store = await open({ timeout: 250 });
    const users = await Promise.all(Array.from({ length: 20 }, () => addUser(store, 1_000n)));
    const [gone] = cluster.servers;
    await gone!.kill();
    const outcomes = await Promise.allSettled(users.map(({ id }) => store.admit(admission(id))));
    const failed = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(failed.length).toBeGreaterThan(0);
    for (const { reason } of failed) expect(reason).toMatchObject(UNAVAILABLE);
    await gone!.restart();
    const works = async () => {
      const user = await addUser(store, 1_000n).catch(() => null);
      return user !== null && (await store.admit(admission(user.id))).ok;
    };
    for (let turn = 0; turn < 20; turn++)
      await expect.poll(() => works().catch(() => false), { timeout: 15_000 }).toBe(true);
  });
});

async function nodeId({ client }: RedisServer): Promise<string> {
  return String(await client.call("CLUSTER", "MYID"));
}

async function ownerOf({ servers }: RedisCluster, slot: number): Promise<RedisServer> {
  const slots = (await servers[0]!.client.call("CLUSTER", "SLOTS")) as [number, number, [string, number]][];
  const [, , [, port]] = slots.find(([from, to]) => from <= slot && slot <= to)!;
  return servers.find((server) => server.port === port)!;
}

/** As `redis-cli --cluster reshard` does it. */
async function move(slot: number, from: RedisServer, to: RedisServer): Promise<void> {
  const [source, target] = [await nodeId(from), await nodeId(to)];
  await to.client.call("CLUSTER", "SETSLOT", slot, "IMPORTING", source);
  await from.client.call("CLUSTER", "SETSLOT", slot, "MIGRATING", target);
  for (;;) {
    const keys = (await from.client.call("CLUSTER", "GETKEYSINSLOT", slot, 100)) as string[];
    if (keys.length === 0) break;
    await from.client.call("MIGRATE", "127.0.0.1", to.port, "", 0, 5_000, "KEYS", ...keys);
  }
  for (const { client } of [to, from]) await client.call("CLUSTER", "SETSLOT", slot, "NODE", target);
}
