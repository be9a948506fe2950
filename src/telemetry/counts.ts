import type { Counter, MetricType, Registry } from "@prometheus-io/client";

type LabelValue = string | number;
type Labels = Readonly<Record<string, LabelValue>>;

interface Family<Names extends readonly string[]> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: Names;
}

/** One value for each name, in their order. */
type Values<Names extends readonly string[]> = { readonly [At in keyof Names]: LabelValue };

/**
 * A counter. The library's own joins and hashes the values of the labels for each count; here they lead to a number, and
 * the library sees it at a scrape.
 */
export class Counts<const Names extends readonly string[]> {
  readonly #series: SeriesByLabels<Count>;

  constructor(registry: Registry, { name, help, labelNames }: Family<Names>) {
    this.#series = new SeriesByLabels(labelNames, (labels) => ({ labels, count: 0 }));
    const { all } = this.#series;
    const values = (): readonly Sample[] => all.map(({ labels, count }) => ({ sharedLabels: labels, value: count }));
    registerSamples(registry, { name, help, labelNames, type: "counter", values });
  }

  add(count: number, ...values: Values<Names>): void {
    this.#series.at(values).count += count;
  }

  /** What is counted under these values, for who counts there often. */
  of(...values: Values<Names>): Count {
    return this.#series.at(values);
  }
}

export interface Count {
  readonly labels: Labels;
  count: number;
}

interface Distribution {
  readonly labels: Labels;
  /** By bucket, the last one for whatever is more than all bounds. */
  readonly counts: Float64Array;
  sum: number;
}

/** A histogram; see `Counts`. */
export class Distributions<const Names extends readonly string[]> {
  readonly #bounds: readonly number[];
  readonly #series: SeriesByLabels<Distribution>;

