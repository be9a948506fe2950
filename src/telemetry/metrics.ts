import type { MetricObject } from "@prometheus-io/client";
import type { Exchange, Outcome, Target } from "../kit/index.ts";
import { type Count, Counts, Distributions, HookTimes } from "./counts.ts";
import { Counter, Gauge, Registry } from "./prometheus.ts";
import { type MetricSources, registerState } from "./state-metrics.ts";

/** For names that a client sent and the gateway does not know: client text must never become a label. */
const UNKNOWN_LABEL = "unknown";
const MAX_VALUES_PER_TAG = 100;
const OTHER_VALUES = "other";
const TOKEN_TYPES = ["prompt", "completion", "cached", "reasoning"] as const;
const DURATION_BUCKETS_SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 45, 60, 120, 300, 600,
];
/** OpenTelemetry's bounds for the first token, and beyond: reasoning models exceed 10 s. */
const FIRST_TOKEN_BUCKETS_SECONDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 15, 20, 30, 45, 60,
];

export interface Metrics {
  /** @param target of the model's chain; of no other model. */
  attempt(model: string, target: Target, result: string): void;
  finished(exchange: Exchange, outcome: Outcome): void;
  /** A request that was not inference, or refused before it; `endpoint` is one of the gateway's own names. */
  answered(endpoint: string, outcome: "served" | "refused", status: number, durationMs: number): void;
  /** A request with an idempotency key that was given an earlier one's answer. */
  replayed(endpoint: string): void;
  pluginFailed(name: string): void;
  /** Called with the milliseconds of each call of a hook. */
  hookTimer(plugin: string, hook: string): (milliseconds: number) => void;
  reloaded(result: "ok" | "rejected"): void;
  /** The hash of the configuration in force. */
  configuration(hash: string): void;
  /** The hash of the one that serves a share of the users; null: there is none. */
  candidate(hash: string | null): void;
  /** How the trial of a changed configuration ended. */
  guarded(result: string): void;
  /** Sign-ins of operators at the admin listener, or of users. */
  signedIn(who: "operator" | "user", result: "ok" | "failed" | "limited", count: number): void;
  /** An entry of the audit log. */
  audited(action: string, outcome: string): void;
  /** Prometheus text. */
  scrape(): Promise<ScrapeText>;
  /** The same, to be aggregated with that of other processes. */
  collect(): Promise<Scrape>;
}

/**
 * Prometheus metrics. Labels are names of the configuration or of the gateway's own. Counts
 * of several processes are added up; a gauge says by its aggregator what it is of all: of a state the worst.
 */
