import { expect, test } from "vitest";
import { TestGateway } from "../../support/in-process.ts";
import { askKind, chains, ENDPOINTS, KIND_CHAINS, PLACES } from "../../support/kinds.ts";

test("the metrics tell the endpoints and kinds apart, and every answer of the other routes is counted", async () => {
  const gateway = await TestGateway.start({ chains: { ...KIND_CHAINS, ...chains("-bad", ["?status=500"]) } });
  const user = await gateway.user();
  for (const endpoint of ENDPOINTS) {
    const { model } = PLACES[endpoint];
    for (let count = 0; count < 2; count += 1) expect((await askKind(gateway, user, endpoint)).status).toBe(200);
    expect((await askKind(gateway, user, endpoint, { model: `${model}-bad` })).status).toBe(502);
    expect((await askKind(gateway, user, endpoint, { model: "route/nobody-knows" })).status).toBe(400);
  }
  expect((await askKind(gateway, user, "speech", { sim: "?reset_after=2", input: "x".repeat(500) })).whole).toBe(false);
  await gateway.audit();
  const requests = (labels: Record<string, string>) => gateway.metric("gateway_requests_total", labels);
  for (const endpoint of ENDPOINTS) {
    const { model } = PLACES[endpoint];
    expect({
      served: await requests({ endpoint, model, outcome: "served", status: "200", tier: "Max" }),
      failed: await requests({ endpoint, model: `${model}-bad`, outcome: "failed", status: "502" }),
      refused: await requests({ endpoint, model: "unknown", outcome: "refused", status: "400" }),
      all: await requests({ endpoint }),
      timed: await gateway.metric("gateway_request_duration_seconds_count", { endpoint }),
    }).toEqual({
      served: 2,
      failed: 1,
      refused: 1,
      all: endpoint === "speech" ? 5 : 4,
      timed: endpoint === "speech" ? 5 : 4,
    });
  }
  expect(await requests({ endpoint: "speech", outcome: "upstream_cut" })).toBe(1);
  expect(await gateway.metric("gateway_upstream_attempts_total", { upstream: "voice-1", result: "reset" })).toBe(1);

  const { ledger } = await gateway.books(user);
  const charged = ledger.reduce((sum, { charge }) => sum + charge, 0n);
  expect(await gateway.metric("gateway_cost_total")).toBeCloseTo(Number(charged) / 1e9, 12);
  const prompt = ledger.reduce((sum, { usage }) => sum + usage.prompt, 0);
  expect(await gateway.metric("gateway_tokens_total", { type: "prompt" })).toBe(prompt);

  for (const path of ["/v1/models", "/v1/models/route/one", "/v1/models/route/voice", "/v1/pricing", "/v1/status"])
    expect((await gateway.get(path, user)).status).toBe(200);
  expect((await gateway.get("/v1/models/route/nobody-knows", user)).status).toBe(404);
  await gateway.get("/v1/nobody-knows");
  const { text } = await gateway.admin("/metrics");
  expect(text).not.toContain("nobody-knows");
  expect(await gateway.metric("gateway_requests_total", { endpoint: "/v1/models/**", status: "200" })).toBe(2);
  expect(await gateway.metric("gateway_requests_total", { endpoint: "/v1/models/**", status: "404" })).toBe(1);
  expect(await gateway.metric("gateway_requests_total", { endpoint: "other", status: "404" })).toBe(1);
  expect(await gateway.metric("gateway_active_streams")).toBe(0);
  await gateway.close();
});
