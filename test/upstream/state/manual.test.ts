import { describe, expect, it } from "vitest";
import { AttemptError, type BreakerSettings } from "../../../src/kit/index.ts";
import { CircuitBreaker } from "../../../src/upstream/state/breaker.ts";
import { type ManualChange, ManualControls, type ManualMode } from "../../../src/upstream/state/manual.ts";

const SETTINGS: BreakerSettings = {
  consecutive: 2,
  window: 30_000,
  ratio: 0.5,
  minimum: 20,
  openFor: 10_000,
  maxOpenFor: 300_000,
  probes: 1,
};
const FAILED = { ok: false, error: new AttemptError("status", "upstream answered 500") } as const;

function setup() {
  const clock = { now: 1_000_000 };
  const now = (): number => clock.now;
  const controls = new ManualControls(now);
  const changes: [string, ManualChange["type"]][] = [];
  controls.onChange((upstream, { type }) => changes.push([upstream, type]));
  const breaker = new CircuitBreaker({ settings: SETTINGS, now, random: () => 0.5, manual: controls.of("alpha") });
  const set = (mode: ManualMode, ms = 60_000): void =>
    controls.replaceAll(
      new Map([["alpha", { mode, since: clock.now, until: clock.now + ms, by: "ada", reason: "maintenance" }]]),
    );
  const fail = (times: number): void => {
    for (let time = 0; time < times; time += 1) breaker.acquire()?.end(FAILED);
  };
  return { clock, controls, breaker, changes, set, fail };
}

describe("what an operator sets", () => {
  it.each(["drain", "open"] as const)("%s lets nothing new through, and goes on counting what runs", (mode) => {
    const { breaker, set, controls } = setup();
    const running = [breaker.acquire(), breaker.acquire()];
    set(mode);
    expect(breaker.acquire()).toBe(null);
    expect(breaker).toMatchObject({ state: "open", counted: "closed" });
    for (const permit of running) permit?.end(FAILED);
    expect(breaker.counted).toBe("open");
    controls.replaceAll(new Map());
    expect(breaker.acquire()).toBe(null);
  });

  it("close lets everything through, and what comes of it changes nothing", () => {
    const { breaker, set, fail, clock, controls } = setup();
    fail(2);
    expect(breaker.state).toBe("open");
    set("close");
    expect(breaker).toMatchObject({ state: "closed", retryAt: 0, counted: "open" });
    fail(20);
    breaker.acquire()?.end({ ok: true });
    expect(breaker).toMatchObject({ state: "closed", counted: "open" });
    controls.replaceAll(new Map());
    expect(breaker.state).toBe("open");
    clock.now = breaker.retryAt;
    expect(breaker.acquire()).not.toBe(null);
  });

  it("ends by itself, to the millisecond, whether or not anybody takes note", () => {
    const { breaker, set, clock, controls, changes } = setup();
    set("open", 5_000);
    clock.now += 4_999;
    expect(breaker.acquire()).toBe(null);
    clock.now += 1;
    expect(breaker.acquire()).not.toBe(null);
    expect(controls.of("alpha").setting).toBe(null);
    controls.end();
    controls.end();
    expect(changes).toEqual([
      ["alpha", "set"],
      ["alpha", "ended"],
    ]);
  });

  it("tells nobody to wait longer than an open breaker would", () => {
    const { breaker, set, clock } = setup();
    set("drain", 86_400_000);
    expect(breaker.retryAt).toBe(clock.now + SETTINGS.openFor);
    set("drain", 3_000);
    expect(breaker.retryAt).toBe(clock.now + 3_000);
  });

  it("is told once, however often it is read", () => {
    const { set, controls, clock, changes } = setup();
    const setting = { mode: "open", since: clock.now, until: clock.now + 9, by: "ada", reason: "x" } as const;
    for (let time = 0; time < 3; time += 1) controls.replaceAll(new Map([["alpha", setting]]));
    set("close");
    for (let time = 0; time < 3; time += 1) controls.replaceAll(new Map());
    expect(changes.map(([, type]) => type)).toEqual(["set", "set", "lifted"]);
  });
});
