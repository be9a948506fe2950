import { hostname } from "node:os";
import type { Store, StoreSettings } from "../kit/index.ts";
import type { Reloader } from "../reloader.ts";
import type { ResilientStore } from "../store/resilient/store.ts";
import type { Scrape } from "../telemetry/aggregate.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { breakerStates, healthStates, upstreamStates } from "../upstream-states.ts";
import type { Fleet, Member } from "./fleet.ts";
import type { watchLoop } from "./loop.ts";
import type { Surface } from "./surface.ts";

export interface MemberParts {
  readonly instance: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly reloader: Pick<Reloader, "current" | "status">;
  readonly draining: () => boolean;
  /** Streamed answers under way. */
  readonly streams: () => number;
}

/** What this process says of itself, as it is at each call. */
export function memberOf({ instance, startedAt, reloader, draining, streams }: MemberParts): () => Member {
  const started_at = new Date(startedAt).toISOString();
  return () => {
    const { generation, hash, loaded_at } = reloader.status;
    return {
      instance,
      host: hostname(),
      pid: process.pid,
      started_at,
      hash,
      generation,
      loaded_at,
      draining: draining(),
      breakers: Object.fromEntries(breakerStates(reloader.current)),
      health: Object.fromEntries(healthStates(reloader.current)),
      streams: streams(),
    };
  };
}

export interface ProcessParts extends Pick<MemberParts, "draining" | "streams"> {
  readonly store: Pick<Store, "ping"> & Pick<ResilientStore, "pending" | "rejections">;
  readonly onFailure: StoreSettings["onFailure"];
  readonly loop: Pick<ReturnType<typeof watchLoop>, "blocked">;
  readonly metrics: Pick<Metrics, "scrape" | "collect">;
  readonly reloader: Pick<Reloader, "current" | "status" | "reload">;
  readonly fleet: Pick<Fleet, "others">;
  readonly self: () => Member;
}

export interface ProcessSurface extends Surface {
  /** The metrics of this process, for who aggregates those of several. */
  collect(): Promise<Scrape>;
}

/** What the admin listener shows of this process. */
export function surfaceOfProcess(parts: ProcessParts): ProcessSurface {
  const { store, onFailure, loop, metrics, reloader, fleet, self, draining, streams } = parts;
  return {
    async notReady() {
      if (draining()) return ["draining"];
      const reasons = loop.blocked() ? ["event loop blocked"] : [];
      try {
        await store.ping();
      } catch {
        // Where known keys are served all the same, a balancer must not take every instance away.
        if (onFailure === "closed") reasons.push("store unavailable");
      }
      return reasons;
    },
    metrics: () => metrics.scrape(),
    collect: () => metrics.collect(),
    async view() {
      const others = await fleet.others();
      const upstreams = Object.fromEntries(upstreamStates(reloader.current));
      return { status: reloader.status, upstreams, self: self(), others: others ?? [], complete: others !== null };
    },
    streams: async () => ({ active: streams() }),
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
    reload: () => reloader.reload(),
  };
}
