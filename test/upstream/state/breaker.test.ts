import assert from "node:assert/strict";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  AttemptError,
  type AttemptResult,
  type BreakerSettings,
  type FailureClass,
  type Permit,
} from "../../../src/kit/index.ts";
import { CircuitBreaker } from "../../../src/upstream/state/breaker.ts";
import { PATIENCE, RUNS } from "../../properties/runs.ts";

const OK: AttemptResult = { ok: true };
const failed = (failure: FailureClass): AttemptResult => ({ ok: false, error: new AttemptError(failure, failure) });
const NEUTRAL = ["client_fault", "aborted", "rate_limited", "skipped", "saturated"] as const;
const FAILING = ["connect", "timeout", "reset", "status", "credentials", "protocol"] as const;

const SETTINGS: BreakerSettings = {
  consecutive: 3,
  window: 30_000,
  ratio: 0.5,
  minimum: 20,
  openFor: 10_000,
  maxOpenFor: 300_000,
  probes: 1,
};

function setup(changes: Partial<BreakerSettings> = {}, random = (): number => 0.5) {
  const clock = { now: 1_000_000 };
  const states: string[] = [];
  const settings = { ...SETTINGS, ...changes };
  const breaker = new CircuitBreaker({
    settings,
    now: () => clock.now,
    random,
    onChange: (state) => states.push(state),
  });
  const run = (result: AttemptResult): void => {
    const permit = breaker.acquire();
    if (!permit) throw new Error("not let through");
    permit.end(result);
  };
  const fail = (times: number): void => {
    for (let time = 0; time < times; time += 1) run(failed("status"));
  };
  const wait = (): void => {
    clock.now = breaker.retryAt;
  };
  return { breaker, clock, run, fail, wait, states };
}

describe("closed", () => {
  it.each(FAILING)("opens on three %s in a row", (failure) => {
    const { breaker, run } = setup();
    run(failed(failure));
    run(failed(failure));
    expect(breaker).toMatchObject({ state: "closed", retryAt: 0 });
    run(failed(failure));
    expect(breaker.state).toBe("open");
    expect(breaker.acquire()).toBe(null);
  });

  it.each(NEUTRAL)("%s counts neither way", (failure) => {
    const { breaker, run } = setup();
    run(failed("status"));
    run(failed("status"));
    for (let time = 0; time < 50; time += 1) run(failed(failure));
    expect(breaker.state).toBe("closed");
    run(failed("status"));
    expect(breaker.state).toBe("open");
  });

  it("a success breaks the row, also one that has only begun to answer", () => {
    const { breaker, fail, run } = setup();
    fail(2);
    run(OK);
    fail(2);
    breaker.acquire()?.answered();
    fail(2);
    expect(breaker.state).toBe("closed");
  });

  it("opens on the ratio once there are enough results in the window", () => {
    const { breaker, run } = setup({ consecutive: 1_000 });
    for (let pair = 0; pair < 9; pair += 1) {
      run(OK);
      run(failed("timeout"));
    }
    run(OK);
    expect(breaker.state).toBe("closed");
    run(failed("timeout"));
    expect(breaker.state).toBe("open");
  });

  it("forgets what is older than the window", () => {
    const { breaker, clock, fail } = setup({ consecutive: 1_000 });
    fail(19);
    clock.now += SETTINGS.window;
    fail(19);
    expect(breaker.state).toBe("closed");
    fail(1);
    expect(breaker.state).toBe("open");
  });

  it("counts a stream that begins and breaks off as both", () => {
    const { breaker } = setup();
    for (let time = 0; time < 10; time += 1) {
      const permit = breaker.acquire();
      permit?.answered();
      permit?.end(failed("reset"));
    }
    expect(breaker.state).toBe("open");
  });

  it("an end counts once", () => {
    const { breaker } = setup();
    const permit = breaker.acquire();
    for (let time = 0; time < 10; time += 1) permit?.end(failed("status"));
    expect(breaker.state).toBe("closed");
  });
});

describe("open", () => {
  it("lets nothing through until retryAt, then one probe", () => {
    const { breaker, clock, fail } = setup();
    fail(3);
    expect(breaker.retryAt).toBe(1_010_000);
    clock.now = 1_009_999;
    expect(breaker.acquire()).toBe(null);
    clock.now = 1_010_000;
    expect(breaker.state).toBe("half_open");
    expect(breaker.acquire()).not.toBe(null);
    expect(breaker.acquire()).toBe(null);
  });

  it.each([
    [0, 0.8],
    [0.5, 1],
    [0.999_999, 1.2],
  ])("waits twice as long each time in a row, jitter %d, up to the maximum", (random, jitter) => {
    const { breaker, clock, fail, wait } = setup({}, () => random);
    fail(3);
    for (const open of [10, 20, 40, 80, 160, 300, 300]) {
      const expected = Math.min(300_000, open * 1_000 * jitter);
      expect(breaker.retryAt - clock.now).toBeCloseTo(expected, -2);
      wait();
      fail(1);
    }
  });

  it("is short again after a window without trouble, longer when it comes back sooner", () => {
    const { breaker, clock, fail, run, wait } = setup();
    fail(3);
    wait();
    run(OK);
    clock.now += SETTINGS.window - 1;
    fail(3);
    expect(breaker.retryAt - clock.now).toBe(20_000);
    wait();
    run(OK);
    clock.now += SETTINGS.window;
    fail(3);
    expect(breaker.retryAt - clock.now).toBe(10_000);
  });

  it("what began before it says nothing any more", () => {
    const { breaker, clock, fail, states } = setup();
    const [late, later] = [breaker.acquire(), breaker.acquire()];
    fail(3);
    const { retryAt } = breaker;
    late?.end(OK);
    expect(breaker).toMatchObject({ state: "open", retryAt });
    clock.now = retryAt;
    const probe = breaker.acquire();
    later?.end(failed("status"));
    expect(breaker.state).toBe("half_open");
    probe?.end(OK);
    expect(states).toEqual(["open", "half_open", "closed"]);
  });
});

