import { expect, test } from "vitest";
import type { Incident, Snapshot } from "../../../src/kit/index.ts";
import type { UpstreamHealth } from "../../../src/server/endpoint.ts";
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
