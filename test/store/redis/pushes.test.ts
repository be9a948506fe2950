import { expect, onTestFinished, test } from "vitest";
import { KillSwitch } from "../../../src/gateway/stream-kill.ts";
import { createKeys } from "../../../src/store/redis/scripts.ts";
import { Leases } from "../../../src/store/redis/leases.ts";
import { TestLog } from "../../support/host.ts";
import { describeRedis, redisOfSuite, type RedisServer } from "../../support/redis.ts";
import { openAt } from "./support.ts";
import { addUser, unique } from "../support.ts";

/** Milliseconds within which a stream has to hear of its stop. */
const MAX_WAIT_MS = 1_000;

async function executed({ client }: RedisServer, command: string): Promise<number> {
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await client.info("commandstats"))?.[1] ?? 0);
}

describeRedis("stop tokens on Redis", () => {
  const server = redisOfSuite();

  async function watching(url = server.url) {
    const prefix = `${unique("pushed")}:`;
    const [store, other] = [await openAt(url, { prefix }), await openAt(server.url, { prefix })];
    const state = { certain: false, told: [] as boolean[] };
    const onStop: typeof store.onStop = (listener, onCertain) =>
      store.onStop(listener, (is) => {
        state.certain = is;
        state.told.push(is);
        onCertain?.(is);
      });
    const parts = { onStop, stopTokens: store.stopTokens.bind(store), stopStreams: store.stopStreams.bind(store) };
    const stops = new KillSwitch({ store: parts, log: new TestLog() });
    onTestFinished(() => stops.close());
    const user = await addUser(other);
    const ended = Promise.withResolvers<number>();
    stops.watch(user.id, 0, () => ended.resolve(performance.now()));
    return { user, other, state, ended: ended.promise };
  }

  test("are pushed, and not asked for while pushes come", async () => {
    const { user, other, state, ended } = await watching();
    await expect.poll(() => state.certain).toBe(true);
    const before = await executed(server, "hget");
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect((await executed(server, "hget")) - before).toBeLessThanOrEqual(1);
    const startedAt = performance.now();
    await other.stopStreams(user.id);
    expect((await ended) - startedAt).toBeLessThan(MAX_WAIT_MS);
  });

  test("are asked for within a second by who may not subscribe", async () => {
    await server.client.call("ACL", "SETUSER", "deaf", "on", ">secret", "~*", "resetchannels", "+@all");
    const { user, other, state, ended } = await watching(`redis://deaf:secret@127.0.0.1:${server.port}`);
    await new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS));
    expect(state.certain).toBe(false);
    const startedAt = performance.now();
    await other.stopStreams(user.id);
    expect((await ended) - startedAt).toBeLessThan(2 * MAX_WAIT_MS);
  });

  test("are asked for when the subscribing connection is lost", async () => {
    const { state } = await watching();
    await expect.poll(() => state.certain).toBe(true);
    await server.client.call("CLIENT", "KILL", "TYPE", "pubsub");
    await expect.poll(() => state.told, { timeout: 5_000 }).toEqual([true, false, true]);
  });
});

test("leases are renewed some at a time", async () => {
  let [under, most, scripts] = [0, 0, 0];
  const connection = {
    call: async () => [],
    read: async () => [],
    run: async () => {
      scripts++;
      most = Math.max(most, ++under);
      await new Promise(setImmediate);
      under--;
    },
    subscribe: () => () => {},
    close: async () => {},
  };
  const leases = new Leases(connection, createKeys("t:"), "one", 60_000);
  for (let user = 0; user < 1_000; user++) {
    leases.expect(`ex_${user}`, `user_${user}`).packed = "1 1 0 0 0 0 0 0 one m";
  }
  await leases.renew(0, 0);
  expect(scripts).toBe(1_000);
  expect(most).toBeLessThanOrEqual(200);
});
