import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import type { AuditEntry, NewAuditEntry, Store } from "../../src/kit/index.ts";
import { openStore } from "../../src/store/open.ts";
import { describeRedis, redisOfSuite } from "../support/redis.ts";
import { auditEntry } from "./contract/audit.ts";
import { openAt } from "./redis/support.ts";
import { START, temporaryFolder, unique } from "./support.ts";

/** What somebody who can write to the store reaches beside the gateway. */
interface Rows {
  read(id: string): Promise<string>;
  write(id: string, text: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** Puts an entry into the place of another one. */
  move(id: string, to: string): Promise<void>;
  add(id: string, seq: number, text: string): Promise<void>;
}

interface Opened {
  readonly store: Store;
  /** A second process on the same data. */
  readonly again: () => Promise<Store>;
  readonly rows: Rows;
}

type Breach = (rows: Rows, entries: readonly AuditEntry[]) => Promise<void>;

function changed(change: (entry: Record<string, unknown>) => object): Breach {
  return async (rows, entries) => {
    const { id } = entries[2]!;
    const entry = JSON.parse(await rows.read(id)) as Record<string, unknown>;
    await rows.write(id, JSON.stringify({ ...entry, ...change(entry) }));
  };
}

const MISSING = "one or more entries before it are missing";
const CHANGED = "it was changed: its digest does not match";
const REPLACED = "the entry before it was changed or replaced";

/** By name: what is done to five entries, which entry is named, and why. */
const BREACHES: Readonly<Record<string, readonly [Breach, bad: number | null, why: string]>> = {
  "another name": [changed(() => ({ name: "mallory" })), 2, CHANGED],
  "another role": [changed(() => ({ role: "viewer" })), 2, CHANGED],
  "another action": [changed(() => ({ action: "listUsers" })), 2, CHANGED],
  "another target": [changed(() => ({ target: "user_2" })), 2, CHANGED],
  "other details": [changed(() => ({ details: { amount: "500" } })), 2, CHANGED],
  "another outcome": [changed(() => ({ outcome: "refused" })), 2, CHANGED],
  "another status": [changed(() => ({ status: 403 })), 2, CHANGED],
  "another address": [changed(() => ({ address: null })), 2, CHANGED],
  "another time": [changed(() => ({ at: START - 1 })), 2, CHANGED],
  "another id": [changed(() => ({ id: "0" })), null, CHANGED],
  "another salt": [changed(() => ({ subject: { salt: "00" } })), 2, CHANGED],
  "a target that was said to be removed": [changed(() => ({ subject: { digest: "0".repeat(64) } })), 2, CHANGED],
  "a seal of no known form": [changed(() => ({ origin: null })), null, "it cannot be read"],
  "another digest": [changed(() => ({ digest: "0".repeat(64) })), 2, CHANGED],
  "another previous digest": [changed(() => ({ previous: null })), 2, REPLACED],
  "text that is no JSON": [(rows, [, , entry]) => rows.write(entry!.id, "x"), null, "it cannot be read"],
  "the first one deleted": [(rows, [entry]) => rows.remove(entry!.id), 1, MISSING],
  "one in the middle deleted": [(rows, [, , entry]) => rows.remove(entry!.id), 3, MISSING],
  "the newest one deleted": [(rows, entries) => rows.remove(entries[4]!.id), null, "the newest entries are missing"],
  "two exchanged": [(rows, [, a, b]) => rows.move(b!.id, a!.id), 2, "it is not in its place"],
  "one added behind": [
    (rows, entries) => rows.add(auditEntry(START).id, 6, JSON.stringify({ ...entries[4], seq: 6 })),
    null,
    "it cannot be read",
  ],
};

/** Five entries, a minute apart. */
async function filled(store: Store): Promise<readonly AuditEntry[]> {
  for (let index = 0; index < 5; index++) await store.writeAudit(auditEntry(START + index * 60_000));
  return (await store.listAudit({ before: null, limit: 5 })).toReversed();
}

/** What is told of each breach, by its name, with the number of the entry that is named. */
async function findings(open: () => Promise<Opened>): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const found: Record<string, readonly unknown[]> = {};
  for (const [name, [breach]] of Object.entries(BREACHES)) {
    const { store, rows } = await open();
    const entries = await filled(store);
    expect((await store.verifyAudit()).bad).toBeNull();
    await breach(rows, entries);
    const { bad } = await store.verifyAudit();
    const named = entries.findIndex(({ id }) => id === bad?.id);
    found[name] = [named < 0 ? null : named, bad?.why];
    await store.close();
  }
  return found;
}

