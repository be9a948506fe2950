import type { ConfigStatus } from "../reloader.ts";
import type { AdminOptions, ReloadResult } from "../server/admin.ts";
import type { ScrapeText } from "../telemetry/aggregate.ts";
import type { upstreamStates } from "../upstream-states.ts";
import type { Member } from "./fleet.ts";

type UpstreamEntry = ReturnType<typeof upstreamStates> extends Iterable<infer Entry> ? Entry : never;

/** One process, and what it knows of the others. */
export interface View {
  readonly status: ConfigStatus;
  readonly upstreams: Readonly<Record<string, UpstreamEntry[1]>>;
  readonly self: Member;
  /** As far as they are known. */
  readonly others: readonly Member[];
  /** Whether these are all that share the store: not while it does not answer. */
  readonly complete: boolean;
}

/** Settlements that are not in the store. */
export interface Unsettled {
  readonly pending: number;
  /** Newest first, at most 1,000. */
  readonly rejected: readonly {
    readonly id: string;
    /** null in what follows: what was kept cannot be read. */
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

/** What an admin listener asks, of one process or of the workers together. */
export interface Surface {
  /** Why it cannot serve; empty when it can. */
  notReady(): Promise<readonly string[]>;
  metrics(): Promise<ScrapeText>;
  view(): Promise<View>;
  streams(): Promise<{ readonly active: number }>;
  settlements(): Promise<Unsettled>;
  reload(): Promise<ReloadResult>;
}

/** The routes of the admin listener over a surface. */
export function adminRoutes(surface: Surface): Omit<AdminOptions, "settings" | "log"> {
  return {
    notReady: () => surface.notReady(),
    metrics: () => surface.metrics(),
    config: async () => configBody(await surface.view()),
    upstreams: async () => upstreamsBody(await surface.view()),
    streams: () => surface.streams(),
    settlements: () => surface.settlements(),
    reload: () => surface.reload(),
  };
}

/** `GET /admin/config`; `agree`: whether every instance that serves has the same configuration, null when unknown. */
export function configBody({ status, complete, ...view }: View) {
  const members = everyone(view);
  const hashes = new Set(members.filter(({ draining }) => !draining).map(({ hash }) => hash));
  return {
    ...status,
    instances: members.map(({ instance, hash, generation, loaded_at, draining }) => ({
      instance,
      hash,
      generation,
      loaded_at,
      draining,
    })),
    agree: complete ? hashes.size <= 1 : null,
  };
}

/** `GET /admin/upstreams`: how each does for this process, and the state of its breaker in every instance. */
export function upstreamsBody({ upstreams, ...view }: View) {
  const members = everyone(view);
  return Object.fromEntries(
    Object.entries(upstreams).map(([name, state]) => {
      const instances = members.flatMap(({ instance, breakers }) =>
        Object.hasOwn(breakers, name) ? [[instance, breakers[name]] as const] : [],
      );
      return [name, { ...state, instances: Object.fromEntries(instances) }];
    }),
  );
}

function everyone({ self, others }: Pick<View, "self" | "others">): readonly Member[] {
  return [self, ...others].toSorted((a, b) => (a.instance < b.instance ? -1 : 1));
}
