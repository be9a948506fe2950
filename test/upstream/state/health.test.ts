import * as fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { AttemptError, type FailureClass } from "../../../src/kit/index.ts";
import { Health, type HealthContext } from "../../../src/upstream/state/health.ts";
import { PATIENCE, RUNS } from "../../properties/runs.ts";

const MINUTE = 60_000;
const TERMS: HealthContext = {
  breaker: "closed",
  skipped: false,
  spoken: true,
  resting: false,
  probeTimeout: 4_000,
  firstByte: 30_000,
};
const UNPROBED = { ...TERMS, probeTimeout: null };

let now = 0;
let health = new Health(() => now);
beforeEach(() => {
  now = 1_800_000_000_000;
  health = new Health(() => now);
});

const failed = (failure: FailureClass = "status", notUpstreamFault = false): void =>
  health.failed(new AttemptError(failure, "x", { notUpstreamFault }));

/** Live tries, so many of them failed. */
function tries(total: number, failures: number): void {
  for (let count = 0; count < total; count += 1)
    if (count < failures) failed();
    else health.served(10);
}

describe("unknown", () => {
  it("is what nobody has heard of, and it may be sent requests", () => {
    expect(health.view(TERMS)).toEqual({ state: "unknown", latencyMs: 0, canServe: true });
    expect(health.view(UNPROBED)).toEqual({ state: "unknown", latencyMs: 0, canServe: true });
  });

  it.each([
    ["a good probe", () => health.probed(30), "healthy"],
    ["a failed probe", () => health.probed(null), "degraded"],
    ["a served request", () => health.served(30), "healthy"],
    ["a failed request", () => failed(), "degraded"],
  ])("is where it returns to five minutes after %s", (_name, news, state) => {
    news();
    now += 5 * MINUTE - 1;
    expect(health.view(TERMS)).toMatchObject({ state });
    now += 1;
    expect(health.view(TERMS)).toMatchObject({ state: "unknown", latencyMs: 0 });
  });

  it.each<FailureClass>(["aborted", "skipped", "client_fault", "saturated"])("stays for what %s says", (failure) => {
    failed(failure);
    expect(health.view(TERMS).state).toBe("unknown");
  });

  it("stays for what the request's own deadline cut", () => {
    failed("timeout", true);
    expect(health.view(TERMS).state).toBe("unknown");
  });

  it("is where probes lead once they are not wanted", () => {
    health.probed(10);
    expect(health.view(UNPROBED)).toEqual({ state: "unknown", latencyMs: 0, canServe: true });
  });
});

