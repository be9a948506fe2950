import { expect, test } from "vitest";
import { tier } from "../support/gateway-config.ts";
import { send } from "../support/http.ts";
import { CHAT, TestGateway } from "../support/in-process.ts";

/** Operators' dashboards and alerts are written for them. */
const NAMES = [
  "gateway_requests_total",
  "gateway_request_duration_seconds",
  "gateway_time_to_first_token_seconds",
  "gateway_tokens_total",
  "gateway_cost_total",
  "gateway_upstream_attempts_total",
  "gateway_breaker_state",
  "gateway_active_streams",
  "gateway_config_reloads_total",
];

test("after a known day's work every metric says exactly what happened", async () => {
  const gateway = await TestGateway.start({
    chains: { "route/chain": ["?status=500", "-"], "route/down": ["?status=503", "?status=404"] },
    config: { tiers: { Two: tier({ day: 2 }) } },
  });
  const user = await gateway.user();
  const limited = await gateway.user({ tier: "Two" });
  const requests: [number, Promise<{ status: number }>][] = [];
  const ask = async (times: number, status: number, request: () => Promise<{ status: number }>): Promise<void> => {
    for (let count = 0; count < times; count += 1) {
      requests.push([status, request()]);
      await requests.at(-1)![1];
    }
  };
  await ask(3, 200, () => gateway.chat(user));
  await ask(4, 200, () => gateway.chat(user, { stream: true }));
  await ask(2, 200, () => gateway.chat(user, { model: "route/chain", stream: true }));
  await ask(2, 502, () => gateway.chat(user, { model: "route/down" }));
  await ask(1, 200, () => gateway.chat(user, { stream: true, sim: "?reset_after=3" }));
  await ask(1, 200, () =>
    gateway.chat(user, { stream: true, sim: { usage: { prompt: 100, completion: 10, cached: 40 } } }),
  );
  await ask(1, 400, () => gateway.chat(user, { sim: "?status=422" }));
  await ask(2, 400, () => gateway.chat(user, { model: "route/nobody-knows" }));
  await ask(1, 400, () => gateway.chat(user, {}, { body: "{" }));
  await ask(3, 401, () => send(gateway.url + CHAT, { body: "{}" }));
  await ask(2, 200, () => gateway.chat(limited));
  await ask(4, 429, () => gateway.chat(limited));
  const leaver = gateway.open(user, { stream: true, sim: "?stall_after=3" });
  await leaver.until("data:");
  expect(await gateway.metric("gateway_active_streams")).toBe(1);
  leaver.leave();
  const before = gateway.simulator.ledger().length;
  const quitter = gateway.open(user, { sim: "?first_byte=1h" });
  await expect.poll(() => gateway.simulator.ledger().length).toBe(before + 1);
  quitter.leave();
  await gateway.audit();
  for (const [status, request] of requests) expect((await request).status).toBe(status);

  const total = (labels: Record<string, string> = {}) =>
    gateway.metric("gateway_requests_total", { endpoint: "chat", ...labels });
  expect({
    all: await total(),
    served: await total({ model: "route/one", outcome: "served", status: "200" }),
    chain: await total({ model: "route/chain", outcome: "served", tier: "Max" }),
    down: await total({ model: "route/down", outcome: "failed", status: "502" }),
    cut: await total({ outcome: "upstream_cut" }),
    fault: await total({ outcome: "client_fault", status: "400" }),
    gone: await total({ outcome: "client_gone" }),
    malformed: await total({ model: "unknown", tier: "unknown", status: "400", outcome: "refused" }),
    anonymous: await total({ model: "unknown", status: "401", outcome: "refused" }),
    limited: await total({ model: "route/one", tier: "Two", status: "429", outcome: "refused" }),
  }).toEqual({
    all: requests.length + 2,
    served: 3 + 4 + 1 + 2,
    chain: 2,
    down: 2,
    cut: 1,
    fault: 1,
    gone: 2,
    malformed: 3,
    anonymous: 3,
    limited: 4,
  });
  expect(await gateway.metric("gateway_request_duration_seconds_count", { endpoint: "chat" })).toBe(
    requests.length + 2,
  );
  expect(
    await gateway.metric("gateway_time_to_first_token_seconds_count", { model: "route/chain", upstream: "chain-2" }),
  ).toBe(2);

  const attempts = (upstream: string, result: string) =>
    gateway.metric("gateway_upstream_attempts_total", { upstream, result });
  expect({
    ok: await attempts("one-1", "ok"),
    reset: await attempts("one-1", "reset"),
    fault: await attempts("one-1", "client_fault"),
    aborted: await attempts("one-1", "aborted"),
    first: await attempts("chain-1", "status"),
    second: await attempts("chain-2", "ok"),
    down: [await attempts("down-1", "status"), await attempts("down-2", "declined")],
  }).toEqual({ ok: 10, reset: 1, fault: 1, aborted: 2, first: 2, second: 2, down: [2, 2] });

  // Tokens and money are those of the ledger.
  const ledger = [...(await gateway.books(user)).ledger, ...(await gateway.books(limited)).ledger];
  const sum = (of: (entry: (typeof ledger)[number]) => number): number =>
    ledger.reduce((whole, entry) => whole + of(entry), 0);
  const tokens = (type: string) => gateway.metric("gateway_tokens_total", { type });
  expect(await tokens("prompt")).toBe(sum(({ usage }) => usage.prompt));
  expect(await tokens("completion")).toBe(sum(({ usage }) => usage.completion));
  expect(await tokens("cached")).toBe(40);
  expect(await gateway.metric("gateway_cost_total")).toBeCloseTo(sum(({ charge }) => Number(charge)) / 1e9, 12);

  // The watcher may have read the same files as well: at least, and nothing rejected.
  expect(await gateway.reload({ tiers: { Two: { access: [] } } })).toMatchObject({ ok: true });
  expect(await gateway.metric("gateway_config_reloads_total", { result: "ok" })).toBe(1);
  expect(await gateway.reload({ nonsense: 1 })).toMatchObject({ ok: false });
  expect(await gateway.metric("gateway_config_reloads_total", { result: "rejected" })).toBeGreaterThanOrEqual(1);
  expect(await gateway.metric("gateway_breaker_state")).toBe(0);

  const { headers, text } = await gateway.admin("/metrics");
  expect(headers["content-type"]).toMatch(/^text\/plain/);
  for (const name of NAMES) {
    expect(text).toContain(`# TYPE ${name} `);
    expect(text).toMatch(new RegExp(`^${name}(_count)?[{ ]`, "m"));
  }
  // No label per user or key, and nothing that a client made up.
  for (const secret of [user.id, user.key, limited.id, "nobody-knows"]) expect(text).not.toContain(secret);
  await gateway.close();
});
