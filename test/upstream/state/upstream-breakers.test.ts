import { describe, expect, it } from "vitest";
import { AttemptError, type BreakerScope, type BreakerSettings } from "../../../src/kit/index.ts";
import { ManualControls, type ManualMode } from "../../../src/upstream/state/manual.ts";
import { UpstreamStates } from "../../../src/upstream/state/states.ts";
import { TestLog } from "../../support/host.ts";
import { step, testModel, testSnapshot, testUpstream } from "../../support/snapshot.ts";

const failed = (retryAfter: number | null = null) =>
  ({ ok: false, error: new AttemptError("status", "upstream answered 503", { status: 503, retryAfter }) }) as const;

function setup({ scope = "target", models = ["large", "small"] }: { scope?: BreakerScope; models?: string[] } = {}) {
  const clock = { now: 1_000_000 };
  const now = (): number => clock.now;
  const log = new TestLog();
  const manual = new ManualControls(now);
  const states = new UpstreamStates({ now, random: () => 0.5, log, manual });
  const configure = (to: BreakerScope, names: readonly string[], more: Partial<BreakerSettings> = {}): void => {
    const upstream = testUpstream("alpha");
    const breaker = { ...upstream.breaker, ...more, scope: to };
    const chain = [step("alpha")];
    const [target] = chain[0]!.targets;
    const served = names.map((model) => {
      const own = [{ ...chain[0]!, targets: [{ ...target!, model }] }];
      return testModel(`route/${model}`, { chain: own });
    });
    const snapshot = testSnapshot({ upstreams: [{ ...upstream, breaker }], models: served });
    states.of(snapshot.upstreams["alpha"]!);
    states.configure(snapshot);
  };
  configure(scope, models);
  const fail = (model: string, times = 3, wait: number | null = null): void => {
    for (let time = 0; time < times; time += 1) states.get("alpha").breakers.of(model).acquire()?.end(failed(wait));
  };
  const set = (mode: ManualMode | null, ms = 60_000): void => {
    const setting = mode && { mode, since: clock.now, until: clock.now + ms, by: "ada", reason: "x" };
    manual.replaceAll(new Map(setting === null ? [] : [["alpha", setting]]));
  };
  const state = (model?: string): string => states.get("alpha").breakers.of(model).state;
  return { clock, log, states, manual, configure, fail, set, state, alpha: () => states.get("alpha") };
}

describe("one breaker for the upstream", () => {
  it("opens for all models, whichever of them fails", () => {
    const { fail, state, alpha } = setup({ scope: "upstream" });
    fail("large");
    expect([state("large"), state("small"), state()]).toEqual(["open", "open", "open"]);
    expect([...alpha().breakers.models()]).toEqual([]);
    expect(alpha().breaker).toBe(alpha().breakers.of("small"));
  });
});

describe("one breaker for each model", () => {
  it("opens for the model that fails", () => {
    const { fail, state, alpha, log } = setup();
    fail("large");
    expect([state("large"), state("small"), state()]).toEqual(["open", "closed", "half_open"]);
    expect(alpha().breakers.of("large").acquire()).toBe(null);
    expect(alpha().breakers.of("small").acquire()).not.toBe(null);
    expect(alpha().transitions).toMatchObject([{ state: "open", model: "large" }]);
    expect(log.lines).toMatchObject([{ level: "warn", fields: { upstream: "alpha", model: "large" } }]);
  });

  it("is an outage of the upstream when no model is left, until the first serves again", () => {
    const { fail, state, alpha, clock } = setup();
    fail("large");
    fail("small");
    expect(state()).toBe("open");
    expect(alpha().breakers.of().retryAt).toBe(clock.now + 10_000);
    clock.now += 10_000;
    expect(state()).toBe("half_open");
    alpha().breakers.of("small").acquire()!.end({ ok: true });
    const whole = alpha().transitions.filter(({ model }) => model === undefined);
    expect(whole.map((one) => one.state)).toEqual(["open", "closed"]);
    expect([state("large"), state("small")]).toEqual(["half_open", "closed"]);
  });

  it("keeps what it knows of a model that stays, and forgets one that goes", () => {
    const { configure, fail, state } = setup();
    fail("large");
    fail("small");
    configure("target", ["large", "other"], { consecutive: 5 });
    expect([state("large"), state("other")]).toEqual(["open", "closed"]);
    configure("target", ["large", "small"]);
    expect(state("small")).toBe("closed");
    configure("upstream", ["large", "small"]);
    expect([state("large"), state()]).toEqual(["closed", "closed"]);
    configure("target", ["large", "small"]);
    expect(state("large")).toBe("closed");
  });

  it.each(["open", "drain", "close"] as const)("obeys what an operator sets of the upstream: %s", (mode) => {
    const { fail, set, state, alpha } = setup();
    fail("large");
    set(mode);
    const expected = mode === "close" ? "closed" : "open";
    expect([state("large"), state("small"), state()]).toEqual([expected, expected, expected]);
    expect(alpha().breakers.of("small").acquire() === null).toBe(mode !== "close");
    set(null);
    expect([state("large"), state("small")]).toEqual(["open", "closed"]);
  });
});

describe("the time that a breaker stays open", () => {
  it.each([
    [null, 10_000],
    [4_000, 10_000],
    [45_000, 45_000],
    [299_000, 299_000],
    [86_400_000, 300_000],
  ])("a provider that asks for %j ms is left alone for %i ms", (told, expected) => {
    const { fail, alpha, clock } = setup();
    fail("large", 3, told);
    expect(alpha().breakers.of("large").retryAt - clock.now).toBe(expected);
  });
});

function resting() {
  const made = setup();
  const { keys } = made.alpha();
  const limited = new AttemptError("rate_limited", "limited", { status: 429, retryAfter: 60_000 });
  const rest = (): void => {
    keys.failed(keys.pick("large", [], 0, Infinity)!, "large", limited, "u", made.clock.now);
  };
  rest();
  return { ...made, rest, count: () => keys.cooldowns(made.clock.now).length };
}

describe("cooldowns of the upstream's keys", () => {
  it("end when an operator closes the upstream, and when what is set is cleared", () => {
    const { set, rest, count, log } = resting();
    set("close");
    expect(count()).toBe(0);
    rest();
    set(null);
    expect(count()).toBe(0);
    const lines = log.lines.filter(({ message }) => message === "cooldowns ended");
    expect(lines.map(({ fields }) => fields)).toEqual([
      { upstream: "alpha", cooldowns: 1, by: "override" },
      { upstream: "alpha", cooldowns: 1, by: "override" },
    ]);
  });

  it.each(["open", "drain"] as const)("stay when an operator sets %s, and when that ends by itself", (mode) => {
    const { set, count, clock, manual } = resting();
    set(mode, 5_000);
    clock.now += 5_000;
    manual.end();
    expect(count()).toBe(1);
  });

  it("end for all upstreams at a reload", () => {
    const { states, count } = resting();
    expect([states.endCooldowns("reload"), count(), states.endCooldowns("reload")]).toEqual([1, 0, 0]);
  });
});
