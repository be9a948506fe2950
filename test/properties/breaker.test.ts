import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  AttemptError,
  type BreakerSettings,
  type FailureClass,
  type Permit,
  type Upstream,
} from "../../src/kit/index.ts";
import type { CircuitBreaker } from "../../src/upstream/state/breaker.ts";
import { UpstreamStates } from "../../src/upstream/state/states.ts";
import { TestLog } from "../support/host.ts";
import { testSnapshot, testUpstream } from "../support/snapshot.ts";
import { BreakerModel, type Verdict } from "./breaker-model.ts";
import { PATIENCE, RUNS } from "./runs.ts";

const NAMES = ["alpha", "beta"] as const;
type Name = (typeof NAMES)[number];

/** What each class of failure says of the upstream (a 429 says nothing). */
const VERDICTS: Readonly<Record<FailureClass, Verdict>> = {
  connect: "bad",
  timeout: "bad",
  reset: "bad",
  status: "bad",
  credentials: "bad",
  quota: "bad",
  protocol: "bad",
  saturated: "nothing",
  rate_limited: "nothing",
  unsupported: "nothing",
  client_fault: "nothing",
  aborted: "nothing",
  skipped: "nothing",
  resting: "nothing",
  declined: "nothing",
  parameter: "nothing",
  context_overflow: "nothing",
};

type Models = Readonly<Record<Name, BreakerModel>>;

/** Two upstreams of one process; what happens to one must not show in the other. */
interface Real {
  now: number;
  /** Uniform in [0, 1): the next wait's place in its bounds. */
  chance: number;
  readonly states: UpstreamStates;
  readonly log: TestLog;
  readonly upstreams: Readonly<Record<Name, { readonly breaker: CircuitBreaker; readonly permits: Permit[] }>>;
}

type Command = fc.Command<Models, Real>;

/** A command on one upstream, after which both are what their models are. */
function command(name: Name, what: string, work: (model: BreakerModel, real: Real) => void): Command {
  return {
    check: () => true,
    run: (models, real) => {
      const before = real.upstreams[name].breaker.state;
      expect(before).toBe(models[name].state);
      work(models[name], real);
      for (const each of NAMES) compare(each, models[each], real);
    },
    toString: () => `${name} ${what}`,
  };
}

function compare(name: Name, model: BreakerModel, { now, log, upstreams }: Real): void {
  const { breaker } = upstreams[name];
  model.passed(now);
  const { state, retryAt } = breaker;
  expect({ state, retryAt }).toEqual({ state: model.state, retryAt: model.retryAt });
  const lines = log.lines.filter(({ fields }) => "upstream" in fields && fields.upstream === name);
  expect(lines.map(({ message }) => message)).toEqual(model.history.slice(1).map((to) => `breaker ${to}`));
}

const acquire = (name: Name): Command =>
  command(name, "acquire", (model, { upstreams }) => {
    const { breaker, permits } = upstreams[name];
    const permit = breaker.acquire();
    expect(permit !== null).toBe(model.lets);
    if (!permit) return;
    permits.push(permit);
    model.begin();
  });

/** An attempt, from the latest on: it may have ended, or be one of a state long gone. */
const indexOf = (which: number, { length }: readonly Permit[]): number => length - 1 - (which % length);

const answered = (name: Name, which: number): Command =>
  command(name, `answered ${which}`, (model, { now, upstreams }) => {
    const { permits } = upstreams[name];
    if (permits.length === 0) return;
    const index = indexOf(which, permits);
    permits[index]!.answered();
    model.answered(index, now);
  });

const end = (name: Name, which: number, how: FailureClass | "ok", neutral: boolean): Command =>
  command(name, `end ${which} ${how}${neutral ? " neutral" : ""}`, (model, { now, upstreams }) => {
    const { breaker, permits } = upstreams[name];
    if (permits.length === 0) return;
    const index = indexOf(which, permits);
    const failed = how !== "ok" && {
      ok: false as const,
      error: new AttemptError(how, how, { notUpstreamFault: neutral }),
    };
    permits[index]!.end(failed || { ok: true });
    const verdict = how === "ok" ? "good" : neutral ? "nothing" : VERDICTS[how];
    const rest = model.ended(index, verdict, now, breaker.state === "open");
    if (!rest) return;
    expect(breaker.retryAt - now).toBeGreaterThanOrEqual(rest[0] - 1e-3);
    expect(breaker.retryAt - now).toBeLessThanOrEqual(rest[1] + 1e-3);
    model.rest(breaker.retryAt);
  });

