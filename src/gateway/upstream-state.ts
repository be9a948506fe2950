import type { BreakerState } from "../kit/index.ts";
import type { UpstreamHealth } from "../upstream/state/health.ts";
import type { LastError, TargetNews } from "../upstream/state/last-errors.ts";

import type { ManualMode, ManualSetting } from "../upstream/state/manual.ts";
import type { CooldownState } from "./cooldowns.ts";

/** An upstream as `GET /admin/upstreams` shows it, but for its history. */
export interface UpstreamState {
  readonly breaker: BreakerState;
  readonly health: UpstreamHealth["state"];
  readonly latency_ms: number;
  readonly can_serve: boolean;
  /** What an operator has set; null: nothing. */
  readonly manual: ManualState | null;
  /** API keys by their place in the configuration. */
  readonly keys: readonly {
    readonly position: number;
    /** ISO 8601; null: it is used. */
    readonly rests_until: string | null;
    /** In a row. */
    readonly refusals: number;
    readonly last_error: LastErrorBody | null;
  }[];
  /** By the upstream's name of the model; those that requests went to. */
  readonly targets: Readonly<Record<string, TargetBody>>;
  /** Counts of the answering process. */
  readonly in_flight: number;
  readonly waiting: number;
  /** Whatever is not asked for now: keys, for one model or for all, and targets and upstreams with an open breaker. */
  readonly cooldowns: readonly CooldownState[];
  /** By model, where `breaker.scope` is target. */
  readonly breakers?: Readonly<Record<string, BreakerState>>;
}

export interface ManualState {
  readonly mode: ManualMode;
  /** ISO 8601, this and the next. */
  readonly since: string;
  readonly until: string;
  readonly by: string;
  readonly reason: string;
}

/** A `last_error` of `GET /admin/upstreams`; times are ISO 8601. */
export interface LastErrorBody {
  readonly at: string;
  readonly status: number | null;
  readonly code: string | null;
  readonly cause: string;
  readonly message: string;
  readonly request_id: string;
  readonly recovered_at: string | null;
}

export interface TargetBody {
  readonly last_error: LastErrorBody | null;
  readonly last_success_at: string | null;
}

export function lastErrorBody(error: LastError | null): LastErrorBody | null {
  if (error === null) return null;
  const { at, status, code, cause, message, requestId, recoveredAt } = error;
  return { at: iso(at), status, code, cause, message, request_id: requestId, recovered_at: isoOrNull(recoveredAt) };
}

export function targetBody({ lastError, lastSuccessAt }: TargetNews): TargetBody {
  return { last_error: lastErrorBody(lastError), last_success_at: isoOrNull(lastSuccessAt) };
}

interface News {
  readonly keys: readonly { readonly position: number; readonly last_error: LastErrorBody | null }[];
  readonly targets: Readonly<Record<string, TargetBody>>;
}

/** The news of one upstream with that of other processes: the newest of each. */
export function withNewest<State extends News>(state: State, others: readonly News[]): State {
  const keys = state.keys.map((key) => {
    const all = others.map((other) => other.keys.find(({ position }) => position === key.position)?.last_error ?? null);
    return { ...key, last_error: newest([key.last_error, ...all]) };
  });
  const models = new Set([state, ...others].flatMap(({ targets }) => Object.keys(targets)));
  const targets = [...models].map((model) => {
    const all = [state, ...others].map((one) => one.targets[model]);
    const successes = all.map((one) => one?.last_success_at ?? "").toSorted();
    const last_error = newest(all.map((one) => one?.last_error ?? null));
    return [model, { last_error, last_success_at: successes.at(-1) || null }] as const;
  });
  return { ...state, keys, targets: Object.fromEntries(targets) };
}

function newest(errors: readonly (LastErrorBody | null)[]): LastErrorBody | null {
  return errors.reduce((last, one) => (one !== null && (last === null || one.at > last.at) ? one : last), null);
}

export function manualState(setting: ManualSetting | null): ManualState | null {
  if (setting === null) return null;
  const { mode, since, until, by, reason } = setting;
  return { mode, since: iso(since), until: iso(until), by, reason };
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at);
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
