import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import type { Store } from "../../../src/kit/index.ts";
import { resilient, until } from "./support.ts";
import { admission, charged, DAY, START } from "../support.ts";

const TOO_MUCH = 2n ** 63n;

/** What fails for good in a store: its first settlements, as told. */
function broken(store: Store, fails: () => boolean): void {
  const settle = store.settle.bind(store);
  store.settle = async (settlement) => {
    if (settlement.record && fails()) throw new Error("a constraint");
    return settle(settlement);
  };
}

const AFTER_90_DAYS = START + 91 * DAY;

test("a charge beyond 64 bits: slot and hold are free, the settlement is kept aside and told", async () => {
  const states: number[] = [];
  const { open, inner, user, options, books } = await resilient({
    onlyRejected: true,
    onState: ({ rejected }) => states.push(rejected),
  });
  const store = open();
  expect(existsSync(options.journal!), "made when it is needed").toBe(false);
  const request = admission(user.id, { hold: 500n, stream: true });
  await store.admit(request);
  await expect(store.settle(charged(request, TOO_MUCH))).rejects.toThrow(/too large/);
  expect(inner.running(user.id)).toEqual({ requests: 0, streams: 0, held: 0n });
  expect(books()).toEqual({ balance: 1_000n, held: 0n });
  expect(inner.windows(user.id, request.limits).day.used, "it was served: it stays counted").toBe(1);
  expect(states.at(-1)).toBe(1);
  expect(store.rejections()).toMatchObject([
    { id: request.id, settlement: { userId: user.id, charge: TOO_MUCH }, at: START },
  ]);
});

test("it is kept over a restart, tried once more, and settled when the store takes it by then", async () => {
  const { open, inner, user, clock, charges, books } = await resilient({ onlyRejected: true });
  let fails = true;
  broken(inner, () => fails);
  const first = open();
  const request = admission(user.id, { hold: 500n });
  await first.admit(request);
  await expect(first.settle(charged(request, 300n))).rejects.toThrow("a constraint");
  await first.close();

  clock.now += DAY;
  const second = open();
  await until(() => second.pending === 0);
  expect(second.rejections()).toMatchObject([{ id: request.id, at: START, reason: "a constraint" }]);
  await second.close();

  fails = false;
  const third = open();
  await until(() => third.pending === 0);
  expect(third.rejections()).toEqual([]);
  expect(charges()).toEqual([[request.id, 300n]]);
  expect(books()).toEqual({ balance: 700n, held: 0n });
});

test("it does not wait for ever: after 90 days it is dropped, and the log says so", async () => {
  const { open, inner, user, clock, lines } = await resilient({ onlyRejected: true });
  broken(inner, () => true);
  const first = open();
  const request = admission(user.id);
  await first.admit(request);
  await expect(first.settle(charged(request, 300n))).rejects.toThrow("a constraint");
  await first.close();
  clock.now = AFTER_90_DAYS;
  const second = open();
  expect(second.rejections()).toEqual([]);
  expect(second.pending).toBe(0);
  expect(lines.filter(({ message }) => message.includes("dropped"))).toMatchObject([
    { level: "error", fields: { requests: 1 } },
  ]);
});

test("without a file it is kept in memory", async () => {
  const { open, inner, user } = await resilient({ journal: null });
  const store = open();
  const request = admission(user.id, { stream: true });
  await store.admit(request);
  await expect(store.settle(charged(request, TOO_MUCH))).rejects.toThrow(/too large/);
  expect(inner.running(user.id)).toMatchObject({ streams: 0 });
  expect(store.rejections()).toMatchObject([{ id: request.id }]);
});

test("one that is replayed is free of its slot and hold too", async () => {
  const { open, inner, user, away } = await resilient();
  broken(inner, () => true);
  const store = open();
  const request = admission(user.id, { hold: 500n, stream: true });
  await store.admit(request);
  away(true);
  await store.settle(charged(request, 300n));
  away(false);
  await until(() => store.pending === 0);
  expect(store.rejections()).toMatchObject([{ id: request.id }]);
  expect(inner.running(user.id)).toEqual({ requests: 0, streams: 0, held: 0n });
});
