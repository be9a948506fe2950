import { isIPv4 } from "node:net";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type GatewayError, type Store, storeUnavailable } from "../../src/kit/index.ts";
import { createIpLimit, type IpLimit } from "../../src/server/ip-limit.ts";
import { WindowCounts } from "../../src/store/sqlite/store.ts";
import { type LogLine, memoryLog } from "./support.ts";
import { RUNS } from "../properties/runs.ts";

const ADDRESS = "192.0.2.1";
/** A window that does not end in a test. */
const WINDOW_MS = 60_000;

const alone = (): IpLimit => createIpLimit(null, memoryLog());
const limitOf = (requests: number) => ({ requests, window: WINDOW_MS });
const addressOf = (n: number): string => `${n >>> 24}.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;

describe("the IP limit of one process", () => {
  test("never lets more than the limit through in a window, for any order of addresses and times", () => {
    const step = fc.record({ address: fc.constantFrom("1.1.1.1", "2.2.2.2", "2001:db8::1"), after: fc.nat(400) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 5 }), (steps, requests) => {
        const limiter = alone();
        const limit = { requests, window: 1000 };
        const passed = new Map<string, number>();
        let now = 0;
        for (const { address, after } of steps) {
          now += after;
          const slot = `${address} ${Math.floor(now / 1000)}`;
          const refusal = limiter.take(address, limit, now);
          const before = passed.get(slot) ?? 0;
          const expected = before < requests ? null : { code: "IP_RATE_LIMIT", details: { retryAfter: 1 } };
          expect([refusal]).toMatchObject([expected]);
          if (refusal === null) passed.set(slot, before + 1);
        }
      }),
    );
  });

  test("without a limit nobody is counted; a changed window and a clock set back start anew", () => {
    const limiter = alone();
    const limit = { requests: 1, window: 1000 };
    for (let round = 0; round < 3; round += 1) expect(limiter.take("1.1.1.1", null, 5000)).toBeNull();
    expect(limiter.take("1.1.1.1", limit, 5000)).toBeNull();
    expect(limiter.take("1.1.1.1", limit, 5999)).not.toBeNull();
    expect(limiter.take("1.1.1.1", { requests: 1, window: 2000 }, 5999)).toBeNull();
    expect(limiter.take("1.1.1.1", { requests: 1, window: 2000 }, 100)).toBeNull();
    expect(limiter.take("1.1.1.1", { requests: 1, window: 2000 }, 100)).not.toBeNull();
  });

  test("a flood of addresses does not make a refused one forgotten at once", () => {
    const limiter = alone();
    const limit = { requests: 1, window: 60_000 };
    for (let n = 0; n < 101_000; n += 1) {
      const address = addressOf(n);
      expect(isIPv4(address) && limiter.take(address, limit, 0)).toBeNull();
    }
    expect(limiter.take("0.1.138.135", limit, 0)).not.toBeNull();
    expect(limiter.take("0.0.0.0", limit, 0)).toBeNull();
  });
});

/** A store that answers after some milliseconds, and what it was asked. */
function slowStore(wait: () => number) {
  const counts = new WindowCounts(() => 0);
  const asked: number[] = [];
  const addCounts: Store["addCounts"] = async (window, uses) => {
    asked.push(uses.length);
    const totals = counts.addCounts(window, uses);
    await new Promise((resolve) => setTimeout(resolve, wait()));
    return totals;
  };
  return { addCounts, asked };
}

/** Requests that were sent and answered so far. */
class Tally {
  admitted = 0;
  refused = 0;

  /** Sends so many at once. */
  send(process: IpLimit, requests: number, count: number, address = ADDRESS, now = 0): void {
    for (let n = 0; n < count; n += 1) {
      const verdict = process.take(address, limitOf(requests), now);
      if (verdict instanceof Promise) void verdict.then((late) => this.#count(late));
      else this.#count(verdict);
    }
  }

  #count(verdict: GatewayError | null): void {
    if (verdict === null) this.admitted += 1;
    else this.refused += 1;
  }
}

const processesOn = (addCounts: Store["addCounts"], count: number, lines: LogLine[] = []) =>
  Array.from({ length: count }, () => createIpLimit(addCounts, memoryLog(lines)));

const settled = () => vi.advanceTimersByTimeAsync(5_000);

describe("the IP limit of several processes", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("lets a fiftieth of the limit more through for each further process at most, and nothing less than it", async () => {
    const step = fc.record({ process: fc.nat(3), count: fc.integer({ min: 1, max: 60 }), after: fc.nat(30) });
    const program = fc.record({
      processes: fc.integer({ min: 1, max: 4 }),
      requests: fc.integer({ min: 1, max: 400 }),
      steps: fc.array(step, { minLength: 1, maxLength: 60, size: "max" }),
      waits: fc.array(fc.nat(40), { minLength: 1, maxLength: 5 }),
    });
    const property = fc.asyncProperty(program, async ({ processes, requests, steps, waits }) => {
      let turn = 0;
      const { addCounts } = slowStore(() => waits[(turn += 1) % waits.length]!);
      const all = processesOn(addCounts, processes);
      const tally = new Tally();
      let sent = 0;
      for (const { process, count, after } of steps) {
        tally.send(all[process % processes]!, requests, count);
        sent += count;
        await vi.advanceTimersByTimeAsync(after);
      }
      await settled();
      expect(tally.admitted + tally.refused, "everybody is answered").toBe(sent);
      const part = Math.max(1, Math.floor(requests / 50));
      expect(tally.admitted).toBeLessThanOrEqual(requests + (processes - 1) * part);
      expect(tally.admitted).toBeGreaterThanOrEqual(Math.min(requests, sent));
    });
    await expect(fc.assert(property, { numRuns: RUNS })).resolves.toBeUndefined();
  });

  test("a burst waits for one word with the store, not for one a part", async () => {
    const { addCounts, asked } = slowStore(() => 5);
    const [process] = processesOn(addCounts, 1);
    const tally = new Tally();
    tally.send(process!, 600, 1_000);
    expect([tally.admitted, asked]).toEqual([12, []]);
    await settled();
    expect([tally.admitted, tally.refused, asked]).toEqual([600, 400, [1]]);
    tally.send(process!, 600, 1_000);
    expect([tally.refused, asked], "whoever is refused costs the store nothing").toEqual([1_400, [1]]);
  });

  test("the next window is everybody's again, also for what waits when it begins", async () => {
    const { addCounts } = slowStore(() => 50);
    const [one, other] = processesOn(addCounts, 2);
    const [before, after] = [new Tally(), new Tally()];
    before.send(one!, 100, 100);
    await settled();
    before.send(other!, 100, 10);
    after.send(other!, 100, 60, ADDRESS, WINDOW_MS);
    after.send(one!, 100, 60, ADDRESS, WINDOW_MS);
    await settled();
    expect(before.admitted).toBe(102);
    expect(after.admitted).toBeGreaterThanOrEqual(100);
    expect(after.admitted).toBeLessThanOrEqual(102);
  });

  test.each([
    ["is away", () => Promise.reject(storeUnavailable(null)), []],
    [
      "is away at once",
      () => {
        throw storeUnavailable(null);
      },
      [],
    ],
    [
      "has a fault",
      () => Promise.reject(new TypeError("no")),
      ["shared IP limit unavailable; each process counts alone"],
    ],
    ["does not answer", () => new Promise<never>(() => {}), []],
  ])("a store that %s: each process has the limit, and asks now and then", async (_, fail, logged) => {
    let asked = 0;
    const lines: LogLine[] = [];
    const all = processesOn(
      () => {
        asked += 1;
        return fail();
      },
      2,
      lines,
    );
    const tally = new Tally();
    for (const process of all) tally.send(process, 100, 300);
    await vi.advanceTimersByTimeAsync(300);
    expect([tally.admitted, tally.refused]).toEqual([200, 400]);
    for (let n = 0; n < 100; n += 1) tally.send(all[0]!, 100, 10, addressOf(n));
    expect(asked).toBe(2);
    expect(tally.admitted).toBe(1_200);
    expect(lines.map(({ message }) => message).slice(0, 1)).toEqual(logged);
  });

  test("what was counted while the store was away is told to it when it is back", async () => {
    const { addCounts } = slowStore(() => 1);
    let away = true;
    const [one, other] = processesOn((window, uses) => {
      if (away) throw storeUnavailable(null);
      return addCounts(window, uses);
    }, 2);
    const tally = new Tally();
    tally.send(one!, 100, 3);
    await settled();
    tally.send(one!, 100, 1);
    await vi.advanceTimersByTimeAsync(20);
    tally.send(one!, 100, 56);
    away = false;
    await settled();
    tally.send(one!, 100, 1);
    await settled();
    tally.send(other!, 100, 100);
    await settled();
    // The word that failed is lost: it may have been heard.
    expect(tally.admitted).toBeLessThanOrEqual(100 + 2 + 4);
    expect(tally.admitted).toBeGreaterThanOrEqual(100);
  });

  test("a store that is slow is waited for no longer than a quarter of a second, and heard all the same", async () => {
    const { addCounts } = slowStore(() => 400);
    const [one, other] = processesOn(addCounts, 2);
    const tally = new Tally();
    tally.send(one!, 100, 100);
    await vi.advanceTimersByTimeAsync(260);
    expect(tally.admitted).toBe(100);
    await settled();
    tally.send(other!, 100, 3);
    await settled();
    tally.send(other!, 100, 50);
    await settled();
    expect(tally.admitted, "its own word was heard late").toBeLessThanOrEqual(103);
  });

  test("a flood of addresses: 100 calls a second of 500 addresses, and nobody waits for more", async () => {
    const { addCounts, asked } = slowStore(() => 0);
    const [process] = processesOn(addCounts, 1);
    const tally = new Tally();
    for (let n = 0; n < 400_000; n += 1) {
      tally.send(process!, 60, 2, addressOf(n));
      if (n % 40_000 === 39_999) await vi.advanceTimersByTimeAsync(100);
    }
    expect(tally.admitted).toBeGreaterThan(760_000);
    expect(asked.length).toBeLessThanOrEqual(101);
    expect(Math.max(...asked)).toBeLessThanOrEqual(500);
    await settled();
    expect(tally.admitted).toBe(800_000);
  }, 60_000);
});
