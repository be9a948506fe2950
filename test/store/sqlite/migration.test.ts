import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../src/store/open.ts";
import { MIGRATIONS } from "../../../src/store/sqlite/schema.ts";
import { MINUTE, OPEN, RECORD, START, admission, charged, digest, temporaryFolder } from "../support.ts";

/** What each released version left behind; never edited, and one more with each migration. */
const RELEASED = Array.from({ length: 12 }, (_, index) => `version-${index + 1}.sql`);

/** In an ordinary run; `LEDGER_ENTRIES=1000000` is the long form. */
const ENTRY_COUNT = Number(process.env["LEDGER_ENTRIES"] ?? 50_000);

function oldFile(name: string): string {
  const file = join(temporaryFolder(), "gateway.db");
  const db = new DatabaseSync(file);
  db.exec(readFileSync(new URL(name, import.meta.url), "utf8"));
  db.close();
  return file;
}

async function open(file: string, serving = true) {
  const store = await openStore(`sqlite:${file}`, { serving, now: () => START + MINUTE });
  onTestFinished(async () => store.close());
  return store;
}

/** Everything in a file, as SQLite shows it. */
function inspect(file: string, sql: string): unknown[] {
  const db = new DatabaseSync(file, { readOnly: true });
  const rows = db.prepare(sql).all();
  db.close();
  return rows;
}

const version = (file: string) => inspect(file, "PRAGMA user_version");
const COLUMNS = `SELECT tables.name, columns.name AS column, columns.type, "notnull", dflt_value, pk
  FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'
  ORDER BY tables.name, columns.cid`;
const INDEXES = "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'index' ORDER BY name";

test("there is a file of every version before this one", () => {
  expect(RELEASED).toHaveLength(MIGRATIONS.length - 1);
});

test.each(RELEASED)("%s becomes what a new file is", async (name) => {
  const [old, fresh] = [oldFile(name), join(temporaryFolder(), "gateway.db")];
  for (const file of [old, fresh]) await (await open(file)).close();
  for (const sql of [COLUMNS, INDEXES, "PRAGMA user_version"]) expect(inspect(old, sql)).toEqual(inspect(fresh, sql));
  expect(inspect(old, "PRAGMA foreign_key_check")).toEqual([]);
});

test("a file of version 1 opens with everything in it, and does what is new", async () => {
  const store = await open(oldFile("version-1.sql"));
  expect(await store.listUsers()).toEqual([
    {
      id: "user_1",
      email: "user_1@example.com",
      tier: "Lite",
      balance: 975n,
      held: 0n,
      granted: 1_000n,
      charged: 25n,
      createdAt: START,
    },
    {
      id: "user_2",
      email: "user_2@example.com",
      tier: "Lite",
      balance: 0n,
      held: 0n,
      granted: 0n,
      charged: 0n,
      createdAt: START,
    },
  ]);
  expect(await store.listKeys("user_1")).toMatchObject([{ id: "key_1", name: "laptop", prefix: "rk_01234567" }]);
  expect(await store.principalByDigest(digest("one"))).toEqual({ userId: "user_1", tier: "Lite", keyId: "key_1" });
  expect(await store.principalByDigest(digest("two")), "revoked").toBeNull();
  expect((await store.windows("user_1", OPEN)).day.used).toBe(6);
  const [served, ...lost] = await store.ledger("user_1");
  expect(served).toEqual({
    id: "ex_1",
    userId: "user_1",
    requestId: "req-1",
    keyId: "key_1",
    model: "route/swift",
    upstream: "alpha",
    outcome: "served",
    usage: { prompt: 10, completion: 20, cached: 4, reasoning: 3 },
    estimated: false,
    receivedAt: START,
    endedAt: START + 1_500,
    charge: 25n,
  });
  expect(lost.map(({ id, outcome }) => [id, outcome])).toEqual([
    ["ex_2", "shutdown"],
    ["ex_3", "shutdown"],
  ]);

  expect(await store.stopTokens(["user_1"])).toEqual(new Map([["user_1", 0]]));
  const request = admission("user_1", { stream: true });
  expect(await store.admit(request)).toMatchObject({ ok: true, stopToken: 0 });
  expect(await store.stopStreams("user_1")).toEqual({ token: 1, streams: 1 });
  await store.settle(charged(request, 5n));
  await store.addFamily({ id: "fam_1", userId: "user_1", digest: digest("1"), expiresAt: START + 2 * MINUTE });
  expect(await store.rotate({ digest: digest("1"), successor: digest("2"), grace: 0 })).not.toBeNull();
  expect(await store.linkIdentity("https://id.example", "7", "user_2")).toMatchObject({ id: "user_2" });
});

test("what a file of version 2 says of caches is all that it knew", async () => {
  const store = await open(oldFile("version-2.sql"));
  const entry = (await store.ledger("user_1")).find(({ id }) => id === "ex_9");
  expect(entry?.usage).toEqual({ prompt: 100, completion: 20, cached: 30, reasoning: 0, cacheWrite: 40 });
});

test("a code that was on its way in a file of version 4 is good, whoever asked for it", async () => {
  const store = await open(oldFile("version-4.sql"));
  expect(await store.takeCode("user_1@example.com", "192.0.2.1", [digest("654321")])).toBe(false);
  expect(await store.takeCode("USER_1@example.com", "192.0.2.2", [digest("123456")])).toBe(true);
  expect(await store.takeCode("user_1@example.com", "192.0.2.1", [digest("123456")])).toBe(false);
});

