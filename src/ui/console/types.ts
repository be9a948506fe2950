/** Answers of the admin listener that the schemas do not describe yet. */
import type { BreakerState, GuardState } from "#schema";

export interface ManualState {
  readonly mode: "drain" | "open" | "close";
  readonly since: string;
  readonly until: string;
  readonly by: string;
  readonly reason: string;
}
export interface StateChange {
  readonly at: string;
  readonly state: BreakerState;
  readonly cause: string;
  readonly detail: string;
  readonly instance: string;
}
export interface Upstream {
  readonly breaker: BreakerState;
  readonly health: string;
  readonly latency_ms: number;
  readonly can_serve: boolean;
  readonly instances: Readonly<Record<string, BreakerState>>;
  readonly manual: ManualState | null;
  readonly history: readonly StateChange[];
}
export interface User {
  readonly id: string;
  readonly email: string;
  readonly plan_tier: string;
  readonly credits: string;
  readonly held: string;
  readonly granted: string;
  readonly charged: string;
  readonly created_at: string;
  readonly disabled_at: string | null;
}
export interface Window {
  readonly used: number;
  readonly limit: number | null;
  readonly resets_at: string;
}
export interface UserDetail extends User {
  readonly windows: { readonly day: Window; readonly hour: Window; readonly minute: Window };
  readonly streams: { readonly running: number; readonly limit: number | null };
  readonly requests_running: number;
}
export interface ApiKey {
  readonly id: string;
  readonly user_id: string;
  readonly name: string;
  readonly key_prefix: string;
  readonly plan_tier: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly expires_at: string | null;
  readonly models: readonly string[] | null;
  readonly budget: {
    readonly amount: string;
    readonly per: string;
    readonly spent: string;
    readonly held: string;
    readonly resets_at: string | null;
  } | null;
  readonly tags: Readonly<Record<string, string>>;
}
export interface NewApiKey extends ApiKey {
  readonly api_key: string;
}
export interface LedgerEntry {
  readonly id: string;
  readonly request_id: string;
  readonly user_id: string;
  readonly key_id: string | null;
  readonly model: string;
  readonly upstream: string | null;
  readonly tier: string | null;
  readonly outcome: string;
  readonly estimated: boolean;
  readonly usage: Readonly<Record<string, number>>;
  readonly cost: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly received_at: string;
  readonly ended_at: string;
  readonly duration_ms: number;
}
export interface UsageRow {
  readonly start: string;
  readonly model?: string;
  readonly upstream?: string | null;
  readonly tier?: string | null;
  readonly user_id?: string;
  readonly key_id?: string | null;
  readonly requests: number;
  readonly failed: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
  readonly cost: string;
}
export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
}
export interface ModelTarget {
  readonly upstream: string;
  readonly model: string;
  readonly weight: number;
  readonly breaker: BreakerState;
  readonly can_serve: boolean;
  readonly manual: ManualState | null;
  readonly attempts: number;
  readonly served: number;
  readonly failed: number;
  readonly share: number | null;
  readonly ttft_ms: Percentiles;
}
export interface ModelStep {
  readonly balance: string;
  readonly share: number | null;
  readonly targets: readonly ModelTarget[];
}
export interface Model {
  readonly id: string;
  readonly kind: string;
  readonly served: number;
  readonly duration_ms: Percentiles;
  readonly chain: readonly ModelStep[];
}
export interface PluginState {
  readonly plugin: string;
  readonly stage: string;
  readonly use: string;
  readonly failures: number;
  readonly hooks: readonly {
    readonly hook: string;
    readonly calls: number;
    readonly total_ms: number;
    readonly p50: number | null;
    readonly p95: number | null;
  }[];
}
export interface Figure {
  readonly at: string;
  readonly requests_per_second: number;
  readonly in_flight: number;
  readonly streams: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly ttft_ms: Percentiles;
  readonly overhead_ms: Percentiles;
  readonly spend_per_second: string;
}
export interface FigureSeries {
  readonly data: readonly Figure[];
}
export interface FiguresEvent extends Figure {
  readonly upstreams: Readonly<
    Record<string, { readonly state: BreakerState; readonly health: string; readonly manual: ManualState | null }>
  >;
  readonly config: {
    readonly generation: number;
    readonly hash: string;
    readonly loaded_at: string;
    readonly last_rejection: { readonly at: string; readonly errors: number } | null;
    readonly guard: GuardState | null;
  };
  readonly instances: { readonly count: number; readonly agree: boolean | null };
}
export interface Instance {
  readonly instance: string;
  readonly host: string;
  readonly pid: number;
  readonly started_at: string;
  readonly hash: string;
  readonly generation: number;
  readonly loaded_at: string;
  readonly draining: boolean;
  readonly streams: number;
}
export interface Instances {
  readonly data: readonly Instance[];
  readonly agree: boolean | null;
}
