import type { UpstreamDialect } from "../dialects/dialect.ts";
import {
  AttemptError,
  type Breaker,
  type BreakerState,
  type Call,
  type ChainStep,
  type DialectName,
  type Exchange,
  type Log,
  type Reply,
  type Snapshot,
  type Target,
  type Upstream,
} from "../kit/index.ts";
import { orderTargets } from "./balance.ts";
import { CircuitBreaker } from "./breaker.ts";
import { KeyPool } from "./keys.ts";
import { Latencies } from "./latency.ts";
import { Pools } from "./pools.ts";
import { Route } from "./route.ts";
import { scriptedUrl } from "./sim/url.ts";
import { Wheel } from "./wheel.ts";

export interface UpstreamsOptions {
  readonly dialects: Partial<Record<DialectName, UpstreamDialect>>;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
  readonly log: Log;
  /** Origin of the simulator, started on first need. */
  readonly simulator?: () => Promise<string>;
}

/** The upstreams of one configuration. */
export interface UpstreamSet {
  /**
   * One attempt at one target, retries within it included; a streamed reply has its first event.
   * @throws AttemptError; GatewayError for a call that the target's dialect cannot express
   */
  send(target: Target, call: Call, exchange: Exchange): Promise<Reply>;
  breaker(name: string): Breaker;
  /** The targets of a step in the order in which to try them. */
  order(step: ChainStep, exchange: Exchange): readonly Target[];
  /** Lets go; connections that no other configuration uses close when their last request has ended. */
  release(): Promise<void>;
}

/** What outlives a configuration: connections, breakers, resting keys, latencies. */
export interface Upstreams {
  /** @throws Error naming an upstream that cannot be built */
  lease(snapshot: Snapshot): Promise<UpstreamSet>;
  /** Ends every connection at once, whatever is leased. */
  close(): Promise<void>;
}

export function createUpstreams(options: UpstreamsOptions): Upstreams {
  return new UpstreamRegistry(options);
}

interface Plan {
  readonly upstream: Upstream;
  /** null: this version does not speak it; the linker has warned, and chains go on to their next step. */
  readonly dialect: UpstreamDialect | null;
  readonly base: URL;
  readonly connectTimeout: number;
}

interface State {
  readonly breaker: CircuitBreaker;
  readonly keys: KeyPool;
}

class UpstreamRegistry implements Upstreams {
  readonly #options: UpstreamsOptions;
  readonly #random: () => number;
  readonly #wheel: Wheel;
  readonly #latencies: Latencies;
  readonly #pools = new Pools();
  readonly #states = new Map<string, State>();
  /** In order of leasing: the last one's settings are in force. */
  readonly #leased: Snapshot[] = [];
  #simulator: Promise<string> | null = null;

  constructor(options: UpstreamsOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#wheel = new Wheel(options.now);
    this.#latencies = new Latencies(options.now);
  }

  async lease(snapshot: Snapshot): Promise<UpstreamSet> {
    const plans = await Promise.all(
      Object.values(snapshot.upstreams).map((upstream) => this.#plan(upstream, snapshot)),
    );
    this.#leased.push(snapshot);
    this.#adopt();
    const releases: (() => Promise<void>)[] = [];
    const routes = new Map<string, Route>();
    for (const plan of plans) {
      const { dialect } = plan;
      if (dialect === null) continue;
      const use = this.#pools.acquire({
        upstream: plan.upstream.name,
        origin: plan.base.origin,
        connections: plan.upstream.connections,
        http2: plan.upstream.http2,
        connectTimeout: plan.connectTimeout,
      });
      releases.push(() => use.release());
      routes.set(
        plan.upstream.name,
        new Route({
          upstream: plan.upstream,
          dialect,
          pool: use.pool,
          basePath: plan.base.pathname.replace(/\/+$/, ""),
          keys: this.#state(plan.upstream).keys,
          latencies: this.#latencies,
          wheel: this.#wheel,
          now: this.#options.now,
          random: this.#random,
          log: this.#options.log,
        }),
      );
    }
    const latency = (target: Target): number => this.#latencies.of(target);
    let held = true;
    return {
      send(target, call, exchange) {
        const route = routes.get(target.upstream);
        if (route !== undefined) return route.send(target, call, exchange);
        const { dialect } = known(snapshot.upstreams[target.upstream], target.upstream);
        return Promise.reject(new AttemptError("protocol", `this gateway does not speak the dialect "${dialect}"`));
      },
      breaker: (name) => known(this.#states.get(name), name).breaker,
      order: (step, { principal }) => orderTargets(step, principal.userId, { random: this.#random, latency }),
      release: async () => {
        if (!held) return;
        held = false;
        this.#leased.splice(this.#leased.indexOf(snapshot), 1);
        this.#adopt();
        await Promise.all(releases.map((release) => release()));
      },
    };
  }

  async close(): Promise<void> {
    await this.#pools.destroy();
  }

  async #plan(upstream: Upstream, snapshot: Snapshot): Promise<Plan> {
    const dialect = this.#options.dialects[upstream.dialect] ?? null;
    const targets = Object.values(snapshot.models).flatMap(({ chain }) => chain.flatMap((step) => step.targets));
    const patience = targets
      .filter((target) => target.upstream === upstream.name)
      .map(({ timeouts }) => timeouts.connect);
    // A target that waits longer than its upstream must find the connection still being made.
    const connectTimeout = Math.max(upstream.timeouts.connect, ...patience);
    return { upstream, dialect, base: await this.#base(upstream), connectTimeout };
  }

  async #base({ name, baseUrl }: Upstream): Promise<URL> {
    const address = baseUrl.startsWith("sim:") ? await this.#simulated(baseUrl.slice("sim:".length)) : baseUrl;
    const url = URL.parse(address);
    if (url?.protocol === "http:" || url?.protocol === "https:") return url;
    throw new Error(`upstreams.${name}.base_url: not an http or https URL`);
  }

  async #simulated(script: string): Promise<string> {
    const { simulator } = this.#options;
    if (!simulator) throw new Error('base_url "sim:" needs the simulator, which is not available here');
    this.#simulator ??= simulator();
    try {
      return scriptedUrl(await this.#simulator, script);
    } catch (error) {
      // The next configuration tries again.
      this.#simulator = null;
      throw error;
    }
  }

  #state({ name, breaker: settings }: Upstream): State {
    const state = this.#states.get(name);
    if (state) return state;
    const { now, log } = this.#options;
    const onChange = (to: BreakerState): void => {
      const level = to === "open" ? "warn" : "info";
      log[level]({ upstream: name }, `breaker ${to}`);
    };
    const made = {
      breaker: new CircuitBreaker({ settings, now, random: this.#random, onChange }),
      keys: new KeyPool(),
    };
    this.#states.set(name, made);
    return made;
  }

  /** Puts the newest lease's settings in force and forgets the upstreams that no lease names. */
  #adopt(): void {
    const snapshot = this.#leased.at(-1);
    if (!snapshot) return;
    for (const upstream of Object.values(snapshot.upstreams)) {
      const { breaker, keys } = this.#state(upstream);
      breaker.configure(upstream.breaker);
      keys.adopt(upstream.apiKeys);
    }
    const named = (name: string): boolean => this.#leased.some(({ upstreams }) => Object.hasOwn(upstreams, name));
    for (const name of this.#states.keys()) if (!named(name)) this.#states.delete(name);
    this.#latencies.prune(named);
  }
}

function known<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`no upstream is named "${name}" in this configuration`);
  return value;
}
