import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import type { KeyClaim } from "../../src/kit/index.ts";
import { openStore } from "../../src/store/open.ts";
import { describeRedis, redisOfSuite } from "../support/redis.ts";
import { openAt } from "./redis/support.ts";
import { DAY, MINUTE, START, temporaryFolder } from "./support.ts";

const KEPT = { outcome: "served", answer: "sealed" } as const;
const claimOf = (digest: string): KeyClaim => ({
  userId: "user_1",
  digest,
  fingerprint: "f",
  id: `ex_${digest}`,
  requestId: "r",
});

test("SQLite deletes what has expired while nobody sends a key", async () => {
  const clock = { now: START };
  const file = join(temporaryFolder(), "gateway.db");
  const open = () => openStore(`sqlite:${file}`, { serving: true, now: () => clock.now });
  const store = await open();
  const digests = Array.from({ length: 250 }, (_, index) => `d${index}`);
  await Promise.all(digests.map(async (digest) => store.keepKey(claimOf(digest), KEPT, DAY)));
  await store.keepKey(claimOf("later"), KEPT, 2 * DAY);
  await store.close();
  clock.now += DAY;
  const next = await open();
  onTestFinished(async () => next.close());
  const db = new DatabaseSync(file, { readOnly: true });
  onTestFinished(() => db.close());
  const left = () => db.prepare("SELECT digest FROM idempotency_keys").all();
  await expect.poll(() => left().length, { timeout: 10_000 }).toBe(1);
  expect(left()).toEqual([{ digest: "later" }]);
});

describeRedis("on Redis", () => {
  const redis = redisOfSuite();

  test("an answer goes by itself when its time is over, and everything about a key does", async () => {
    const store = await openAt(redis.url, { prefix: "kept:" });
    await store.claimKey(claimOf("running"), MINUTE);
    await store.keepKey(claimOf("kept"), KEPT, DAY);
    const names = (await redis.client.keys("kept:i*")).toSorted();
    expect(names).toEqual(["kept:ia:{user_1}", "kept:ib:{user_1}:kept", "kept:ik:{user_1}", "kept:ix:{user_1}"]);
    for (const name of names) {
      const left = await redis.client.pttl(name);
      expect(left).toBeGreaterThan(DAY - MINUTE);
      expect(left).toBeLessThanOrEqual(DAY + (name.includes(":ib:") ? 0 : MINUTE));
    }
    await store.forgetKeys("user_1");
    expect(await redis.client.keys("kept:i*")).toEqual([]);
  });
});
