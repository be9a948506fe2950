import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Admission } from "../../../src/kit/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { openFile } from "../../../src/store/sqlite/database.ts";
import { sqliteStore } from "../../../src/store/sqlite/store.ts";
import { addUser, admission, charged, givenBack, OPEN, START, temporaryFolder } from "../support.ts";

const METHODS = ["run", "get", "all"] as const;

/** Notes each statement of the connection, made by `prepare` from now on, when it runs. */
function noteStatements(db: DatabaseSync): string[] {
  const noted: string[] = [];
  const prepare = db.prepare.bind(db);
  db.prepare = (sql) => {
    const statement = prepare(sql);
    for (const method of METHODS) {
      const original = statement[method].bind(statement) as (...args: unknown[]) => never;
      statement[method] = (...args: unknown[]) => {
        noted.push(sql.trim().split(/\s+/).slice(0, 3).join(" "));
        return original(...args);
      };
    }
    return statement;
  };
  return noted;
}

/** A serving store, whose statements are noted, with a user of 1,000 nano-units. */
async function serving(maxKnown?: number) {
  const file = join(temporaryFolder(), "gateway.db");
  const database = openFile(file, true);
  const statements = noteStatements(database.db);
  const store = sqliteStore(database, () => START, maxKnown);
  onTestFinished(() => store.close());
  const { id: userId } = await addUser(store, 1_000n);
  const other = new DatabaseSync(file);
  onTestFinished(() => other.close());
  /** As the file has it. */
  const row = () => other.prepare("SELECT requests, streams, held, day_used FROM users WHERE id = ?").get(userId);
  const reservations = () =>
    other
      .prepare("SELECT id FROM reservations ORDER BY id")
      .all()
      .map(({ id }) => id);
  const admit = (more: Partial<Admission> = {}) => {
    const request = admission(userId, more);
    const result = store.admit(request);
    if (result instanceof Promise) throw new Error("the admission was not answered at once");
    return { request, result };
  };
  const work = () => statements.splice(0).filter((sql) => sql !== "PRAGMA data_version");
  return { file, store, userId, row, reservations, admit, work };
}

const command = async (file: string) => {
  const store = await openStore(`sqlite:${file}`, { serving: false, now: () => START });
  onTestFinished(async () => store.close());
  return store;
};

