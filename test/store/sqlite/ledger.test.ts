import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import type { Admission, RecordedEntry } from "../../../src/kit/index.ts";
import { openFile } from "../../../src/store/sqlite/database.ts";
import { sqliteStore } from "../../../src/store/sqlite/store.ts";
import { DAY, HOUR, RECORD, START, addUser, admission, charged, temporaryFolder } from "../support.ts";
import { FEW_RUNS, PATIENCE } from "../../properties/runs.ts";
import { allPages, allUsage, inOrder, usageOf } from "../contract/ledger.ts";

const RETENTION = 90 * DAY;

function serving(file = join(temporaryFolder(), "gateway.db"), clock = { now: START }) {
  const store = sqliteStore(openFile(file, true), () => clock.now);
  onTestFinished(() => store.close());
  store.recover();
  const serve = async (userId: string, charge = 1n): Promise<string> => {
    const request = admission(userId);
    await store.admit(request);
    await store.settle(charged(request, charge));
    return request.id;
  };
  const idsOf = (userId: string) => store.ledger(userId).map(({ id }) => id);
  return { file, clock, store, serve, idsOf };
}

function query(file: string, sql: string): unknown[] {
  const db = new DatabaseSync(file);
  const rows = db.prepare(sql).all();
  db.close();
  return rows;
}

const sorted = (ids: readonly string[] = []) => ids.toSorted();

test(
  "entries of users that take turns stay each one's own, over restarts and rolled back commits",
  { timeout: PATIENCE },
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ user: fc.nat(3), what: fc.constantFrom("serve", "serve", "fail", "reopen", "crash") }), {
          minLength: 1,
          maxLength: 40,
        }),
        async (steps) => {
          let now = serving();
          const users = await Promise.all(Array.from({ length: 4 }, async () => (await addUser(now.store, 1_000n)).id));
          const expected = new Map(users.map((id) => [id, [] as string[]]));
          for (const { user, what } of steps) {
            const userId = users[user]!;
            if (what === "serve") expected.get(userId)!.push(await now.serve(userId));
            if (what === "fail") {
              const [good, bad] = [admission(userId), admission(userId)];
              for (const one of [good, bad]) await now.store.admit(one);
              // A tier that is none of SQLite's types is refused when its row is written, with all of its commit.
              const record = { ...RECORD, tier: {} as string };
              const settled = [now.store.settle(charged(good, 1n)), now.store.settle({ ...charged(bad, 1n), record })];
              const fates = (await Promise.allSettled(settled)).map(({ status }) => status);
              assert.deepEqual(fates, ["fulfilled", "rejected"]);
              expected.get(userId)!.push(good.id);
              await now.store.settle({ ...charged(bad, 0n), record: null });
            }
            if (what === "crash") {
              const left = admission(userId);
              await now.store.admit(left);
              expected.get(userId)!.push(left.id);
            }
            if (what === "reopen" || what === "crash") {
              now.store.close();
              now = serving(now.file, now.clock);
            }
          }
          for (const [userId, ids] of expected) {
            assert.deepEqual(sorted(now.idsOf(userId)), sorted(ids));
            assert.deepEqual(await now.store.recorded(userId, [...ids, "nothing"]), new Set(ids));
          }
          now.store.close();
        },
      ),
      { numRuns: FEW_RUNS },
    );
  },
);

test("a user's entries are found behind 2,000 others, and behind as many of somebody else", async () => {
  const { store, serve, idsOf } = serving();
  const [one, other] = [(await addUser(store, 10_000n)).id, (await addUser(store, 10_000n)).id];
  const first = await serve(one);
  await Promise.all(Array.from({ length: 2_000 }, () => serve(other)));
  await Promise.all(Array.from({ length: 2_000 }, () => serve(one)));
  expect(idsOf(one)).toHaveLength(2_001);
  expect(await store.recorded(one, [first])).toEqual(new Set([first]));
  expect(await store.recorded(other, [first]), "of somebody else").toEqual(new Set());
});

