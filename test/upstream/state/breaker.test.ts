import { describe, expect, it } from "vitest";
import { AttemptError, type AttemptResult, type BreakerSettings, type FailureClass } from "../../../src/kit/index.ts";
import { CircuitBreaker } from "../../../src/upstream/state/breaker.ts";

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
