import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type RedisServer, describeRedis, startRedis } from "../../support/redis.ts";
import { PATIENT, openAt } from "./support.ts";
import { addUser, admission, charged } from "../support.ts";

/** An address that leads to one server or another, as a name or a virtual address does. */
async function startAddress(first: RedisServer) {
  let target = first;
  let connections = 0;
  const relay = createServer((client) => {
    connections++;
    const server = connect(target.port, "127.0.0.1");
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const)
      socket.on("error", () => {}).on("close", () => other.destroy());
    client.pipe(server).pipe(client);
  }).listen(0, "127.0.0.1");
  await once(relay, "listening");
  onTestFinished(() => void relay.close());
  return {
    url: `redis://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    /** New connections lead to this one. */
    leadTo(server: RedisServer) {
      target = server;
      connections = 0;
    },
    connections: () => connections,
  };
}

async function startPair() {
  const primary = await startRedis();
  onTestFinished(() => primary.stop());
  const replica = await startRedis([
    "--replicaof",
    "127.0.0.1",
    String(primary.port),
    "--repl-diskless-sync-delay",
    "0",
  ]);
  onTestFinished(() => replica.stop());
  await expect.poll(() => replica.client.info("replication"), { timeout: 20_000 }).toContain("master_link_status:up");
  return { primary, replica };
}

describeRedis("on Redis, a replica that becomes the primary", () => {
  test.each(["dies", "becomes the replica"])(
    "while the old one %s: one connection more, leases are there again, and only what it had not got is missing",
    async (how) => {
      const { primary, replica } = await startPair();
      const address = await startAddress(primary);
      const store = await openAt(address.url, { timeout: 1_000, lease: PATIENT.lease });
      const user = await addUser(store, 1_000n);
      const admit = async () => {
        const request = admission(user.id, { stream: true, hold: 10n });
        expect(await store.admit(request)).toMatchObject({ ok: true });
        return request;
      };
      const known = [await admit(), await admit(), await admit()];
      // WAIT is for what its own connection has written: everything before that is there with it.
      await primary.client.set("test:written", "1");
      expect(await primary.client.wait(1, 10_000)).toBe(1);
      await replica.client.replicaof("NO", "ONE");
      // From here on the replica hears nothing.
      const unknown = [await admit(), await admit()];
      await store.settle(charged(known[0]!, 7n));

      address.leadTo(replica);
      if (how === "dies") await primary.kill();
      else await primary.client.replicaof("127.0.0.1", replica.port);
      const serves = async () => {
        const request = admission(user.id, { hold: 1n });
        await store.admit(request);
        await store.settle(charged(request, 1n));
      };
      await expect.poll(() => serves().then(() => "served", String), { timeout: 10_000 }).toBe("served");
      expect(address.connections(), "one that asks, and one that listens when it was lost").toBeLessThanOrEqual(2);

      await store.renew();
      expect(await store.running(user.id)).toEqual({ requests: 5, streams: 5, held: 50n });
      for (const request of [...known.slice(1), ...unknown]) await store.settle(charged(request, 7n));
      // The charge that only the old primary had is gone with it; its lease ends as that of a dead process.
      expect(await store.running(user.id)).toEqual({ requests: 1, streams: 1, held: 10n });
      const entries = await store.ledger(user.id);
      const spent = entries.reduce((sum, { charge }) => sum + charge, 0n);
      expect(spent).toBe(29n);
      expect(entries.map(({ id }) => id)).toEqual(expect.arrayContaining(unknown.map(({ id }) => id)));
      expect(await store.findUser(user.id)).toMatchObject({ balance: 1_000n - spent, held: 10n });
    },
  );
});
