import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type InstanceInfo, InstanceRegistry } from "../../../src/gateway/instances.ts";
import { createCluster } from "../../../src/store/redis/client.ts";
import { RedisConnection } from "../../../src/store/redis/connection.ts";
import { createKeys, loadScript } from "../../../src/store/redis/scripts.ts";
import { withResilience } from "../../../src/store/resilient/store.ts";
import { describeRedis, startRedis } from "../../support/redis.ts";
import { startResp } from "../../support/resp.ts";
import { collectingLog } from "../resilient/flaky.ts";
import { temporaryJournal, until } from "../resilient/support.ts";
import { addUser, admission, charged, unique } from "../support.ts";
import { openAt } from "./support.ts";

/** Milliseconds beyond `server.drain.timeout` in which a process has to be gone. */
const MAX_WAIT_MS = 1_000;

const self = (): InstanceInfo => ({
  instance: "one",
  host: "here",
  pid: 1,
  started_at: "",
  hash: "",
  generation: 1,
  loaded_at: "",
  draining: true,
  breakers: {},
  health: {},
  streams: 0,
  shedding: [],
});

describeRedis("the end of a process while Redis stands still", () => {
  test("waits for nothing that it cannot have: settlements are in the journal", async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const { log } = collectingLog();
    const prefix = `${unique("leaving")}:`;
    const bare = await openAt(server.url, { prefix, timeout: undefined });
    const options = { onFailure: () => "closed" as const, journal: temporaryJournal(), log, now: Date.now };
    let away = false;
    const store = withResilience(bare, { ...options, onState: (state) => void ({ away } = state) });
    const user = await addUser(store, 1_000n);
    const running = Array.from({ length: 20 }, () => admission(user.id, { stream: true, hold: 10n }));
    for (const request of running) await store.admit(request);
    const registry = new InstanceRegistry({ store, self, log, intervalMs: 200 });
    registry.start();
    await registry.publish();
    server.pause();
    await until(() => away);

    const startedAt = performance.now();
    store.leave();
    await Promise.all(running.map(async (request) => store.settle(charged(request, 5n))));
    await registry.close();
    await store.done();
    await expect((async () => store.markInstanceDead("one"))()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    const { pending } = store;
    await store.close();
    expect(performance.now() - startedAt).toBeLessThan(MAX_WAIT_MS);
    expect(pending).toBe(running.length);

    server.resume();
    const next = withResilience(await openAt(server.url, { prefix }), options);
    await until(() => next.pending === 0);
    expect(await next.findUser(user.id)).toMatchObject({ balance: 900n, held: 0n });
    await next.done();
    await next.close();
  });
});

test("a Cluster that is down is told as that, and at once", async () => {
  const server = await startResp();
  const connection = new RedisConnection(createCluster([server.url]), { timeout: 10_000 });
  onTestFinished(async () => {
    await connection.close();
    await server.close();
  });
  await connection.connect(10_000);
  server.fail("EVALSHA", ...Array.from({ length: 20 }, () => ({ error: "CLUSTERDOWN The cluster is down" })));
  const script = loadScript("throttle", "clock");
  const startedAt = performance.now();
  await expect(connection.run(script, ["key"], ["1"])).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    cause: { message: "redis: CLUSTERDOWN The cluster is down" },
  });
  expect(performance.now() - startedAt).toBeLessThan(MAX_WAIT_MS);
});

describeRedis("a Redis that has forgotten everything", () => {
  test("keeps nothing for ever of a request that was running", async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const prefix = `${unique("flushed")}:`;
    const store = await openAt(server.url, { prefix });
    const user = await addUser(store, 1_000n);
    const request = admission(user.id, { hold: 10n });
    await store.admit(request);
    await server.client.flushall();
    await store.settle(charged(request, 5n));
    await sleep(10);
    const left = await server.client.keys("*");
    const forEver = await Promise.all(left.map(async (key) => ((await server.client.pttl(key)) < 0 ? [key] : [])));
    expect(forEver.flat()).toEqual([]);
    expect(left).toContain(createKeys(prefix).ledger(user.id));
  });
});
