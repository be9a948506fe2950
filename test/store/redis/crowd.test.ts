import { expect, onTestFinished, test } from "vitest";
import { type RedisServer, describeRedis, startRedis } from "../../support/redis.ts";
import { PATIENT, openAt } from "./support.ts";
import type { Admission } from "../../../src/kit/index.ts";
import { addUser, admission, charged, digest, unique } from "../support.ts";

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

  test("through 8 instances: together they keep to the budget of its key", async () => {
    const { open, user } = await start();
    const instances = await Promise.all(Array.from({ length: 8 }, (_, index) => open(`instance-${index}`)));
    const limits = { budget: { amount: 1_000n, per: "day" } } as const;
    const id = unique("key");
    await instances[0]!.addKey({ id, userId: user.id, name: "n", prefix: "rk_", digest: digest(id), limits }, 1);
    const budget = { keyId: id, ...limits.budget };
    const requests = Array.from({ length: 8 * 20 }, () => admission(user.id, { hold: 30n, budget }));
    const run = async (request: Admission, index: number): Promise<bigint> => {
      const instance = instances[index % 8]!;
      const { ok } = await instance.admit(request);
      const charge = ok ? BigInt(index % 31) : 0n;
      if (ok) await instance.settle(charged(request, charge));
      return charge;
    };
    const spent = (await Promise.all(requests.map(run))).reduce((sum, charge) => sum + charge, 0n);
    expect(spent).toBeGreaterThan(0n);
    expect(spent).toBeLessThanOrEqual(1_000n);
    expect((await instances[1]!.listKeys(user.id))[0]?.budget).toMatchObject({ spent, held: 0n });
  });
});