describe("half-open", () => {
  it("closes as soon as a probe is answered, whatever comes of the rest of it", () => {
    const { breaker, fail, wait } = setup();
    fail(3);
    wait();
    const probe = breaker.acquire();
    probe?.answered();
    expect(breaker).toMatchObject({ state: "closed", retryAt: 0 });
    probe?.end(failed("reset"));
    expect(breaker.state).toBe("closed");
  });

  it.each(NEUTRAL)("%s gives the probe back", (failure) => {
    const { breaker, fail, wait } = setup();
    fail(3);
    wait();
    for (let time = 0; time < 20; time += 1) {
      const probe = breaker.acquire();
      expect(probe).not.toBe(null);
      probe?.end(failed(failure));
      probe?.end(failed(failure));
    }
    expect(breaker.acquire()).not.toBe(null);
    expect(breaker.acquire()).toBe(null);
  });
});

it("takes new settings from then on", () => {
  const { breaker, fail, wait } = setup();
  fail(2);
  breaker.configure({ ...SETTINGS, consecutive: 5, openFor: 1_000, probes: 2 });
  fail(2);
  expect(breaker.state).toBe("closed");
  fail(1);
  expect(breaker.retryAt).toBe(1_001_000);
  wait();
  expect([breaker.acquire(), breaker.acquire(), breaker.acquire()].filter(Boolean).length).toBe(2);
});

describe("any history", () => {
  const command = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant("acquire" as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("answered" as const), which: fc.nat() }) },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant("end" as const),
        which: fc.nat(),
        how: fc.constantFrom("ok" as const, ...NEUTRAL, ...FAILING),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 0, max: 400_000 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("retryAt" as const) }) },
  );
  const settings = fc.record({
    consecutive: fc.integer({ min: 1, max: 4 }),
    window: fc.integer({ min: 100, max: 60_000 }),
    ratio: fc.double({ min: 0.1, max: 1, noNaN: true }),
    minimum: fc.integer({ min: 1, max: 8 }),
    openFor: fc.integer({ min: 10, max: 20_000 }),
    maxOpenFor: fc.integer({ min: 20_000, max: 300_000 }),
    probes: fc.integer({ min: 1, max: 3 }),
  });

  it(
    "never has more probes out than allowed, never loses one, opens within bounds",
    () => {
      fc.assert(
        fc.property(
          settings,
          fc.array(command, { maxLength: 80 }),
          fc.double({ min: 0, max: 0.999_999, noNaN: true }),
          (limits, commands, chance) => {
            const { breaker, clock, states } = setup(limits, () => chance);
            const out: { permit: Permit; born: number }[] = [];
            // Permits that count in the present state: those handed out since the last change.
            const present = (): number => out.filter(({ born }) => born === states.length).length;
            const end = (which: number, result: AttemptResult): void => {
              const [taken] = out.splice(which % out.length, 1);
              const changes = states.length;
              taken?.permit.end(result);
              assert.ok(taken?.born === changes || states.length === changes);
            };
            for (const one of commands) {
              const before = breaker.state;
              if (one.do === "pass") clock.now += one.ms;
              else if (one.do === "retryAt") clock.now = Math.max(clock.now, breaker.retryAt);
              else if (one.do === "acquire") {
                const permit = breaker.acquire();
                if (before === "open") assert.equal(permit, null);
                if (before === "closed") assert.notEqual(permit, null);
                if (before === "half_open") assert.equal(permit !== null, present() < limits.probes);
                if (permit) out.push({ permit, born: states.length });
              } else if (out.length > 0) {
                if (one.do === "answered") out[one.which % out.length]?.permit.answered();
                else end(one.which, one.how === "ok" ? OK : failed(one.how));
              }
              const { state, retryAt } = breaker;
              if (state === "half_open") assert.ok(present() <= limits.probes);
              if (state === "closed") assert.equal(retryAt, 0);
              if (state === "open" && before !== "open") {
                const wait = retryAt - clock.now;
                assert.ok(wait >= 0.8 * Math.min(limits.openFor, limits.maxOpenFor) - 1e-3, `opened for ${wait}`);
                assert.ok(wait <= limits.maxOpenFor + 1e-3, `opened for ${wait}`);
              }
            }
            // Whatever happened, nothing keeps the upstream locked out: when all have ended, time lets a probe through.
            while (out.length > 0) end(0, failed("aborted"));
            clock.now = Math.max(clock.now, breaker.retryAt);
            assert.notEqual(breaker.acquire(), null);
          },
        ),
        { numRuns: RUNS },
      );
    },
    PATIENCE,
  );
});
