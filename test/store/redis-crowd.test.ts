import { expect, onTestFinished, test } from "vitest";
import { type RedisServer, describeRedis, startRedis } from "../support/redis.ts";
import { PATIENT, openAt } from "./redis-support.ts";
import { addUser, admission, charged, unique } from "./support.ts";

const CROWD = 60;

/** Calls of a command that a server has executed. */
async function calls({ client }: RedisServer, command: string): Promise<number> {
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await client.info("commandstats"))?.[1] ?? 0);
}

async function start() {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const prefix = `${unique("crowd")}:`;
  const open = (instance: string) => openAt(server.url, { prefix, instance, lease: PATIENT.lease });
  const store = await open("one");
  return { server, prefix, open, store, user: await addUser(store, 1_000_000n) };
}

// What is done once for a user must not be done once for each of their requests: the server does nothing else meanwhile.
describeRedis("on Redis, a user with many requests", () => {
  test("is looked through for a dead process now and then, and not at every admission", async () => {
    const { server, open, store, user } = await start();
    const other = await open("other");
    await Promise.all(Array.from({ length: CROWD }, () => other.admit(admission(user.id, { stream: true }))));
    await store.markInstanceDead("somebody");
    const before = await calls(server, "hgetall");
    await Promise.all(Array.from({ length: CROWD }, () => store.admit(admission(user.id))));
    expect((await calls(server, "hgetall")) - before).toBe(1);
    // One that dies later is looked for at once.
    await store.markInstanceDead("other");
    await store.admit(admission(user.id));
    expect(await calls(server, "hgetall")).toBeGreaterThan(before + 1);
    expect(await store.running(user.id)).toMatchObject({ streams: 0 });
  });

  test("whose reservations are lost: they are taken again with one look into the ledger", async () => {
    const { server, prefix, store, user } = await start();
    const requests = Array.from({ length: CROWD }, () => admission(user.id, { hold: 2n, stream: true }));
    await Promise.all(requests.map((request) => store.admit(request)));
    const [settled, ...running] = requests;
    await store.settle(charged(settled!, 1n));
    await server.client.del(...["q", "l", "s"].map((name) => `${prefix}${name}:{${user.id}}`));
    const before = await calls(server, "lrange");
    await store.renew();
    expect((await calls(server, "lrange")) - before).toBe(1);
    const count = running.length;
    expect(await store.running(user.id)).toEqual({ requests: count, streams: count, held: 2n * BigInt(count) });
  });
});