describe("degraded", () => {
  it.each(["open", "half_open"] as const)("with a breaker that is %s", (breaker) => {
    health.probed(10);
    expect(health.view({ ...TERMS, breaker }).state).toBe("degraded");
  });

  it("without news is unknown, whatever the breaker", () => {
    expect(health.view({ ...TERMS, breaker: "open" }).state).toBe("unknown");
  });

  it.each([
    [10, 0, "healthy"],
    [11, 1, "healthy"],
    [10, 1, "degraded"],
    [1, 1, "degraded"],
    [100, 9, "healthy"],
    [100, 10, "degraded"],
  ])("of %i tries, %i failed: %s", (total, failures, state) => {
    tries(total, failures);
    expect(health.view(UNPROBED).state).toBe(state);
  });

  it.each<FailureClass>(["connect", "timeout", "reset", "status", "rate_limited", "credentials", "protocol"])(
    "%s counts as a failure",
    (failure) => {
      health.served(10);
      failed(failure);
      expect(health.view(TERMS).state).toBe("degraded");
    },
  );

  it("until old failures are five minutes past", () => {
    tries(20, 10);
    now += 3 * MINUTE;
    tries(20, 0);
    expect(health.view(TERMS).state).toBe("degraded");
    now += 2 * MINUTE;
    expect(health.view(TERMS).state).toBe("healthy");
  });

  it.each([
    [2_000, "healthy"],
    [2_001, "degraded"],
  ])("a probe of %i ms, of 4 s it may take: %s", (latency, state) => {
    health.probed(latency);
    expect(health.view(TERMS)).toMatchObject({ state, latencyMs: latency });
  });

  it.each([
    [15_000, "healthy"],
    [15_001, "degraded"],
  ])("a first byte after %i ms, of 30 s it may take: %s", (latency, state) => {
    health.served(latency);
    // Live traffic is measured by its own bound, also where probes are made but none has come back yet.
    for (const terms of [TERMS, UNPROBED]) expect(health.view(terms)).toMatchObject({ state, latencyMs: latency });
  });

  it("not for a probe that failed while requests are served: probes fill silence only", () => {
    health.served(10);
    health.probed(null);
    expect(health.view(TERMS)).toEqual({ state: "healthy", latencyMs: 10, canServe: true });
    now += 4 * MINUTE;
    health.probed(null);
    now += MINUTE;
    expect(health.view(TERMS)).toEqual({ state: "degraded", latencyMs: 0, canServe: false });
  });

  it("for requests that fail, however well the probes do", () => {
    for (let count = 0; count < 3; count += 1) {
      failed("credentials", true);
      health.probed(10);
    }
    expect(health.view(TERMS)).toMatchObject({ state: "degraded", canServe: false });
  });

  it("a probe that is refused is no outage, and ends one", () => {
    health.probed("refused");
    expect(health.view(TERMS)).toEqual({ state: "unknown", latencyMs: 0, canServe: true });
    health.probed(null);
    expect(health.view(TERMS)).toMatchObject({ state: "degraded", canServe: false });
    health.probed("refused");
    expect(health.view(TERMS)).toMatchObject({ state: "unknown", canServe: true });
  });
});

describe("latency", () => {
  it("is that of live traffic, else the last good probe's", () => {
    health.served(800);
    health.probed(35.4);
    expect(health.view(TERMS).latencyMs).toBe(800);
    now += 5 * MINUTE;
    health.probed(35.4);
    expect(health.view(TERMS).latencyMs).toBe(35);
    health.probed(null);
    expect(health.view(TERMS).latencyMs).toBe(35);
    health.served(600);
    expect(health.view(TERMS).latencyMs).toBe(600);
  });

  it("of live traffic is a mean that follows", () => {
    for (const latency of [100, 200, 100, 200, 100, 200]) health.served(latency);
    const { latencyMs } = health.view(UNPROBED);
    expect(latencyMs).toBeGreaterThan(110);
    expect(latencyMs).toBeLessThan(190);
    for (let count = 0; count < 50; count += 1) health.served(1_000);
    expect(health.view(UNPROBED).latencyMs).toBe(1_000);
  });

  it("is never 0 where something was measured", () => {
    health.served(0);
    expect(health.view(UNPROBED).latencyMs).toBe(1);
    health.probed(0.2);
    expect(health.view(TERMS).latencyMs).toBe(1);
  });

  it("of an answer that was not measured is none", () => {
    health.served(null);
    expect(health.view(UNPROBED)).toEqual({ state: "healthy", latencyMs: 0, canServe: true });
  });
});

const ofModel = (failure: FailureClass, model: string): void =>
  health.failed(new AttemptError(failure, "x", { notUpstreamFault: failure === "credentials" }), model);

