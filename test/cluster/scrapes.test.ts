import * as fc from "fast-check";
import { expect, test } from "vitest";
import { addScrapes, countsOf, readScrape, writeScrape } from "../../src/cluster/scrapes.ts";
import type { Exchange, Outcome } from "../../src/kit/index.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";

const REQUESTS = `# HELP gateway_requests_total Requests by how they ended.
# TYPE gateway_requests_total counter
gateway_requests_total{endpoint="chat",status="200"} 3
gateway_requests_total{endpoint="a \\"b} 9\\\\\\n",status="500"} 1`;
const BREAKER = `# HELP gateway_breaker_state Circuit breaker.
# TYPE gateway_breaker_state gauge
gateway_breaker_state{upstream="alpha"} 0`;
const STREAMS = `# HELP gateway_active_streams Streamed answers under way.
# TYPE gateway_active_streams gauge
gateway_active_streams 2`;

const healthy = (value: number): string =>
  `# HELP gateway_upstream_healthy x\n# TYPE gateway_upstream_healthy gauge\ngateway_upstream_healthy{upstream="alpha"} ${value}`;

const linesOf = (text: string): readonly string[] => text.split("\n").toSorted();

const scrape = (...families: readonly string[]) => readScrape(`${families.join("\n\n")}\n`);

test("a scrape that is read is written as it was", () => {
  const text = `${[REQUESTS, BREAKER, STREAMS].join("\n\n")}\n`;
  expect(writeScrape(readScrape(text))).toBe(text);
});

test("counts and running streams are added up, of a state the worst is shown", () => {
  const open = BREAKER.replace(/0$/, "2");
  const total = writeScrape(
    addScrapes([scrape(REQUESTS, BREAKER, STREAMS, healthy(1)), scrape(REQUESTS, open, STREAMS, healthy(0)), scrape()]),
  );
  expect(total.split("\n").filter((line) => line !== "" && !line.startsWith("#"))).toEqual([
    'gateway_requests_total{endpoint="chat",status="200"} 6',
    'gateway_requests_total{endpoint="a \\"b} 9\\\\\\n",status="500"} 2',
    'gateway_breaker_state{upstream="alpha"} 2',
    "gateway_active_streams 4",
    'gateway_upstream_healthy{upstream="alpha"} 0',
  ]);
  expect(total.match(/^# TYPE/gm)).toHaveLength(4);
});

test("a process that has ended leaves its counts and none of its states", () => {
  expect([...countsOf(scrape(REQUESTS, BREAKER, STREAMS)).keys()]).toEqual(["gateway_requests_total"]);
});

test("adding up is blind to order and grouping, and changes nothing that was given", () => {
  const samples = fc.dictionary(fc.constantFrom("a", 'b{l="x"}', 'b{l="y z"}'), fc.nat());
  const family = samples.map((values) => {
    const lines = Object.entries(values).map(([key, value]) => `${key} ${value}`);
    return readScrape(["# HELP a x", "# TYPE a counter", ...lines].join("\n"));
  });
  fc.assert(
    fc.property(fc.array(family, { maxLength: 6 }), fc.nat({ max: 6 }), (scrapes, cut) => {
      const before = scrapes.map(writeScrape);
      const all = linesOf(writeScrape(addScrapes(scrapes)));
      expect(linesOf(writeScrape(addScrapes(scrapes.toReversed())))).toEqual(all);
      const parts = [addScrapes(scrapes.slice(0, cut)), addScrapes(scrapes.slice(cut))];
      expect(linesOf(writeScrape(addScrapes(parts)))).toEqual(all);
      expect(scrapes.map(writeScrape)).toEqual(before);
    }),
  );
});

test("what the gateway itself writes is read whole: twice of it is the double of every count", async () => {
  const metrics = createMetrics({
    breakers: () => [["alpha", "open"]],
    health: () => [["alpha", "degraded"]],
    activeStreams: () => 4,
    store: () => ({ away: false, pending: 0, rejected: 0, local: 0 }),
  });
  metrics.answered("chat", "served", 200, 30);
  metrics.finished(
    { endpoint: "chat", model: { id: 'route/"odd\\one' }, tier: { name: "Free" }, receivedAt: 0 } as Exchange,
    {
      status: 200,
      kind: "served",
      bill: { usage: { prompt: 7, completion: 5, cached: 0, reasoning: 0 }, charge: 1n, estimated: false },
      firstEventAt: 10,
      endedAt: 400,
      target: { upstream: "alpha" },
      dropped: [],
    } as unknown as Outcome,
  );
  const one = readScrape((await metrics.scrape()).body);
  const two = addScrapes([one, one]);
  expect([...two.keys()]).toEqual([...one.keys()]);
  for (const [name, { type, samples }] of two) {
    const states = ["gateway_breaker_state", "gateway_upstream_healthy", "gateway_config_info", "gateway_store_away"];
    const factor = states.includes(name) ? 1 : 2;
    for (const [key, value] of samples) expect(value, `of ${key}`).toBe(factor * one.get(name)!.samples.get(key)!);
    expect(["counter", "gauge", "histogram"]).toContain(type);
  }
  expect(two.get("gateway_request_duration_seconds")!.samples.size).toBeGreaterThan(30);
});
