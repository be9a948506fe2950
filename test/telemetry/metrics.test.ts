import { expect, test } from "vitest";
import { exchange, metricsWith, outcome, samples, type Sources, TARGET } from "./support.ts";

test("a served request in every metric it belongs to", async () => {
  const metrics = metricsWith();
  metrics.finished(exchange(), outcome());
  metrics.finished(exchange(), outcome());
  const all = await samples(metrics);
  expect(all).toMatchObject({
    'gateway_requests_total{endpoint="chat",model="route/x",tier="Free",status="200",outcome="served"}': 2,
    'gateway_request_duration_seconds_count{endpoint="chat",model="route/x"}': 2,
    'gateway_request_duration_seconds_sum{endpoint="chat",model="route/x"}': 4,
    'gateway_request_duration_seconds_bucket{le="1",endpoint="chat",model="route/x"}': 0,
    'gateway_request_duration_seconds_bucket{le="2.5",endpoint="chat",model="route/x"}': 2,
    'gateway_time_to_first_token_seconds_count{model="route/x",upstream="alpha"}': 2,
    'gateway_time_to_first_token_seconds_sum{model="route/x",upstream="alpha"}': 0.5,
    'gateway_tokens_total{model="route/x",type="prompt"}': 200,
    'gateway_tokens_total{model="route/x",type="completion"}': 100,
    'gateway_tokens_total{model="route/x",type="cached"}': 80,
    'gateway_cost_total{model="route/x"}': 3,
  });
  expect(all).not.toHaveProperty('gateway_tokens_total{model="route/x",type="reasoning"}');
});

test("a failure counts as what it is and leaves tokens, cost and first token alone", async () => {
  const metrics = metricsWith();
  metrics.finished(
    exchange(),
    outcome({
      kind: "failed",
      status: 502,
      target: null,
      firstEventAt: null,
      bill: { usage: { prompt: 0, completion: 0, cached: 0, reasoning: 0 }, estimated: false, charge: 0n },
    }),
  );
  const all = await samples(metrics);
  expect(all['gateway_requests_total{endpoint="chat",model="route/x",tier="Free",status="502",outcome="failed"}']).toBe(
    1,
  );
  expect(Object.keys(all).filter((name) => /tokens|cost|first_token/.test(name))).toEqual([]);
});

test("a clock set back is a duration of zero, not an exception", async () => {
  const metrics = metricsWith();
  metrics.finished(exchange({ receivedAt: 9000 }), outcome());
  metrics.answered("chat", "refused", 401, -5);
  const all = await samples(metrics);
  expect(all['gateway_request_duration_seconds_sum{endpoint="chat",model="route/x"}']).toBe(0);
  expect(all['gateway_request_duration_seconds_sum{endpoint="chat",model="unknown"}']).toBe(0);
});

test("refused requests, attempts, plugins, reloads", async () => {
  const metrics = metricsWith();
  metrics.answered("chat", "refused", 401, 2);
  metrics.answered("other", "refused", 429, 1);
  metrics.attempt("route/swift", TARGET, "ok");
  metrics.attempt("route/swift", TARGET, "timeout");
  metrics.attempt("route/swift", TARGET, "timeout");
  metrics.pluginFailed("quota");
  metrics.reloaded("ok");
  metrics.reloaded("rejected");
  expect(await samples(metrics)).toMatchObject({
    'gateway_requests_total{endpoint="chat",model="unknown",tier="unknown",status="401",outcome="refused"}': 1,
    'gateway_requests_total{endpoint="other",model="unknown",tier="unknown",status="429",outcome="refused"}': 1,
    'gateway_upstream_attempts_total{upstream="alpha",result="ok"}': 1,
    'gateway_upstream_attempts_total{upstream="alpha",result="timeout"}': 2,
    'gateway_plugin_failures_total{plugin="quota"}': 1,
    'gateway_config_reloads_total{result="ok"}': 1,
    'gateway_config_reloads_total{result="rejected"}': 1,
  });
});