describe("a request", () => {
  test("is admitted without a statement, and settled with two in one commit", async () => {
    const { store, admit, work } = await serving();
    admit();
    expect(work(), "read once").toContain("SELECT balance, stop_token,");
    const { request } = admit({ hold: 40n, stream: true });
    expect(work()).toEqual([]);
    await store.settle(charged(request, 25n));
    expect(work()).toEqual(["BEGIN IMMEDIATE", "INSERT INTO ledger", "UPDATE users SET", "COMMIT"]);
  });

  test("of the same user shares the user's row with those that are settled with it", async () => {
    const { store, admit, work } = await serving();
    const requests = Array.from({ length: 10 }, () => admit().request);
    work();
    await Promise.all(requests.map((request) => store.settle(charged(request, 1n))));
    const done = work();
    expect(done.filter((sql) => sql === "INSERT INTO ledger")).toHaveLength(10);
    expect(done.filter((sql) => sql !== "INSERT INTO ledger")).toEqual([
      "BEGIN IMMEDIATE",
      "UPDATE users SET",
      "COMMIT",
    ]);
  });

  test("given back costs a commit of the user's row, refused or repeated nothing", async () => {
    const { store, admit, work } = await serving();
    const { request } = admit();
    work();
    expect(admit({ limits: { ...OPEN, day: 1 } }).result).toMatchObject({ refusal: "day" });
    expect(admit({ id: request.id }).result).toMatchObject({ ok: true, windows: { day: { used: 1 } } });
    expect(work()).toEqual([]);
    await store.settle(givenBack(request));
    expect(work()).toEqual(["BEGIN IMMEDIATE", "UPDATE users SET", "COMMIT"]);
  });

  test("of somebody in a crowd: who runs nothing is not kept for ever, who does is", async () => {
    const { store, file, userId, admit, work } = await serving(1_000);
    const db = new DatabaseSync(file);
    db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)
      INSERT INTO users (id, email, tier, balance, granted, created_at) SELECT 'c' || i, 'c' || i, 'Free', 5, 5, 0 FROM n`);
    db.close();
    await pause(10);
    admit({ hold: 40n });
    const crowd = Array.from({ length: 1_100 }, (_, index) => admission(`c${index + 1}`));
    for (let at = 0; at < crowd.length; at += 100) {
      const some = crowd.slice(at, at + 100);
      for (const request of some) await store.admit(request);
      await Promise.all(some.map((request) => store.settle(charged(request, 1n))));
    }
    work();
    admit();
    expect(work(), "kept").toEqual([]);
    await store.admit(admission("c1"));
    expect(work(), "dropped").toEqual(["SELECT balance, stop_token,"]);
    expect(store.findUser("c1")).toMatchObject({ balance: 4n, charged: 1n });
    expect(store.running(userId)).toEqual({ requests: 2, streams: 0, held: 40n });
    expect(store.windows("c2", OPEN).day.used).toBe(1);
  });
});

describe("what is not settled", () => {
  test("is in the file within a moment, and an idle process writes nothing", async () => {
    const { row, admit, work, store } = await serving();
    expect(row()).toEqual({ requests: 0, streams: 0, held: 0, day_used: 0 });
    const { request } = admit({ hold: 40n, stream: true, units: 3 });
    expect(row(), "not yet").toMatchObject({ requests: 0, day_used: 0 });
    await expect.poll(row).toEqual({ requests: 1, streams: 1, held: 40, day_used: 3 });
    await store.settle(givenBack(request));
    expect(row()).toEqual({ requests: 0, streams: 0, held: 0, day_used: 0 });
    await pause(250);
    work();
    await pause(250);
    expect(work()).toEqual([]);
  });

  test("has a row of its own once it has run for a second, until it is settled", async () => {
    const { store, admit, reservations } = await serving();
    const [long, short] = [admit({ stream: true }).request, admit().request];
    await pause(150);
    await store.settle(charged(short, 1n));
    expect(reservations(), "too young").toEqual([]);
    await expect.poll(reservations, { timeout: 10_000 }).toEqual([long.id]);
    await store.settle(charged(long, 1n));
    expect(reservations()).toEqual([]);
  });

  test("is written down by a shutdown, however young", async () => {
    const { file, store, userId, admit } = await serving();
    const { request } = admit({ units: 3, hold: 40n });
    store.close();
    const next = await command(file);
    expect((await next.windows(userId, OPEN)).day.used).toBe(3);
    expect(await next.running(userId)).toEqual({ requests: 1, streams: 0, held: 40n });
    const db = new DatabaseSync(file);
    expect(db.prepare("SELECT id FROM reservations").all()).toEqual([{ id: request.id }]);
    db.close();
  });

  test("waits in memory while the file does not take it, and goes there later", async () => {
    const { store, file, row, admit } = await serving();
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    const { request } = admit({ hold: 40n });
    await expect(store.settle(charged(request, 25n))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await pause(200);
    expect(store.running(request.userId)).toEqual({ requests: 1, streams: 0, held: 40n });
    other.exec("ROLLBACK");
    other.close();
    await expect.poll(row, { timeout: 10_000 }).toEqual({ requests: 1, streams: 0, held: 40, day_used: 1 });
    expect(await store.settle(charged(request, 25n))).toBe(true);
    expect(store.findUser(request.userId)).toMatchObject({ balance: 975n, held: 0n, charged: 25n });
  });
});

describe("what a command changes in the file counts at once", () => {
  test("credits that were granted, for the request that would be refused", async () => {
    const { file, userId, admit } = await serving();
    admit({ hold: 900n });
    const other = await command(file);
    expect(admit({ hold: 101n }).result).toMatchObject({ refusal: "credits" });
    await other.grant(userId, 1n);
    expect(admit({ hold: 101n }).result).toMatchObject({ ok: true });
    expect(admit({ hold: 1n }).result).toMatchObject({ refusal: "credits" });
  });

  test("credits that were taken: a hold of what is no longer there is refused", async () => {
    const { store, file, userId, admit } = await serving();
    const { request } = admit({ hold: 400n });
    const other = await command(file);
    await other.grant(userId, -500n);
    await pause(5);
    expect(admit({ hold: 101n }).result).toMatchObject({ refusal: "credits" });
    expect(admit({ hold: 100n }).result).toMatchObject({ ok: true });
    await other.grant(userId, -50n);
    await store.settle(charged(request, 400n));
    expect(await other.findUser(userId)).toMatchObject({ balance: 50n, granted: 450n, charged: 400n });
    expect(admit({ hold: 1n }).result, "100 are held of 50").toMatchObject({ refusal: "credits" });
  });

  test("a stop: what comes after it runs under the new token", async () => {
    const { file, userId, admit } = await serving();
    expect(admit({ stream: true }).result).toMatchObject({ stopToken: 0 });
    const other = await command(file);
    await other.stopStreams(userId);
    await pause(5);
    expect(admit({ stream: true }).result).toMatchObject({ stopToken: 1 });
  });
});

test("a settlement that fails among others leaves them and itself as they were", async () => {
  const { store, userId, admit } = await serving();
  const [bad, good] = [admit({ hold: 40n, stream: true }).request, admit({ hold: 5n }).request];
  const settled = await Promise.allSettled([
    store.settle(charged(good, 3n)),
    store.settle(charged(bad, -1n)),
    store.settle(charged(good, 3n)),
  ]);
  expect(settled).toMatchObject([{ value: true }, { status: "rejected" }, { value: false }]);
  expect(store.running(userId)).toEqual({ requests: 1, streams: 1, held: 40n });
  expect(store.findUser(userId)).toMatchObject({ balance: 997n, held: 40n, charged: 3n });
  expect(await store.settle(charged(bad, 7n))).toBe(true);
  expect(store.findUser(userId)).toMatchObject({ balance: 990n, held: 0n, charged: 10n });
  expect(store.running(userId)).toEqual({ requests: 0, streams: 0, held: 0n });
});
