import { once } from "node:events";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Admission, LedgerRecord } from "../../../src/kit/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { decode, encode, type Entry, Journal } from "../../../src/store/resilient/journal.ts";
import { type StoreState, withResilience } from "../../../src/store/resilient/store.ts";
import { openMemory } from "../../../src/store/sqlite/database.ts";
import { sqliteStore } from "../../../src/store/sqlite/store.ts";
import { FEW_RUNS } from "../../properties/runs.ts";
import { storeSuite } from "../contract/suite.ts";
import { addUser, admission, charged, DAY, givenBack, OPEN, RECORD, START, temporaryFolder } from "../support.ts";
import { collectingLog } from "./flaky.ts";
import { resilient, temporaryJournal, until } from "./support.ts";

const UNAVAILABLE = { code: "STORE_UNAVAILABLE", details: { retryAfter: 1 } };

storeSuite(
  "resilient",
  async ({ now }) => {
    const inner = await openStore("memory:", { serving: true, now });
    return withResilience(inner, { onFailure: () => "open", journal: null, log: collectingLog().log, now });
  },
  FEW_RUNS,
);

describe("a settlement while the store is away", () => {
  test("resolves when it is on the disk, and is charged once the store answers", async () => {
    const { user, open, away, charges, books, lines } = await resilient();
    const store = open();
    const request = admission(user.id, { hold: 300n });
    await store.admit(request);
    away(true);
    await store.settle(charged(request, 250n));
    expect([store.pending, charges()]).toEqual([1, []]);
    await until(() => lines.length === 1);
    away(false);
    await until(() => store.pending === 0);
    expect([charges(), books()]).toEqual([[[request.id, 250n]], { balance: 750n, held: 0n }]);
    await until(() => lines.length === 2);
    expect(lines).toEqual([
      {
        level: "warn",
        fields: { requests: 1 },
        message: "store does not answer; settlements are waiting",
      },
      { level: "info", fields: {}, message: "store answers; all settlements done" },
    ]);
  });

  test("one whose reservation the store has lost, as in a failover, is charged all the same", async () => {
    const { user, open, away, inner, charges, books } = await resilient();
    const store = open();
    const request = admission(user.id, { hold: 300n });
    await store.admit(request);
    away(true);
    await store.settle(charged(request, 250n));
    await inner.settle(givenBack(request));
    away(false);
    await until(() => store.pending === 0);
    expect([charges(), books()]).toEqual([[[request.id, 250n]], { balance: 750n, held: 0n }]);
    expect(inner.running(user.id)).toEqual({ requests: 0, streams: 0, held: 0n });
  });

  test("of 200 by a user with a long ledger, it is read only for those that the store had taken before", async () => {
    const { user, open, away, proxy, inner, charges, books } = await resilient();
    const store = open();
    const admitted = async (count: number) => {
      const requests = Array.from({ length: count }, () => admission(user.id, { hold: 1n }));
      await Promise.all(requests.map(async (request) => store.admit(request)));
      return requests;
    };
    const settleAll = async (requests: readonly Admission[]) =>
      Promise.all(requests.map(async (request) => store.settle(charged(request, 1n))));
    await settleAll(await admitted(100));
    const reads = async (requests: readonly Admission[], taken: readonly Admission[]) => {
      away(true);
      expect(await settleAll(requests)).toEqual(requests.map(() => true));
      for (const request of taken) await inner.settle(charged(request, 1n));
      proxy.asked.length = 0;
      away(false);
      await until(() => store.pending === 0);
      return proxy.asked.filter((method) => method === "recorded").length;
    };
    expect(await reads(await admitted(200), [])).toBe(0);
    expect([charges().length, books()]).toEqual([300, { balance: 700n, held: 0n }]);
    const requests = await admitted(200);
    expect(await reads(requests, [requests[100]!]), "one batch has a doubtful one").toBe(1);
    expect([charges().length, books()]).toEqual([500, { balance: 500n, held: 0n }]);
  });

  test("one that is older than any ledger need be is told once and not looked for", async () => {
    const { user, open, away, proxy, clock, charges } = await resilient();
    const store = open();
    const request = admission(user.id);
    await store.admit(request);
    away(true);
    await store.settle(charged(request, 250n));
    clock.now += 8 * DAY;
    proxy.asked.length = 0;
    away(false);
    await until(() => store.pending === 0);
    expect([charges(), proxy.asked.includes("recorded")]).toEqual([[[request.id, 250n]], false]);
  });

  test("given back: slot, hold and counters are returned later", async () => {
    const { user, open, away, inner, charges } = await resilient();
    const store = open();
    const request = admission(user.id, { hold: 300n, stream: true });
    await store.admit(request);
    away(true);
    await store.settle(givenBack(request));
    away(false);
    await until(() => store.pending === 0);
    expect(charges()).toEqual([]);
    expect(inner.running(user.id)).toEqual({ requests: 0, streams: 0, held: 0n });
    expect(inner.windows(user.id, OPEN).day.used).toBe(0);
  });

  test("thousands go back in batches; the store that is away is asked one at a time", async () => {
    const { user, open, proxy, away, charges, books } = await resilient();
    const store = open();
    const requests = Array.from({ length: 2_000 }, () => admission(user.id));
    await Promise.all(requests.map(async (request) => store.admit(request)));
    away(true);
    proxy.asked.length = 0;
    await Promise.all(requests.map(async (request) => store.settle(charged(request, 1n))));
    expect(store.pending).toBe(2_000);
    // All of the first turn were under way before the first failure was known; each later one was a probe.
    const before = proxy.asked.length;
    await until(() => proxy.asked.length >= before + 3);
    expect(new Set(proxy.asked)).toEqual(new Set(["settle"]));
    away(false);
    await until(() => store.pending === 0);
    expect(charges()).toHaveLength(2_000);
    expect(books()).toEqual({ balance: -1_000n, held: 0n });
  });

  test("what a former process left is replayed at the next start", async () => {
    const { user, open, away, charges } = await resilient();
    const first = open();
    const request = admission(user.id);
    await first.admit(request);
    away(true);
    await first.settle(charged(request, 9n));
    await first.close();
    away(false);
    const second = open();
    expect(second.pending).toBe(1);
    await until(() => second.pending === 0);
    expect(charges()).toEqual([[request.id, 9n]]);
  });

  test("one that comes between `done` and `close` is written down as well", async () => {
    const { user, open, away } = await resilient();
    const first = open();
    const request = admission(user.id);
    await first.admit(request);
    await first.done();
    away(true);
    await first.settle(charged(request, 9n));
    await first.close();
    await expect(first.settle(charged(request, 9n))).rejects.toMatchObject(UNAVAILABLE);
    expect(open().pending).toBe(1);
  });

  test("`done` waits for the store, and says what remains on the disk", async () => {
    const naps: number[] = [];
    let patient = false;
    const { user, open, away, charges, lines, options } = await resilient({
      sleep: async (milliseconds, signal) => {
        naps.push(milliseconds);
        if (milliseconds >= 5_000 && patient) await once(signal, "abort");
        else await turn();
      },
    });
    const store = open();
    const requests = [admission(user.id), admission(user.id)];
    for (const request of requests) await store.admit(request);
    away(true);
    await store.settle(charged(requests[0]!, 1n));
    await store.done();
    expect(naps, "its patience").toContain(5_000);
    const remains = "settlements kept in the journal for the next start";
    expect(lines.at(-1)).toEqual({
      level: "warn",
      fields: { requests: 1, journal: options.journal },
      message: remains,
    });
    await store.close();
    away(false);
    patient = true;
    const next = open();
    await next.done();
    expect([next.pending, charges()]).toEqual([0, [[requests[0]!.id, 1n]]]);
  });

  test("what the store will never take is kept apart, said once, and does not hold up the rest", async () => {
    const states: StoreState[] = [];
    const { user, open, away, charges, lines, options } = await resilient({ onState: (state) => states.push(state) });
    const store = open();
    const requests = [admission(user.id), admission(user.id)];
    for (const request of requests) await store.admit(request);
    away(true);
    await store.settle({ ...charged(requests[0]!, 5n), record: null });
    await store.settle(charged(requests[1]!, 7n));
    away(false);
    await until(() => store.pending === 0);
    expect(charges()).toEqual([[requests[1]!.id, 7n]]);
    expect(states.at(-1)).toEqual({ away: false, pending: 0, rejected: 1, local: 0 });
    expect(lines.filter(({ level }) => level === "error")).toEqual([
      {
        level: "error",
        fields: { id: requests[0]!.id, err: expect.any(RangeError) as RangeError },
        message: "store refused a settlement; kept aside, see GET /admin/settlements",
      },
    ]);
    const db = new DatabaseSync(options.journal!);
    const row = db.prepare("SELECT id, body, reason, at FROM rejected").get()!;
    db.close();
    expect(row).toMatchObject({ id: requests[0]!.id, at: START, reason: expect.stringContaining("needs a record") });
    expect(decode(String(row["body"]), false).settlement.charge).toBe(5n);
  });

  test("an entry that cannot be read is kept apart too", async () => {
    const { open, lines, options } = await resilient();
    await open().close();
    const db = new DatabaseSync(options.journal!);
    for (const [id, body] of Object.entries({ ex_a: "{", ex_b: "null", ex_c: `{"settlement":{"charge":"x"}}` })) {
      db.prepare("INSERT INTO entries (id, body, tried) VALUES (?, ?, 0)").run(id, body);
    }
    const store = open();
    await until(() => store.pending === 0);
    expect(db.prepare("SELECT id, reason FROM rejected ORDER BY id").all()).toEqual(
      ["ex_a", "ex_b", "ex_c"].map((id) => ({ id, reason: "the entry cannot be read" })),
    );
    expect(lines.filter(({ level }) => level === "error")).toHaveLength(3);
    db.close();
  });

  test("a fault that is none of absence is the caller's, as without the journal", async () => {
    const { user, open } = await resilient();
    const store = open();
    const request = admission(user.id);
    await store.admit(request);
    await expect(store.settle({ ...charged(request, -1n) })).rejects.toThrow(RangeError);
    expect(store.pending).toBe(0);
  });
});