test(
  "usage adds up to the entries: whatever is rolled up when, given up in a crash, settled later and trimmed",
  { timeout: PATIENCE },
  async () => {
    const what = fc.constantFrom("serve", "serve", "crash", "settle late", "ask", "wait", "trim");
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ user: fc.nat(2), what }), { minLength: 1, maxLength: 30 }),
        fc.constantFrom("hour" as const, "day" as const),
        async (steps, per) => {
          let now = serving();
          const users = await Promise.all(Array.from({ length: 3 }, async () => (await addUser(now.store, 1_000n)).id));
          const left: Admission[] = [];
          // What is trimmed stays in the sums of all.
          const sums = new Map<string, RecordedEntry>();
          const remember = async () => {
            for (const userId of users)
              for (const entry of (await allPages(now.store, { userId, limit: 1_000 })).entries)
                sums.set(entry.id, entry);
          };
          for (const { user, what } of steps) {
            const userId = users[user]!;
            if (what === "serve") await now.serve(userId, 3n);
            if (what === "ask") await allUsage(now.store, { per, by: ["userId"], limit: 3 });
            if (what === "wait") now.clock.now += 7 * HOUR;
            if (what === "crash") {
              const request = admission(userId);
              await now.store.admit(request);
              left.push(request);
              now.store.close();
              now = serving(now.file, now.clock);
            }
            const late = what === "settle late" ? left.pop() : undefined;
            if (late !== undefined) await now.store.settle(charged(late, 5n));
            if (what === "trim") {
              await remember();
              await now.store.tidyLedger(now.clock.now - DAY);
              await now.store.tidyLedger(now.clock.now - DAY);
              // Their entries may be gone.
              left.length = 0;
            }
          }
          await remember();
          const all = await allUsage(now.store, { per, by: ["model", "upstream", "tier"], limit: 4 });
          assert.deepEqual(inOrder(all), usageOf([...sums.values()], { per, by: ["model", "upstream", "tier"] }));
          const since = now.clock.now - DAY;
          for (const userId of users) {
            const entries = [...sums.values()].filter((entry) => entry.userId === userId && entry.recordedAt >= since);
            const { rows } = await now.store.usage({
              per: "hour",
              by: [],
              userId,
              from: since,
              to: 2 ** 43,
              limit: 99,
            });
            const whole = entries.filter(({ recordedAt }) => Math.floor(recordedAt / HOUR) * HOUR >= since);
            assert.deepEqual(inOrder(rows), usageOf(whole, { per: "hour", by: [] }));
          }
          now.store.close();
        },
      ),
      { numRuns: FEW_RUNS },
    );
  },
);

test("usage by user goes with the ledger, some rows at a time, that of all after 400 days", async () => {
  const { file, clock, store, serve } = serving();
  const { id } = await addUser(store, 1_000_000n);
  await serve(id);
  await store.usage({ per: "day", by: [], from: 0, to: 2 ** 43, limit: 1 });
  const db = new DatabaseSync(file);
  // As many users had been there in that hour.
  db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
    INSERT INTO usage_of_users SELECT hour, user_id || i, key_id, model, upstream, tier, 1, 0, 0, 0, 0, 0, 1 FROM usage_of_users, n`);
  db.close();
  const rows = (table: string) => (query(file, `SELECT count(*) AS rows FROM ${table}`)[0] as { rows: number }).rows;
  clock.now += RETENTION + HOUR;
  const left: number[] = [];
  while (await store.tidyLedger(clock.now - RETENTION)) left.push(rows("usage_of_users"));
  expect(left).toEqual([700, 199]);
  expect([rows("ledger"), rows("usage_of_users"), rows("usage_hours")]).toEqual([0, 0, 1]);
  const all = async () => (await store.usage({ per: "day", by: [], from: 0, to: 2 ** 43, limit: 9 })).rows;
  expect(await all()).toMatchObject([{ requests: 1 }]);
  clock.now += 400 * DAY - RETENTION;
  await store.tidyLedger(clock.now - RETENTION);
  expect([rows("usage_hours"), await all()]).toEqual([0, []]);
});

test("what is trimmed ends each user's entries; when all is gone numbers begin again, and nobody sees another's", async () => {
  const { file, clock, store, serve, idsOf } = serving();
  const users = await Promise.all(Array.from({ length: 3 }, async () => (await addUser(store, 1_000n)).id));
  const [a, b, c] = users as [string, string, string];
  for (const userId of [a, a, b, a, c]) await serve(userId);
  clock.now += RETENTION + DAY;
  const kept = await serve(a);
  store.keepTrimmed(RETENTION);
  await expect.poll(() => idsOf(a)).toEqual([kept]);
  expect([idsOf(b), idsOf(c)]).toEqual([[], []]);
  clock.now += 2 * RETENTION;
  store.keepTrimmed(RETENTION);
  await expect.poll(() => idsOf(a)).toEqual([]);
  expect(query(file, "SELECT count(*) AS rows FROM ledger")).toEqual([{ rows: 0 }]);
  // Their numbers are those that a, b and c remember as their latest.
  const [x, y] = [(await addUser(store, 1_000n)).id, (await addUser(store, 1_000n)).id];
  const ids = new Map<string, string[]>();
  for (const userId of [x, y, c, x, b, a, a, y, c, x])
    ids.set(userId, [...(ids.get(userId) ?? []), await serve(userId)]);
  for (const [userId, own] of ids) expect(sorted(idsOf(userId))).toEqual(sorted(own));
});

test("a clock that was far ahead for a moment keeps nothing from being trimmed", async () => {
  const { clock, store, serve, idsOf } = serving();
  const { id } = await addUser(store, 1_000n);
  clock.now += 400 * DAY;
  await serve(id);
  clock.now -= 400 * DAY;
  await serve(id);
  clock.now += RETENTION + HOUR;
  store.keepTrimmed(RETENTION);
  await expect.poll(() => idsOf(id)).toEqual([]);
});
