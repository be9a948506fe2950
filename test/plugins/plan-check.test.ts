import { expect, test } from "vitest";
import planCheck from "../../plugins/plan-check.ts";
import { testExchange } from "../support/exchange.ts";
import { testModel, testSnapshot, testTier } from "../support/snapshot.ts";
import { pluginHost, setUp } from "./harness.ts";

const access = { Free: ["Free"], Lite: ["Free", "Lite"], Max: "all", None: [] } as const;
const snapshot = testSnapshot({
  tiers: Object.entries(access).map(([name, allowed]) => testTier(name, { access: allowed })),
  models: [testModel("route/free", { tier: "Free" }), testModel("route/lite", { tier: "Lite" })],
});

test.each([
  ["Free", "route/free", true],
  ["Free", "route/lite", false],
  ["Lite", "route/lite", true],
  ["Max", "route/lite", true],
  ["None", "route/free", false],
])("%s may call %s: %s", async (tier, model, allowed) => {
  const hooks = await setUp(planCheck, {}, await pluginHost({ snapshot }));
  const said = await Promise.try(() => hooks.admit!(testExchange(snapshot, { tier, model }))).catch(String);
  expect(said).toBe(allowed ? undefined : `GatewayError: Model '${model}' is not available on your plan`);
});
