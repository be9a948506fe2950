import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Admission } from "../../../src/kit/index.ts";
import { openFile } from "../../../src/store/sqlite/database.ts";
import { sqliteStore } from "../../../src/store/sqlite/store.ts";
import { OPEN, RECORD, START, addUser, admission, charged, digest, givenBack, temporaryFolder } from "../support.ts";

async function openAt(file: string) {
  const store = sqliteStore(openFile(file, true), () => START);
  onTestFinished(() => store.close());
  store.recover();
  return store;
}

/** A store with a request that was left running, which it gave up when it was opened again. */
async function gaveUp(more: Partial<Admission> = {}) {
  const file = join(temporaryFolder(), "gateway.db");
  const before = await openAt(file);
  const user = await addUser(before, 1_000n);
  const request = admission(user.id, { hold: 100n, stream: true, units: 3, ...more });
  await before.admit(request);
  before.close();
  const store = await openAt(file);
  const [left] = store.ledger(user.id);
  expect(left).toMatchObject({ id: request.id, requestId: request.id, outcome: "shutdown", charge: 0n });
  return { store, file, userId: user.id, request, current: () => store.findUser(user.id) };
}

test("a budget outlives its process with what was spent; what was held is free, and a late charge is spent of it", async () => {
  const file = join(temporaryFolder(), "gateway.db");
  const before = await openAt(file);
  const { id: userId } = await addUser(before, 1_000n);
  const budget = { amount: 100n, per: "month" } as const;
  const key = { id: "key_1", userId, name: "n", prefix: "rk_", digest: digest("one"), limits: { budget } };
  before.addKey(key, 1);
  const admit = () => admission(userId, { hold: 30n, budget: { keyId: "key_1", ...budget } });
  const [settled, running] = [admit(), admit()];
  await before.admit(settled);
  await before.admit(running);
  const ofBudget = { budget: { keyId: "key_1", per: budget.per } };
  await before.settle({ ...charged(settled, 25n), ...ofBudget });
  expect(before.listKeys(userId)[0]?.budget).toMatchObject({ spent: 25n, held: 30n });
  before.close();
  // A command, while nobody serves the file.
  const aside = sqliteStore(openFile(file, false), () => START);
  expect(aside.listKeys(userId)[0]?.budget).toMatchObject({ spent: 25n, held: 30n });
  aside.close();
  const store = await openAt(file);
  expect(store.listKeys(userId)[0]?.budget).toMatchObject({ spent: 25n, held: 0n });
  await store.settle({ ...charged(running, 40n), ...ofBudget });
  expect(store.listKeys(userId)[0]?.budget).toMatchObject({ spent: 65n, held: 0n });
  expect(await store.admit({ ...admit(), hold: 36n })).toMatchObject({ refusal: "budget" });
  expect(await store.admit({ ...admit(), hold: 35n })).toMatchObject({ ok: true });
});

describe("a settlement that comes after its request was given up", () => {
  test("is charged, and its record takes the place of the one that was left", async () => {
    const { store, userId, request, current } = await gaveUp();
    await store.settle(charged(request, 70n));
    expect(store.ledger(userId)).toEqual([{ ...RECORD, id: request.id, userId, charge: 70n }]);
    expect(current()).toMatchObject({ balance: 930n, held: 0n, granted: 1_000n });
    expect(store.running(userId)).toEqual({ requests: 0, streams: 0, held: 0n });
    expect(store.windows(userId, OPEN).day.used, "counted once, when it was admitted").toBe(3);
  });

  test("is charged once, however often it is repeated", async () => {
    const { store, file, userId, request } = await gaveUp();
    await Promise.all([70n, 70n, 80n].map((charge) => store.settle(charged(request, charge))));
    store.close();
    const next = await openAt(file);
    await next.settle(charged(request, 90n));
    expect(next.ledger(userId).map(({ charge }) => charge)).toEqual([70n]);
    expect(next.findUser(userId)).toMatchObject({ balance: 930n, held: 0n });
  });

  test.each([
    ["of nothing", 0n, { ...RECORD, outcome: "shutdown" as const }],
    ["of a shutdown", 5n, { ...RECORD, outcome: "shutdown" as const, keyId: null, upstream: null, estimated: true }],
  ])("a charge %s is not replaced in its turn", async (_, charge, record) => {
    const { store, userId, request, current } = await gaveUp();
    await store.settle({ ...charged(request, charge), record });
    await store.settle(charged(request, 50n));
    expect(store.ledger(userId)).toEqual([{ ...record, id: request.id, userId, charge }]);
    expect(current()).toMatchObject({ balance: 1_000n - charge });
  });

  test("given back: nobody knows any more what it had been counted in, so the record stays", async () => {
    const { store, userId, request, current } = await gaveUp();
    await store.settle(givenBack(request));
    expect(store.ledger(userId)).toMatchObject([{ id: request.id, outcome: "shutdown", charge: 0n }]);
    expect(store.windows(userId, OPEN).day.used).toBe(3);
    expect(current()).toMatchObject({ balance: 1_000n, held: 0n });
  });

  test("of another user changes nothing", async () => {
    const { store, userId, request, current } = await gaveUp();
    const other = await addUser(store, 1_000n);
    await store.settle({ ...charged(request, 70n), userId: other.id });
    expect(store.ledger(userId)).toMatchObject([{ outcome: "shutdown", charge: 0n }]);
    expect(store.ledger(other.id)).toEqual([]);
    expect([current(), store.findUser(other.id)]).toMatchObject([{ balance: 1_000n }, { balance: 1_000n }]);
  });
});
