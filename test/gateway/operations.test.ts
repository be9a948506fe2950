import { expect, test } from "vitest";
import { instancesBody, modelsBody, type OperationsPlan, pluginsBody } from "../../src/gateway/operations.ts";
import type { UpstreamState } from "../../src/gateway/upstream-state.ts";
import { type Scrape, samplesOf } from "../../src/telemetry/metrics.ts";
import { exchange, metricsWith, outcome } from "../telemetry/support.ts";

const target = (upstream: string, model: string) => ({ upstream, model, weight: 1 });
const PLAN: OperationsPlan = {
  hash: "abc",
  models: [
    {
      id: "route/swift",
      kind: "chat",
      chain: [
        { balance: "weighted", targets: [target("alpha", "a-1"), target("beta", "b-1")] },
        { balance: "single", targets: [target("gamma", "c-1")] },
      ],
    },
    { id: "route/idle", kind: "chat", chain: [{ balance: "single", targets: [target("alpha", "a-2")] }] },
  ],
  pipeline: [
    { plugin: "quota", stage: "admit", use: "quota" },
    { plugin: "breaker", stage: "guard", use: "breaker" },
  ],
};
const STATE: UpstreamState = {
  breaker: "closed",
  health: "healthy",
  latency_ms: 5,
  can_serve: true,
  manual: null,
  keys: [],
  targets: {},
  in_flight: 0,
  waiting: 0,
  cooldowns: [],
};

/** Of a worker: as its supervisor reads it. */
async function worker(busy: (metrics: ReturnType<typeof metricsWith>) => void): Promise<Scrape> {
  const metrics = metricsWith();
  busy(metrics);
  return JSON.parse(JSON.stringify(await metrics.collect())) as Scrape;
}

function between(value: number | null, low: number, high: number): boolean {
  return value !== null && value >= low && value <= high;
}

test("each step's share is of what the model's chain served, over all workers", async () => {
  const [alpha, beta, gamma] = PLAN.models[0]!.chain.flatMap(({ targets }) => targets) as never[];
  const scrapes = [
    await worker((metrics) => {
      for (let count = 0; count < 6; count += 1) metrics.attempt("route/swift", alpha!, "ok");
      metrics.attempt("route/swift", alpha!, "timeout");
      metrics.attempt("route/swift", alpha!, "aborted");
    }),
    await worker((metrics) => {
      metrics.attempt("route/swift", beta!, "ok");
      metrics.attempt("route/swift", beta!, "ok");
      for (let count = 0; count < 2; count += 1) metrics.attempt("route/swift", gamma!, "ok");
    }),
  ];
  const manual = { mode: "drain", since: "", until: "", by: "ada", reason: "x" } as const;
  const upstreams = { alpha: STATE, beta: { ...STATE, breaker: "open", can_serve: false, manual } } as const;
  const { hash, data } = modelsBody(PLAN, await samplesOf(scrapes), upstreams);
  expect(hash).toBe("abc");
  const [swift, idle] = data;
  expect(swift).toMatchObject({
    id: "route/swift",
    served: 10,
    chain: [
      {
        share: 0.8,
        targets: [
          { upstream: "alpha", attempts: 8, served: 6, failed: 1, share: 0.6, breaker: "closed", can_serve: true },
          { upstream: "beta", attempts: 2, served: 2, failed: 0, share: 0.2, breaker: "open", manual },
        ],
      },
      { share: 0.2, targets: [{ upstream: "gamma", served: 2, share: 0.2, can_serve: false }] },
    ],
  });
  expect(idle).toMatchObject({
    served: 0,
    duration_ms: { p50: null, p95: null },
    chain: [{ share: null, targets: [{ attempts: 0, share: null, ttft_ms: { p50: null } }] }],
  });
});

test("times are between the bounds of the buckets that they were counted in", async () => {
  const model = { id: "route/swift" } as never;
  const scrape = await worker((metrics) => {
    for (const ms of [30, 30, 30, 700]) {
      const times = { firstEventAt: 1_000 + ms, endedAt: 1_000 + 2 * ms };
      const served = { ...outcome(times), target: PLAN.models[0]!.chain[0]!.targets[0] as never };
      metrics.finished(exchange({ model, receivedAt: 1_000 }), served);
    }
  });
  const { data } = modelsBody(PLAN, await samplesOf([scrape]), { alpha: STATE });
  const { duration_ms: total, chain } = data[0]!;
  const first = chain[0]!.targets[0]!.ttft_ms;
  expect([between(first.p50, 20, 40), between(first.p95, 500, 750)]).toEqual([true, true]);
  expect([between(total.p50, 50, 100), between(total.p95, 1_000, 2_500)]).toEqual([true, true]);
});

test("plugins stand in the order of the pipeline, with the time of each hook and their failures", async () => {
  const scrape = await worker((metrics) => {
    const admit = metrics.hookTimer("quota", "admit");
    for (let count = 0; count < 99; count += 1) admit(0.05);
    admit(50);
    metrics.pluginFailed("breaker");
  });
  const { data } = pluginsBody(PLAN, await samplesOf([scrape, scrape]));
  expect(data).toMatchObject([
    { plugin: "quota", stage: "admit", failures: 0, hooks: [{ hook: "admit", calls: 200 }] },
    { plugin: "breaker", failures: 2, hooks: [] },
  ]);
  const { p50, p95, total_ms: total } = data[0]!.hooks[0]!;
  expect(p50! > 0.01 && p50! < 0.1 && p95! > p50! && p95! < 0.1).toBe(true);
  expect(total).toBeCloseTo(110, 0);
});

test("instances agree when those that go on serving have one configuration", () => {
  const self = { instance: "b", hash: "1", draining: false, breakers: {}, health: {} };
  const report = (others: object[], complete = true) =>
    instancesBody({ self, others, complete, upstreams: {}, status: {} } as never);
  expect(report([{ ...self, instance: "a" }])).toMatchObject({
    data: [{ instance: "a" }, { instance: "b" }],
    agree: true,
    complete: true,
  });
  expect(report([{ ...self, instance: "a", hash: "2" }]).agree).toBe(false);
  expect(report([{ ...self, instance: "a", hash: "2", draining: true }]).agree).toBe(true);
  expect(report([], false).agree).toBe(null);
});
