import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Admission, Store } from "../../../src/kit/index.ts";
import { createKeys } from "../../../src/store/redis/scripts.ts";
import { describeRedis, redisOfSuite, type RedisServer, startRedis } from "../../support/redis.ts";
import { startResp } from "../../support/resp.ts";
import { startSlowProxy } from "../../support/slow-proxy.ts";
import { withResilience } from "../../../src/store/resilient/store.ts";
import { collectingLog } from "../resilient/flaky.ts";
import { UNAVAILABLE, openAt, recordingLog } from "./support.ts";
import { DAY, OPEN, addUser, admission, charged, givenBack, unique } from "../support.ts";

/** A server of this test alone. */
async function ownServer(settings: readonly string[] = []): Promise<RedisServer> {
  const server = await startRedis(settings);
  onTestFinished(() => server.stop());
  return server;
}

/** Calls of a command that a server has executed. */
async function calls(server: RedisServer, command: string): Promise<number> {
  const stats = await server.client.info("commandstats");
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}

async function used(store: Store, userId: string): Promise<number> {
  return (await store.windows(userId, OPEN)).day.used;
}

/** A store behind a proxy, and one that is not. */
async function behindProxy(shared: RedisServer) {
  const proxy = await startSlowProxy(shared.port);
  onTestFinished(proxy.close);
  const prefix = `${unique("lost")}:`;
  const store = await openAt(`redis://127.0.0.1:${proxy.port}`, { prefix, timeout: 500 });
  const side = await openAt(shared.url, { prefix });
  const [user, other] = [await addUser(side, 1_000n), await addUser(side)];
  // The server has to know the scripts: what is swallowed would be that it does not.
  const first = admission(other.id);
  await side.admit(first);
  await side.settle(charged(first, 0n));
  return { proxy, store, side, user };
}

