import { monitorEventLoopDelay } from "node:perf_hooks";
import { GatewayError, type Log, type Store, type StoreSettings } from "../kit/index.ts";
import type { AdminParts, Explain, ReloadResult } from "../server/admin/endpoint.ts";
import type { AdminOptions } from "../server/admin/handler.ts";
import type { ResilientStore } from "../store/resilient/store.ts";
import type { FigurePoint, Figures } from "../telemetry/figures.ts";
import { type Metrics, type Samples, samplesOf, type Scrape, type ScrapeText } from "../telemetry/metrics.ts";
import { figureBody, FiguresFeed, stateBody } from "./figures-feed.ts";
import type { ProcessReport } from "./process-report.ts";
import { type InstanceInfo, instanceInfo, type InstanceRegistry } from "./instances.ts";
import type { RollbackTarget } from "./kept-generations.ts";
import type { Reloader } from "./reloader.ts";
import type { Histories, ProcessState } from "./generation.ts";
import type { EndedStream, StreamDirectory, StreamList } from "./stream-list.ts";
import { instancesBody, modelsBody, type OperationsPlan, planOf, pluginsBody } from "./operations.ts";
import type { SourceBody } from "./source-view.ts";

export type { ProcessReport } from "./process-report.ts";

/** Settlements that are not in the store. */
export interface UnstoredSettlements {
  readonly pending: number;
  /** Newest first, at most 1,000. */
  readonly rejected: readonly {
    readonly id: string;
    /** This and the next three are null where the kept settlement cannot be read. */
    readonly user_id: string | null;
    readonly request_id: string | null;
    readonly model: string | null;
    /** Nano-units. */
    readonly charge: string | null;
    readonly reason: string;
    /** ISO 8601. */
    readonly rejected_at: string;
  }[];
}

/** What an admin listener shows: of one process, or of the workers together. */
export interface AdminView {
  /** Why it cannot serve; empty when it can. */
  notReady(): Promise<readonly string[]>;
  metrics(): Promise<ScrapeText>;
  report(): Promise<ProcessReport>;
  /** Apart from the report, which is asked for each second. */
  histories(): Promise<Histories>;
  streams(): Promise<StreamList>;
  /** Ends one by its id, wherever it runs. */
  endStream(id: string): Promise<EndedStream>;
  settlements(): Promise<UnstoredSettlements>;
  /** What the configuration in force was made of. */
  source(): Promise<SourceBody>;
  reload(): Promise<ReloadResult>;
  rollback(to: RollbackTarget): Promise<ReloadResult>;
  readonly explain: AdminParts["explain"];
  /** The values of the metrics. */
  samples(): Promise<Samples>;
  plan(): Promise<OperationsPlan>;
  /** Seconds that ended after this time. */
  figures(since: number): Promise<readonly FigurePoint[]>;
}

export function adminRoutes(
  view: AdminView,
  { now = Date.now, log }: { readonly now?: () => number; readonly log: Log },
): Omit<AdminOptions, "services" | "settings" | "now" | "log"> {
  const feed = new FiguresFeed({
    points: (since) => view.figures(since),
    report: () => view.report(),
    now,
    log,
  });
  return {
    async models() {
      const [plan, samples, { upstreams }] = await Promise.all([view.plan(), view.samples(), view.report()]);
      return modelsBody(plan, samples, upstreams);
    },
    plugins: async () => pluginsBody(...(await Promise.all([view.plan(), view.samples()]))),
    instances: async () => instancesBody(await view.report()),
    async figures() {
      const [points, report] = await Promise.all([view.figures(0), view.report()]);
      return { data: points.map(figureBody), ...stateBody(report) };
    },
    events: () => feed.listen(),
    notReady: () => view.notReady(),
    metrics: () => view.metrics(),
    config: async () => configBody(await view.report()),
    source: () => view.source(),
    upstreams: async () => upstreamsBody(...(await Promise.all([view.report(), view.histories()]))),
    streams: async () => streamsBody(await view.streams()),
    endStream: (id) => view.endStream(id),
    settlements: () => view.settlements(),
    reload: () => view.reload(),
    rollback: (to) => view.rollback(to),
    explain: (question) => view.explain(question),
  };
}

/** `GET /admin/config`; `agree`: whether every instance that serves has the same configuration, null when unknown. */
export function configBody({ status, complete, self, others }: ProcessReport) {
  const instances = inOrder([self, ...others]);
  const hashes = new Set(instances.filter(({ draining }) => !draining).map(({ hash }) => hash));
  return {
    ...status,
    instances: instances.map(({ instance, hash, generation, loaded_at, draining }) => ({
      instance,
      hash,
      generation,
      loaded_at,
      draining,
    })),
    agree: complete ? hashes.size <= 1 : null,
  };
}

/** `GET /admin/upstreams`: each as this process sees it, and the state of its breaker in every instance. */
export function upstreamsBody({ upstreams, self, others }: ProcessReport, histories: Histories) {
  const all = inOrder([self, ...others]);
  return Object.fromEntries(
    Object.entries(upstreams).map(([name, state]) => {
      const instances = all.flatMap(({ instance, breakers }) =>
        Object.hasOwn(breakers, name) ? [[instance, breakers[name]] as const] : [],
      );
      return [name, { ...state, instances: Object.fromEntries(instances), history: histories[name] ?? [] }];
    }),
  );
}