describe("can serve", () => {
  it.each([
    ["attempts are made", true, false],
    ["the breaker or an operator has them skipped", false, true],
  ] as const)("when %s: %s", (_, canServe, skipped) => {
    expect(health.view({ ...TERMS, skipped }).canServe).toBe(canServe);
  });

  it("not in a dialect that is not spoken", () => {
    expect(health.view({ ...TERMS, spoken: false }).canServe).toBe(false);
  });

  it("not while every key rests", () => {
    expect(health.view({ ...TERMS, resting: true }).canServe).toBe(false);
  });

  it("not once a probe failed in silence, until a later one or a served request succeeds", () => {
    health.probed(null);
    expect(health.view(TERMS).canServe).toBe(false);
    health.served(10);
    expect(health.view(TERMS).canServe).toBe(true);
    now += 5 * MINUTE;
    health.probed(null);
    health.probed(10);
    expect(health.view(TERMS).canServe).toBe(true);
  });

  it("not after two failures in a row, until something is served or they are five minutes past", () => {
    failed();
    expect(health.view(TERMS).canServe).toBe(true);
    failed();
    expect(health.view(TERMS).canServe).toBe(false);
    health.served(10);
    expect(health.view(TERMS).canServe).toBe(true);
    failed();
    failed();
    now += 5 * MINUTE;
    expect(health.view(TERMS).canServe).toBe(true);
  });

  it.each<[FailureClass, alone: boolean]>([
    ["declined", true],
    ["rate_limited", true],
    ["parameter", true],
    ["credentials", false],
    ["connect", false],
    ["timeout", false],
    ["status", false],
  ])("a model that meets nothing but %s is down; alone: %s", (failure, alone) => {
    for (let count = 0; count < 2; count += 1) ofModel(failure, "a");
    expect(health.view(TERMS)).toMatchObject({ state: "degraded", canServe: alone });
    expect([health.serves("a"), health.serves("b")]).toEqual([false, true]);
    health.served(10, now, "b");
    expect([health.view(TERMS).canServe, health.serves("a")]).toEqual([true, false]);
    health.served(10, now, "a");
    expect(health.serves("a")).toBe(true);
  });

  it.each<FailureClass>(["client_fault", "context_overflow", "saturated", "aborted"])(
    "a model is not down for %s",
    (failure) => {
      for (let count = 0; count < 5; count += 1) ofModel(failure, "a");
      expect(health.serves("a")).toBe(true);
    },
  );

  it("remembers a bounded number of models", () => {
    for (let count = 0; count < 3_000; count += 1) ofModel("declined", `m${count % 1_500}`);
    expect(health.serves("m1499")).toBe(true);
    for (let count = 0; count < 2; count += 1) ofModel("declined", "m1499");
    expect(health.serves("m1499")).toBe(false);
  });

  it("whatever an old probe said, where probes are no longer made", () => {
    health.probed(null);
    expect(health.view(UNPROBED).canServe).toBe(true);
  });
});

it(
  "any history: whole non-negative latencies, and a state that its parts allow",
  () => {
    const news = fc.oneof(
      fc.record({ served: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: null }) }),
      fc.record({ probed: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: null }) }),
      fc.record({ failure: fc.constantFrom<FailureClass>("status", "timeout", "aborted", "saturated") }),
      fc.record({ pass: fc.integer({ min: -1_000, max: 8 * MINUTE }) }),
    );
    const terms = fc.record({
      breaker: fc.constantFrom("closed" as const, "open" as const, "half_open" as const),
      skipped: fc.boolean(),
      spoken: fc.boolean(),
      resting: fc.boolean(),
      probeTimeout: fc.option(fc.integer({ min: 1, max: 10_000 }), { nil: null }),
      firstByte: fc.integer({ min: 1, max: 60_000 }),
    });
    fc.assert(
      fc.property(fc.array(news), terms, (history, asked) => {
        let clock = 1_800_000_000_000;
        const one = new Health(() => clock);
        for (const item of history) {
          if ("served" in item) one.served(item.served);
          else if ("probed" in item) one.probed(item.probed);
          else if ("failure" in item) one.failed(new AttemptError(item.failure, "x"));
          else clock += item.pass;
        }
        const { state, latencyMs, canServe } = one.view(asked);
        expect(Number.isSafeInteger(latencyMs) && latencyMs >= 0).toBe(true);
        expect(state === "healthy" && asked.breaker !== "closed").toBe(false);
        expect(canServe && (asked.skipped || !asked.spoken || asked.resting)).toBe(false);
        clock += 5 * MINUTE + 1_000 * history.length;
        expect(one.view(asked)).toMatchObject({ state: "unknown", latencyMs: 0 });
      }),
      { numRuns: RUNS },
    );
  },
  PATIENCE,
);
