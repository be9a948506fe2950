import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createKey, digest } from "../../../src/accounts/api-keys.ts";
import type { AdmissionResult } from "../../../src/kit/index.ts";
import { describeRedis, redisOfSuite } from "../../support/redis.ts";
import { startSlowProxy } from "../../support/slow-proxy.ts";
import { openAt, UNAVAILABLE } from "./support.ts";
import { addUser, admission, charged, OPEN, unique } from "../support.ts";

/** As `store.timeout` when it is left out, in milliseconds. */
const TIMEOUT = 1_000;

/** Nothing runs in this process meanwhile. */
function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** How many of the admissions came to what. */
async function outcomes(all: readonly Promise<AdmissionResult>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const one of await Promise.allSettled(all)) {
    const reason = one.status === "rejected" ? String(one.reason) : one.value.ok ? "ok" : one.value.refusal;
    counts[reason] = (counts[reason] ?? 0) + 1;
  }
  return counts;
}

describeRedis("a Redis that is slow and not away", () => {
  const server = redisOfSuite();

  async function slow() {
    const { port, state, cut, close } = await startSlowProxy(server.port);
    const proxy = { state, cut };
    onTestFinished(close);
    const url = `redis://127.0.0.1:${port}`;
    const prefix = `${unique("slow")}:`;
    const store = await openAt(url, { prefix, timeout: undefined });
    const side = await openAt(server.url, { prefix });
    return { proxy, url, prefix, store, side, user: await addUser(side, 1_000n) };
  }

  test("by 300 ms an answer: a thousand at once at four processes are admitted to the limit", async () => {
    const { proxy, url, prefix, side, user } = await slow();
    const stores = await Promise.all([1, 2, 3, 4].map(() => openAt(url, { prefix, timeout: undefined })));
    proxy.state.delay = 300;
    const limits = { ...OPEN, day: 100 };
    const all = stores.flatMap((store) =>
      Array.from({ length: 250 }, () => store.admit(admission(user.id, { limits }))),
    );
    expect(await outcomes(all)).toEqual({ ok: 100, day: 900 });
    expect(await side.running(user.id)).toMatchObject({ requests: 100 });
  });

  test("by more than the timeout: an admission is asked once more and counted once", async () => {
    const { proxy, store, side, user } = await slow();
    await store.ping();
    proxy.state.delay = 1.3 * TIMEOUT;
    expect(await store.admit(admission(user.id))).toMatchObject({ ok: true });
    expect((await side.windows(user.id, OPEN)).day.used).toBe(1);
  });

  test("by more than the timeout: a user is looked up all the same", async () => {
    const { proxy, store, user } = await slow();
    await store.ping();
    proxy.state.delay = 1.3 * TIMEOUT;
    expect(await store.principalOf(user.id)).toMatchObject({ userId: user.id });
  });

  test("by most of the timeout, and it has forgotten every script: keys are looked up, requests come and go", async () => {
    const { proxy, store, side, user } = await slow();
    const { body } = await createKey(side, { userId: user.id, name: "n" });
    await store.ping();
    proxy.state.delay = 0.7 * TIMEOUT;
    await server.client.call("SCRIPT", "FLUSH");
    expect(await store.principalByDigest(digest(body.key))).toMatchObject({ userId: user.id, keyId: body.id });
    const request = admission(user.id);
    expect(await store.admit(request)).toMatchObject({ ok: true });
    expect(await store.settle(charged(request, 1n))).toBe(true);
    expect(await side.findUser(user.id)).toMatchObject({ balance: 999n, held: 0n });
  });

  test("loses an admission: nobody else is refused for it", async () => {
    const { proxy, store, side, user } = await slow();
    const limits = { ...OPEN, day: 1 };
    await store.ping();
    proxy.state.swallows = true;
    const lost = store.admit(admission(user.id, { limits }));
    await expect.poll(async () => (await side.windows(user.id, OPEN)).day.used).toBe(1);
    proxy.cut();
    await expect(lost).rejects.toMatchObject(UNAVAILABLE);
    proxy.state.swallows = false;
    await expect
      .poll(
        () =>
          store
            .ping()
            .then(() => true)
            .catch(() => false),
        { timeout: 10_000 },
      )
      .toBe(true);
    expect(await store.admit(admission(user.id, { limits }))).toMatchObject({ ok: true });
    expect(await store.admit(admission(user.id, { limits }))).toMatchObject({ ok: false, refusal: "day" });
  });
});

describeRedis("a process whose event loop is blocked for longer than the timeout", () => {
  const server = redisOfSuite();

  test.each([
    ["after it has asked", 0],
    ["after it has asked and for a while again and again", 4],
  ])("%s: takes every answer, on the same connection", async (_, turns) => {
    const store = await openAt(server.url, { timeout: TIMEOUT });
    const user = await addUser(store, 1_000n);
    const limits = { ...OPEN, day: 100 };
    const connections = async () => /total_connections_received:(\d+)/.exec(await server.client.info("stats"))?.[1];
    const before = await connections();
    const all = Array.from({ length: 250 }, () => store.admit(admission(user.id, { limits })));
    block(1.5 * TIMEOUT);
    for (let turn = 0; turn < turns; turn++) {
      await pause(0);
      block(TIMEOUT / 3);
    }
    expect(await outcomes(all)).toEqual({ ok: 100, day: 150 });
    expect(await connections()).toBe(before);
  });

  test("still gives up what has no answer", async () => {
    const store = await openAt(server.url, { timeout: TIMEOUT });
    server.pause();
    try {
      const call = store.ping();
      block(2 * TIMEOUT);
      await expect(call).rejects.toMatchObject(UNAVAILABLE);
    } finally {
      server.resume();
    }
  });
});
