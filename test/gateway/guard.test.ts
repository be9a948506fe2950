import { expect, onTestFinished, test, vi } from "vitest";
import { RequestCounts } from "../../src/gateway/comparison.ts";
import {
  type Agreement,
  Guard,
  type GuardDecision,
  type GuardReport,
  ownAgreement,
  sharedAgreement,
} from "../../src/gateway/guard.ts";
import { type Snapshot, type Store, storeUnavailable } from "../../src/kit/index.ts";
import { openStore } from "../../src/store/open.ts";
import { eventually } from "../e2e/support/http.ts";
import { type LogLine, memoryLog } from "../server/support.ts";

const SETTINGS = { share: 0.5, for: 400, minRequests: 5, maxErrorRatio: 2, maxTtftRatio: 1.5 };
const USERS = Array.from({ length: 40 }, (_, index) => `user-${index}`);

function snapshot(hash: string): Snapshot {
  return { hash, reload: { guard: SETTINGS } } as Snapshot;
}

/** A store that can be away, and the reports of instances on it. */
async function sharedStore() {
  const store = await openStore("memory:", { serving: true, now: Date.now });
  onTestFinished(() => store.close());
  const reports = new Map<string, () => GuardReport>();
  const shared = { away: false, reports, now: 1_000_000, remembered: vi.fn<(name: string) => void>() };
  const check = (): void => {
    if (shared.away) throw storeUnavailable(new Error("away"));
  };
  const remember: Store["remember"] = async (name, value) => {
    check();
    shared.remembered(name);
    return store.remember(name, value);
  };
  const agreementOf = (self: string, base: string, candidate: string): Agreement =>
    sharedAgreement({
      base: snapshot(base),
      candidate: snapshot(candidate),
      store: { remember },
      now: () => shared.now,
      async peers() {
        check();
        return new Map([...reports].filter(([name]) => name !== self).map(([name, report]) => [name, [report()]]));
      },
    });
  const join = async (self: string, base = "base", candidate = "candidate", earlier: readonly GuardReport[] = []) => {
    const decisions: GuardDecision[] = [];
    const counts = { base: new RequestCounts(), candidate: new RequestCounts() };
    const guard = new Guard({
      settings: SETTINGS,
      base,
      candidate,
      counts,
      earlier,
      agreement: agreementOf(self, base, candidate),
      now: () => shared.now,
      log: memoryLog([]),
      onDecision: (decision) => decisions.push(decision),
    });
    onTestFinished(() => guard.close());
    reports.set(self, () => guard.report);
    await guard.start();
    return { guard, counts, decisions, fail: (times: number) => repeat(times, () => counts.candidate.failedEarly()) };
  };
  return { shared, join };
}

function repeat(times: number, work: () => void): void {
  for (let count = 0; count < times; count += 1) work();
}

const served = (guard: Guard): number => USERS.filter((user) => guard.takes(user)).length;

test("while the store is away a candidate begins later", async () => {
  const { shared, join } = await sharedStore();
  shared.away = true;
  const { guard, fail, decisions } = await join("one");
  expect(served(guard), "nobody knows when it began").toBe(0);
  expect(guard.status).toMatchObject({ state: "running", started_at: null });
  shared.away = false;
  await eventually(() => served(guard) > 0);
  fail(20);
  await eventually(() => decisions.length === 1);
  expect(decisions).toMatchObject([{ result: "rolled_back" }]);
});

test("evidence that the store cannot be told suspends the candidate", async () => {
  const { shared, join } = await sharedStore();
  const { guard, fail, decisions } = await join("one");
  expect(served(guard)).toBeGreaterThan(5);
  // Reading the others works, deciding does not.
  shared.remembered.mockImplementation(() => {
    throw storeUnavailable(new Error("away"));
  });
  fail(20);
  await eventually(() => served(guard) === 0);
  expect(decisions).toEqual([]);
  shared.remembered.mockImplementation(() => undefined);
  await eventually(() => decisions.length === 1);
});

test("evidence suspends the candidate also while the store answers nothing", async () => {
  const { shared, join } = await sharedStore();
  const { guard, fail, decisions } = await join("one");
  expect(served(guard)).toBeGreaterThan(5);
  shared.away = true;
  fail(20);
  await eventually(() => served(guard) === 0);
  expect(decisions).toEqual([]);
  shared.away = false;
  await eventually(() => decisions.length === 1);
  expect(decisions).toMatchObject([{ result: "rolled_back" }]);
});

