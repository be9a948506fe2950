import type { BreakerState, Kind, Stage } from "../kit/index.ts";
import type { Samples } from "../telemetry/metrics.ts";
import { NOT_UPSTREAM_FAULTS } from "../upstream/state/breaker.ts";
import type { ProcessReport } from "./process-report.ts";
import type { ProcessState } from "./generation.ts";
import type { ManualState, UpstreamState } from "./upstream-state.ts";

/** What figures are told by: the chains and the pipeline in force. */
export interface OperationsPlan {
  readonly hash: string;
  readonly models: readonly {
    readonly id: string;
    readonly kind: Kind;
    readonly chain: readonly {
      readonly balance: string;
      readonly targets: readonly { readonly upstream: string; readonly model: string; readonly weight: number }[];
    }[];
  }[];
  readonly pipeline: readonly { readonly plugin: string; readonly stage: Stage; readonly use: string }[];
}

export function planOf({ generation }: Pick<ProcessState, "generation">): OperationsPlan {
  const { snapshot, loaded } = generation;
  return {
    hash: snapshot.hash,
    models: Object.values(snapshot.models).map(({ id, kind, chain }) => ({
      id,
      kind,
      chain: chain.map(({ balance, targets }) => ({
        balance,
        targets: targets.map(({ upstream, model, weight }) => ({ upstream, model, weight })),
      })),
    })),
    pipeline: loaded.steps.map(({ plugin: { name, stage }, settings: { use } }) => ({ plugin: name, stage, use })),
  };
}

/** `GET /admin/models`: counts are of the processes that answer, since each of them started. */
export function modelsBody(plan: OperationsPlan, samples: Samples, upstreams: ProcessReport["upstreams"]) {
  const attempts = new Attempts(samples);
  const firstTokens = new Histograms(samples, "gateway_time_to_first_token_seconds", ["model", "upstream"]);
  const durations = new Histograms(samples, "gateway_request_duration_seconds", ["model"]);
  const data = plan.models.map(({ id, kind, chain }) => {
    const of = (target: { readonly upstream: string; readonly model: string }): TargetCounts =>
      attempts.of(id, target.upstream, target.model);
    const served = (targets: (typeof chain)[number]["targets"]): number =>
      targets.reduce((sum, target) => sum + of(target).served, 0);
    const total = chain.reduce((sum, { targets }) => sum + served(targets), 0);
    const steps = chain.map(({ balance, targets }) => ({
      balance,
      share: shareOf(served(targets), total),
      targets: targets.map((target) => {
        const counts = of(target);
        const ttft = firstTokens.of(id, target.upstream);
        const state = stateOf(upstreams[target.upstream], target.model);
        return { ...target, ...state, ...counts, share: shareOf(counts.served, total), ttft_ms: ttft };
      }),
    }));
    return { id, kind, served: total, duration_ms: durations.of(id), chain: steps };
  });
  return { hash: plan.hash, data };
}

/** `GET /admin/plugins`, in the order of the pipeline. */
export function pluginsBody(plan: OperationsPlan, samples: Samples) {
  const times = new Histograms(samples, "gateway_plugin_hook_seconds", ["plugin", "hook"]);
  const failures = new Map(
    (samples.get("gateway_plugin_failures_total") ?? []).map(({ labels, value }) => [labels["plugin"], value]),
  );
  const data = plan.pipeline.map(({ plugin, stage, use }) => ({
    plugin,
    stage,
    use,
    failures: failures.get(plugin) ?? 0,
    hooks: times.under(plugin).map(({ names: [, hook = ""], calls, total_ms, ...percentiles }) => {
      return { hook, calls, total_ms, ...percentiles };
    }),
  }));
  return { hash: plan.hash, data };
}

/** `GET /admin/instances`. */
export function instancesBody({ self, others, complete }: ProcessReport) {
  const all = [self, ...others].toSorted((a, b) => (a.instance < b.instance ? -1 : 1));
  const hashes = new Set(all.filter(({ draining }) => !draining).map(({ hash }) => hash));
  const data = all.map((one) => {
    const { instance, host, pid, started_at, hash, generation, loaded_at, draining, streams, shedding } = one;
    return { instance, host, pid, started_at, hash, generation, loaded_at, draining, streams, shedding };
  });
  return { data, agree: complete ? hashes.size <= 1 : null, complete };
}

interface TargetCounts {
  readonly attempts: number;
  readonly served: number;
  /** By a fault of the upstream. */
  readonly failed: number;
}

const NO_COUNTS: TargetCounts = { attempts: 0, served: 0, failed: 0 };

class Attempts {
  readonly #byTarget = new Map<string, TargetCounts>();

