import { setTimeout as realTime } from "node:timers/promises";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { VirtualClock } from "../../src/offline/clock.ts";

const START = Date.UTC(2026, 0, 1);

test("what falls due is called at its time, the earliest first, what was cancelled never", async () => {
  const timers = fc.array(fc.record({ at: fc.nat({ max: 1_000 }), isCancelled: fc.boolean() }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(timers, fc.nat({ max: 1_000 }), async (all, passed) => {
      const clock = new VirtualClock(START);
      const called: number[] = [];
      for (const { at, isCancelled } of all) {
        const cancel = clock.schedule(START + at, () => {
          expect(clock.now()).toBe(START + at);
          called.push(at);
        });
        if (isCancelled) cancel();
      }
      await clock.advance(passed);
      expect(clock.now()).toBe(START + passed);
      const due = all.filter(({ at, isCancelled }) => !isCancelled && at <= passed).map(({ at }) => at);
      expect(called).toEqual(due.toSorted((a, b) => a - b));
    }),
    { numRuns: Number(process.env["NUM_RUNS"] ?? 50) },
  );
});

describe("a request that waits", () => {
  test("takes as long as it waits, and no real time", async () => {
    const clock = new VirtualClock(START);
    const signal = new AbortController().signal;
    const work = async (): Promise<number> => {
      await clock.pause(3_600_000, signal);
      await clock.pause(60_000, signal);
      return clock.now();
    };
    expect(await clock.until(work())).toBe(START + 3_660_000);
  });

  test("for a plugin that reads a file meets no deadline meanwhile", async () => {
    const clock = new VirtualClock(START);
    let late = false;
    clock.schedule(START + 1_000, () => {
      late = true;
    });
    expect(await clock.until(clock.during(() => realTime(20, "read")))).toBe("read");
    expect({ late, now: clock.now() }).toEqual({ late: false, now: START });
  });

  test("for work that is held meets none either", async () => {
    const clock = new VirtualClock(START);
    clock.schedule(START + 1_000, () => undefined);
    expect(await clock.until(clock.hold(realTime(40, "counted")))).toBe("counted");
    expect(clock.now()).toBe(START);
  });

  test("for a pause that is given up ends at once", async () => {
    const clock = new VirtualClock(START);
    const gone = new AbortController();
    clock.schedule(START + 100, () => gone.abort(new Error("gone")));
    await expect(clock.until(clock.pause(1_000, gone.signal))).rejects.toThrow("gone");
    expect(clock.now()).toBe(START + 100);
  });

  test("for what never ends is given up, however much time can pass", async () => {
    const clock = new VirtualClock(START, { maxRealMs: 100 });
    // As heartbeats of a stream do.
    const again = (): void => {
      clock.schedule(clock.now() + 15_000, again);
    };
    again();
    const given = realTime(5_000, "went on for ever", { ref: false });
    await expect(Promise.race([clock.until(new Promise(() => {})), given])).rejects.toThrow("nothing that can happen");
  });
});
