import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DeadlineSweeper } from "../../../src/upstream/send/deadlines.ts";
import { PATIENCE, RUNS } from "../../properties/runs.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setImmediate", "Date"], now: 1_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const sweeper = (): DeadlineSweeper => new DeadlineSweeper(() => Date.now());

describe("schedule", () => {
  it("calls back once, not before its time and at most about a tick after", () => {
    const calls: number[] = [];
    sweeper().schedule(1_120, () => calls.push(Date.now()));
    vi.advanceTimersByTime(119);
    expect(calls).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toBeGreaterThanOrEqual(1_120);
    expect(calls[0]).toBeLessThanOrEqual(1_180);
  });

  it("does not call back once cancelled", () => {
    const calls: number[] = [];
    const cancel = sweeper().schedule(1_100, () => calls.push(1));
    cancel();
    cancel();
    vi.advanceTimersByTime(1_000);
    expect(calls).toEqual([]);
  });

  it("may be called from within a callback, and a callback may cancel another", () => {
    const calls: string[] = [];
    const shared = sweeper();
    const cancels = ["one", "other"].map((name) =>
      shared.schedule(1_050, () => {
        calls.push(name);
        for (const cancel of cancels) cancel();
        shared.schedule(Date.now() + 10, () => calls.push("nested"));
      }),
    );
    vi.advanceTimersByTime(500);
    expect(calls).toEqual([expect.stringMatching(/^(one|other)$/), "nested"]);
  });
});

it(
  "calls whatever is due and nothing else, whatever the order in which entries come and go",
  () => {
    const entry = fc.record({
      at: fc.integer({ min: 0, max: 600 }),
      cancelAt: fc.option(fc.integer({ min: 0, max: 600 })),
    });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 30 }), (entries) => {
        const start = Date.now();
        const shared = sweeper();
        const called = entries.map(() => 0);
        const cancels = entries.map(({ at }, index) =>
          shared.schedule(start + at, () => (called[index] = (called[index] ?? 0) + 1)),
        );
        const cancelled = entries.map(() => false);
        for (let tick = 0; tick <= 16; tick += 1) {
          for (const [index, { cancelAt }] of entries.entries()) {
            if (cancelAt === null || cancelAt > tick * 50 || cancelled[index]) continue;
            cancelled[index] = true;
            cancels[index]?.();
            if (called[index] === 0) called[index] = -1;
          }
          vi.advanceTimersByTime(50);
        }
        for (const [index, { at, cancelAt }] of entries.entries()) {
          // Called once (1) or cancelled in time (-1); near the due time either may be.
          const fates = [1, -1].filter((fate) =>
            fate === 1 ? cancelAt === null || cancelAt + 50 >= at : cancelAt !== null && cancelAt <= at + 150,
          );
          expect(fates).toContain(called[index]);
        }
      }),
      { numRuns: RUNS },
    );
  },
  PATIENCE,
);

it("a moved due time moves the call", () => {
  const calls: number[] = [];
  const shared = sweeper();
  const entry = {
    due: 1_100,
    index: -1,
    expire(now: number) {
      calls.push(now);
      shared.unwatch(entry);
    },
  };
  shared.watch(entry);
  vi.advanceTimersByTime(80);
  entry.due = 1_400;
  vi.advanceTimersByTime(300);
  expect(calls).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(calls).toHaveLength(1);
});

it("has a timer only while something is watched", () => {
  const shared = sweeper();
  expect(vi.getTimerCount()).toBe(0);
  const cancels = Array.from({ length: 100 }, (_, index) => shared.schedule(5_000 + index, () => undefined));
  expect(vi.getTimerCount()).toBe(1);
  for (const cancel of cancels) cancel();
  vi.advanceTimersByTime(200);
  expect(vi.getTimerCount()).toBe(0);
  shared.schedule(Date.now() + 10, () => undefined);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(200);
  expect(vi.getTimerCount()).toBe(0);
});
