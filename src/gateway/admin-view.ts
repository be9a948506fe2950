import type { AdminOptions, ReloadResult } from "../server/admin.ts";
import type { ScrapeText } from "../telemetry/metrics.ts";
import type { InstanceInfo } from "./instances.ts";
import type { ConfigStatus } from "./reloader.ts";
import type { UpstreamState } from "./state.ts";

/** One process and the instances that it knows of. */
export interface ProcessReport {
  readonly status: ConfigStatus;
  /** By name. */
  readonly upstreams: Readonly<Record<string, UpstreamState>>;
  readonly self: InstanceInfo;
  /** As far as they are known. */
  readonly others: readonly InstanceInfo[];
  /** Whether `others` has every instance that shares the store; false while the store does not answer. */
  readonly complete: boolean;
}

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
  streams(): Promise<{ readonly active: number }>;
  settlements(): Promise<UnstoredSettlements>;
  reload(): Promise<ReloadResult>;
}

export function adminRoutes(view: AdminView): Omit<AdminOptions, "settings" | "log"> {
  return {
    notReady: () => view.notReady(),
    metrics: () => view.metrics(),
    config: async () => configBody(await view.report()),
    upstreams: async () => upstreamsBody(await view.report()),
    streams: () => view.streams(),
    settlements: () => view.settlements(),
    reload: () => view.reload(),
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
export function upstreamsBody({ upstreams, self, others }: ProcessReport) {
  const all = inOrder([self, ...others]);
  return Object.fromEntries(
    Object.entries(upstreams).map(([name, state]) => {
      const instances = all.flatMap(({ instance, breakers }) =>
        Object.hasOwn(breakers, name) ? [[instance, breakers[name]] as const] : [],
      );
      return [name, { ...state, instances: Object.fromEntries(instances) }];
    }),
  );
}

function inOrder(instances: readonly InstanceInfo[]): readonly InstanceInfo[] {
  return instances.toSorted((a, b) => (a.instance < b.instance ? -1 : 1));
}
