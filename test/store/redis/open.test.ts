import { expect, onTestFinished, test } from "vitest";
import { Secret, type Store } from "../../../src/kit/index.ts";
import { openConfigured } from "../../../src/store/open.ts";

import { describeRedis, redisOfSuite, startRedis } from "../../support/redis.ts";
import { UNAVAILABLE, openAt } from "./support.ts";
import { START, addUser, unique } from "../support.ts";

async function open(url: string, nodes: readonly string[] = [], prefix = `${unique("open")}:`): Promise<Store> {
  const settings = { url: new Secret(url), nodes: nodes.map((node) => new Secret(node)), prefix, timeout: 250 };
  const store = await openConfigured(settings, { serving: true, now: () => START });
  onTestFinished(async () => store.close());
  return store;
}

describeRedis("on Redis, opening", () => {
  const server = redisOfSuite();

  test("a redis address opens a Redis, by the server's time and not the caller's", async () => {
    const store = await open(server.url);
    expect(store, "leases are a Redis store's").toHaveProperty("renew");
    const { createdAt } = await addUser(store);
    const [seconds] = await server.client.time();
    expect(Math.abs(createdAt / 1_000 - Number(seconds))).toBeLessThan(60);
  });

  test("prefixes and databases are stores of their own", async () => {
    const first = await open(server.url, [], "one:");
    const user = await addUser(first);
    for (const other of [await open(server.url, [], "two:"), await open(`${server.url}/5`, [], "one:")])
      expect(await other.listUsers()).toEqual([]);
    expect(await (await open(`${server.url}/0`, [], "one:")).listUsers()).toEqual([user]);
  });

  test("anything else opens as ever", async () => {
    expect(await open("memory:")).not.toHaveProperty("renew");
    await expect(open("http://:hunter2@db")).rejects.toThrow("store.url: http: is not supported");
  });

  test("a single server where nodes of a Cluster are named: unavailable", async () => {
    const store = await open("memory:", [server.url]);
    await expect(Promise.resolve(store.ping())).rejects.toMatchObject(UNAVAILABLE);
  });

  test("an instance has a name without blanks", async () => {
    await expect(openAt(server.url, { instance: "a b" })).rejects.toThrow(RangeError);
  });

  test("of a server that stands still at most 10,000 calls wait; the others fail at once", async () => {
    const still = await startRedis();
    onTestFinished(() => still.stop());
    const store = await openAt(still.url);
    still.pause();
    const state = { over: false };
    const waiting = Promise.allSettled(Array.from({ length: 10_000 }, () => store.ping()));
    const watched = waiting.then((results) => {
      state.over = true;
      return results;
    });
    const beyond = await Promise.allSettled(Array.from({ length: 50 }, () => store.ping()));
    expect(state.over).toBe(false);
    const reason = { ...UNAVAILABLE, cause: { message: "redis: too many calls wait for the server" } };
    for (const result of beyond) expect(result).toMatchObject({ status: "rejected", reason });
    still.resume();
    await watched;
    await expect
      .poll(
        async () =>
          store.ping().then(
            () => true,
            () => false,
          ),
        { timeout: 10_000 },
      )
      .toBe(true);
  });
});