  constructor(registry: Registry, family: Family<Names> & { readonly bounds: readonly number[] }) {
    const { name, help, labelNames, bounds } = family;
    this.#bounds = bounds;
    this.#series = new SeriesByLabels(labelNames, (labels) => ({
      labels,
      counts: new Float64Array(bounds.length + 1),
      sum: 0,
    }));
    const { all } = this.#series;
    const bucketLabels = [...bounds, "+Inf"].map((le) => ({ le }));
    const values = (): readonly Sample[] =>
      all.flatMap(({ labels: sharedLabels, counts, sum }) => {
        const buckets: Sample[] = cumulative(counts).map((value, index) => {
          return { labels: bucketLabels[index]!, sharedLabels, value, metricName: `${name}_bucket` };
        });
        const { value } = buckets.at(-1)!;
        buckets.push({ sharedLabels, value: sum, metricName: `${name}_sum` });
        buckets.push({ sharedLabels, value, metricName: `${name}_count` });
        return buckets;
      });
    registerSamples(registry, { name, help, labelNames, type: "histogram", values });
  }

  observe(value: number, ...values: Values<Names>): void {
    const series = this.#series.at(values);
    series.counts[bucketOf(value, this.#bounds)]! += 1;
    series.sum += value;
  }
}

const HOOK_BUCKETS_SECONDS = [0.000_01, 0.000_1, 0.001, 0.01, 0.1, 1, 10] as const;
const HOOK_BUCKETS_MS = HOOK_BUCKETS_SECONDS.map((bound) => bound * 1000);

/** The calls of one hook of a plugin. */
interface HookCalls {
  readonly labels: { readonly plugin: string; readonly hook: string };
  /** By bucket, the last one for whatever took longer than all of them. */
  readonly counts: Float64Array;
  ms: number;
}

/** `gateway_plugin_hook_seconds`, as a histogram is written, in three counters. */
export class HookTimes {
  readonly #byName = new Map<string, HookCalls>();

  constructor(registry: Registry) {
    const calls = this.#byName;
    const type = "counter";
    registerSamples(registry, {
      name: "gateway_plugin_hook_seconds_bucket",
      help: "Calls of plugins' hooks, asynchronous ones to their end, that took no longer than le.",
      labelNames: ["plugin", "hook", "le"],
      type,
      values: () =>
        [...calls.values()].flatMap(({ labels, counts }) =>
          cumulative(counts).map((value, index) => {
            return { sharedLabels: { ...labels, le: String(HOOK_BUCKETS_SECONDS[index] ?? "+Inf") }, value };
          }),
        ),
    });
    registerSamples(registry, {
      name: "gateway_plugin_hook_seconds_sum",
      help: "What calls of plugins' hooks took together.",
      labelNames: ["plugin", "hook"],
      type,
      values: () => Array.from(calls.values(), ({ labels, ms }) => ({ sharedLabels: labels, value: ms / 1000 })),
    });
    registerSamples(registry, {
      name: "gateway_plugin_hook_seconds_count",
      help: "Calls of plugins' hooks.",
      labelNames: ["plugin", "hook"],
      type,
      values: () =>
        Array.from(calls.values(), ({ labels, counts }) => ({
          sharedLabels: labels,
          value: cumulative(counts).at(-1)!,
        })),
    });
  }

  /** Called with the milliseconds of each call. */
  timer(plugin: string, hook: string): (milliseconds: number) => void {
    // Neither a name of a plugin nor one of a hook has a blank.
    const name = `${plugin} ${hook}`;
    const labels = { plugin, hook };
    const calls = this.#byName.get(name) ?? { labels, counts: new Float64Array(HOOK_BUCKETS_MS.length + 1), ms: 0 };
    this.#byName.set(name, calls);
    const { counts } = calls;
    return (milliseconds) => {
      counts[bucketOf(milliseconds, HOOK_BUCKETS_MS)]! += 1;
      calls.ms += milliseconds;
    };
  }
}

/** The index of the first bound that is not less; one past the last without such. */
function bucketOf(value: number, bounds: readonly number[]): number {
  let bucket = 0;
  while (bucket < bounds.length && value > bounds[bucket]!) bucket += 1;
  return bucket;
}

/** As Prometheus counts buckets: each with all that is less. */
function cumulative(counts: Float64Array): readonly number[] {
  let sum = 0;
  return Array.from(counts, (count) => (sum += count));
}

/** One line of a scrape. */
interface Sample {
  /** Before those of the series. */
  readonly labels?: Labels;
  /** The same object at each scrape has its text made once. */
  readonly sharedLabels: Labels;
  readonly value: number;
  /** Where it is not the family's. */
  readonly metricName?: string;
}

interface SampledFamily extends Family<readonly string[]> {
  readonly type: MetricType;
  /** Asked at each scrape. */
  readonly values: () => readonly Sample[];
}

/** Hands a family to the registry that is counted elsewhere. Several processes' are added up. */
function registerSamples(registry: Registry, { name, help, type, values }: SampledFamily): void {
  const family = { name, help, type, aggregator: "sum" };
  const metric = {
    ...family,
    get: async () => ({
      ...family,
      values: values().map(({ labels, sharedLabels, value, metricName }) => {
        return { labels: { ...labels, ...sharedLabels }, value, metricName };
      }),
    }),
    getForPromString: async () => ({ ...family, values: values() }),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the registry asks a metric for these two alone
  registry.registerMetric(metric as unknown as Counter);
}

/** The values of labels lead, one after the other, to what is counted under them. */
class SeriesByLabels<Series> {
  /** In the order of their first use. */
  readonly all: Series[] = [];
  readonly #names: readonly string[];
  readonly #make: (labels: Labels) => Series;
  readonly #root: Branch<Series> = { next: new Map(), series: null };

  constructor(names: readonly string[], make: (labels: Labels) => Series) {
    this.#names = names;
    this.#make = make;
  }

  at(values: readonly LabelValue[]): Series {
    let branch = this.#root;
    for (const value of values) {
      let next = branch.next.get(value);
      if (next === undefined) branch.next.set(value, (next = { next: new Map(), series: null }));
      branch = next;
    }
    return branch.series ?? this.#begin(branch, values);
  }

  #begin(branch: Branch<Series>, values: readonly LabelValue[]): Series {
    const series = this.#make(Object.fromEntries(this.#names.map((name, at) => [name, values[at]!])));
    branch.series = series;
    this.all.push(series);
    return series;
  }
}

interface Branch<Series> {
  readonly next: Map<LabelValue, Branch<Series>>;
  series: Series | null;
}
