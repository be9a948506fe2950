import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { aggregateText, type Scrape } from "../../src/telemetry/metrics.ts";
import { exchange, metricsWith, outcome, TARGET } from "./support.ts";

/** What dashboards and alerts of others are built on: a change of it is a change of the API. */
const golden = (name: string): string => readFileSync(new URL(`golden/${name}.txt`, import.meta.url), "utf8");

/** Something in every metric, with labels that have to be quoted. */
function busy() {
  const metrics = metricsWith({
    breakers: [
      ["alpha", "open"],
      ["beta", "closed"],
    ],
    health: [
      ["alpha", "degraded"],
      ["beta", "unknown"],
    ],
    manual: [["alpha", { mode: "open" }]],
    streams: 4,
    shedding: [
      ["Free", 0.9, 25],
      ["Max", 0, 0],
    ],
    store: { away: true, pending: 3, rejected: 1 },
    dropped: { spans: 2, decisions: 0 },
    generations: [["abc", "served", 2]],
  });
  metrics.configuration("abc");
  metrics.candidate("def");
  metrics.guarded("promoted");
  metrics.signedIn("operator", "failed", 3);
  metrics.audited("export", "done");
  metrics.reloaded("ok");
  metrics.pluginFailed("quota");
  metrics.attempt("route/swift", TARGET, "ok");
  metrics.attempt("route/swift", TARGET, "timeout");
  metrics.attempt("route/swift", { ...TARGET, upstream: "beta" }, "ok");
  metrics.attempt("route/swift", TARGET, "ok");
  metrics.answered("other", "refused", 429, 1);
  metrics.answered("/v1/models", "served", 200, 2.5);
  metrics.answered("chat", "refused", 401, -5);
  metrics.hookTimer("quota", "admit")(0.05);
  metrics.hookTimer("quota", "settle");
  metrics.finished(exchange(), outcome());
  const charge = 1_230_000n;
  const usage = { prompt: 1, completion: 0, cached: 0, reasoning: 7, characters: 3, milliseconds: 1_500, images: 2 };
  const odd = { id: 'route/"odd\\one\nmore' } as never;
  const tags = [
    { name: "team", value: 'a "b"', measured: true },
    { name: "note", value: "only for the log" },
  ];
  metrics.finished(
    exchange({ model: odd, endpoint: "speech", tags }),
    outcome({ bill: { usage, charge, estimated: true }, dropped: ["/x", "/y"], endedAt: 700_000 }),
  );
  metrics.finished(exchange({ tags }), outcome({ kind: "failed", status: 502, target: null, firstEventAt: null }));
  metrics.finished(
    exchange({ receivedAt: 1_249.5, tier: { ...exchange().tier, name: "Pro" } }),
    outcome({ bill: { usage: { prompt: 0, completion: 0, cached: 0, reasoning: 0 }, charge: 0n, estimated: false } }),
  );
  return metrics;
}

test("the text of a scrape, byte by byte", async () => {
  expect((await busy().scrape()).body).toBe(golden("metrics"));
});

/** As it comes from another process. */
const sent = async (): Promise<Scrape> => JSON.parse(JSON.stringify(await busy().collect())) as Scrape;

test("the text of two workers' scrapes together, byte by byte", async () => {
  expect((await aggregateText([await sent(), await sent()])).body).toBe(golden("metrics-of-two"));
});
