import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Diagnostic } from "../config/diagnostics.ts";
import type { ModelChanges } from "../config/listed-models.ts";
import type {
  AdminToken,
  BreakerState,
  Host,
  IdempotencyKeys,
  Observer,
  RequestPipeline,
  Snapshot,
} from "../kit/index.ts";
import { buildPipeline } from "../pipeline/build.ts";
import { RequestRunner } from "../pipeline/run.ts";
import { withConfig } from "../telemetry/log.ts";
import type { UpstreamHealth } from "../upstream/state/health.ts";
import type { KeyState } from "../upstream/state/key-pool.ts";
import type { ManualSetting } from "../upstream/state/manual.ts";
import type { Transition } from "../upstream/state/states.ts";
import type { UpstreamSet } from "../upstream/upstreams.ts";
import type { PublicServer } from "../server/public.ts";
import type { RequestCounts } from "./comparison.ts";
import type { Loaded } from "./configuration.ts";
import { cooldownsOf } from "./cooldowns.ts";
import type { GuardDecision, GuardReport } from "./guard.ts";
import type { Shedder } from "./shedding.ts";
import { lastErrorBody, manualState, targetBody, type UpstreamState } from "./upstream-state.ts";

/** The part of a plugin's host that outlives a configuration. */
export type HostServices = Omit<Host, "snapshot" | "breaker" | "order">;

/** Enough of a hash to tell a few from each other: in lines of log and labels of metrics. */
export function shortHash(hash: string): string {
  return hash.slice(0, 12);
}

/** Where the requests of one generation are counted while it is compared with another; null: they are not. */
export interface Trial {
  counts: RequestCounts | null;
}

interface GenerationParts {
  readonly number: number;
  readonly loaded: Loaded;
  /** Leased for this configuration; released when the generation is disposed of. */
  readonly upstreams: UpstreamSet;
  readonly services: HostServices;
  readonly keys: IdempotencyKeys;
  /** Counts in `trial`. */
  readonly observer: Observer;
  readonly trial?: Trial;
}

/** One configuration in service: a snapshot with its pipeline. Never changed, only replaced. */
export interface Generation extends RequestPipeline {
  readonly number: number;
  readonly snapshot: Snapshot;
  /** What it was made of. */
  readonly loaded: Loaded;
  readonly host: Host;
  /** Of any upstream of the snapshot. */
  readonly health: (upstream: string) => UpstreamHealth;
  /** The same: what an operator has set of it, and the latest changes of its breaker. */
  readonly manual: (upstream: string) => ManualSetting | null;
  readonly transitions: (upstream: string) => readonly Transition[];
  readonly keys: (upstream: string) => readonly KeyState[];
  readonly upstreams: Pick<
    UpstreamSet,
    "breaker" | "breakers" | "cooldowns" | "canServe" | "rest" | "load" | "lastErrors"
  >;
  /** Unix milliseconds. */
  readonly loadedAt: number;
  readonly trial: Trial;
  /** From probation into force: what it has learnt of its upstreams stays. */
  promote(): void;
  /**
   * Takes no more requests, and disposes of its plugins once the last request in flight has settled. Resolves after that,
   * or as soon as `giveUp` is aborted: what is not disposed of by then is named in the log and left behind.
   */
  retire(giveUp?: AbortSignal): Promise<void>;
}