const pass = (name: Name, milliseconds: number, chance: number): Command =>
  command(name, `pass ${milliseconds}`, (model, real) => {
    real.now += milliseconds;
    real.chance = chance;
    model.passed(real.now);
  });

/** To the very moment, or the millisecond before it. */
const untilRetry = (name: Name, early: boolean): Command =>
  command(name, `until retry${early ? ", almost" : ""}`, (model, real) => {
    real.now = Math.max(real.now, real.upstreams[name].breaker.retryAt - Number(early));
    model.passed(real.now);
  });

/** Both upstreams are in the new configuration, one of them with other settings; what is known of it outlives that. */
const reload = (name: Name, settings: BreakerSettings): Command =>
  command(name, `reload ${JSON.stringify(settings)}`, (model, { states, upstreams }) => {
    model.configure(settings);
    const upstream = testUpstream(name, { breaker: settings });
    states.configure(testSnapshot({ upstreams: [upstream] }));
    expect(states.get(name).breaker).toBe(upstreams[name].breaker);
  });

const SETTINGS: fc.Arbitrary<BreakerSettings> = fc.record({
  consecutive: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constant(1_000)),
  window: fc.constantFrom(200, 1_000, 30_000, 47_013),
  ratio: fc.constantFrom(0.1, 0.34, 0.5, 1),
  minimum: fc.integer({ min: 1, max: 6 }),
  openFor: fc.constantFrom(10, 1_000, 10_000),
  maxOpenFor: fc.constantFrom(10_000, 60_000),
  probes: fc.integer({ min: 1, max: 3 }),
});

const name = fc.constantFrom(...NAMES);
/** From the latest on; mostly the latest. */
const which = fc.oneof(fc.constant(0), fc.nat(30));
const HOW = fc.constantFrom("ok" as const, "ok" as const, ...(Object.keys(VERDICTS) as FailureClass[]));
const chance = fc.constantFrom(0, 0.25, 0.5, 0.75, 0.999_999);
const TIME = fc.oneof(fc.nat(200), fc.constantFrom(999, 1_000, 3_000, 26_999, 27_000, 30_000, 60_000));

const COMMANDS = fc.commands(
  [
    name.map(acquire),
    name.map(acquire),
    fc.tuple(name, which).map((args) => answered(...args)),
    fc
      .tuple(
        name,
        which,
        HOW,
        fc.nat(7).map((one) => one === 0),
      )
      .map((args) => end(...args)),
    fc.tuple(name, which, HOW, fc.constant(false)).map((args) => end(...args)),
    fc.tuple(name, TIME, chance).map((args) => pass(...args)),
    fc.tuple(name, fc.boolean()).map((args) => untilRetry(...args)),
    fc.tuple(name, SETTINGS).map((args) => reload(...args)),
  ],
  { size: "max", maxCommands: 60 },
);

function setup(settings: Readonly<Record<Name, BreakerSettings>>): { model: Models; real: Real } {
  const log = new TestLog();
  const time = { now: 1_000_000, chance: 0.5 };
  const states = new UpstreamStates({ now: () => time.now, random: () => time.chance, log });
  const made = (of: (upstream: Upstream) => CircuitBreaker) => {
    const one = (name: Name) => ({ breaker: of(testUpstream(name, { breaker: settings[name] })), permits: [] });
    return { alpha: one("alpha"), beta: one("beta") };
  };
  const upstreams = made((upstream) => states.of(upstream).breaker);
  const model = { alpha: new BreakerModel(settings.alpha), beta: new BreakerModel(settings.beta) };
  return { model, real: Object.assign(time, { states, log, upstreams }) };
}

test("any history of two upstreams is what the model says", { timeout: PATIENCE }, () => {
  const property = fc.property(fc.record({ alpha: SETTINGS, beta: SETTINGS }), COMMANDS, (settings, commands) => {
    const { model, real } = setup(settings);
    fc.modelRun(() => ({ model, real }), commands);
    // Whatever happened, nothing keeps an upstream locked out: when all has ended, time lets a probe through.
    for (const each of NAMES) {
      const { breaker, permits } = real.upstreams[each];
      for (const permit of permits) permit.end({ ok: false, error: new AttemptError("aborted", "aborted") });
      real.now = Math.max(real.now, breaker.retryAt);
      expect(breaker.acquire()).not.toBe(null);
    }
  });
  expect(fc.assert(property, { numRuns: RUNS })).toBeUndefined();
});