describe("the journal", () => {
  test("is its owner's alone, in a folder that it makes", async () => {
    const file = join(temporaryFolder(), "a", "b", "settlements.db");
    const { open } = await resilient({ journal: file });
    open();
    for (const suffix of ["", "-wal", ".lock"]) expect(statSync(`${file}${suffix}`).mode & 0o777).toBe(0o600);
  });

  test("forces what it acknowledges to the disk", () => {
    const journal = new Journal(temporaryJournal());
    expect(journal.settings()).toEqual({ journal_mode: "wal", synchronous: 2 });
    journal.close();
  });

  const text = fc.string({ unit: "binary" });
  const record: fc.Arbitrary<LedgerRecord> = fc.record({
    requestId: text,
    keyId: fc.option(text),
    model: text,
    upstream: fc.option(text),
    outcome: fc.constantFrom("served", "killed"),
    usage: fc.record(
      { prompt: fc.nat(), completion: fc.nat(), cached: fc.nat(), reasoning: fc.nat(), images: fc.nat() },
      { requiredKeys: ["prompt", "completion", "cached", "reasoning"] },
    ),
    estimated: fc.boolean(),
    receivedAt: fc.maxSafeNat(),
    endedAt: fc.maxSafeNat(),
  });
  const entry: fc.Arbitrary<Entry> = fc.record({
    settlement: fc.record({
      id: text,
      userId: text,
      giveBack: fc.boolean(),
      charge: fc.bigInt(),
      record: fc.option(record),
    }),
    admission: fc.option(
      fc.record({
        id: text,
        userId: text,
        limits: fc.constant(OPEN),
        units: fc.nat(),
        stream: fc.boolean(),
        hold: fc.bigInt(),
        enforceCredits: fc.boolean(),
        model: text,
      }),
    ),
    tried: fc.boolean(),
  });

  test("keeps entries as they are, amounts of any size included, in their order", async () => {
    const journal = new Journal(temporaryJournal());
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(entry, { selector: ({ settlement }) => settlement.id }), async (entries) => {
        // A copy without prototypes' differences, such as fast-check's records have.
        const plain = entries.map((one) => decode(encode(one), one.tried));
        expect(plain).toEqual(entries);
        await Promise.all(entries.map((one) => journal.write(one)));
        const kept = journal.oldest(1_000, 0);
        expect(kept.map((one) => one.entry)).toEqual(plain);
        expect(journal.size).toBe(entries.length);
        journal.remove(
          kept.map(({ seq }) => ({ seq, rejected: null })),
          0,
        );
        expect(journal.size).toBe(0);
      }),
      { numRuns: Math.min(1_000, Number(process.env["NUM_RUNS"] ?? 50)) },
    );
    journal.close();
  });

  test("of two entries with one id the first one stays", async () => {
    const journal = new Journal(temporaryJournal());
    const settlement = { id: "ex_1", userId: "user_1", giveBack: false, charge: 1n, record: RECORD };
    await journal.write({ settlement, admission: null, tried: true });
    await journal.write({ settlement: { ...settlement, charge: 2n }, admission: null, tried: true });
    expect(journal.oldest(5, 0).map(({ entry }) => (entry as Entry).settlement.charge)).toEqual([1n]);
    expect(journal.size).toBe(1);
    journal.close();
  });

  test.each([
    ["a file that is no database", (file: string) => writeFileSync(file, "not a database, not at all".repeat(100))],
    ["a folder that is a file", () => {}],
  ])("%s: settlements wait in memory, loudly, and a start is not refused", async (name, prepare) => {
    const folder = temporaryFolder();
    const file = join(folder, "settlements.db");
    prepare(file);
    if (name.startsWith("a folder")) writeFileSync(join(folder, "x"), "");
    const journal = name.startsWith("a folder") ? join(folder, "x", "settlements.db") : file;
    const { user, open, away, charges, lines } = await resilient({ journal });
    const store = open();
    const request = admission(user.id);
    await store.admit(request);
    away(true);
    const settled = store.settle(charged(request, 3n));
    await until(() => store.pending === 1);
    away(false);
    await settled;
    expect([charges(), store.pending]).toEqual([[[request.id, 3n]], 0]);
    const errors = lines.filter(({ level }) => level === "error");
    expect(errors, "once").toHaveLength(1);
    expect(errors[0]).toMatchObject({
      fields: { journal },
      message: expect.stringMatching(/^journal not writable; settlements wait in memory /),
    });
  });

  test("one that is repaired takes what waited in memory", async () => {
    const folder = temporaryFolder();
    const journal = join(folder, "x", "settlements.db");
    writeFileSync(join(folder, "x"), "");
    const { user, open, away, charges } = await resilient({ journal });
    const store = open();
    const request = admission(user.id);
    await store.admit(request);
    away(true);
    const settled = store.settle(charged(request, 3n));
    await until(() => store.pending === 1);
    rmSync(join(folder, "x"));
    await settled;
    expect([charges(), store.pending], "on the disk, not at the store").toEqual([[], 1]);
    await store.close();
    away(false);
    const next = open();
    await next.done();
    expect(charges()).toEqual([[request.id, 3n]]);
  });
});

