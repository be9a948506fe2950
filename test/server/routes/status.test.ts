import { expect, test } from "vitest";
import type { Incident, Snapshot } from "../../../src/kit/index.ts";
import type { BreakerChange, UpstreamHealth } from "../../../src/server/endpoint.ts";
import { step, testModel, testSnapshot, testUpstream } from "../../support/snapshot.ts";
import { HEALTHY, START, startRoutes } from "./support.ts";

const INCIDENTS: readonly Incident[] = [
  {
    id: "inc-1",
    title: "Slow",
    description: "Slower than usual",
    severity: "warning",
    status: "ongoing",
    created_at: "2026-01-15T08:00:00Z",
    resolved_at: null,
  },
  {
    id: "inc-2",
    title: "Down",
    description: "Was down",
    severity: "error",
    status: "resolved",
    created_at: "2026-01-10T08:00:00+02:00",
    resolved_at: "2026-01-10T09:00:00+02:00",
  },
];

function snapshot(): Snapshot {
  return {
    ...testSnapshot({
      upstreams: [testUpstream("alpha", { displayName: "Alpha AI" }), testUpstream("beta"), testUpstream("gamma")],
      models: [
        testModel("route/one", { displayName: "One", chain: [step("alpha"), step("beta")] }),
        testModel("route/hidden", { published: false }),
        testModel("route/two", { tier: "Max", chain: [step("alpha", "beta"), step("gamma")] }),
      ],
    }),
    incidents: INCIDENTS,
  };
}

function health(states: Readonly<Record<string, UpstreamHealth>>): (upstream: string) => UpstreamHealth {
  return (upstream) => states[upstream] ?? HEALTHY;
}

const DOWN: UpstreamHealth = { state: "degraded", latencyMs: 812.4, canServe: false };
const UNKNOWN: UpstreamHealth = { state: "unknown", latencyMs: 0, canServe: true };

test("the whole status, as the specification shows it", async () => {
  const { ask } = await startRoutes({ snapshot, parts: { health: health({ alpha: DOWN, gamma: UNKNOWN }) } });
  const answer = await ask("GET", "/v1/status");
  expect(answer).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
  expect(JSON.parse(answer.text)).toEqual({
    providers: [
      { name: "Alpha AI", status: "degraded", latency_ms: 812 },
      { name: "BETA", status: "healthy", latency_ms: 12 },
      { name: "GAMMA", status: "unknown", latency_ms: 0 },
    ],
    models: [
      { id: "route/one", name: "One", tier: "Free", status: "degraded" },
      { id: "route/two", name: "route/two", tier: "Max", status: "online" },
    ],
    incidents: INCIDENTS,
    outages: [],
    last_updated: new Date(START).toISOString().replace("Z", "+00:00"),
  });
  expect(answer.text).toContain('"last_updated":"2027-01-15T08:30:15.000+00:00"');
});

test.each([
  [[], "online", "online"],
  [["alpha"], "degraded", "online"],
  [["beta"], "online", "online"],
  [["alpha", "beta"], "offline", "degraded"],
  [["gamma"], "online", "online"],
  [["alpha", "gamma"], "degraded", "online"],
  [["alpha", "beta", "gamma"], "offline", "offline"],
])("with %j down the models are %s and %s", async (down, one, two) => {
  const { ask } = await startRoutes({
    snapshot,
    parts: { health: health(Object.fromEntries(down.map((name) => [name, DOWN]))) },
  });
  const { models } = JSON.parse((await ask("GET", "/v1/status")).text);
  expect(models.map(({ status }: { status: string }) => status)).toEqual([one, two]);
});

const hours = (count: number): number => START - count * 3_600_000;
const utc = (at: number): string => new Date(at).toISOString().replace("Z", "+00:00");

test("outages are from a breaker's opening until it closes, of the last day, the latest first", async () => {
  const of: Readonly<Record<string, readonly BreakerChange[]>> = {
    alpha: [
      { at: hours(40), state: "open" },
      { at: hours(30), state: "closed" },
      { at: hours(26), state: "open" },
      { at: hours(25), state: "half_open" },
      { at: hours(25), state: "open" },
      { at: hours(23), state: "half_open" },
      { at: hours(22), state: "closed" },
    ],
    // The oldest changes are forgotten: what ends here has begun nobody knows when.
    beta: [
      { at: hours(3), state: "closed" },
      { at: hours(2), state: "open" },
      { at: hours(1), state: "half_open" },
    ],
  };
  const { ask } = await startRoutes({ snapshot, parts: { transitions: (upstream) => of[upstream] ?? [] } });
  const { outages } = JSON.parse((await ask("GET", "/v1/status")).text);
  expect(outages).toEqual([
    { provider: "BETA", from: utc(hours(2)), to: null },
    { provider: "Alpha AI", from: utc(hours(26)), to: utc(hours(22)) },
  ]);
});
