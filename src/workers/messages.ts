import type { CallAnswer } from "../gateway/admin-services.ts";
import type { ProcessReport, UnstoredSettlements } from "../gateway/admin-view.ts";
import type { FirstLoad } from "../gateway/configuration.ts";
import type { Histories } from "../gateway/generation.ts";
import type { OperationsPlan } from "../gateway/operations.ts";
import type { EndedStream, StreamList } from "../gateway/stream-list.ts";
import type { SourceBody } from "../gateway/source-view.ts";
import { type AdminToken, type ListenerAddress, Secret, type Snapshot, type StoreSettings } from "../kit/index.ts";
import type { ExplainResult, ReloadResult } from "../server/admin/endpoint.ts";
import type { FigurePoint } from "../telemetry/figures.ts";
import type { Scrape } from "../telemetry/metrics.ts";

/** What a supervisor can ask a worker, with the type of the answer. */
export interface Answers {
  readonly ready: readonly string[];
  readonly metrics: Scrape;
  readonly report: ProcessReport;
  /** Of the worker alone. */
  readonly histories: Histories;
  readonly plan: OperationsPlan;
  /** Of the worker alone; `about` is a time, in Unix milliseconds. */
  readonly figures: readonly FigurePoint[];
  /** Of the worker alone. */
  readonly ownStreams: StreamList;
  /** Of all instances of its store. */
  readonly streams: StreamList;
  /** Of the worker alone; `about` is the stream's id. */
  readonly endOwnStream: boolean;
  /** Wherever it runs; `about` is the stream's id. */
  readonly endStream: EndedStream;
  readonly source: SourceBody;
  readonly settlements: UnstoredSettlements;
  readonly reload: ReloadResult;
  /** `about` is the target as JSON. */
  readonly rollback: ReloadResult;
  /** `about` is the question, as JSON. */
  readonly explain: ExplainResult;
  /** Of the store; `about` is `{method, args}` as JSON, a method of `AdminServices`. */
  readonly call: CallAnswer;
  /** `about` names the instance. */
  readonly markInstanceDead: null;
}

export type Question = keyof Answers;

export type ToWorker =
  | { readonly type: "start"; readonly pinned: PinnedSettings; readonly keepsLastGood: boolean }
  | { readonly type: "ask"; readonly id: number; readonly question: Question; readonly about: string }
  /** Stop as configured; with `maxMs`, as `Gateway.drain` takes it. */
  | { readonly type: "drain"; readonly maxMs?: number }
  /** Stop at once. */
  | { readonly type: "end" };

export type ToSupervisor =
  /** Messages reach the worker from now on. */
  | { readonly type: "started" }
  | { readonly type: "serving"; readonly instance: string; readonly hash: string }
  | { readonly type: "heartbeat" }
  | ({ readonly type: "adminAccess" } & AdminAccessNow)
  | { readonly type: "answer"; readonly id: number; readonly value: unknown }
  | { readonly type: "failed"; readonly id: number; readonly message: string };

/** Who may use the admin listener, as a worker has read it last. With its secrets in clear text: for the channel only. */
export interface AdminAccessNow {
  readonly tokens: readonly { readonly name: string; readonly role: AdminToken["role"]; readonly token: string }[];
  readonly trustedProxies: readonly string[];
}

export const HEARTBEAT_INTERVAL_MS = 1_000;

/** Settings that all workers must have alike, even if the file was changed before one of them started. */
export interface PinnedSettings {
  readonly listen: readonly ListenerAddress[];
  /** With its secrets in clear text: for the channel to a worker only. */
  readonly store: Omit<StoreSettings, "url" | "nodes"> & { readonly url: string; readonly nodes: readonly string[] };
}

/** @param listen as bound. */
export function pinnedSettings({ store }: Snapshot, listen: readonly ListenerAddress[]): PinnedSettings {
  return { listen, store: { ...store, url: store.url.reveal(), nodes: store.nodes.map((node) => node.reveal()) } };
}

/** A start on the file as it is now, but for the pinned settings. */
export function withPinned(start: FirstLoad, { listen, store }: PinnedSettings): FirstLoad {
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