describeRedis("on Redis, faults", () => {
  const shared = redisOfSuite();

  test("full memory: nothing is admitted, what runs is settled and stopped, and with room all is well", async () => {
    const server = await ownServer();
    const store = await openAt(server.url);
    const user = await addUser(store, 1_000n);
    const requests = [1, 2, 3].map(() => admission(user.id, { hold: 100n, stream: true }));
    for (const request of requests) await store.admit(request);
    await server.client.config("SET", "maxmemory", "1");
    await expect(store.admit(admission(user.id))).rejects.toMatchObject(UNAVAILABLE);
    expect(await used(store, user.id)).toBe(3);
    await store.settle(charged(requests[0]!, 60n));
    await store.settle(givenBack(requests[1]!));
    expect(await store.stopStreams(user.id)).toEqual({ token: 1, streams: 1 });
    expect(await store.findUser(user.id)).toMatchObject({ balance: 940n, held: 100n });
    expect(await store.ledger(user.id)).toHaveLength(1);
    await server.client.config("SET", "maxmemory", "0");
    expect(await store.admit(admission(user.id))).toMatchObject({ ok: true, windows: { day: { used: 3 } } });
  });

  describe("an answer that is lost", () => {
    test.each([
      ["silence", () => {}],
      ["a connection that breaks", (cut: () => void) => cut()],
    ])("of an admission, by %s: unavailable, and given back in the background", async (_, end) => {
      const { proxy, store, side, user } = await behindProxy(shared);
      proxy.state.swallows = true;
      const request = admission(user.id, { hold: 100n, stream: true, units: 5 });
      const answer = store.admit(request);
      await expect.poll(() => side.running(user.id)).toEqual({ requests: 1, streams: 1, held: 100n });
      await expect.poll(() => proxy.state.swallowedBytes).toBeGreaterThan(0);
      end(proxy.cut);
      await expect(answer).rejects.toMatchObject(UNAVAILABLE);
      proxy.state.swallows = false;
      await expect
        .poll(() => side.running(user.id), { timeout: 10_000 })
        .toEqual({ requests: 0, streams: 0, held: 0n });
      expect(await used(side, user.id)).toBe(0);
      expect(await side.ledger(user.id)).toEqual([]);
      expect(await side.findUser(user.id)).toMatchObject({ balance: 1_000n, held: 0n });
    });

    test("of a settlement: unavailable, charged once when it is repeated", async () => {
      const { proxy, store, side, user } = await behindProxy(shared);
      const request = admission(user.id, { hold: 100n });
      await store.admit(request);
      proxy.state.swallows = true;
      await expect(store.settle(charged(request, 70n))).rejects.toMatchObject(UNAVAILABLE);
      expect(await side.findUser(user.id)).toMatchObject({ balance: 930n, held: 0n });
      proxy.state.swallows = false;
      await expect.poll(() => settled(store, request), { timeout: 10_000 }).toBe(true);
      expect(await side.findUser(user.id)).toMatchObject({ balance: 930n, held: 0n });
      expect(await side.ledger(user.id)).toHaveLength(1);
    });
  });

  describe("a server that stands still", () => {
    test("costs little and nothing for good: calls are few, and all is as before without a restart", async () => {
      const server = await ownServer();
      const prefix = `${unique("pause")}:`;
      const bare = await openAt(server.url, { prefix, timeout: 500 });
      const { log } = collectingLog();
      const store = withResilience(bare, { onFailure: () => "closed", journal: null, log, now: Date.now });
      const user = await addUser(store, 1_000n);
      const running = admission(user.id, { hold: 100n, stream: true });
      await store.admit(running);
      const before = await calls(server, "evalsha");

      server.pause();
      const resumed = new Promise<void>((resolve) => {
        setTimeout(() => {
          server.resume();
          resolve();
        }, 2_000);
      });
      const until = performance.now() + 1_900;
      let refused = 0;
      while (performance.now() < until) {
        // A hundred at a time, as if they were a busy process's.
        const all = Array.from({ length: 100 }, () => Promise.try(() => store.admit(admission(user.id))));
        const settled = Promise.allSettled(all.map((one) => one.catch(() => refused++)));
        // The one that finds out whether it is back waits longer than the others.
        await (refused === 0 ? settled : sleep(5));
      }
      await resumed;
      await expect.poll(() => admitted(store, user.id), { timeout: 10_000 }).toBe(true);
      // The first hundred were sent, and once more, before anything was known; then one every 100 ms.
      expect(refused).toBeGreaterThan(1_000);
      expect((await calls(server, "evalsha")) - before).toBeLessThan(2 * (100 + 20) + 200);
      // What was executed late has changed nothing, or is given back where the clocks differ by some milliseconds.
      await expect.poll(() => used(store, user.id), { timeout: 10_000 }).toBe(2);
      expect(await store.running(user.id)).toMatchObject({ requests: 2, streams: 1 });
      await store.settle(charged(running, 40n));
      expect(await store.findUser(user.id)).toMatchObject({ balance: 960n, held: 0n });
    });

    test("executes late what nobody waits for any more: no change", async () => {
      const server = await ownServer();
      const store = await openAt(server.url, { timeout: 500 });
      const user = await addUser(store, 1_000n);
      server.pause();
      const answer = store.admit(admission(user.id, { hold: 10n, stream: true }));
      await expect(answer).rejects.toMatchObject(UNAVAILABLE);
      const before = store.windows(user.id, OPEN).catch(() => null);
      server.resume();
      await before;
      await expect.poll(() => calls(server, "evalsha")).toBeGreaterThan(0);
      await expect.poll(() => used(store, user.id).catch(() => -1), { timeout: 10_000 }).toBe(0);
      expect(await store.running(user.id)).toEqual({ requests: 0, streams: 0, held: 0n });
      expect(await store.findUser(user.id)).toMatchObject({ held: 0n });
    });

    test("grants nothing late: whoever was told that it failed grants again", async () => {
      const server = await ownServer();
      const store = await openAt(server.url, { timeout: 500 });
      const user = await addUser(store, 1_000n);
      server.pause();
      await expect(store.grant(user.id, 500n)).rejects.toMatchObject(UNAVAILABLE);
      // What is late is judged by the server, whose milliseconds are not ours.
      await sleep(100);
      server.resume();
      await expect.poll(() => calls(server, "evalsha"), { timeout: 10_000 }).toBeGreaterThan(0);
      await expect.poll(async () => (await store.grant(user.id, 1n).catch(() => null))?.balance).toBe(1_001n);
    });

    test("at a late repetition of a settlement no second charge", async () => {
      const server = await ownServer();
      const prefix = `${unique("late")}:`;
      const store = await openAt(server.url, { prefix, timeout: 500 });
      const user = await addUser(store, 1_000n);
      const requests = Array.from({ length: 20 }, () => admission(user.id, { hold: 10n }));
      for (const request of requests) await store.admit(request);
      server.pause();
      const first = await Promise.allSettled(requests.map((request) => store.settle(charged(request, 10n))));
      expect(first.every(({ status }) => status === "rejected")).toBe(true);
      server.resume();
      for (const request of requests) await expect.poll(() => settled(store, request), { timeout: 10_000 }).toBe(true);
      expect(await store.findUser(user.id)).toMatchObject({ balance: 800n, held: 0n });
      expect(await store.ledger(user.id)).toHaveLength(requests.length);
    });
  });

  describe("a server that is away", () => {
    test("at the start: everything is unavailable until it is there, and then nothing is", async () => {
      const server = await ownServer(["--appendonly", "yes"]);
      await server.kill();
      const log = recordingLog();
      const store = await openAt(server.url, { log, timeout: 500 });
      await expect(store.ping()).rejects.toMatchObject(UNAVAILABLE);
      await expect(store.admit(admission("user_1"))).rejects.toMatchObject(UNAVAILABLE);
      expect(log.lines.filter((line) => line.startsWith("warn store unreachable"))).toHaveLength(1);
      await server.restart();
      await expect.poll(() => reached(store), { timeout: 10_000 }).toBe(true);
      const user = await addUser(store);
      expect(await store.admit(admission(user.id))).toMatchObject({ ok: true });
      expect(log.lines).toContain("info store reachable again {}");
    });

    test("in between: unavailable at once, then found again with what it has kept", async () => {
      const server = await ownServer(["--appendonly", "yes", "--appendfsync", "always"]);
      const store = await openAt(server.url);
      const user = await addUser(store, 1_000n);
      const request = admission(user.id, { hold: 100n, stream: true });
      await store.admit(request);
      const stopped: string[] = [];
      store.onStop((userId, token) => stopped.push(`${userId} ${token}`));
      await server.kill();
      await expect.poll(() => reached(store)).toBe(false);
      await expect(store.settle(charged(request, 60n))).rejects.toMatchObject(UNAVAILABLE);
      await server.restart();
      await expect.poll(() => reached(store), { timeout: 10_000 }).toBe(true);
      expect(await store.running(user.id)).toEqual({ requests: 1, streams: 1, held: 100n });
      await store.settle(charged(request, 60n));
      expect(await store.findUser(user.id)).toMatchObject({ balance: 940n, held: 0n });
      const pushed = async () => {
        await store.stopStreams(user.id);
        return stopped.length > 0;
      };
      await expect.poll(pushed, { timeout: 10_000 }).toBe(true);
    });

    test("a password is in no error and in no line of the log", async () => {
      const server = await ownServer(["--requirepass", "right"]);
      const log = recordingLog();
      const store = await openAt(`redis://:hunter2@127.0.0.1:${server.port}`, { log, timeout: 500 });
      const failed: unknown = await store.ping().catch((error: unknown) => error);
      expect(failed).toMatchObject(UNAVAILABLE);
      expect(inspect(failed, { depth: 20, showHidden: true })).not.toContain("hunter2");
      expect(log.lines.join("\n")).toMatch(/^warn store unreachable/);
      expect(log.lines.join("\n")).not.toContain("hunter2");
      const right = await openAt(`redis://:right@127.0.0.1:${server.port}/3`);
      await addUser(right);
      expect(await (await openAt(`redis://default:right@127.0.0.1:${server.port}/3`)).listUsers()).toEqual([]);
    });
  });

  describe("settings that endanger the store", () => {
    test.each([
      [["--appendonly", "yes"], []],
      [["--save", "60", "1"], []],
      [[], ["appendonly yes"]],
      [
        ["--appendonly", "yes", "--maxmemory-policy", "allkeys-lru"],
        ["allkeys-lru", "maxmemory-policy noeviction"],
      ],
      [
        ["--maxmemory-policy", "volatile-ttl"],
        ["appendonly yes", "maxmemory-policy noeviction"],
      ],
    ])("%j: %j", async (settings, warnings) => {
      const server = await ownServer(settings);
      const log = recordingLog();
      await openAt(server.url, { log });
      const said = log.lines.join("\n");
      expect(log.lines.length > 0).toBe(warnings.length > 0);
      for (const warning of warnings) expect(said).toContain(warning);
      const refused = await openAt(server.url, { strict: true }).then(() => "", String);
      expect(refused !== "").toBe(warnings.length > 0);
      for (const warning of warnings) expect(refused).toContain(warning);
    });

    test("a server that is too old is refused", async () => {
      const info = "redis_version:6.2.14\r\nloading:0\r\n";
      const server = await startResp({ answers: { INFO: () => `$${info.length}\r\n${info}\r\n` } });
      onTestFinished(() => server.close());
      await expect(openAt(server.url)).rejects.toThrow(/Redis 6\.2\.14; Redis 7\.0 .* needed/);
    });
  });

  describe("the server's time", () => {
    test("counts, and its windows are those of the calendar", async () => {
      const store = await openAt(shared.url);
      const user = await addUser(store);
      const [seconds] = await shared.client.time();
      const { windows } = await store.admit(admission(user.id));
      expect(windows.day.resetsAt % DAY).toBe(0);
      expect(windows.day.resetsAt - Number(seconds) * 1_000).toBeLessThanOrEqual(DAY + 1_000);
      expect(windows.day.resetsAt).toBeGreaterThanOrEqual(Number(seconds) * 1_000);
    });
  });

  test("after close a listener is let go and a renewal does nothing", async () => {
    const store = await openAt(shared.url);
    await store.close();
    store.onStop(() => {})();
    await expect(store.renew()).resolves.toBeUndefined();
  });

  test("every key that is not an account's goes by itself", async () => {
    const server = await ownServer();
    const prefix = "all:";
    const store = await openAt(server.url, { prefix });
    const user = await addUser(store, 1_000n);
    const [kept, lost] = [admission(user.id, { stream: true, hold: 5n }), admission(user.id, { stream: true })];
    for (const request of [kept, lost]) await store.admit(request);
    await store.settle(charged(kept, 5n));
    await store.markInstanceDead("other");
    await store.publishInstance("me", "well", 1_000);
    await store.throttle([{ name: "a", limit: 1 }], 1_000);
    const keys = createKeys(prefix);
    await server.client.zadd(keys.leases(user.id), "XX", 1, lost.id);
    await store.admit(admission(user.id, { stream: true }));
    await store.sweepAll();
    // Notes that the sweep has not seen.
    const next = admission(user.id);
    await store.admit(next);
    await store.settle(charged(next, 5n));
    const durable = new RegExp(`^${prefix}(?:u:|c:|ks:|kt:|k:|kid:|e:|i:|m:|users$|addresses$)`);
    const found = await server.client.keys("*");
    const others = found.filter((name) => !durable.test(name));
    const left = await Promise.all(others.map((key) => server.client.pttl(key)));
    expect(others.filter((_, index) => left[index]! < 0)).toEqual([]);
    const names = found.map((key) => key.slice(prefix.length).split(":")[0]);
    for (const name of ["u", "w", "q", "l", "s", "o", "c", "dead", "fleet", "t"]) expect(names).toContain(name);
    for (const name of ["cn", "cs", "dc", "dn", "ds", "du"]) expect(names).toContain(name);
  });

  test("an admission and its settlement are two round trips", async () => {
    const server = await ownServer();
    const store = await openAt(server.url);
    const user = await addUser(store, 1_000n);
    const one = async () => {
      const request = admission(user.id, { hold: 10n, stream: true });
      await store.admit(request);
      await store.settle(charged(request, 5n));
    };
    await one();
    const monitor = await server.client.monitor();
    onTestFinished(() => monitor.disconnect());
    const seen: string[] = [];
    monitor.on("monitor", (_: string, [name]: string[], source: string) => {
      // What scripts do inside is not sent by anybody.
      if (source !== "lua") seen.push(String(name));
    });
    for (let turn = 0; turn < 10; turn++) await one();
    await server.client.echo("end");
    await expect.poll(() => seen.at(-1)).toBe("echo");
    expect(seen.slice(0, -1)).toEqual(Array.from({ length: 20 }, () => "EVALSHA"));
  });
});

async function settled(store: Store, request: Admission): Promise<boolean> {
  return succeeds(store.settle(charged(request, 10n)));
}

async function admitted(store: Store, userId: string): Promise<boolean> {
  return succeeds(store.admit(admission(userId)));
}

async function reached(store: Store): Promise<boolean> {
  return succeeds(store.ping());
}

async function succeeds(work: unknown): Promise<boolean> {
  try {
    await work;
    return true;
  } catch {
    return false;
  }
}