/** `GET /admin/streams`: the oldest first; `active` are those whose answer has begun. */
export function streamsBody({ streams, complete }: StreamList) {
  const active = streams.filter(({ state }) => state === "streaming").length;
  return { active, complete, streams: streams.toSorted((a, b) => b.age_ms - a.age_ms) };
}

function inOrder(instances: readonly InstanceInfo[]): readonly InstanceInfo[] {
  return instances.toSorted((a, b) => (a.instance < b.instance ? -1 : 1));
}

/** A process whose event loop was blocked for this long is not ready … */
const MAX_BLOCK_MS = 5_000;
/** … until this long after it. */
const RECOVERY_MS = 5_000;
const RESOLUTION_MS = 50;
const CHECK_INTERVAL_MS = 1_000;
const NANOSECONDS_PER_MS = 1e6;

/** Notices an event loop that was blocked, for example by a plugin: until it runs again the process cannot answer. */
export class EventLoopMonitor {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #maxBlockMs: number;
  readonly #recoveryMs: number;
  readonly #timer: NodeJS.Timeout;
  #blockedUntil = 0;
  /** `performance.now()` when the measuring began. */
  #since = performance.now();

  constructor({ maxBlockMs = MAX_BLOCK_MS, recoveryMs = RECOVERY_MS } = {}) {
    this.#maxBlockMs = maxBlockMs;
    this.#recoveryMs = recoveryMs;
    this.#delays.enable();
    this.#timer = setInterval(() => this.#check(), CHECK_INTERVAL_MS).unref();
  }

  /** Whether the event loop was blocked a short while ago. */
  get blocked(): boolean {
    this.#check();
    return performance.now() < this.#blockedUntil;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#delays.disable();
  }

  #check(): void {
    const now = performance.now();
    // The first delay is measured from the first turn on: one that began before it is none of them.
    const longestMs = this.#delays.count === 0 ? now - this.#since : this.#delays.max / NANOSECONDS_PER_MS;
    if (longestMs < this.#maxBlockMs) return;
    this.#blockedUntil = now + this.#recoveryMs;
    // Not before: a reset also forgets when the delay under way began.
    this.#delays.reset();
    this.#since = now;
  }
}

interface ProcessViewParts {
  readonly store: Pick<Store, "ping"> & Pick<ResilientStore, "pending" | "rejections" | "answered">;
  readonly onFailure: StoreSettings["onFailure"];
  readonly loop: Pick<EventLoopMonitor, "blocked">;
  readonly metrics: Pick<Metrics, "scrape" | "collect">;
  readonly figures: Pick<Figures, "since">;
  readonly reloader: Pick<Reloader, "status" | "rejected" | "reload" | "rollback">;
  readonly registry: Pick<InstanceRegistry, "others">;
  readonly state: ProcessState;
  readonly streams: Pick<StreamDirectory, "own" | "endOwn" | "list" | "end">;
  readonly explain: Explain;
}

export interface ProcessAdminView extends AdminView {
  /** The metrics of this process, to be merged with those of other workers. */
  collect(): Promise<Scrape>;
  /** Of this process alone. */
  ownStreams(): StreamList;
  endOwnStream(id: string): boolean;
}

/** What the admin listener shows of this process. */
export function processAdminView(parts: ProcessViewParts): ProcessAdminView {
  const { store, onFailure, loop, metrics, figures, reloader, registry, state, streams, explain } = parts;
  return {
    async notReady() {
      if (state.draining) return ["draining"];
      const reasons = loop.blocked ? ["event loop blocked"] : [];
      try {
        await store.ping();
      } catch {
        // With `on_failure: open` known keys are served without the store: a balancer must not take every instance away. A
        // process that never had an answer knows no key, and must not take the place of one that does.
        if (onFailure === "closed" || !store.answered) reasons.push("store unavailable");
      }
      return reasons;
    },
    metrics: () => metrics.scrape(),
    samples: async () => samplesOf([await metrics.collect()]),
    plan: async () => planOf(state),
    figures: async (since) => figures.since(since),
    collect: () => metrics.collect(),
    async report() {
      const others = await registry.others();
      return {
        status: reloader.status,
        upstreams: state.upstreams(),
        self: instanceInfo(state),
        others: others ?? [],
        complete: others !== null,
      };
    },
    histories: async () => state.histories(),
    streams: () => streams.list(),
    endStream: (id) => streams.end(id),
    ownStreams: () => streams.own(),
    endOwnStream: (id) => streams.endOwn(id),
    async settlements() {
      const rejected = store.rejections().map(({ id, settlement, reason, at }) => ({
        id,
        user_id: settlement?.userId ?? null,
        request_id: settlement?.record?.requestId ?? null,
        model: settlement?.record?.model ?? null,
        charge: settlement ? String(settlement.charge) : null,
        reason,
        rejected_at: new Date(at).toISOString(),
      }));
      return { pending: store.pending, rejected };
    },
    async source() {
      const { sourceBody } = await import("./source-view.ts");
      return sourceBody(state.generation.loaded, reloader.rejected);
    },
    reload: () => reloader.reload(),
    rollback: (to) => reloader.rollback(to),
    async explain(question) {
      try {
        return { ok: true, explanation: await explain(question) };
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        return { ok: false, code: error.code, message: error.message };
      }
    },
  };
}