describe("without a journal", () => {
  test("an answer waits 5 s for its settlement, which goes on without it", async () => {
    const patience: number[] = [];
    const { user, open, away, charges } = await resilient({
      journal: null,
      sleep: async (milliseconds) => {
        if (milliseconds >= 5_000) patience.push(milliseconds);
        else await new Promise((resolve) => setTimeout(resolve, 1));
      },
    });
    const store = open();
    const request = admission(user.id);
    await store.admit(request);
    away(true);
    await expect(store.settle(charged(request, 3n))).rejects.toMatchObject(UNAVAILABLE);
    expect([patience, store.pending]).toEqual([[5_000], 1]);
    away(false);
    await until(() => store.pending === 0);
    expect(charges()).toEqual([[request.id, 3n]]);
  });

  test("what is left at the end is lost, loudly", async () => {
    const { user, open, away, lines } = await resilient({ journal: null, sleep: async () => {} });
    const store = open();
    const request = admission(user.id);
    await store.admit(request);
    away(true);
    await expect(store.settle(charged(request, 3n))).rejects.toMatchObject(UNAVAILABLE);
    await store.done();
    expect(lines.at(-1)).toMatchObject({ level: "error", fields: { requests: 1 } });
  });
});

test("the order of a user's settlements does not matter", { timeout: 600_000 }, async () => {
  const kinds = fc.array(fc.record({ charge: fc.bigInt(0n, 90n), giveBack: fc.boolean(), stream: fc.boolean() }), {
    maxLength: 8,
  });
  const cases = kinds.chain((all) =>
    fc.record({
      all: fc.constant(all),
      orders: fc.tuple(...[0, 1].map(() => fc.shuffledSubarray([...all.keys()], { minLength: all.length }))),
    }),
  );
  await fc.assert(
    fc.asyncProperty(cases, async ({ all, orders }) => {
      const ends = [];
      for (const order of orders) {
        const store = sqliteStore(openMemory(), () => START);
        store.addUser({ id: "user_1", email: "a@example.com", tier: "Free", credits: 100n });
        const requests = all.map(({ stream }, index) =>
          admission("user_1", { id: `ex_${index}`, hold: 9n, stream, units: 2 }),
        );
        for (const request of requests) await store.admit({ ...request, enforceCredits: false });
        for (const index of order) {
          const { charge, giveBack } = all[index]!;
          await store.settle(giveBack ? givenBack(requests[index]!) : charged(requests[index]!, charge));
        }
        ends.push([store.findUser("user_1"), store.ledger("user_1"), store.windows("user_1", OPEN)]);
        store.close();
      }
      expect(ends[0]).toEqual(ends[1]);
    }),
    { numRuns: Math.min(1_000, Number(process.env["NUM_RUNS"] ?? 30)) },
  );
});

test("stores that share a journal replay each other's settlements, each once", async () => {
  const { user, open, away, charges, books } = await resilient();
  const stores = [open(), open(), open()];
  const other = await addUser(stores[0]!, 100n);
  const requests = Array.from({ length: 30 }, (_, index) => admission(index % 2 ? user.id : other.id, { hold: 1n }));
  for (const [index, request] of requests.entries()) await stores[index % 3]!.admit(request);
  away(true);
  await Promise.all(requests.map(async (request, index) => stores[index % 3]!.settle(charged(request, 2n))));
  away(false);
  await Promise.all(stores.map((store) => store.done()));
  expect(charges()).toHaveLength(15);
  expect(books()).toEqual({ balance: 970n, held: 0n });
});
