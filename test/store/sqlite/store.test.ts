import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { Admission, Store } from "../../../src/kit/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { openFile } from "../../../src/store/sqlite/database.ts";
import { sqliteStore } from "../../../src/store/sqlite/store.ts";
import { storeSuite } from "../contract/suite.ts";
import { FEW_RUNS } from "../../properties/runs.ts";
import {
  admission,
  charged,
  DAY,
  digest,
  givenBack,
  HOUR,
  MINUTE,
  OPEN,
  RECORD,
  START,
  temporaryFolder,
} from "../support.ts";

const suiteFolder = mkdtempSync(join(tmpdir(), "gateway-store-"));
afterAll(() => rmSync(suiteFolder, { recursive: true, force: true }));
let files = 0;
storeSuite(
  "sqlite",
  (options) => openStore(`sqlite:${join(suiteFolder, `${++files}.db`)}`, { serving: true, ...options }),
  FEW_RUNS,
);

const now = () => START;
const UNAVAILABLE = { code: "STORE_UNAVAILABLE", details: { retryAfter: 1 } };

async function open(file: string, serving = true, clock = now): Promise<Store> {
  const store = await openStore(`sqlite:${file}`, { serving, now: clock });
  onTestFinished(async () => store.close());
  return store;
}

const temporaryFile = () => join(temporaryFolder(), "gateway.db");

const CODE = { client: "192.0.2.1", tries: 2, triesOfOthers: 1 };
const USER = { id: "user_1", email: "a@example.com", tier: "Free", credits: 1_000n };

async function withUser<Kind extends Store>(store: Kind): Promise<Kind> {
  await store.addUser(USER);
  return store;
}

/** A file as a gateway with one user leaves it. */
async function usedFile(): Promise<string> {
  const file = temporaryFile();
  const store = await withUser(await open(file));
  await store.close();
  return file;
}

