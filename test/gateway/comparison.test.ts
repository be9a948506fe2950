import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addUp, compare, RequestCounts, type Tallies } from "../../src/gateway/comparison.ts";
import { isInShare } from "../../src/gateway/guard.ts";
import { FEW_RUNS, RUNS } from "../properties/runs.ts";
import type { Exchange, GuardSettings, Outcome } from "../../src/kit/index.ts";

const GUARD: GuardSettings = { share: 0.1, for: 120_000, minRequests: 50, maxErrorRatio: 2, maxTtftRatio: 1.5 };

interface Made {
  readonly requests: number;
  readonly failures?: number;
  /** Milliseconds to the first token, taken in turn. */
  readonly times?: readonly number[];
  readonly model?: string;
}

function exchange(model = "route/one"): Exchange {
  return { model: { id: model }, call: { stream: true }, readAt: 0 } as Exchange;
}

function outcome(kind: Outcome["kind"], code: Outcome["code"] = null, firstEventAt: number | null = 100): Outcome {
  return { kind, code, firstEventAt } as Outcome;
}

function tallies(...all: readonly Made[]): Tallies {
  const counts = new RequestCounts();
  for (const { requests, failures = 0, times = [100], model } of all) {
    for (let count = 0; count < requests; count += 1) {
      const ending =
        count < failures
          ? outcome("failed", "PROVIDER_ERROR", null)
          : outcome("served", null, times[count % times.length]);
      counts.finished(exchange(model), ending);
    }
  }
  return counts.tallies;
}

const LONG_BASE = tallies({ requests: 1_000, failures: 2 });

describe("what counts", () => {
  test.each<[Outcome["kind"], Outcome["code"], requests: number, failures: number]>([
    ["served", null, 1, 0],
    ["client_fault", "INVALID_REQUEST", 1, 0],
    ["failed", "PROVIDER_ERROR", 1, 1],
    ["failed", "PROVIDER_TIMEOUT", 1, 1],
    ["upstream_cut", null, 1, 1],
    ["gateway_error", "INTERNAL", 1, 1],
    ["refused", "INTERNAL", 1, 1],
    ["refused", "CIRCUIT_BREAKER_OPEN", 1, 1],
    ["refused", "DAILY_REQUEST_LIMIT_EXCEEDED", 0, 0],
    ["refused", "STORE_UNAVAILABLE", 0, 0],
    ["failed", "STORE_UNAVAILABLE", 0, 0],
    ["refused", "OVERLOADED", 0, 0],
    ["client_gone", null, 0, 0],
    ["killed", null, 0, 0],
    ["shutdown", "SHUTTING_DOWN", 0, 0],
  ])("%s %s", (kind, code, requests, failures) => {
    const counts = new RequestCounts();
    counts.finished(exchange(), outcome(kind, code));
    expect(compare({}, counts.tallies, GUARD, false)).toMatchObject({ requests, failures });
  });

  test("a request that fails before its model is known", () => {
    const counts = new RequestCounts();
    counts.failedEarly();
    expect(compare({}, counts.tallies, GUARD, false)).toMatchObject({ requests: 1, failures: 1 });
  });

  test("models beyond fifty are counted together", () => {
    const counts = new RequestCounts();
    for (let model = 0; model < 1_000; model += 1) counts.finished(exchange(`route/${model}`), outcome("served"));
    expect(Object.keys(counts.tallies)).toHaveLength(51);
    expect(compare({}, counts.tallies, GUARD, false).requests).toBe(1_000);
  });
});

function isAgainstAtEnd(requests: number, failures: number): boolean {
  return compare(LONG_BASE, tallies({ requests, failures }), GUARD, true).against !== null;
}

describe("failures", () => {
  test("one that always fails is rolled back with the first min_requests, and not before", () => {
    expect(compare(LONG_BASE, tallies({ requests: 49, failures: 49 }), GUARD, false).against).toBeNull();
    const { against } = compare(LONG_BASE, tallies({ requests: 50, failures: 50 }), GUARD, false);
    expect(against).toBe("50 of 50 requests failed, with the former configuration 2 of 1000");
  });

  test("one that fails as often as the former one is not", () => {
    const base = tallies({ requests: 1_000, failures: 300 });
    expect(compare(base, tallies({ requests: 100, failures: 30 }), GUARD, true).against).toBeNull();
    expect(compare(base, tallies({ requests: 100, failures: 90 }), GUARD, false).against).not.toBeNull();
    expect(
      compare(tallies({ requests: 90, failures: 90 }), tallies({ requests: 90, failures: 90 }), GUARD, true).against,
    ).toBeNull();
  });

  test("single ones among many are chance", () => {
    expect(compare(LONG_BASE, tallies({ requests: 50, failures: 2 }), GUARD, false).against).toBeNull();
    expect(compare(LONG_BASE, tallies({ requests: 100, failures: 3 }), GUARD, true).against).toBeNull();
  });

  test("who calls a model that fails for everybody is no evidence", () => {
    const base = tallies({ requests: 1_000 }, { requests: 40, failures: 40, model: "route/down" });
    const candidate = tallies({ requests: 20 }, { requests: 60, failures: 60, model: "route/down" });
    expect(compare(base, candidate, GUARD, true).against).toBeNull();
  });

  test("at the end a few decide, and all that there were", () => {
    expect([
      isAgainstAtEnd(0, 0),
      isAgainstAtEnd(1, 0),
      isAgainstAtEnd(1, 1),
      isAgainstAtEnd(3, 2),
      isAgainstAtEnd(3, 1),
      isAgainstAtEnd(5, 2),
    ]).toEqual([false, false, true, true, false, true]);
  });
});

