import { afterAll, beforeAll, expect, test } from "vitest";
import { type RedisServer, describeRedis, startRedis } from "../../support/redis.ts";
import { openAt, UNAVAILABLE } from "./support.ts";

const TIMEOUT = 250;

/** Nothing runs in this process meanwhile. */
function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

describeRedis("a process that is busy for longer than a call may wait", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  test("takes the answers that have come meanwhile", async () => {
    const store = await openAt(server.url, { timeout: TIMEOUT });
    const calls = Array.from({ length: 500 }, () => store.ping());
    block(3 * TIMEOUT);
    const results = await Promise.allSettled(calls);
    expect(results.filter(({ status }) => status === "rejected")).toEqual([]);
  });

  test("still gives up what has none", async () => {
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