const EXPECTED = Object.fromEntries(Object.entries(BREACHES).map(([name, [, bad, why]]) => [name, [bad, why]]));

/** Three processes write at once, each of them changes that overlap. */
async function writeAtOnce({ store, again }: Opened): Promise<readonly AuditEntry[]> {
  const stores = [store, await again(), await again()];
  const written: NewAuditEntry[] = [];
  const work = stores.flatMap((each) =>
    Array.from({ length: 12 }, async (_, index) => {
      const entry = auditEntry(START + index);
      written.push(entry);
      await each.writeAudit({ ...entry, outcome: "begun", status: null });
      await new Promise(setImmediate);
      await each.writeAudit(entry);
    }),
  );
  await Promise.all(work);
  for (const each of stores) expect(await each.verifyAudit()).toMatchObject({ entries: written.length, bad: null });
  return store.listAudit({ before: null, limit: 100 });
}

/** What each entry says of the one before, against what that one is. */
function expectedPrevious(entries: readonly AuditEntry[]): readonly (string | null)[] {
  return [...entries.slice(1).map(({ digest }) => digest), null];
}

async function openFile(): Promise<Opened> {
  const file = join(temporaryFolder(), "gateway.db");
  const again = async () => {
    const store = await openStore(`sqlite:${file}`, { serving: false, now: () => START });
    onTestFinished(async () => store.close());
    return store;
  };
  const store = await again();
  const db = new DatabaseSync(file);
  onTestFinished(() => db.close());
  const run = (sql: string, ...values: readonly (string | number)[]) => void db.prepare(sql).run(...values);
  const seqOf = (id: string) => Number(db.prepare("SELECT seq FROM audit WHERE id = ?").get(id)?.["seq"]);
  const rows: Rows = {
    read: async (id) => String(db.prepare("SELECT entry FROM audit WHERE id = ?").get(id)?.["entry"]),
    write: async (id, text) => run("UPDATE audit SET entry = ? WHERE id = ?", text, id),
    remove: async (id) => run("DELETE FROM audit WHERE id = ?", id),
    async move(id, to) {
      const [from, place] = [seqOf(id), seqOf(to)];
      run("UPDATE audit SET seq = ? WHERE id = ?", from, to);
      run("UPDATE audit SET seq = ? WHERE id = ?", place, id);
    },
    add: async (id, seq, text) => run("INSERT INTO audit (id, at, entry, seq) VALUES (?, 0, ?, ?)", id, text, seq),
  };
  return { store, again, rows };
}

test("SQLite: every breach of the chain shows, and names the first bad entry", async () => {
  expect(await findings(openFile)).toEqual(EXPECTED);
});

test("SQLite: several processes write one chain", async () => {
  const entries = await writeAtOnce(await openFile());
  expect(entries.map(({ previous }) => previous)).toEqual(expectedPrevious(entries));
  expect(entries).toHaveLength(36);
});

describeRedis("on Redis", () => {
  const server = redisOfSuite();

  async function openRedis(): Promise<Opened> {
    const prefix = `${unique("chain")}:`;
    const again = () => openAt(server.url, { prefix, clock: () => START });
    const { client } = server;
    const [ids, entries] = [`${prefix}audit:{log}`, `${prefix}audit:{log}:entries`];
    const rows: Rows = {
      read: async (id) => (await client.hget(entries, id)) ?? "",
      write: async (id, text) => void (await client.hset(entries, id, text)),
      remove: async (id) => void (await client.multi().zrem(ids, id).hdel(entries, id).exec()),
      async move(id, to) {
        const [from, place] = [(await client.zscore(ids, id))!, (await client.zscore(ids, to))!];
        await client.zadd(ids, from, to, place, id);
      },
      add: async (id, seq, text) => void (await client.multi().zadd(ids, seq, id).hset(entries, id, text).exec()),
    };
    return { store: await again(), again, rows };
  }

  test("every breach of the chain shows, and names the first bad entry", async () => {
    expect(await findings(openRedis)).toEqual(EXPECTED);
  });

  test("several processes write one chain", async () => {
    const entries = await writeAtOnce(await openRedis());
    expect(entries.map(({ previous }) => previous)).toEqual(expectedPrevious(entries));
    expect(entries).toHaveLength(36);
  });
});