describe("time to the first token", () => {
  const spread = [200, 300, 400, 500, 800, 1_500, 3_000];
  const base = tallies({ requests: 700, times: spread });

  test("one that is three times as slow is rolled back, one as slow is not", () => {
    const slow = compare(base, tallies({ requests: 70, times: spread.map((time) => time * 3) }), GUARD, false);
    expect(slow.against).toMatch(/^the first token took 2\.9\d times as long/);
    expect(compare(base, tallies({ requests: 70, times: spread }), GUARD, true)).toMatchObject({
      ttftRatio: expect.closeTo(1, 9) as number,
      against: null,
    });
  });

  test("a few answers that take minutes are no evidence", () => {
    const times = [...spread, ...spread, ...spread, ...spread, 200_000];
    expect(compare(base, tallies({ requests: 58, times }), GUARD, true).against).toBeNull();
  });

  test("milliseconds on a fast network are no evidence", () => {
    const fast = tallies({ requests: 500, times: [1] });
    expect(compare(fast, tallies({ requests: 500, times: [4] }), GUARD, true).against).toBeNull();
  });

  test("users of slow models do not make a configuration slow", () => {
    const mixed = tallies(
      { requests: 500, times: [100, 110] },
      { requests: 20, times: [9_000, 10_000], model: "route/slow" },
    );
    const others = tallies(
      { requests: 10, times: [100, 110] },
      { requests: 90, times: [9_000, 10_000], model: "route/slow" },
    );
    expect(compare(mixed, others, GUARD, true)).toMatchObject({ against: null });
  });
});

const count = fc.nat(300);
const made = fc.record({
  requests: count,
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  model: fc.constantFrom("a", "b", "c"),
});
const side = fc
  .array(made, { maxLength: 4 })
  .map((all) =>
    tallies(...all.map(({ requests, share, model }) => ({ requests, failures: Math.floor(requests * share), model }))),
  );

test("counts of instances are pooled: it does not matter who has counted what", () => {
  fc.assert(
    fc.property(side, side, side, fc.boolean(), (base, one, other, isOver) => {
      const once = compare(base, addUp([one, other]), GUARD, isOver);
      const again = compare(addUp([base, {}]), addUp([other, one]), GUARD, isOver);
      expect(again).toEqual({
        ...once,
        ttftRatio: again.ttftRatio,
      });
      expect(again.ttftRatio ?? -1).toBeCloseTo(once.ttftRatio ?? -1, 9);
      expect(once.failures).toBeLessThanOrEqual(once.requests);
    }),
    { numRuns: RUNS },
  );
});

test("more failures never speak less against a candidate", () => {
  fc.assert(
    fc.property(side, fc.integer({ min: 1, max: 300 }), count, fc.boolean(), (base, requests, failures, isOver) => {
      const few = Math.min(failures, requests - 1);
      const less = compare(base, tallies({ requests, failures: few, model: "a" }), GUARD, isOver).against;
      const more = compare(base, tallies({ requests, failures: few + 1, model: "a" }), GUARD, isOver).against;
      expect(less?.includes("failed") === true && more === null).toBe(false);
    }),
    { numRuns: RUNS },
  );
});

test("the share is met, sticks to a user, and falls on others with the next candidate", () => {
  const hash = fc.stringMatching(/^[0-9a-f]{64}$/);
  const share = fc.double({ min: 0.01, max: 0.99, noNaN: true });
  const USERS = 2_000;
  fc.assert(
    fc.property(hash, hash, share, fc.string(), (candidate, next, part, prefix) => {
      fc.pre(candidate !== next);
      const users = Array.from({ length: USERS }, (_, index) => `${prefix}${index}`);
      const chosen = users.filter((user) => isInShare(user, candidate, part));
      // Six standard deviations.
      const bound = 6 * Math.sqrt(USERS * part * (1 - part)) + 1;
      expect(Math.abs(chosen.length - USERS * part)).toBeLessThan(bound);
      expect(users.filter((user) => isInShare(user, candidate, part))).toEqual(chosen);
      // A larger share has everybody that a smaller one has.
      expect(chosen.every((user) => isInShare(user, candidate, Math.min(1, part + 0.2)))).toBe(true);
      const both = chosen.filter((user) => isInShare(user, next, part)).length;
      expect(Math.abs(both - chosen.length * part)).toBeLessThan(6 * Math.sqrt(chosen.length * part * (1 - part)) + 1);
    }),
    { numRuns: FEW_RUNS },
  );
});