/** @throws Error naming the plugin whose setup failed; the upstreams are released then. */
export async function createGeneration(parts: GenerationParts): Promise<Generation> {
  const { number, loaded, upstreams, services, keys, observer, trial = { counts: null } } = parts;
  const { snapshot } = loaded;
  const host: Host = {
    ...services,
    log: withConfig(services.log, () => shortHash(snapshot.hash)),
    snapshot,
    breaker: (name, model) => upstreams.breaker(name, model),
    order: (step, exchange) => upstreams.order(step, exchange),
  };
  const pipeline = await buildPipeline(loaded.steps, host, observer).catch(async (error: unknown) => {
    await upstreams.release();
    throw error;
  });
  const runner = new RequestRunner({
    pipeline,
    host,
    observer,
    send: (...attempt) => upstreams.send(...attempt),
    keys,
  });
  const retired = Promise.withResolvers<void>();
  let inFlight = 0;
  let retiring = false;
  let disposed = false;
  const disposeWhenIdle = (): void => {
    if (!retiring || disposed || inFlight > 0) return;
    disposed = true;
    retired.resolve(pipeline.dispose().then(() => upstreams.release()));
  };
  return {
    number,
    snapshot,
    loaded,
    host,
    health: (name) => upstreams.health(name),
    manual: (name) => upstreams.manual(name),
    transitions: (name) => upstreams.transitions(name),
    keys: (name) => upstreams.keys(name),
    upstreams,
    loadedAt: host.now(),
    trial,
    promote: () => upstreams.adopt(),
    enter() {
      inFlight += 1;
    },
    leave() {
      inFlight -= 1;
      disposeWhenIdle();
    },
    identify: (request) => runner.identify(request),
    resolve: (call) => runner.resolve(call),
    run: (request, principal) => runner.run(request, principal),
    refuse: (request, principal, error) => runner.refuse(request, principal, error),
    async retire(giveUp) {
      retiring = true;
      disposeWhenIdle();
      if (giveUp === undefined) return retired.promise;
      const late = Promise.withResolvers<void>();
      const leaveBehind = (): void => {
        const left = { generation: number, plugins: pipeline.disposing(), requests: inFlight };
        host.log.error(left, "plugin dispose timed out");
        late.resolve();
      };
      giveUp.addEventListener("abort", leaveBehind);
      await Promise.race([retired.promise, late.promise]);
      giveUp.removeEventListener("abort", leaveBehind);
    },
  };
}

/** A change of a breaker, or of what an operator has set. */
export interface StateChange extends Omit<Transition, "at"> {
  /** ISO 8601. */
  readonly at: string;
  readonly instance: string;
}

/** By upstream. */
export type Histories = Readonly<Record<string, readonly StateChange[]>>;

/** What a process serves in place of the file as it is. */
export interface Instead {
  /** Hashes: of the file, and of what serves. */
  readonly of: string;
  readonly serves: string;
  /** Why the file is passed over; null while it is compared with what serves. */
  readonly reason: string | null;
  /** ISO 8601. */
  readonly at: string;
}

/** The file as it is, while something else serves after a rollback. */
export interface PassedOver {
  readonly hash: string;
  readonly reason: string;
  /** ISO 8601. */
  readonly at: string;
}