test("the ledger of a file of version 7 is each user's own, and what a crash had left in it can still be settled", async () => {
  const file = oldFile("version-7.sql");
  const old = new DatabaseSync(file);
  old.exec(
    `INSERT INTO ledger (user_id, id, request_id, model, outcome, prompt, completion, cached, reasoning, estimated,
         received_at, ended_at, charge)
       VALUES ('user_2', 'ex_7', 'ex_7', 'm', 'shutdown', 0, 0, 0, 0, 1, ${START}, ${START}, 0),
         ('user_2', 'ex_8', 'req-8', 'm', 'shutdown', 0, 0, 0, 0, 1, ${START}, ${START}, 0)`,
  );
  const expected = old.prepare("SELECT user_id, id, charge FROM ledger ORDER BY user_id, ended_at, id").all();
  old.close();
  const store = await open(file);
  const found = [...(await store.ledger("user_1")), ...(await store.ledger("user_2"))];
  const lost = ["ex_2", "ex_3"].map((id) => ({ user_id: "user_1", id, charge: 0 }));
  const rows = found.map(({ userId, id, charge }) => ({ user_id: userId, id, charge: Number(charge) }));
  expect(rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
    [...expected.map((row) => ({ ...row })), ...lost].toSorted((a, b) => (String(a["id"]) < String(b["id"]) ? -1 : 1)),
  );
  expect(found.every(({ tier }) => tier === undefined)).toBe(true);
  const settlement = { userId: "user_2", giveBack: false, charge: 5n, record: RECORD };
  expect(await store.settle({ ...settlement, id: "ex_8" }), "settled before").toBe(false);
  expect(await store.settle({ ...settlement, id: "ex_7" })).toBe(true);
  expect(await store.settle({ ...settlement, id: "ex_7" })).toBe(false);
  expect(await store.findUser("user_2")).toMatchObject({ balance: -5n });
});

/** 1 to `count`, as a table for the statement that follows. */
function numbers(count: number): string {
  return `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
}

test(`${ENTRY_COUNT} entries of 1,000 users are brought along in bounded time`, { timeout: 240_000 }, async () => {
  const file = oldFile("version-7.sql");
  const old = new DatabaseSync(file);
  old.exec(
    `BEGIN;
     DELETE FROM ledger; DELETE FROM reservations;
     ${numbers(1_000)} INSERT INTO users (id, email, tier, balance, granted, created_at)
       SELECT 'many_' || i, 'many' || i, 'Free', 0, 0, 0 FROM n;
     ${numbers(ENTRY_COUNT)} INSERT INTO ledger (user_id, id, request_id, model, outcome, prompt, completion, cached, reasoning,
         estimated, received_at, ended_at, charge)
       SELECT 'many_' || (1 + i * 7919 % 1000), hex(randomblob(16)), 'req' || i, 'm', 'served', 1, 2, 0, 0, 0, ${START}, ${START} + i, 3 FROM n;
     COMMIT`,
  );
  old.close();
  const began = performance.now();
  const store = await open(file);
  // A million take 16 seconds on a slow core.
  expect(performance.now() - began).toBeLessThan(60_000 + ENTRY_COUNT / 10);
  const ledger = await store.ledger("many_7");
  expect(ledger).toHaveLength(ENTRY_COUNT / 1_000);
  expect(ledger.map(({ endedAt }) => endedAt)).toEqual(ledger.map(({ endedAt }) => endedAt).toSorted((a, b) => a - b));
  expect(ledger.every(({ userId }) => userId === "many_7")).toBe(true);
});

test("a command brings an unserved file of version 1 up to date, and what runs can be stopped", async () => {
  const store = await open(oldFile("version-1.sql"), false);
  expect(await store.running("user_1")).toEqual({ requests: 2, streams: 2, held: 100n });
  expect(await store.stopStreams("user_1")).toEqual({ token: 1, streams: 2 });
});

test("a command leaves a file alone that an older version serves", async () => {
  const file = oldFile("version-1.sql");
  const serving = new DatabaseSync(`${file}.lock`);
  onTestFinished(() => serving.close());
  serving.exec("BEGIN EXCLUSIVE");
  await expect(open(file, false)).rejects.toThrow("an older version of the gateway is serving it: restart that one");
  expect(version(file)).toEqual([{ user_version: 1 }]);
  serving.exec("ROLLBACK");
  await (await open(file, false)).close();
  expect(version(file)).toEqual([{ user_version: MIGRATIONS.length }]);
});

test("a migration that fails changes nothing, and is done once it can be", async () => {
  const file = oldFile("version-1.sql");
  const db = new DatabaseSync(file);
  // In the way of the last statement.
  db.exec("CREATE TABLE identities (name TEXT)");
  db.close();
  const before = [inspect(file, COLUMNS), version(file)];
  await expect(open(file)).rejects.toThrow(`cannot open the store ${file}: table identities already exists`);
  expect([inspect(file, COLUMNS), version(file)]).toEqual(before);
  const again = new DatabaseSync(file);
  again.exec("DROP TABLE identities");
  again.close();
  expect(await (await open(file)).listUsers()).toHaveLength(2);
});
