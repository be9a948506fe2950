import type { UpstreamDialect } from "../dialects/dialect.ts";
import {
  AttemptError,
  type Breaker,
  type Call,
  type Cancellation,
  type ChainStep,
  type DialectName,
  type Exchange,
  type Log,
  NO_PROXIES,
  type ProxyRules,
  type ModelListing,
  type Reply,
  type Snapshot,
  type Target,
  type Upstream,
} from "../kit/index.ts";
import { listModels } from "./list-models.ts";
import { locationOf, proxyOf } from "./location.ts";
import { DeadlineSweeper, type Sweeper } from "./send/deadlines.ts";
import { probeSubject } from "./send/probe.ts";
import { type Connect, Pools } from "./send/pools.ts";
import { withLowerCaseNames } from "./send/request.ts";
import { dialectNotSpoken, Route } from "./send/route.ts";
import { Signer } from "./signing/signer.ts";
import { Latencies, orderTargets, taking } from "./state/balance.ts";
import type { UpstreamHealth } from "./state/health.ts";
import type { Cooldown, KeyState } from "./state/key-pool.ts";
import { isSkipped, type ManualControl, ManualControls, type ManualSetting } from "./state/manual.ts";
import type { LastErrorsView } from "./state/last-errors.ts";
import { type Slots, SlotsByUpstream } from "./state/slots.ts";
import {
  existing,
  modelsByUpstream,
  NO_MODELS,
  type ProbeSubject,
  type Transition,
  UpstreamStates,
} from "./state/states.ts";

export interface UpstreamsOptions {
  readonly dialects: Partial<Record<DialectName, UpstreamDialect>>;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
  readonly log: Log;
  /** The base URL at which a provider of this dialect is simulated; a `base_url` of `sim:` is refused without it. */
  readonly simulated?: (script: string, dialect: DialectName) => Promise<string>;
  /** The proxies of the environment; none unless given. */
  readonly proxies?: ProxyRules;
  /** In place of TCP and TLS, for all upstreams. */
  readonly connect?: Connect;
  /** In place of one by the system's timers. */
  readonly sweeper?: Sweeper;
}

/** The upstreams of one configuration. */
export interface UpstreamSet {
  /**
   * One attempt at one target, retries within it included; a streamed reply has its first event or byte.
   * @param onSent called, perhaps often, once a request is on its way: not while a connection is waited for or made.
   * @param onQueued told how many milliseconds it waited for a place with the upstream, each time it did.
   * @throws AttemptError; what the call's upload threw
   */
  send(
    target: Target,
    call: Call,
    exchange: Exchange,
    onSent?: () => void,
    spanId?: string | null,
    onQueued?: (waited: number) => void,
  ): Promise<Reply>;
  /** @param model by default the state of the upstream as a whole. */
  breaker(name: string, model?: string): Breaker;
  /** By model, of those that were tried; empty where the upstream has one breaker for all. */
  breakers(name: string): Iterable<readonly [model: string, breaker: Breaker]>;
  /** Of any upstream of the configuration. */
  health(name: string): UpstreamHealth;
  /** Whether a request would be sent to it now, and can be expected to be served. */
  canServe(target: Target): boolean;
  /** What an operator has set of it; null: nothing. */
  manual(name: string): ManualSetting | null;
  /** The latest changes of its breaker and of what operators set, oldest first. */
  transitions(name: string): readonly Transition[];
  keys(name: string): readonly KeyState[];
  /** The last errors of its keys and models. */
  lastErrors(name: string): LastErrorsView;
  /** Requests of this process at it, and those that wait for a place. */
  load(name: string): Pick<Slots, "inFlight" | "waiting">;
  /** Keys that rest, for one model or for all. */
  cooldowns(name: string): readonly Cooldown[];
  /** Rests every key for the target's model, as an offline gateway is told that they do. */
  rest(target: Pick<Target, "upstream" | "model">, until: number, reason: string): void;
  /** The targets of a step in the order in which to try them. */
  order(step: ChainStep, exchange: Exchange): readonly Target[];
  /** Connections that no other configuration uses close when their last request has ended. */
  release(): Promise<void>;
  /** Of a set leased on probation: what it remembers is what later leases find. */
  adopt(): void;
}

