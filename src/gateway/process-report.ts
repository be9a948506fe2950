import type { Diagnostic } from "../config/diagnostics.ts";
import type { PassedOver } from "./generation.ts";
import type { GuardStatus } from "./guard.ts";
import type { InstanceInfo } from "./instances.ts";
import type { KeptGeneration } from "./kept-generations.ts";
import type { ListStatus } from "./model-lists.ts";
import type { UpstreamState } from "./upstream-state.ts";

/** What `GET /admin/config` shows. */
export interface ConfigStatus {
  readonly generation: number;
  readonly hash: string;
  readonly file: string;
  readonly loaded_at: string;
  /** What is wrong with what serves, and lets it serve all the same. */
  readonly warnings: readonly Diagnostic[];
  /** Sections that differ from what runs and need a restart. */
  readonly pending: readonly string[];
  /** The lists of providers, by upstream. Absent if no upstream publishes one. */
  readonly model_lists?: Readonly<Record<string, ListStatus>>;
  readonly last_rejection: { readonly at: string; readonly diagnostics: readonly Diagnostic[] } | null;
  /** The file as it is, when something else serves after a rollback: it is not tried again until it changes. */
  readonly passed_over: PassedOver | null;
  /** The latest change that served a share of the users first. */
  readonly guard: GuardStatus | null;
  /** What a rollback can return to, the latest first. */
  readonly generations: readonly (KeptGeneration & { readonly serves: boolean })[];
}

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