export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counts(registry, {
    name: "gateway_requests_total",
    help: "Requests by how they ended.",
    labelNames: ["endpoint", "model", "tier", "status", "outcome"],
  });
  const durations = new Distributions(registry, {
    name: "gateway_request_duration_seconds",
    help: "From a request's arrival to the end of its answer.",
    labelNames: ["endpoint", "model"],
    bounds: DURATION_BUCKETS_SECONDS,
  });
  const firstTokens = new Distributions(registry, {
    name: "gateway_time_to_first_token_seconds",
    help: "From a request's arrival to the first token.",
    labelNames: ["model", "upstream"],
    bounds: FIRST_TOKEN_BUCKETS_SECONDS,
  });
  const tokens = new Counts(registry, {
    name: "gateway_tokens_total",
    help: "Billed tokens; prompt includes cached, completion includes reasoning.",
    labelNames: ["model", "type"],
  });
  const units = new Counts(registry, {
    name: "gateway_units_total",
    help: "Billed characters, seconds of audio and images.",
    labelNames: ["model", "type"],
  });
  const cost = new Counts(registry, {
    name: "gateway_cost_total",
    help: "Charges in the configured currency.",
    labelNames: ["model"],
  });
  const attempts = new Counts(registry, {
    name: "gateway_upstream_attempts_total",
    help: "Attempts at upstreams by result: ok, or the class of the failure.",
    labelNames: ["upstream", "result"],
  });
  const targets = new Counts(registry, {
    name: "gateway_target_attempts_total",
    help: "Attempts at the targets of models' chains by result: ok, or the class of the failure.",
    labelNames: ["model", "upstream", "target", "result"],
  });
  const countsOfTargets = new WeakMap<Target, Map<string, readonly Count[]>>();
  const dropped = new Counts(registry, {
    name: "gateway_dropped_fields_total",
    help: "Fields of requests that the upstream's dialect could not express.",
    labelNames: ["model", "upstream"],
  });
  const replayed = new Counts(registry, {
    name: "gateway_replayed_requests_total",
    help: "Requests that were given the answer of an earlier one with their idempotency key; counted nowhere else.",
    labelNames: ["endpoint"],
  });
  const pluginFailures = new Counter({
    name: "gateway_plugin_failures_total",
    help: "Hooks that threw.",
    labelNames: ["plugin"],
    registers,
  });
  const hookTimes = new HookTimes(registry);
  const tagged = new Counts(registry, {
    name: "gateway_tagged_requests_total",
    help: "Requests by a tag that a plugin wants measured, and how they ended.",
    labelNames: ["tag", "value", "outcome"],
  });
  const taggedCost = new Counts(registry, {
    name: "gateway_tagged_cost_total",
    help: "Charges in the configured currency by a tag that a plugin wants measured.",
    labelNames: ["tag", "value"],
  });
  const knownValues = new KnownValues();
  const reloads = new Counter({
    name: "gateway_config_reloads_total",
    help: "Reloads of the configuration: ok, rejected.",
    labelNames: ["result"],
    registers,
  });
  const configuration = new Gauge({
    name: "gateway_config_info",
    help: "The configuration in force.",
    labelNames: ["hash"],
    aggregator: "max",
    registers,
  });
  const candidate = new Gauge({
    name: "gateway_config_candidate_info",
    help: "The changed configuration that serves a share of the users, while there is one.",
    labelNames: ["hash"],
    aggregator: "max",
    registers,
  });
  const guards = new Counter({
    name: "gateway_config_guards_total",
    help: "Changed configurations that served a share of the users first: promoted, rolled_back, replaced.",
    labelNames: ["result"],
    registers,
  });
  const signIns = new Counter({
    name: "gateway_sign_ins_total",
    help: "Sign-ins of operators and users: ok, failed, or limited (refused after too many).",
    labelNames: ["who", "result"],
    registers,
  });
  const auditEntries = new Counter({
    name: "gateway_audit_entries_total",
    help: "Entries of the audit log by action and outcome, such as export or grantCredits.",
    labelNames: ["action", "outcome"],
    registers,
  });
  registerState(registry, sources);

  return {
    attempt(model, target, result) {
      let byResult = countsOfTargets.get(target);
      if (byResult === undefined) countsOfTargets.set(target, (byResult = new Map()));
      let counts = byResult.get(result);
      if (counts === undefined) {
        const { upstream } = target;
        counts = [attempts.of(upstream, result), targets.of(model, upstream, target.model, result)];
        byResult.set(result, counts);
      }
      for (const one of counts) one.count += 1;
    },
    finished({ endpoint, model: { id: model }, tier, receivedAt, tags }, outcome) {
      const { status, kind, bill, firstEventAt, endedAt, target } = outcome;
      requests.add(1, endpoint, model, tier.name, status, kind);
      durations.observe(seconds(receivedAt, endedAt), endpoint, model);
      if (firstEventAt !== null && target !== null) {
        firstTokens.observe(seconds(receivedAt, firstEventAt), model, target.upstream);
      }
      for (const type of TOKEN_TYPES) if (bill.usage[type] > 0) tokens.add(bill.usage[type], model, type);
      const { characters = 0, milliseconds = 0, images = 0 } = bill.usage;
      if (characters > 0) units.add(characters, model, "characters");
      if (milliseconds > 0) units.add(milliseconds / 1000, model, "audio_seconds");
      if (images > 0) units.add(images, model, "images");
      if (outcome.dropped.length > 0 && target !== null) {
        dropped.add(outcome.dropped.length, model, target.upstream);
      }
      if (bill.charge > 0n) cost.add(Number(bill.charge) / 1e9, model);
      for (const { name: tag, value: text, measured } of tags ?? []) {
        if (measured !== true) continue;
        const value = knownValues.labelOf(tag, text);
        tagged.add(1, tag, value, kind);
        if (bill.charge > 0n) taggedCost.add(Number(bill.charge) / 1e9, tag, value);
      }
    },
    answered(endpoint, outcome, status, durationMs) {
      requests.add(1, endpoint, UNKNOWN_LABEL, UNKNOWN_LABEL, status, outcome);
      durations.observe(Math.max(0, durationMs) / 1000, endpoint, UNKNOWN_LABEL);
    },
    replayed: (endpoint) => replayed.add(1, endpoint),
    pluginFailed(plugin) {
      pluginFailures.inc({ plugin });
    },
    hookTimer: (plugin, hook) => hookTimes.timer(plugin, hook),
    reloaded(result) {
      reloads.inc({ result });
    },
    configuration(hash) {
      configuration.reset();
      configuration.set({ hash }, 1);
    },
    candidate(hash) {
      candidate.reset();
      if (hash !== null) candidate.set({ hash }, 1);
    },
    guarded(result) {
      guards.inc({ result });
    },
    signedIn(who, result, count) {
      signIns.inc({ who, result }, count);
    },
    audited(action, outcome) {
      auditEntries.inc({ action, outcome });
    },
    async scrape() {
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
    collect: () => registry.getMetricsAsJSON(),
  };
}