export interface LeaseOptions {
  /**
   * The set remembers nothing of others and they nothing of it, but for connections: a failing upstream of a configuration
   * on probation must not open the breaker of its namesake in the configuration in force, nor give it other keys.
   */
  readonly probation?: boolean;
  /** In place of the registry's own, for lines about the state of upstreams. */
  readonly log?: Log;
}

/** All upstreams, with what outlives a configuration: connections, access tokens, breakers, keys, latencies, health. */
export interface Upstreams {
  /** @throws Error naming an upstream that cannot be built */
  lease(snapshot: Snapshot, options?: LeaseOptions): Promise<UpstreamSet>;
  /** Asks a provider for the models that it lists, whether or not its upstream is leased. Never rejects. */
  listModels(upstream: Upstream, signal: Cancellation): Promise<ModelListing>;
  /** What operators set, in force for every lease. */
  readonly manual: ManualControls;
  /** Ends the cooldowns of all keys. @param by for the log @returns how many there were in the configuration in force. */
  endCooldowns(by: string): number;
  /** Ends every connection and probe at once, whatever is leased. */
  close(): Promise<void>;
}

export function createUpstreams(options: UpstreamsOptions): Upstreams {
  return new UpstreamRegistry(options);
}

interface Plan {
  readonly upstream: Upstream;
  /** null when this version has no such dialect: the linker has warned, and chains go on to their next step. */
  readonly dialect: UpstreamDialect | null;
  readonly base: URL;
  readonly connectTimeout: number;
}

/** Of all targets of each upstream: a shorter one would end the connection of a target that still waits. */
function longestConnectTimeouts({ models }: Snapshot): ReadonlyMap<string, number> {
  const longest = new Map<string, number>();
  for (const { chain } of Object.values(models)) {
    for (const { upstream, timeouts } of chain.flatMap((step) => step.targets)) {
      longest.set(upstream, Math.max(timeouts.connect, longest.get(upstream) ?? 0));
    }
  }
  return longest;
}

interface Lease {
  readonly snapshot: Snapshot;
  readonly probed: ReadonlyMap<string, ProbeSubject>;
}

/** What outlives a configuration. */
interface Memory {
  readonly states: UpstreamStates;
  readonly latencies: Latencies;
  /** In order of leasing: the last one's settings are in force. */
  readonly leased: Lease[];
}

class UpstreamRegistry implements Upstreams {
  readonly manual: ManualControls;
  readonly #options: UpstreamsOptions;
  readonly #random: () => number;
  readonly #sweeper: Sweeper;
  readonly #pools: Pools;
  readonly #signer = new Signer();
  /** What the next lease finds. */
  #memory: Memory;
  /** Those with a lease, and the one above. */
  readonly #memories = new Set<Memory>();
  readonly #slots = new SlotsByUpstream();

  constructor(options: UpstreamsOptions) {
    const { now } = options;
    this.#options = options;
    this.manual = new ManualControls(now);
    this.#random = options.random ?? Math.random;
    this.#pools = new Pools(options.connect);
    this.#sweeper = options.sweeper ?? new DeadlineSweeper(now);
    this.#memory = this.#newMemory(options.log);
  }

