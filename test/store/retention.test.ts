import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../src/kit/index.ts";
import { openStore } from "../../src/store/open.ts";
import { describeRedis, redisOfSuite } from "../support/redis.ts";
import { auditEntry } from "./contract/audit.ts";
import { openAt } from "./redis/support.ts";
import { addUser, admission, charged, DAY, RECORD, START, temporaryFolder, unique } from "./support.ts";

const RETENTION = 90 * DAY;
/** Entries that one step of the event loop may delete: some milliseconds. */
const MOST_AT_ONCE = 500;

async function serve(store: Store, userId: string, charge: bigint, endedAt: number): Promise<string> {
  const request = admission(userId);
  await store.admit(request);
  await store.settle({ ...charged(request, charge), record: { ...RECORD, endedAt } });
  return request.id;
}

test("SQLite deletes old entries in small steps; what was granted is balance and charges", async () => {
  const clock = { now: START };
  const url = `sqlite:${join(temporaryFolder(), "gateway.db")}`;
  const open = () => openStore(url, { serving: true, now: () => clock.now, retention: RETENTION });
  // The first one keeps everything.
  const store = await openStore(url, { serving: true, now: () => clock.now, retention: 10 * RETENTION });
  const user = await addUser(store, 1_000_000n);
  const old = 5_000;
  await Promise.all(Array.from({ length: old }, (_, index) => serve(store, user.id, 2n, START + index)));
  clock.now = START + RETENTION + DAY;
  const kept = await serve(store, user.id, 7n, clock.now);
  expect(await store.ledger(user.id)).toHaveLength(old + 1);
  await store.close();

  const next = await open();
  onTestFinished(async () => next.close());
  // How many are left after each step: a step that took too many would hold up every request.
  const lengths = new Set<number>([old + 1]);
  while (!lengths.has(1)) {
    await new Promise(setImmediate);
    lengths.add((await next.ledger(user.id)).length);
  }
  const left = [...lengths];
  expect(Math.max(...left.slice(1).map((length, index) => left[index]! - length))).toBeLessThanOrEqual(MOST_AT_ONCE);
  expect((await next.ledger(user.id)).map(({ id }) => id)).toEqual([kept]);
  const charges = 2n * BigInt(old) + 7n;
  expect(await next.findUser(user.id)).toMatchObject({
    granted: 1_000_000n,
    balance: 1_000_000n - charges,
    charged: charges,
  });
});

test("a command deletes nothing beside the process that serves", async () => {
  const clock = { now: START };
  const url = `sqlite:${join(temporaryFolder(), "gateway.db")}`;
  const first = await openStore(url, { serving: true, now: () => clock.now });
  const user = await addUser(first, 10n);
  await serve(first, user.id, 2n, START);
  await first.close();
  clock.now += RETENTION + DAY;
  const command = await openStore(url, { serving: false, now: () => clock.now });
  onTestFinished(async () => command.close());
  await sleep(200);
  expect(await command.ledger(user.id)).toHaveLength(1);
});

test("the audit log goes with the ledger on SQLite, some at a time", async () => {
  const clock = { now: START };
  const store = await openStore("memory:", { serving: true, now: () => clock.now, retention: RETENTION });
  onTestFinished(async () => store.close());
  for (let index = 0; index < 250; index++) await store.writeAudit(auditEntry(START + index));
  const kept = auditEntry(START + DAY);
  await store.writeAudit(kept);
  clock.now = START + RETENTION + 1_000;
  const list = async () => store.listAudit({ before: null, limit: 300 });
  await expect.poll(list, { timeout: 10_000 }).toMatchObject([kept]);
  expect(await store.verifyAudit()).toMatchObject({ entries: 1, bad: null });
});

test("ids are looked up one by one", async () => {
  const store = await openStore("memory:", { serving: false, now: () => START });
  const user = await addUser(store, 10n);
  const [a, b] = [await serve(store, user.id, 1n, START), await serve(store, user.id, 1n, START)];
  expect(await store.recorded(user.id, [a, "nothing", b])).toEqual(new Set([a, b]));
  expect(await store.recorded("nobody", [a])).toEqual(new Set());
});

describeRedis("on Redis", () => {
  const server = redisOfSuite();

  test("of the audit log the oldest go as new ones come", async () => {
    const clock = { now: START };
    const store = await openAt(server.url, { retention: RETENTION, clock: () => clock.now });
    for (let index = 0; index < 25; index++) await store.writeAudit(auditEntry(START + index));
    clock.now = START + RETENTION + DAY;
    const fresh = Array.from({ length: 3 }, (_, index) => auditEntry(clock.now + index));
    for (const entry of fresh) await store.writeAudit(entry);
    expect(await store.listAudit({ before: null, limit: 100 })).toMatchObject(fresh.toReversed());
    expect(await store.verifyAudit()).toMatchObject({ entries: 3, bad: null });
  });

  test("a chain whose entries have all expired is no gap, one whose entries were deleted is", async () => {
    const clock = { now: START };
    const prefix = `${unique("expired")}:`;
    const store = await openAt(server.url, { prefix, retention: RETENTION, clock: () => clock.now });
    await store.writeAudit(auditEntry(START));
    const before = (await store.verifyAudit()).head;
    await server.client.del(`${prefix}audit:{log}`, `${prefix}audit:{log}:entries`);
    expect((await store.verifyAudit()).bad?.why).toBe("the newest entries are missing");
    clock.now += RETENTION;
    expect(await store.verifyAudit()).toMatchObject({ entries: 0, bad: null, head: before });
    await store.writeAudit(auditEntry(clock.now));
    expect(await store.verifyAudit(before!)).toMatchObject({ entries: 1, bad: null, found: true });
  });

  test("old entries go as new ones come, all of them when none come, and sums stay", async () => {
    const retention = 1_000;
    const store = await openAt(server.url, { retention });
    const user = await addUser(store, 1_000n);
    for (let turn = 0; turn < 5; turn++) await serve(store, user.id, 2n, START);
    await sleep(retention + 100);
    expect(await store.ledger(user.id), "goes as a whole").toEqual([]);
    const id = await serve(store, user.id, 7n, START);
    expect((await store.ledger(user.id)).map((entry) => entry.id)).toEqual([id]);
    expect(await store.findUser(user.id)).toMatchObject({ granted: 1_000n, balance: 983n, charged: 17n });
    expect(await store.grant(user.id, 1n)).toMatchObject({ granted: 1_001n, charged: 17n });
    expect(await store.setTier(user.id, "Lite")).toMatchObject({ charged: 17n });
  });

  test("ids are found beyond a page of others", async () => {
    const store = await openAt(server.url, { prefix: `${unique("pages")}:` });
    const user = await addUser(store, 10_000n);
    const first = await serve(store, user.id, 1n, START);
    await Promise.all(Array.from({ length: 1_200 }, () => serve(store, user.id, 1n, START)));
    expect(await store.recorded(user.id, [first, "nothing"])).toEqual(new Set([first]));
  });
});