  constructor(samples: Samples) {
    for (const { labels, value } of samples.get("gateway_target_attempts_total") ?? []) {
      const { model, upstream, target } = labels;
      const result = textOf(labels["result"]);
      const key = keyOf(textOf(model), textOf(upstream), textOf(target));
      const { attempts, served, failed } = this.#byTarget.get(key) ?? NO_COUNTS;
      const isFault = result !== "ok" && !NOT_FAULTS.has(result);
      this.#byTarget.set(key, {
        attempts: attempts + value,
        served: served + (result === "ok" ? value : 0),
        failed: failed + (isFault ? value : 0),
      });
    }
  }

  of(...names: readonly [model: string, upstream: string, target: string]): TargetCounts {
    return this.#byTarget.get(keyOf(...names)) ?? NO_COUNTS;
  }
}

const NOT_FAULTS: ReadonlySet<string> = NOT_UPSTREAM_FAULTS;

export interface Percentiles {
  /** null where nothing was measured. */
  readonly p50: number | null;
  readonly p95: number | null;
}

interface Histogram {
  readonly names: readonly string[];
  readonly bounds: Map<number, number>;
  sum: number;
}

/** Those of a family, added up by some of its labels. */
class Histograms {
  readonly #all = new Map<string, Histogram>();

  constructor(samples: Samples, family: string, by: readonly string[]) {
    // A histogram has its parts in one family, three counters have a family each.
    const names = [family, `${family}_bucket`, `${family}_sum`];
    for (const { name, labels, value } of names.flatMap((one) => samples.get(one) ?? [])) {
      const histogram = this.#at(by.map((label) => textOf(labels[label])));
      if (name === `${family}_sum`) histogram.sum += value;
      else if (name === `${family}_bucket`) {
        const bound = labels["le"] === "+Inf" ? Infinity : Number(labels["le"]);
        histogram.bounds.set(bound, (histogram.bounds.get(bound) ?? 0) + value);
      }
    }
  }

  of(...names: readonly string[]): Percentiles {
    const known = this.#all.get(keyOf(...names));
    return known === undefined ? { p50: null, p95: null } : percentilesOf(known);
  }

  /** All whose first name it is. */
  under(first: string) {
    return [...this.#all.values()]
      .filter(({ names }) => names[0] === first)
      .map((histogram) => ({
        names: histogram.names,
        calls: histogram.bounds.get(Infinity) ?? 0,
        total_ms: rounded(histogram.sum * 1000),
        ...percentilesOf(histogram),
      }));
  }

  #at(names: readonly string[]): Histogram {
    const key = keyOf(...names);
    const known = this.#all.get(key) ?? { names, bounds: new Map<number, number>(), sum: 0 };
    this.#all.set(key, known);
    return known;
  }
}

function percentilesOf({ bounds }: Histogram): Percentiles {
  const ordered = [...bounds].toSorted(([a], [b]) => a - b);
  return { p50: quantile(ordered, 0.5), p95: quantile(ordered, 0.95) };
}

/** Milliseconds; within its bucket by the bounds' logarithm, for the bounds grow by factors. */
function quantile(ordered: readonly (readonly [bound: number, atMost: number])[], share: number): number | null {
  const total = ordered.at(-1)?.[1] ?? 0;
  if (total === 0) return null;
  const rank = share * total;
  const at = ordered.findIndex(([, atMost]) => atMost >= rank);
  const [bound, atMost] = ordered[at]!;
  const [lower, before] = ordered[at - 1] ?? [(ordered[0]?.[0] ?? 0) / 10, 0];
  if (bound === Infinity) return rounded(lower * 1000);
  return rounded(lower * (bound / lower) ** ((rank - before) / (atMost - before)) * 1000);
}

function textOf(label: string | number | undefined): string {
  return String(label ?? "");
}

export interface ShownState {
  readonly breaker: BreakerState;
  readonly can_serve: boolean;
  readonly manual: ManualState | null;
}

/** An upstream that a reload took away just now is not among the states. */
function stateOf(state: UpstreamState | undefined, model: string): ShownState {
  const { breaker: whole = "closed", can_serve = false, manual = null, breakers } = state ?? {};
  // Where each model has a breaker of its own, one that was never tried is closed.
  const breaker = breakers === undefined || manual !== null ? whole : (breakers[model] ?? "closed");
  return { breaker, can_serve: can_serve && breaker !== "open" && !restsFor(state, model), manual };
}

/** Whether every key rests, for this model or for all. */
function restsFor(state: UpstreamState | undefined, model: string): boolean {
  const { keys = [], cooldowns = [] } = state ?? {};
  const own = cooldowns.filter((one) => one.model === undefined || one.model === model);
  const resting = new Set(own.map(({ key }) => key));
  return keys.length > 0 && keys.every(({ position }) => resting.has(position));
}

function shareOf(part: number, total: number): number | null {
  return total === 0 ? null : part / total;
}

function keyOf(...names: readonly string[]): string {
  return names.join("\n");
}

function rounded(milliseconds: number): number {
  return Number(milliseconds.toPrecision(3));
}