  async lease(
    snapshot: Snapshot,
    { probation = false, log = this.#options.log }: LeaseOptions = {},
  ): Promise<UpstreamSet> {
    const connectTimeouts = longestConnectTimeouts(snapshot);
    const plans = await Promise.all(
      Object.values(snapshot.upstreams).map((upstream) => this.#plan(upstream, connectTimeouts)),
    );
    const memory = probation ? this.#newMemory(log) : this.#memory;
    const { states, latencies } = memory;
    const releases: (() => Promise<void>)[] = [];
    const routes = new Map<string, { readonly route: Route; readonly manual: ManualControl }>();
    const probed = new Map<string, ProbeSubject>();
    for (const plan of plans) {
      const { upstream, dialect } = plan;
      const { keys, health, breakers, errors } = states.of(upstream);
      if (dialect === null) continue;
      const { base, connectTimeout } = plan;
      const proxies = this.#options.proxies ?? NO_PROXIES;
      const proxy = proxyOf(upstream, base, proxies);
      const use = this.#pools.acquire({ upstream, origin: base.origin, connectTimeout, proxy });
      releases.push(() => use.release());
      const { now } = this.#options;
      const address = {
        host: plan.base.host,
        basePath: plan.base.pathname.replace(/\/+$/, ""),
        headers: withLowerCaseNames(upstream.headers),
        forward: upstream.forwardHeaders ?? [],
        proxyTo: (url: URL) => proxyOf(upstream, url, proxies),
      };
      const shared = { dialect, pool: use.pool, address, keys, signer: this.#signer, sweeper: this.#sweeper, now, log };
      const isLeftAlone = (model: string): boolean => breakers.of(model).state === "open";
      const slots = this.#slots.of(upstream.name);
      const own = { upstream, slots, isLeftAlone, health, errors, latencies, random: this.#random };
      const route = new Route({ ...shared, ...own });
      routes.set(upstream.name, { route, manual: this.manual.of(upstream.name) });
      const subject = probeSubject(upstream, shared);
      if (subject !== null) probed.set(upstream.name, subject);
    }
    const lease = { snapshot, probed };
    memory.leased.push(lease);
    this.#configure(memory);
    this.#slots.leased(snapshot);
    const latency = (target: Target): number => latencies.of(target);
    const models = modelsByUpstream(snapshot);
    const { now, dialects } = this.#options;
    const health = (name: string): UpstreamHealth => {
      const { probe, timeouts, retries, dialect } = existing(snapshot.upstreams[name], name);
      const { breakers, health: known, keys } = states.get(name);
      return known.view({
        breaker: breakers.counted,
        skipped: breakers.of().state === "open",
        spoken: Object.keys(dialects[dialect]?.codecs ?? {}).length > 0,
        resting: keys.allResting(now(), retries.maxDelay),
        probeTimeout: probe?.timeout ?? null,
        firstByte: timeouts.firstByte,
      });
    };
    let held = true;
    return {
      send(target, call, exchange, onSent, spanId, onQueued) {
        const known = routes.get(target.upstream);
        if (known === undefined) {
          const { dialect } = existing(snapshot.upstreams[target.upstream], target.upstream);
          return Promise.reject(dialectNotSpoken(dialect));
        }
        // Also in a pipeline without a breaker, which would have skipped it before.
        if (isSkipped(known.manual)) return Promise.reject(new AttemptError("skipped", "skipped"));
        return known.route.send(target, call, exchange, onSent, spanId, onQueued);
      },
      breaker: (name, model) => states.get(name).breakers.of(model),
      breakers: (name) => states.get(name).breakers.models(),
      health,
      canServe: ({ upstream, model }) => {
        const { retries } = existing(snapshot.upstreams[upstream], upstream);
        const { breakers, keys, health: known } = states.get(upstream);
        const isOpen = breakers.of(model).state === "open";
        if (isOpen || keys.allResting(now(), retries.maxDelay, model)) return false;
        return health(upstream).canServe && known.serves(model);
      },
      manual: (name) => this.manual.of(name).setting,
      transitions: (name) => states.get(name).transitions,
      keys: (name) => states.get(name).keys.states(now()),
      cooldowns: (name) => states.get(name).keys.cooldowns(now()),
      rest: ({ upstream, model }, until, reason) => states.get(upstream).keys.rest(model, until, reason, now()),
      load: (name) => this.#slots.of(name),
      lastErrors: (name) => {
        const { apiKeys } = existing(snapshot.upstreams[name], name);
        const keys = apiKeys.length === 0 ? [""] : [...new Set(apiKeys.map((key) => key.reveal()))];
        return states.get(name).errors.view(keys, models.get(name) ?? NO_MODELS);
      },
      order: (step, { principal, call }) =>
        orderTargets(taking(step, call, snapshot), principal.userId, { random: this.#random, latency }),
      release: async () => {
        if (!held) return;
        held = false;
        memory.leased.splice(memory.leased.indexOf(lease), 1);
        this.#configure(memory);
        this.#slots.released(snapshot);
        this.#forget(memory);
        await Promise.all(releases.map((release) => release()));
      },
      adopt: () => {
        const former = this.#memory;
        this.#memory = memory;
        this.#forget(former);
      },
    };
  }

  async listModels(upstream: Upstream, signal: Cancellation): Promise<ModelListing> {
    const { dialects, now, proxies = NO_PROXIES } = this.#options;
    const parts = { dialects, pools: this.#pools, signer: this.#signer, sweeper: this.#sweeper, now, proxies };
    try {
      return await listModels(parts, upstream, await this.#base(upstream), signal);
    } catch (error) {
      return { ok: false, reason: error instanceof Error ? error.message : String(error) };
    }
  }

  endCooldowns(by: string): number {
    const counts = [...this.#memories].map((memory) => [memory, memory.states.endCooldowns(by)] as const);
    return counts.find(([memory]) => memory === this.#memory)?.[1] ?? 0;
  }

  async close(): Promise<void> {
    for (const { states } of this.#memories) states.close();
    await this.#pools.destroy();
  }

  async #plan(upstream: Upstream, connectTimeouts: ReadonlyMap<string, number>): Promise<Plan> {
    const base = await this.#base(upstream);
    const spoken = this.#options.dialects[upstream.dialect] ?? null;
    const dialect = spoken?.at?.(locationOf(base, upstream)) ?? spoken;
    const connectTimeout = Math.max(upstream.timeouts.connect, connectTimeouts.get(upstream.name) ?? 0);
    return { upstream, dialect, base, connectTimeout };
  }

  async #base({ name, baseUrl, dialect }: Upstream): Promise<URL> {
    const url = URL.parse(baseUrl.startsWith("sim:") ? await this.#simulated(baseUrl.slice(4), dialect) : baseUrl);
    if (url?.protocol === "http:" || url?.protocol === "https:") return url;
    throw new Error(`upstreams.${name}.base_url: not an http or https URL`);
  }

  #simulated(script: string, dialect: DialectName): Promise<string> {
    const { simulated } = this.#options;
    if (simulated) return simulated(script, dialect);
    throw new Error('base_url "sim:" needs the simulator, which is not available here');
  }

  #newMemory(log: Log): Memory {
    const { now } = this.#options;
    const states = new UpstreamStates({ now, random: this.#random, log, manual: this.manual });
    const memory = { states, latencies: new Latencies(now), leased: [] };
    this.#memories.add(memory);
    return memory;
  }

  /** Puts the settings of the newest lease in force and forgets the upstreams that no lease names. */
  #configure({ states, latencies, leased }: Memory): void {
    const naming = (name: string): Lease | undefined =>
      leased.findLast(({ snapshot }) => Object.hasOwn(snapshot.upstreams, name));
    states.probe((name) => naming(name)?.probed.get(name) ?? null);
    const newest = leased.at(-1);
    if (!newest) return;
    states.configure(newest.snapshot);
    const named = (name: string): boolean => naming(name) !== undefined;
    states.prune(named);
    latencies.prune(named);
  }

  /** Stops the probes of what nobody will look at again. */
  #forget(memory: Memory): void {
    if (memory === this.#memory || memory.leased.length > 0) return;
    memory.states.close();
    this.#memories.delete(memory);
  }
}