/** The values that tags had first. They are clients' words, and each label value stays in memory for good. */
class KnownValues {
  readonly #byTag = new Map<string, Set<string>>();

  labelOf(tag: string, value: string): string {
    let known = this.#byTag.get(tag);
    if (known === undefined) this.#byTag.set(tag, (known = new Set()));
    if (!known.has(value) && known.size >= MAX_VALUES_PER_TAG) return OTHER_VALUES;
    known.add(value);
    return value;
  }
}

/** A clock set back must not count downwards. */
function seconds(from: number, to: number): number {
  return Math.max(0, to - from) / 1000;
}

/** The metrics of one process, or of several as one, with their values. */
export type Scrape = readonly MetricObject[];

/** Prometheus text. */
export interface ScrapeText {
  readonly contentType: string;
  readonly body: string;
}

/** Merges the metrics of several processes, each by its own aggregator. Does not change its arguments. */
export function aggregate(scrapes: readonly Scrape[]): Scrape {
  return Registry.aggregate([...scrapes]).getMetricsAsArray();
}

/** `aggregate` as Prometheus text. */
export async function aggregateText(scrapes: readonly Scrape[]): Promise<ScrapeText> {
  const registry = Registry.aggregate([...scrapes]);
  return { contentType: registry.contentType, body: await registry.metrics() };
}

export interface MetricSample {
  /** The family's, or that of a part of it, such as `…_bucket`. */
  readonly name: string;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly value: number;
}

/** By family. */
export type Samples = ReadonlyMap<string, readonly MetricSample[]>;

/** `aggregate` as values. */
export async function samplesOf(scrapes: readonly Scrape[]): Promise<Samples> {
  const families = await Registry.aggregate([...scrapes]).getMetricsAsJSON();
  return new Map(
    families.map(({ name, values }) => [
      name,
      values.map((sample) => {
        const { labels, value, metricName = name } = sample as typeof sample & { readonly metricName?: string };
        return { name: metricName, labels, value };
      }),
    ]),
  );
}

/**
 * What remains of a process after its end: counters and histograms. Its gauges end with it, also those that are added
 * up.
 */
export function countsOf(scrape: Scrape): Scrape {
  return scrape.filter(({ type }) => type === "counter" || type === "histogram");
}
