import * as fc from "fast-check";
import { expect, test } from "vitest";
import breaker from "../../plugins/breaker.ts";
import streamRelay from "../../plugins/stream-relay.ts";
import {
  AttemptError,
  type ChainStep,
  GatewayError,
  type Host,
  type Reply,
  type Snapshot,
  type Target,
} from "../../src/kit/index.ts";
import { Attempts } from "../../src/pipeline/attempts.ts";
import { buildPipeline, type Pipeline } from "../../src/pipeline/build.ts";
import { orderTargets } from "../../src/upstream/state/balance.ts";
import { UpstreamStates } from "../../src/upstream/state/states.ts";
import { pluginHost } from "../plugins/harness.ts";
import { ManualClock } from "../support/clock.ts";
import { testExchange } from "../support/exchange.ts";
import { TestLog, TestObserver } from "../support/host.ts";
import { testModel, testSnapshot, testTarget, testUpstream } from "../support/snapshot.ts";
import { PATIENCE, RUNS } from "./runs.ts";

const CLOCK = { elapsed: () => 0, tried: () => {} };

const NAMES = ["alpha", "beta", "gamma"] as const;
type Name = (typeof NAMES)[number];

/** What an attempt may come to: bad for the upstream, or of no meaning to it; the chain goes on after each of them. */
const BAD = ["connect", "timeout", "reset", "status", "credentials", "protocol"] as const;
type Fate = (typeof BAD)[number] | "rate_limited" | "served" | "client_fault";

const FATE: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...BAD) },
  { weight: 1, arbitrary: fc.constantFrom("rate_limited", "served", "client_fault") },
);
const FATES = fc.oneof(
  fc.array(fc.constantFrom<Fate>(...BAD), { minLength: 1, maxLength: 3 }),
  fc.array(FATE, { minLength: 1, maxLength: 6 }),
);

const CHAIN: fc.Arbitrary<readonly ChainStep[]> = fc
  .record({
    names: fc.shuffledSubarray([...NAMES], { minLength: 1 }),
    first: fc.integer({ min: 1, max: NAMES.length }),
    balance: fc.constantFrom("weighted", "latency", "sticky"),
  })
  .map(({ names, first, balance }) => {
    const targets = names.map((name, index) => testTarget(name, { weight: index + 1 }));
    const rest = targets.slice(first).map((target): ChainStep => ({ balance: "single", targets: [target] }));
    return [{ balance: first > 1 ? balance : "single", targets: targets.slice(0, first) }, ...rest];
  });

const PROGRAM = fc.record({
  chain: CHAIN,
  fates: fc.record({ alpha: FATES, beta: FATES, gamma: FATES }),
  limits: fc.record({ consecutive: fc.integer({ min: 1, max: 3 }), probes: fc.integer({ min: 1, max: 2 }) }),
  /** Each client asks so often, one request after the other, and rests so many milliseconds in between. */
  clients: fc.array(fc.array(fc.constantFrom(0, 0, 1, 1_000, 13_000), { minLength: 1, maxLength: 8 }), {
    minLength: 1,
    maxLength: 4,
  }),
  chances: fc.array(fc.constantFrom(0, 0.02, 0.3, 0.5, 0.7, 0.999), { minLength: 1, maxLength: 7 }),
});
type Program = typeof PROGRAM extends fc.Arbitrary<infer Value> ? Value : never;

interface Attempt {
  readonly upstream: Name;
  readonly fate: Fate;
}

/** Clients that ask at the same time for a model whose upstreams answer when the scheduler likes. */
class Run {
  readonly #scheduler: fc.Scheduler;
  readonly #program: Program;
  readonly #clock = new ManualClock();
  readonly #log = new TestLog();
  readonly #states: UpstreamStates;
  readonly #snapshot: Snapshot;
  readonly #attempts: Attempt[] = [];
  /** Attempts under way that began as probes, by upstream and its number of changes then. */
  readonly #probes = new Map<string, number>();
  readonly #wrong: string[] = [];
  #drawn = 0;