test("breakers, streams and the configuration are as they are at the scrape", async () => {
  const sources: Sources = {
    breakers: [
      ["alpha", "closed"],
      ["beta", "half_open"],
      ["gamma", "open"],
    ],
    streams: 7,
  };
  const metrics = metricsWith(sources);
  metrics.configuration("old");
  metrics.configuration("new");
  expect(await besideStore(metrics)).toEqual({
    'gateway_breaker_state{upstream="alpha"}': 0,
    'gateway_breaker_state{upstream="beta"}': 1,
    'gateway_breaker_state{upstream="gamma"}': 2,
    gateway_active_streams: 7,
    'gateway_config_info{hash="new"}': 1,
  });
  sources.breakers = [["alpha", "open"]];
  sources.streams = 0;
  const later = await samples(metrics);
  expect(later['gateway_breaker_state{upstream="alpha"}']).toBe(2);
  expect(later.gateway_active_streams).toBe(0);
  expect(Object.keys(later).filter((name) => /beta|gamma/.test(name))).toEqual([]);
});

test("the text is Prometheus', every metric has help and type, and two registries do not know each other", async () => {
  const metrics = metricsWith();
  metricsWith().pluginFailed("other");
  const { contentType, body } = await metrics.scrape();
  expect(contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
  const types = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  expect(types.toSorted()).toEqual([
    "gateway_active_streams gauge",
    "gateway_audit_entries_total counter",
    "gateway_breaker_state gauge",
    "gateway_config_candidate_info gauge",
    "gateway_config_guards_total counter",
    "gateway_config_info gauge",
    "gateway_config_reloads_total counter",
    "gateway_cost_total counter",
    "gateway_dropped_fields_total counter",
    "gateway_generation_requests_total counter",
    "gateway_plugin_failures_total counter",
    "gateway_plugin_hook_seconds_bucket counter",
    "gateway_plugin_hook_seconds_count counter",
    "gateway_plugin_hook_seconds_sum counter",
    "gateway_replayed_requests_total counter",
    "gateway_request_duration_seconds histogram",
    "gateway_requests_total counter",
    "gateway_settlements gauge",
    "gateway_shed_total counter",
    "gateway_shedding gauge",
    "gateway_sign_ins_total counter",
    "gateway_store_away gauge",
    "gateway_tagged_cost_total counter",
    "gateway_tagged_requests_total counter",
    "gateway_target_attempts_total counter",
    "gateway_telemetry_dropped_total counter",
    "gateway_time_to_first_token_seconds histogram",
    "gateway_tokens_total counter",
    "gateway_units_total counter",
    "gateway_upstream_attempts_total counter",
    "gateway_upstream_healthy gauge",
    "gateway_upstream_manual gauge",
  ]);
  expect(body.match(/^# HELP /gm)).toHaveLength(types.length);
  expect(body).not.toContain("other");
});

test("units other than tokens are counted under their own name", async () => {
  const metrics = metricsWith();
  const usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };
  const bill = { estimated: false, charge: 0n };
  metrics.finished(exchange(), outcome({ bill: { ...bill, usage: { ...usage, characters: 42 } } }));
  metrics.finished(exchange(), outcome({ bill: { ...bill, usage: { ...usage, milliseconds: 1500 } } }));
  metrics.finished(exchange(), outcome({ bill: { ...bill, usage: { ...usage, images: 2 } } }));
  const all = await samples(metrics);
  expect(Object.entries(all).filter(([name]) => name.startsWith("gateway_units"))).toEqual([
    ['gateway_units_total{model="route/x",type="characters"}', 42],
    ['gateway_units_total{model="route/x",type="audio_seconds"}', 1.5],
    ['gateway_units_total{model="route/x",type="images"}', 2],
  ]);
});

/** What the samples say beside the store's. */
async function besideStore(metrics: ReturnType<typeof metricsWith>) {
  const all = Object.entries(await samples(metrics));
  return Object.fromEntries(all.filter(([name]) => !/^gateway_(?:store|settlements)/.test(name)));
}

test("health is 1, 0, or absent without data", async () => {
  const metrics = metricsWith({
    breakers: [],
    streams: 0,
    health: [
      ["alpha", "healthy"],
      ["beta", "degraded"],
      ["gamma", "unknown"],
    ],
  });
  expect(await besideStore(metrics)).toEqual({
    'gateway_upstream_healthy{upstream="alpha"}': 1,
    'gateway_upstream_healthy{upstream="beta"}': 0,
    gateway_active_streams: 0,
  });
});

test("the store: whether it is away, and what waits outside it", async () => {
  const metrics = metricsWith({ breakers: [], streams: 0, store: { away: true, pending: 3, rejected: 1 } });
  expect(await samples(metrics)).toMatchObject({
    gateway_store_away: 1,
    'gateway_settlements{state="pending"}': 3,
    'gateway_settlements{state="rejected"}': 1,
  });
});

test("generations are counted as they are known, a candidate while there is one", async () => {
  const sources: Sources = { breakers: [], streams: 0, generations: [["abc", "served", 2]] };
  const metrics = metricsWith(sources);
  metrics.candidate("new");
  metrics.guarded("promoted");
  expect(await samples(metrics)).toMatchObject({
    'gateway_generation_requests_total{config="abc",outcome="served"}': 2,
    'gateway_config_candidate_info{hash="new"}': 1,
    'gateway_config_guards_total{result="promoted"}': 1,
  });
  sources.generations = [["def", "failed", 1]];
  metrics.candidate(null);
  const later = await samples(metrics);
  expect(Object.keys(later).filter((name) => /generation_requests|candidate/.test(name))).toEqual([
    'gateway_generation_requests_total{config="def",outcome="failed"}',
  ]);
});

const tags = (value: string) => [
  { name: "team", value, measured: true },
  { name: "note", value: "only for the log" },
];

test("tags that are to be measured are, with as many values as fit", async () => {
  const metrics = metricsWith();
  for (let at = 0; at < 120; at += 1) metrics.finished(exchange({ tags: tags(`t${at}`) }), outcome());
  metrics.finished(exchange({ tags: tags("t0") }), outcome({ kind: "failed" }));
  const found = await samples(metrics);
  const of = (value: string, kind = "served") =>
    found[`gateway_tagged_requests_total{tag="team",value="${value}",outcome="${kind}"}`];
  expect([of("t0"), of("t99"), of("t100"), of("other"), of("t0", "failed")]).toEqual([1, 1, undefined, 20, 1]);
  expect(found['gateway_tagged_cost_total{tag="team",value="t0"}']).toBe(3);
  expect(Object.keys(found).filter((name) => name.includes("note"))).toEqual([]);
});

test("hooks of plugins are counted by what they took, however often they are read", async () => {
  const metrics = metricsWith();
  const [one, again] = [metrics.hookTimer("own", "admit"), metrics.hookTimer("own", "admit")];
  for (const milliseconds of [0, 0.01, 0.5, 60_000]) one(milliseconds);
  again(1.5);
  metrics.hookTimer("other", "event");
  await samples(metrics);
  const found = await samples(metrics);
  const buckets = ["0.00001", "0.0001", "0.001", "0.01", "0.1", "1", "10", "+Inf"].map(
    (le) => found[`gateway_plugin_hook_seconds_bucket{plugin="own",hook="admit",le="${le}"}`],
  );
  expect(buckets).toEqual([2, 2, 3, 4, 4, 4, 4, 5]);
  expect(found['gateway_plugin_hook_seconds_count{plugin="own",hook="admit"}']).toBe(5);
  expect(found['gateway_plugin_hook_seconds_sum{plugin="own",hook="admit"}']).toBeCloseTo(60.00201, 9);
  expect(found['gateway_plugin_hook_seconds_count{plugin="other",hook="event"}']).toBe(0);
});