export type ReloadResult =
  | {
      readonly ok: true;
      readonly hash: string;
      readonly changed: boolean;
      /** It serves a share of the users first. */
      readonly guarded?: true;
      /** Cooldowns of upstream keys; empty by default. */
      readonly cooldowns_ended?: number;
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** What happened to the configuration, for the log and the metrics. */
export type ReloadEvent =
  | { readonly type: "rejected"; readonly diagnostics: readonly Diagnostic[] }
  | { readonly type: "guarded"; readonly hash: string; readonly loaded: Loaded }
  | { readonly type: "taken" | "returned"; readonly hash: string; readonly loaded: Loaded }
  /** The same configuration, with other models of providers' lists. */
  | { readonly type: "relisted"; readonly hash: string; readonly loaded: Loaded; readonly changes: ModelChanges }
  | { readonly type: "decided"; readonly hash: string; readonly decision: GuardDecision };

/** A generation on probation, and the users that it serves. */
export interface Candidate {
  readonly generation: Generation;
  readonly takes: (userId: string) => boolean;
}

interface ProcessStateOptions {
  /** Of the start; serves as the settings in force until the first generation is built from it. */
  readonly snapshot: Snapshot;
  /** Unix milliseconds. */
  readonly startedAt: number;
}

/** What this process serves and does. Parts that outlive a reload read it at each use; a reload and a stop change it. */
export class ProcessState {
  /** Names this process among all that share a store, for as long as it lives: `<host>-<pid>-<random>`. */
  readonly instance = `${hostname()}-${process.pid}-${randomBytes(4).toString("hex")}`;
  readonly startedAt: number;
  draining = false;
  /** Streamed answers under way; set by the listener, which is opened last. */
  activeStreams: () => number = () => 0;
  /** Requests under way; set with it. */
  inFlight: () => number = () => 0;
  /** What runs here, to be listed and ended by id; set with it. */
  streams: Pick<PublicServer, "streams" | "endStream"> = { streams: () => [], endStream: () => false };
  /** Set by a start; null: requests are never shed, as in an offline gateway. */
  shedder: Shedder | null = null;
  /** Serves a share of the users beside the generation in force. */
  candidate: Candidate | null = null;
  /** What the others are told of its changes of configuration; set with the first generation. */
  reloads: { readonly reports: readonly GuardReport[]; readonly instead: Instead | null } | null = null;
  /**
   * Who may use the admin API: as the newest file says that was taken, also while a guard compares it and after a rollback.
   * A token that was removed does not come back with a former configuration.
   */
  adminTokens: readonly AdminToken[];
  readonly #first: Snapshot;
  #generation: Generation | null = null;

  constructor({ snapshot, startedAt }: ProcessStateOptions) {
    this.#first = snapshot;
    this.adminTokens = snapshot.server.admin?.tokens ?? [];
    this.startedAt = startedAt;
  }

  /** The settings in force. */
  get snapshot(): Snapshot {
    return this.#generation?.snapshot ?? this.#first;
  }

  /** @throws Error before the first one. */
  get generation(): Generation {
    if (this.#generation === null) throw new Error("no generation serves yet");
    return this.#generation;
  }

  /** Requests that arrive from now on are served by it. */
  activate(generation: Generation): void {
    this.#generation = generation;
  }

  /** Who serves a user's request in place of the generation that has identified it; null: that one does. */
  candidateFor(userId: string): Generation | null {
    return this.candidate?.takes(userId) === true ? this.candidate.generation : null;
  }

  /** Of the configuration in force and of a candidate. */
  get upstreamNames(): readonly string[] {
    const own = Object.keys(this.snapshot.upstreams);
    const { candidate } = this;
    return candidate === null ? own : [...new Set([...own, ...Object.keys(candidate.generation.snapshot.upstreams)])];
  }

  /** Every upstream of the configuration in force, by name. */
  upstreams(): Readonly<Record<string, UpstreamState>> {
    return Object.fromEntries(this.#upstreams());
  }

  *breakers(): Iterable<readonly [string, BreakerState]> {
    const { snapshot, host } = this.generation;
    for (const name of Object.keys(snapshot.upstreams)) yield [name, host.breaker(name).state];
  }

  *health(): Iterable<readonly [string, UpstreamHealth["state"]]> {
    const { snapshot, health } = this.generation;
    for (const name of Object.keys(snapshot.upstreams)) yield [name, health(name).state];
  }

  *#upstreams(): Iterable<readonly [string, UpstreamState]> {
    const { snapshot, host, health, manual, keys: keysOf, upstreams } = this.generation;
    for (const name of Object.keys(snapshot.upstreams)) {
      const { state: healthState, latencyMs, canServe } = health(name);
      const breaker = host.breaker(name).state;
      const set = manualState(manual(name));
      const { keys: ofKeys, targets: ofTargets } = upstreams.lastErrors(name);
      const keys = keysOf(name).map(({ position, restsUntil, refusals }) => {
        const last_error = lastErrorBody(ofKeys[position - 1] ?? null);
        return { position, rests_until: restsUntil === null ? null : iso(restsUntil), refusals, last_error };
      });
      const { inFlight, waiting } = upstreams.load(name);
      const shown = { breaker, health: healthState, latency_ms: latencyMs, can_serve: canServe, manual: set, keys };
      const targets = Object.fromEntries(ofTargets.map(([model, news]) => [model, targetBody(news)]));
      const breakers = [...upstreams.breakers(name)].map(([model, one]) => [model, one.state] as const);
      const byModel = breakers.length === 0 ? {} : { breakers: Object.fromEntries(breakers) };
      const cooldowns = cooldownsOf(this.generation, name);
      yield [name, { ...shown, targets, cooldowns, in_flight: inFlight, waiting, ...byModel }];
    }
  }

  /** The latest changes of every upstream, oldest first. */
  histories(): Histories {
    const { snapshot, transitions } = this.generation;
    const { instance } = this;
    return Object.fromEntries(
      Object.keys(snapshot.upstreams).map((name) => {
        return [name, transitions(name).map(({ at, ...change }) => ({ at: iso(at), ...change, instance }))];
      }),
    );
  }

  /** What operators set of the upstreams of the configuration in force. */
  *manual(): Iterable<readonly [string, ManualSetting]> {
    const { snapshot, manual } = this.generation;
    for (const name of Object.keys(snapshot.upstreams)) {
      const setting = manual(name);
      if (setting !== null) yield [name, setting];
    }
  }
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