describe("opening", () => {
  test("makes folder and file, the file for its owner alone", async () => {
    const file = join(temporaryFolder(), "a", "b", "gateway.db");
    await withUser(await open(file));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const suffix of ["-wal", "-shm", ".lock"]) expect(statSync(`${file}${suffix}`).mode & 0o777).toBe(0o600);
  });

  test("an empty file is a new store", async () => {
    const file = temporaryFile();
    writeFileSync(file, "");
    expect(await (await open(file)).listUsers()).toEqual([]);
  });

  test("finds everything again", async () => {
    const file = temporaryFile();
    const first = await withUser(await open(file));
    const request = admission("user_1", { hold: 40n });
    await first.admit(request);
    await first.settle(charged(request, 25n));
    const before = [await first.listUsers(), await first.ledger("user_1"), await first.windows("user_1", OPEN)];
    await first.close();
    const second = await open(file);
    expect([await second.listUsers(), await second.ledger("user_1"), await second.windows("user_1", OPEN)]).toEqual(
      before,
    );
    expect(before[0]).toMatchObject([{ balance: 975n }]);
  });

  test("finds sign-ins, codes, identities, counters and stop tokens again", async () => {
    const file = temporaryFile();
    const [one, two, three] = ["1", "2", "3"].map(digest) as [Uint8Array, Uint8Array, Uint8Array];
    const counters = [{ name: "a", limit: 1 }];
    const first = await withUser(await open(file));
    await first.addFamily({ id: "fam_1", userId: "user_1", digest: one, expiresAt: START + DAY });
    await first.rotate({ digest: one, successor: two, grace: 0 });
    await first.putCode({ email: USER.email, ...CODE, digest: one, expiresAt: START + DAY });
    await first.takeCode(USER.email, CODE.client, [two]);
    await first.linkIdentity("https://id.example", "7", "user_1");
    await first.throttle(counters, DAY);
    await first.stopStreams("user_1");
    await first.close();
    const second = await open(file);
    expect(await second.rotate({ digest: two, successor: three, grace: 0 })).toMatchObject({ userId: "user_1" });
    expect(await second.takeCode(USER.email, CODE.client, [two]), "the second wrong one of two").toBe(false);
    expect(await second.takeCode(USER.email, CODE.client, [one])).toBe(false);
    expect(await second.findIdentity("https://id.example", "7")).toMatchObject({ id: "user_1" });
    expect(await second.throttle(counters, DAY)).not.toBeNull();
    expect(await second.stopStreams("user_1")).toEqual({ token: 2, streams: 0 });
  });

  test("refuses a second serving, by another name of the file too", async () => {
    const file = temporaryFile();
    const store = await withUser(await open(file));
    const link = join(temporaryFolder(), "link.db");
    symlinkSync(file, link);
    const folder = join(temporaryFolder(), "folder");
    symlinkSync(join(file, ".."), folder);
    for (const name of [file, link, join(folder, "gateway.db")]) {
      await expect(open(name)).rejects.toThrow(
        /^cannot open the store .*: another process is serving it: .*store\.url/,
      );
    }
    await store.close();
    expect(await (await open(file)).listUsers()).toHaveLength(1);
  });

  test("a command reads and writes while the file is served, and ends nothing that runs", async () => {
    const file = temporaryFile();
    const serving = await withUser(await open(file));
    const request = admission("user_1", { hold: 40n, stream: true });
    await serving.admit(request);
    const command = await open(file, false);
    await expect.poll(() => command.running("user_1")).toEqual({ requests: 1, streams: 1, held: 40n });
    expect(await command.findUser("user_1")).toMatchObject({ balance: 1_000n, held: 40n });
    expect((await command.windows("user_1", OPEN)).day.used).toBe(1);
    await command.grant("user_1", 500n);
    await command.setTier("user_1", "Max");
    await command.close();
    expect(await serving.findUser("user_1")).toMatchObject({ balance: 1_500n, held: 40n, tier: "Max" });
    await serving.settle(charged(request, 25n));
    expect(await serving.findUser("user_1")).toMatchObject({ balance: 1_475n, held: 0n });
  });

  test.each([
    ["redis://:hunter2@db:6379", "store.url: redis: is not supported"],
    ["/var/lib/gateway.db", "store.url: no scheme is not supported"],
    ["sqlite:", "store.url: sqlite: is not supported"],
    ["memory", "store.url: no scheme is not supported"],
  ])("refuses %s", async (url, message) => {
    const failed = openStore(url, { serving: true, now });
    await expect(failed).rejects.toThrow(message);
    await expect(failed).rejects.not.toThrow("hunter2");
  });

  test.each([
    ["text", "not a database, but a letter\n"],
    ["a long text", "not a database, but a letter\n".repeat(500)],
    ["a header alone", "SQLite format 3\0"],
  ])("refuses a file that is %s, and leaves it as it is", async (_, content) => {
    const file = temporaryFile();
    writeFileSync(file, content);
    await expect(open(file)).rejects.toThrow(`cannot open the store ${file}: it is not a database of the gateway`);
    expect(readFileSync(file, "utf8")).toBe(content);
  });

  test("refuses another program's database, and leaves it as it is", async () => {
    const file = temporaryFile();
    const other = new DatabaseSync(file);
    other.exec("CREATE TABLE users (name TEXT)");
    other.close();
    const before = readFileSync(file);
    await expect(open(file)).rejects.toThrow("it is the database of another program");
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test("refuses a file of a newer version", async () => {
    const file = await usedFile();
    const db = new DatabaseSync(file);
    db.exec("PRAGMA user_version = 99");
    db.close();
    for (const serving of [true, false])
      await expect(open(file, serving)).rejects.toThrow("newer version of the gateway");
  });

  test("refuses a damaged file, never replaces it", async () => {
    const cut = await usedFile();
    truncateSync(cut, statSync(cut).size / 2 - 100);
    const overwritten = await usedFile();
    const bytes = readFileSync(overwritten);
    writeFileSync(overwritten, bytes.fill(0xa5, 4096, 16_384));
    for (const file of [cut, overwritten]) {
      const before = readFileSync(file);
      await expect(open(file)).rejects.toThrow(`cannot open the store ${file}: it is damaged: restore a backup`);
      expect(readFileSync(file).equals(before)).toBe(true);
    }
  });

  test("a failed opening holds nothing", async () => {
    const file = await usedFile();
    const bytes = readFileSync(file);
    writeFileSync(file, "broken");
    await expect(open(file)).rejects.toThrow("not a database");
    writeFileSync(file, bytes);
    expect(await (await open(file)).listUsers()).toHaveLength(1);
  });

  test("says so when folder or file may not be written", async () => {
    const parent = temporaryFolder();
    const folder = join(parent, "locked");
    mkdirSync(folder);
    const file = join(folder, "gateway.db");
    const store = await open(file);
    await store.close();
    chmodSync(parent, 0o755);
    chmodSync(file, 0o444);
    chmodSync(folder, 0o555);
    await asOrdinaryUser(async () => {
      const written = "the process must be allowed to write the file and its folder";
      await expect(openStore(`sqlite:${join(folder, "new.db")}`, { serving: true, now })).rejects.toThrow(written);
      await expect(openStore(`sqlite:${join(folder, "sub", "new.db")}`, { serving: true, now })).rejects.toThrow(
        written,
      );
      await expect(openStore(`sqlite:${file}`, { serving: true, now })).rejects.toThrow(written);
    });
    expect(readdirSync(folder).filter((name) => name.includes("new"))).toEqual([]);
  });

  test("a folder in the file's place and a file in the folder's", async () => {
    const folder = join(temporaryFolder(), "folder");
    mkdirSync(folder);
    await expect(open(folder)).rejects.toThrow(`cannot open the store ${folder}`);
    writeFileSync(join(folder, "file"), "");
    await expect(open(join(folder, "file", "gateway.db"))).rejects.toThrow("cannot open the store");
  });
});

/** Root may write everywhere: the file system checks the effective user. */
async function asOrdinaryUser(work: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return work();
  process.seteuid!(65_534);
  try {
    await work();
  } finally {
    process.seteuid!(0);
  }
}

describe("after a crash", () => {
  test("what ran is given up: no slot, no hold, no charge; counted and recorded", async () => {
    const file = temporaryFile();
    let store = await withUser(await open(file));
    const done = admission("user_1", { hold: 100n });
    const lost = admission("user_1", { hold: 600n, stream: true, units: 5, model: "route/lost" });
    for (const request of [done, lost]) await store.admit(request);
    await store.settle(charged(done, 30n));
    // A process that closes with requests running leaves what one that dies leaves.
    await store.close();

    store = await open(file, true, () => START + 5_000);
    expect(await store.running("user_1")).toEqual({ requests: 0, streams: 0, held: 0n });
    expect(await store.findUser("user_1")).toMatchObject({ balance: 970n, held: 0n, granted: 1_000n });
    expect((await store.windows("user_1", OPEN)).day.used).toBe(6);
    const limits = { ...OPEN, streams: 1 };
    expect(await store.admit(admission("user_1", { limits, stream: true, hold: 970n }))).toMatchObject({ ok: true });
    const [, entry] = await store.ledger("user_1");
    expect(entry).toEqual({
      id: lost.id,
      userId: "user_1",
      requestId: lost.id,
      keyId: null,
      model: "route/lost",
      upstream: null,
      outcome: "shutdown",
      usage: { prompt: 0, completion: 0, cached: 0, reasoning: 0 },
      estimated: true,
      receivedAt: START,
      endedAt: START + 5_000,
      charge: 0n,
    });

    // A settlement that comes late all the same is charged: test/store/sqlite/abandoned.test.ts.
    await store.settle(charged(lost, 500n));
    expect(await store.findUser("user_1")).toMatchObject({ balance: 470n, held: 970n });
    await store.close();
    store = await open(file, true, () => START + 9_000);
    expect((await store.ledger("user_1")).map(({ outcome }) => outcome)).toEqual(["served", "served", "shutdown"]);
  });
});

describe("faults", () => {
  test("another process that does not let go: unavailable, and well again afterwards", async () => {
    const file = temporaryFile();
    const store = await withUser(await open(file));
    const other = new DatabaseSync(file);
    onTestFinished(() => other.close());
    other.exec("BEGIN IMMEDIATE");
    const requests = [admission("user_1"), admission("user_1", { hold: 9n })];
    for (const request of requests) expect(await store.admit(request)).toMatchObject({ ok: true });
    const settled = () => Promise.allSettled(requests.map(async (request) => store.settle(charged(request, 2n))));
    for (const result of await settled()) expect(result).toMatchObject({ status: "rejected", reason: UNAVAILABLE });
    const refused = admission("user_1", { hold: 100n });
    await expect((async () => store.admit(refused))(), "nothing can be charged").rejects.toMatchObject(UNAVAILABLE);
    const token = { digest: digest("1"), successor: digest("2"), grace: 0 };
    const calls: readonly (() => unknown)[] = [
      () => store.grant("user_1", 1n),
      () => store.stopStreams("user_1"),
      () => store.throttle([{ name: "a", limit: 1 }], HOUR),
      () => store.takeCode(USER.email, CODE.client, [token.digest]),
      () => store.rotate(token),
    ];
    for (const call of calls) await expect((async () => call())()).rejects.toMatchObject(UNAVAILABLE);
    expect(await store.findUser("user_1"), "reading goes on").toMatchObject({ balance: 1_000n, held: 9n });
    other.exec("ROLLBACK");
    expect(await store.admit(refused)).toMatchObject({ ok: true, windows: { day: { used: 3 } } });
    for (const result of await settled()) expect(result).toMatchObject({ value: true });
    expect(await store.findUser("user_1")).toMatchObject({ balance: 996n, held: 100n });
  });

  test("a full disk: unavailable without half a row, and well again with room", async () => {
    const database = openFile(temporaryFile(), true);
    const store = await withUser(sqliteStore(database, now));
    onTestFinished(() => store.close());
    const pages = Number(database.db.prepare("PRAGMA page_count").get()?.["page_count"]);
    database.db.exec(`PRAGMA max_page_count = ${pages}`);
    const requests = Array.from({ length: 100 }, () => admission("user_1", { hold: 1n }));
    for (const request of requests) await store.admit(request);
    const record = { ...RECORD, model: "m".repeat(1_000) };
    const settle = async (request: Admission) => store.settle({ ...charged(request, 5n), record });
    let settled = 0;
    const fill = async () => {
      for (const request of requests) {
        await settle(request);
        settled++;
      }
    };
    await expect(fill()).rejects.toMatchObject(UNAVAILABLE);
    const left = requests.length - settled;
    const expectLeft = (more: number) => {
      expect(store.running("user_1")).toEqual({ requests: left - more, streams: 0, held: BigInt(left - more) });
      const balance = 1_000n - 5n * BigInt(settled + more);
      expect(store.findUser("user_1")).toMatchObject({ balance, held: BigInt(left - more) });
      expect(store.ledger("user_1")).toHaveLength(settled + more);
      expect(store.windows("user_1", OPEN).day.used).toBe(requests.length);
    };
    expectLeft(0);
    database.db.exec(`PRAGMA max_page_count = ${pages + 1_000}`);
    expect(await settle(requests[settled]!)).toBe(true);
    expectLeft(1);
  });

  test("commits are shared by a turn of the event loop", async () => {
    const database = openFile(temporaryFile(), true);
    const store = await withUser(sqliteStore(database, now));
    onTestFinished(() => store.close());
    // Another connection sees `data_version` change with each commit, whatever its size.
    const watcher = new DatabaseSync(database.file!);
    onTestFinished(() => watcher.close());
    const version = () => Number(watcher.prepare("PRAGMA data_version").get()?.["data_version"]);
    const before = version();
    const seen: number[] = [];
    const settled = async () => {
      const request = admission("user_1");
      await store.admit(request);
      await store.settle(charged(request, 1n));
      seen.push(version());
    };
    await Promise.all(Array.from({ length: 100 }, settled));
    expect(new Set(seen)).toEqual(new Set([before + 1]));
  });
});

describe("remembered values", () => {
  test("are files beside the database, for their owner alone", async () => {
    const file = temporaryFile();
    const first = await open(file);
    expect(await first.remember("jwt-secret", "one")).toBe("one");
    expect(readFileSync(`${file}.jwt-secret`, "utf8")).toBe("one");
    expect(statSync(`${file}.jwt-secret`).mode & 0o777).toBe(0o600);
    const command = await open(file, false);
    expect(await command.remember("jwt-secret", "two")).toBe("one");
    await first.close();
    expect(await (await open(file)).remember("jwt-secret", "three")).toBe("one");
    expect(readdirSync(join(file, "..")).filter((name) => name.endsWith(".new"))).toEqual([]);
  });

  test("a file left empty or half made by a crash does not count", async () => {
    const file = temporaryFile();
    const store = await open(file);
    writeFileSync(`${file}.jwt-secret`, "");
    writeFileSync(`${file}.jwt-secret.new`, "half");
    expect(await store.remember("jwt-secret", "whole")).toBe("whole");
    expect(await store.remember("jwt-secret", "again")).toBe("whole");
  });

  test("have plain names only", async () => {
    const file = temporaryFile();
    const store = await open(file);
    for (const name of ["../x", "", "a/b", "lock", "A b", "\0"]) {
      await expect((async () => store.remember(name, "v"))()).rejects.toThrow(RangeError);
    }
    expect(readdirSync(join(file, "..")).filter((name) => !name.startsWith("gateway.db"))).toEqual([]);
  });
});

describe("a clock that goes back", () => {
  test("that wavers at the edge of a window does not open it again", async () => {
    const clock = { now: START };
    const store = await withUser(await open(temporaryFile(), true, () => clock.now));
    const limits = { ...OPEN, minute: 2 };
    const admitted: boolean[] = [];
    for (let turn = 0; turn < 6; turn++) {
      clock.now = START - (turn % 2);
      admitted.push((await store.admit(admission("user_1", { limits }))).ok);
    }
    expect(admitted).toEqual([true, true, false, false, false, false]);
  });

  test("by far ends the window of a user whose count was full, too", async () => {
    const clock = { now: START };
    const store = await withUser(await open(temporaryFile(), true, () => clock.now));
    for (const [name, length] of [
      ["day", DAY],
      ["hour", HOUR],
      ["minute", MINUTE],
    ] as const) {
      clock.now = START;
      const limits = { ...OPEN, [name]: (await store.windows("user_1", OPEN))[name].used + 1 };
      const admit = async () => (await store.admit(admission("user_1", { limits }))).ok;
      expect([await admit(), await admit()]).toEqual([true, false]);
      clock.now -= 5 * length;
      expect(await admit(), `the ${name} comes along`).toBe(false);
      clock.now += length;
      expect(await admit(), `and ends`).toBe(true);
    }
  });

  test("opens no throttled window afresh and locks nobody out", async () => {
    const clock = { now: START };
    const store = await open(temporaryFile(), true, () => clock.now);
    const throttle = async () => store.throttle([{ name: "a", limit: 3 }], HOUR);
    expect([await throttle(), await throttle()]).toEqual([null, null]);
    clock.now = START - 1;
    expect([await throttle(), await throttle()], "wavering").toEqual([null, HOUR + 1]);
    const both = [
      { name: "b", limit: 1 },
      { name: "a", limit: 3 },
    ];
    await store.throttle(both.slice(0, 1), HOUR);
    expect(await store.throttle(both, HOUR), "the later end of the two").toBe(HOUR + 1);
    clock.now = START - 5 * DAY;
    expect(await throttle(), "the count comes along").toBe(HOUR);
    clock.now += HOUR;
    expect(await throttle(), "and ends with its hour").toBeNull();
  });

  test("never leaves a count below zero", async () => {
    const clock = { now: START };
    const store = await withUser(await open(temporaryFile(), true, () => clock.now));
    const request = admission("user_1", { units: 5 });
    await store.admit(request);
    for (const time of [START - 5 * DAY, START]) {
      clock.now = time;
      await store.admit(admission("user_1"));
    }
    await store.settle(givenBack(request));
    const { day, hour, minute } = await store.windows("user_1", OPEN);
    for (const { used } of [day, hour, minute]) expect(used).toBeGreaterThanOrEqual(0);
  });
});
