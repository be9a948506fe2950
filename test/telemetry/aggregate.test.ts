import * as fc from "fast-check";
import { expect, test } from "vitest";
import { aggregate, aggregateText, countsOf, type Scrape } from "../../src/telemetry/metrics.ts";
import { exchange, metricsWith, outcome, samplesOf, type Sources } from "./support.ts";
import { PATIENCE, RUNS } from "../properties/runs.ts";

/** As it comes from another process. */
function sent(scrape: Scrape): Scrape {
  return JSON.parse(JSON.stringify(scrape)) as Scrape;
}

/** What a process with these sources says, after `work`. */
async function processWith(sources: Sources, work: (metrics: ReturnType<typeof metricsWith>) => void = () => {}) {
  const metrics = metricsWith(sources);
  work(metrics);
  return sent(await metrics.collect());
}

async function samplesOfAll(scrapes: readonly Scrape[]): Promise<Record<string, number>> {
  return samplesOf((await aggregateText(scrapes)).body);
}

/** Every metric that there is. */
function busy(metrics: ReturnType<typeof metricsWith>): void {
  metrics.configuration("abc");
  metrics.answered("chat", "served", 200, 30);
  metrics.pluginFailed("quota");
  metrics.reloaded("ok");
  metrics.attempt("route/swift", { upstream: "alpha", model: "m" } as never, "ok");
  const usage = { prompt: 7, completion: 5, cached: 1, reasoning: 2, characters: 3 };
  const bill = { usage, charge: 1_000_000_000n, estimated: false };
  metrics.finished(exchange({ model: { id: 'route/"odd\\one' } as never }), outcome({ bill, dropped: ["/x"] }));
}

const SOURCES: Sources = {
  breakers: [["alpha", "open"]],
  health: [["alpha", "degraded"]],
  streams: 4,
  store: { away: true, pending: 3, rejected: 1 },
};
/** States of which all processes together have one. */
const STATES = /^gateway_(?:breaker_state|upstream_healthy|config_info|store_away|settlements)/;

/** Aggregated, all buckets of a histogram come before all of its sums. */
const linesOf = (text: string): readonly string[] => text.split("\n").toSorted();

test("of one process it is what that process says of itself, line by line", async () => {
  const metrics = metricsWith(SOURCES);
  busy(metrics);
  const { contentType, body } = await aggregateText([sent(await metrics.collect())]);
  const own = await metrics.scrape();
  expect(contentType).toBe(own.contentType);
  expect(linesOf(body)).toEqual(linesOf(own.body));
});

test("twice the same: every count is doubled, also those of a histogram, and no state is", async () => {
  const one = await processWith(SOURCES, busy);
  const [single, both] = [await samplesOfAll([one]), await samplesOfAll([one, one])];
  expect(Object.keys(both)).toEqual(Object.keys(single));
  for (const [name, value] of Object.entries(both)) {
    expect(value, `of ${name}`).toBe(STATES.test(name) ? single[name] : 2 * single[name]!);
  }
  expect(Object.keys(single).filter((name) => STATES.test(name))).toHaveLength(6);
  expect(Object.keys(single).filter((name) => name.includes("duration_seconds_bucket")).length).toBeGreaterThan(30);
});

test("of a state the worst is shown, whoever is in it; running streams are added up", async () => {
  const well: Sources = { breakers: [["alpha", "closed"]], health: [["alpha", "healthy"]], streams: 1 };
  const expected = {
    'gateway_breaker_state{upstream="alpha"}': 2,
    'gateway_upstream_healthy{upstream="alpha"}': 0,
    'gateway_config_info{hash="abc"}': 1,
    'gateway_settlements{state="pending"}': 3,
    'gateway_settlements{state="rejected"}': 1,
    gateway_store_away: 1,
    gateway_active_streams: 5,
  };
  const scrapes = [await processWith(well), await processWith(SOURCES, busy)];
  expect(await samplesOfAll(scrapes)).toMatchObject(expected);
  expect(await samplesOfAll(scrapes.toReversed())).toMatchObject(expected);
});

test("a process that has ended leaves its counts and none of its gauges", async () => {
  const names = countsOf(await processWith(SOURCES, busy)).map(({ name }) => name);
  expect(names.toSorted()).toEqual([
    "gateway_audit_entries_total",
    "gateway_config_guards_total",
    "gateway_config_reloads_total",
    "gateway_cost_total",
    "gateway_dropped_fields_total",
    "gateway_generation_requests_total",
    "gateway_plugin_failures_total",
    "gateway_plugin_hook_seconds_bucket",
    "gateway_plugin_hook_seconds_count",
    "gateway_plugin_hook_seconds_sum",
    "gateway_replayed_requests_total",
    "gateway_request_duration_seconds",
    "gateway_requests_total",
    "gateway_shed_total",
    "gateway_sign_ins_total",
    "gateway_tagged_cost_total",
    "gateway_tagged_requests_total",
    "gateway_target_attempts_total",
    "gateway_telemetry_dropped_total",
    "gateway_time_to_first_token_seconds",
    "gateway_tokens_total",
    "gateway_units_total",
    "gateway_upstream_attempts_total",
  ]);
});

test("of nobody it is nothing", async () => {
  expect((await aggregateText([])).body.trim()).toBe("");
  expect(aggregate([[], []])).toEqual([]);
});

/** What is done in one process: plugins that failed and requests that were answered, by number. */
const WORK = fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.integer({ min: 1, max: 5_000 })), { maxLength: 8 });

test(
  "aggregating is blind to order and grouping, adds up exactly, and changes nothing that was given",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(WORK, { maxLength: 5 }), fc.nat({ max: 5 }), async (works, cut) => {
        const expected: Record<string, number> = {};
        const count = (name: string, by: number): void => void (expected[name] = (expected[name] ?? 0) + by);
        const scrapes = await Promise.all(
          works.map((work) =>
            processWith({ breakers: [], streams: work.length }, (metrics) => {
              for (const [name, milliseconds] of work) {
                metrics.pluginFailed(name);
                metrics.answered(name, "served", 200, milliseconds);
                count(`gateway_plugin_failures_total{plugin="${name}"}`, 1);
                const labels = `endpoint="${name}",model="unknown"`;
                count(`gateway_request_duration_seconds_count{${labels}}`, 1);
                count(`gateway_request_duration_seconds_bucket{le="2.5",${labels}}`, milliseconds <= 2_500 ? 1 : 0);
              }
            }),
          ),
        );
        const before = JSON.stringify(scrapes);
        const all = await samplesOfAll(scrapes);
        expect(all).toMatchObject(expected);
        expect(all["gateway_active_streams"] ?? 0).toBe(works.reduce((sum, work) => sum + work.length, 0));
        const parts = [aggregate(scrapes.slice(0, cut)), aggregate(scrapes.slice(cut))];
        for (const other of [await samplesOfAll(scrapes.toReversed()), await samplesOfAll(parts)]) {
          expect(Object.keys(other).toSorted()).toEqual(Object.keys(all).toSorted());
          for (const [name, value] of Object.entries(other)) expect(value, `of ${name}`).toBeCloseTo(all[name]!, 6);
        }
        expect(JSON.stringify(scrapes)).toBe(before);
      }),
      { numRuns: Math.ceil(RUNS / 5) },
    );
  },
  PATIENCE,
);