test("the first decision of all is the one, whoever comes to another", async () => {
  const { shared, join } = await sharedStore();
  const one = await join("one");
  const two = await join("two");
  one.fail(3);
  two.fail(3);
  await eventually(() => one.decisions.length === 1 && two.decisions.length === 1);
  expect(one.decisions).toEqual(two.decisions);
  expect(one.decisions[0]!.reason, "of both together").toMatch(/^6 of 6 requests failed/);
  expect(await two.guard.conclude("promoted", "asked for"), "too late").toEqual(one.decisions[0]);
  shared.now += 10 * SETTINGS.for;
});

test("what an instance that is gone has counted still counts", async () => {
  const { shared, join } = await sharedStore();
  const one = await join("one");
  const two = await join("two");
  two.fail(4);
  await eventually(() => one.guard.status.requests.candidate === 4);
  two.guard.close();
  shared.reports.delete("two");
  one.fail(1);
  await eventually(() => one.decisions.length === 1);
  expect(one.decisions[0]!.reason).toMatch(/^5 of 5 requests/);
});

test("the same change is tried afresh once its first try is long over; another pair is no concern of it", async () => {
  const { shared, join } = await sharedStore();
  const first = await join("one");
  await first.guard.conclude("replaced", "asked for");
  const other = await join("two", "base", "another");
  expect(served(other.guard)).toBeGreaterThan(0);
  shared.now += 3_600_000;
  const again = await join("three");
  expect(again.guard.report.id).not.toBe(first.guard.report.id);
  expect(again.guard.status).toMatchObject({ state: "running", started_at: new Date(shared.now).toISOString() });
  shared.now += SETTINGS.for;
  await eventually(() => again.decisions.length === 1 && other.decisions.length === 1);
  expect(again.decisions).toMatchObject([{ result: "promoted" }]);
});

test("who has seen the end of a try makes another, and who comes meanwhile joins that one", async () => {
  const { shared, join } = await sharedStore();
  const first = await join("one");
  await first.guard.conclude("rolled_back", "asked for");
  const { id } = first.guard.report;
  const late = await join("two");
  expect(late.decisions, "it reads the file late").toMatchObject([{ result: "rolled_back", reason: "asked for" }]);
  shared.now += 10;
  const again = await join("one", "base", "candidate", [first.guard.report]);
  expect(again.guard.report.id).not.toBe(id);
  expect(again.guard.status).toMatchObject({ state: "running", started_at: new Date(shared.now).toISOString() });
  const third = await join("three");
  expect(third.guard.report.id).toBe(again.guard.report.id);
  expect(served(third.guard)).toBeGreaterThan(5);
  shared.now += SETTINGS.for;
  await eventually(() => again.decisions.length === 1 && third.decisions.length === 1);
  expect([...again.decisions, ...third.decisions]).toMatchObject([{ result: "promoted" }, { result: "promoted" }]);
});

test("a fault that is not the store's is told in the log, once", async () => {
  const lines: LogLine[] = [];
  let count = 0;
  const guard = new Guard({
    settings: SETTINGS,
    base: "base",
    candidate: "candidate",
    earlier: [],
    counts: { base: new RequestCounts(), candidate: new RequestCounts() },
    agreement: {
      ...ownAgreement(() => 0),
      async peers() {
        count += 1;
        throw count === 1 ? storeUnavailable(new Error("away")) : new TypeError("a bug");
      },
    },
    now: () => 0,
    log: memoryLog(lines),
    onDecision: () => undefined,
  });
  onTestFinished(() => guard.close());
  await guard.start();
  expect(lines).toEqual([]);
  await eventually(() => count > 4);
  expect(lines).toMatchObject([{ level: "error", message: "configurations could not be compared" }]);
});

test("the more instances there are, the less often each of them asks for what all have counted", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  // oxlint-disable-next-line unicorn/consistent-function-scoping -- it needs the timers of this test
  const asked = async (peers: number): Promise<number> => {
    let count = 0;
    const guard = new Guard({
      settings: SETTINGS,
      base: "base",
      candidate: "candidate",
      counts: { base: new RequestCounts(), candidate: new RequestCounts() },
      earlier: [],
      agreement: {
        ...ownAgreement(() => 0),
        async peers() {
          count += 1;
          return new Map(Array.from({ length: peers }, (_, index) => [`instance-${index}`, []]));
        },
      },
      now: () => 0,
      log: memoryLog([]),
      onDecision: () => undefined,
    });
    await guard.start();
    await vi.advanceTimersByTimeAsync((SETTINGS.for / 20) * 60);
    guard.close();
    return count;
  };
  expect([await asked(0), await asked(19), await asked(20), await asked(100)]).toEqual([61, 61, 31, 11]);
});