  constructor(scheduler: fc.Scheduler, program: Program) {
    this.#scheduler = scheduler;
    this.#program = program;
    // A ratio of few results would open a circuit as well.
    const settings = { ...testUpstream("any").breaker, ...program.limits, minimum: 1_000 };
    this.#snapshot = testSnapshot({
      upstreams: NAMES.map((name) => testUpstream(name, { breaker: settings })),
      models: [testModel("route/free", { chain: program.chain, deadline: 1e9 })],
    });
    this.#states = new UpstreamStates({ now: this.#clock.now, random: () => this.#random(), log: this.#log });
    this.#states.configure(this.#snapshot);
  }

  /** @returns what is wrong. */
  async play(base: Host): Promise<readonly string[]> {
    const random = (): number => this.#random();
    const host: Host = {
      ...base,
      snapshot: this.#snapshot,
      now: this.#clock.now,
      schedule: this.#clock.schedule,
      breaker: (name) => this.#states.get(name).breaker,
      order: (step) => orderTargets(step, "ann", { random, latency: () => 0 }),
    };
    const linked = [breaker, streamRelay].map((plugin) => ({
      plugin,
      settings: { use: plugin.name, options: {}, when: null, fail: "closed" as const },
    }));
    const pipeline = await buildPipeline(linked, host);
    const { clients } = this.#program;
    await this.#scheduler.waitFor(Promise.all(clients.map((rests) => this.#client(pipeline, rests))));
    for (const name of NAMES) {
      this.#checkAttempts(name);
      const { breaker } = this.#states.get(name);
      this.#clock.advance(Math.max(0, breaker.retryAt - this.#clock.now()));
      this.#check(`${name} is not locked out`, breaker.acquire() !== null);
    }
    return this.#wrong;
  }

  async #client(pipeline: Pipeline, rests: readonly number[]): Promise<void> {
    for (const rest of rests) {
      await this.#ask(pipeline);
      this.#clock.advance(rest);
    }
  }

  async #ask(pipeline: Pipeline): Promise<void> {
    const exchange = testExchange(this.#snapshot);
    const plan = pipeline.hooksFor(exchange);
    const made: Attempt[] = [];
    const send = async (target: Target): Promise<Reply> => this.#send(target, made);
    const { open } = new Attempts(plan, exchange.call, exchange, send, new TestObserver(), CLOCK);
    const error: unknown = await plan.relay.call(exchange, open).then(
      () => null,
      (error: unknown) => error,
    );
    const steps = made.map(({ upstream }) => this.#stepOf(upstream));
    this.#check("each at most once", new Set(made.map(({ upstream }) => upstream)).size === made.length);
    this.#check("in the chain's order", String(steps) === String(steps.toSorted((a, b) => a - b)));
    const last = made.at(-1)?.fate;
    const goesOn = made.slice(0, -1).every(({ fate }) => fate !== "served" && fate !== "client_fault");
    this.#check("nothing after the end", goesOn);
    const code = error instanceof GatewayError ? error.code : error;
    if (made.length === 0) this.#check("none: the circuits were open", code === "CIRCUIT_BREAKER_OPEN");
    else if (last === "served") this.#check("served", code === null);
    else if (last === "client_fault") this.#check("the client's fault", code === "INVALID_REQUEST");
    else this.#check("a verdict", code === "PROVIDER_ERROR" || code === "PROVIDER_TIMEOUT");
  }

  async #send(target: Target, made: Attempt[]): Promise<Reply> {
    const upstream = target.upstream as Name;
    const list = this.#program.fates[upstream];
    const fate = list[this.#of(upstream).length % list.length]!;
    const attempt = { upstream, fate };
    made.push(attempt);
    this.#attempts.push(attempt);
    const { state } = this.#states.get(upstream).breaker;
    this.#check("nothing is sent through an open circuit", state !== "open");
    const period = `${upstream} ${this.#changes(upstream).length}`;
    const probing = (by: number): number => {
      const probes = (this.#probes.get(period) ?? 0) + by;
      this.#probes.set(period, probes);
      return probes;
    };
    const isProbe = state === "half_open";
    if (isProbe) this.#check("probes under way", probing(1) <= this.#program.limits.probes);
    await this.#scheduler.schedule(Promise.resolve(), `${upstream} ${fate}`);
    if (isProbe) probing(-1);
    if (fate === "served") return { type: "answer", target, body: {}, usage: null };
    throw new AttemptError(fate, `${upstream} ${fate}`);
  }

  /** What only fails is hardly ever tried: until its circuit opens, and then by probes. */
  #checkAttempts(name: Name): void {
    const { fates, limits, clients } = this.#program;
    if (!fates[name].every((fate) => (BAD as readonly Fate[]).includes(fate))) return;
    const halfOpen = this.#changes(name).filter((message) => message === "breaker half_open").length;
    const most = limits.consecutive - 1 + clients.length + halfOpen * limits.probes;
    this.#check(`${name} is left alone`, this.#of(name).length <= most);
  }

  #of(name: Name): readonly Attempt[] {
    return this.#attempts.filter(({ upstream }) => upstream === name);
  }

  #stepOf(name: Name): number {
    return this.#program.chain.findIndex(({ targets }) => targets.some(({ upstream }) => upstream === name));
  }

  #changes(name: Name): readonly string[] {
    const lines = this.#log.lines.filter(({ fields }) => "upstream" in fields && fields.upstream === name);
    return lines.map(({ message }) => message);
  }

  #random(): number {
    const { chances } = this.#program;
    return chances[this.#drawn++ % chances.length]!;
  }

  #check(what: string, holds: boolean): void {
    if (!holds) this.#wrong.push(what);
  }
}

test("a chain tries each target at most once, and one that only fails hardly ever", { timeout: PATIENCE }, async () => {
  const base = await pluginHost();
  const property = fc.asyncProperty(fc.scheduler(), PROGRAM, async (scheduler, program) => {
    expect(await new Run(scheduler, program).play(base)).toEqual([]);
  });
  await expect(fc.assert(property, { numRuns: RUNS })).resolves.toBeUndefined();
});
