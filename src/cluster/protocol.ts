import { type Address, Secret, type Snapshot, type StoreSettings } from "../kit/index.ts";
import type { FirstLoad } from "../loading.ts";
import type { ReloadResult } from "../server/admin.ts";
import type { Scrape } from "../telemetry/aggregate.ts";
import type { Unsettled, View } from "./surface.ts";

/** What a supervisor can ask a worker, and what the answer is. */
export interface Answers {
  readonly ready: readonly string[];
  readonly metrics: Scrape;
  readonly view: View;
  readonly streams: number;
  readonly settlements: Unsettled;
  readonly reload: ReloadResult;
  /** Done in the store, for the instance that `about` names. */
  readonly bury: null;
}

export type Question = keyof Answers;

export type ToWorker =
  | { readonly type: "start"; readonly pinned: Pinned; readonly keepsLastGood: boolean }
  | { readonly type: "ask"; readonly id: number; readonly question: Question; readonly about: string }
  /** Stop as configured; with `most`, as `Gateway.drain` takes it. */
  | { readonly type: "drain"; readonly most?: number }
  /** Stop at once. */
  | { readonly type: "end" };

export type ToSupervisor =
  | { readonly type: "hello" }
  | { readonly type: "serving"; readonly instance: string; readonly hash: string }
  /** Sent every second. */
  | { readonly type: "beat" }
  | { readonly type: "answer"; readonly id: number; readonly value: unknown }
  | { readonly type: "failed"; readonly id: number; readonly message: string };

/** Milliseconds between beats. */
export const BEAT = 1_000;

/** What no worker may have otherwise than the others, whatever the file says by the time that it starts. */
export interface Pinned {
  readonly listen: readonly Address[];
  /** With its secrets: only ever sent to a worker. */
  readonly store: Omit<StoreSettings, "url" | "nodes"> & { readonly url: string; readonly nodes: readonly string[] };
}

/** @param listen as bound. */
export function pinnedOf({ store }: Snapshot, listen: readonly Address[]): Pinned {
  return { listen, store: { ...store, url: store.url.reveal(), nodes: store.nodes.map((node) => node.reveal()) } };
}

/** A start on the file as it is now, but for what is pinned. */
export function pin(start: FirstLoad, { listen, store }: Pinned): FirstLoad {
  const { snapshot } = start.loaded;
  const pinned = Object.freeze({
    ...snapshot,
    server: Object.freeze({ ...snapshot.server, listen }),
    store: Object.freeze({
      ...store,
      url: new Secret(store.url),
      nodes: store.nodes.map((node) => new Secret(node)),
    }),
  });
  return { ...start, loaded: { ...start.loaded, snapshot: pinned } };
}
