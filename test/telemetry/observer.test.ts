import { expect, test } from "vitest";
import { AttemptError, type ClientRequest, GatewayError, type Log } from "../../src/kit/index.ts";
import { Figures } from "../../src/telemetry/figures.ts";
import { createObserver, type ObserverParts } from "../../src/telemetry/observer.ts";
import { exchange, metricsWith, outcome, samples, TARGET, TIMELINE } from "./support.ts";

type AccessLog = ObserverParts["accessLog"] extends () => infer Settings ? Partial<Settings> : never;

function observe(logRequests = true, accessLog: AccessLog = {}) {
  const lines: [level: string, fields: object, message: string][] = [];
  const write = (level: string) => (fields: object, message: string) => {
    lines.push([level, fields, message]);
  };
  const log: Log = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
  const metrics = metricsWith();
  const decisions: string[] = [];
  const made = createObserver({
    metrics,
    figures: new Figures({ now: () => 1500, inFlight: () => 0, streams: () => 0 }),
    log,
    logRequests,
    accessLog: () => ({ lines: "all", users: false, addresses: false, ...accessLog }),
    digests: { of: (id) => `digest of ${id.length}` },
    decisions: { on: true, write: (line) => decisions.push(line) },
    sink: null,
    now: () => 1500,
  });
  const observer = { ...made, ...made.of({ hash: "h1", upstreams: {} }) };
  return { observer, metrics, lines, decisions };
}

test("one line says who, what and how it ended", () => {
  const { observer, lines } = observe();
  observer.finished(exchange(), outcome({ timeline: TIMELINE }));
  expect(lines).toEqual([
    [
      "info",
      {
        request_id: "r1",
        id: "x1",
        endpoint: "chat",
        model: "route/x",
        tier: "Free",
        user: undefined,
        trace_id: undefined,
        stream: true,
        outcome: "served",
        status: 200,
        code: undefined,
        upstream: "alpha",
        attempts: 2,
        failures: [{ upstream: "alpha", model: "alpha-1", result: "status", status: 503 }],
        prompt_tokens: 100,
        completion_tokens: 50,
        estimated: undefined,
        cost: "1.5",
        first_event_ms: 250,
        upstream_ms: 1700,
        gateway_ms: 290,
        latency_ms: 2000,
      },
      "request",
    ],
  ]);
});

test("an answer of a plugin's own names the plugin in an upstream's place", () => {
  const { observer, lines } = observe();
  observer.finished(exchange(), outcome({ target: null, answeredBy: "answer-cache" }));
  expect(lines[0]![1]).toMatchObject({ answered_by: "answer-cache" });
  expect(lines[0]![1]).not.toHaveProperty("upstream");
});

test("plugins that fail or hold everything up are named", () => {
  const { observer, lines } = observe();
  const error = new Error("hook admit did not return within 200 ms");
  observer.pluginFailed("own", error);
  observer.pluginSlow!("own", "event", 1_234.5);
  expect(lines.map(([level, fields, message]) => [level, fields, message])).toEqual([
    ["warn", { plugin: "own", err: error }, "plugin failed"],
    ["warn", { plugin: "own", hook: "event", duration_ms: 1_235 }, "plugin blocked the event loop"],
  ]);
});

test("tags are in the line", () => {
  const { observer, lines } = observe();
  observer.finished(exchange({ tags: [{ name: "team", value: "blue" }] }), outcome());
  expect(lines[0]![1]).toMatchObject({ tags: { team: "blue" } });
});

test("never content, never who in particular", () => {
  const { observer, lines } = observe();
  observer.finished(
    exchange(),
    outcome({ kind: "failed", status: 502, code: "PROVIDER_ERROR", target: null, firstEventAt: null }),
  );
  expect(lines[0]![1]).toMatchObject({
    outcome: "failed",
    code: "PROVIDER_ERROR",
  });
  for (const field of ["upstream", "first_event_ms"]) expect(lines[0]![1]).not.toHaveProperty(field);
  const text = JSON.stringify(lines);
  for (const secret of ["private words", "usr_secret", "key_secret"]) expect(text).not.toContain(secret);
});

test("attempts: counted by result, failures told at debug", async () => {
  const { observer, metrics, lines } = observe();
  observer.attempt(exchange(), TARGET, { ok: true });
  observer.attempt(exchange(), TARGET, { ok: false, error: new AttemptError("status", "overloaded", { status: 503 }) });
  expect(lines).toEqual([
    ["debug", { request_id: "r1", upstream: "alpha", failure: "status", status: 503, reason: "overloaded" }, "attempt"],
  ]);
  expect(await samples(metrics)).toMatchObject({
    'gateway_upstream_attempts_total{upstream="alpha",result="ok"}': 1,
    'gateway_upstream_attempts_total{upstream="alpha",result="status"}': 1,
  });
});

test("refused requests are counted and told, whoever refused them", async () => {
  const { observer, metrics, lines } = observe();
  const request: ClientRequest = {
    requestId: "r2",
    credentials: { kind: "key", value: "hush" },
    ip: "1.2.3.4",
    endpoint: "chat",
  };
  observer.refused(request, new GatewayError("AUTHENTICATION_ERROR", "Invalid API key"), 1000);
  observer.refused(request, new Error("broken"), 1000);
  observer.rejectedEarly({ endpoint: "other", status: 429, code: "IP_RATE_LIMIT", requestId: "r3", durationMs: 1 });
  expect(lines.map(([, fields]) => fields)).toEqual([
    {
      request_id: "r2",
      endpoint: "chat",
      outcome: "refused",
      status: 401,
      code: "AUTHENTICATION_ERROR",
      latency_ms: 500,
    },
    { request_id: "r2", endpoint: "chat", outcome: "refused", status: 500, code: undefined, latency_ms: 500 },
    { request_id: "r3", endpoint: "other", outcome: "refused", status: 429, code: "IP_RATE_LIMIT", latency_ms: 1 },
  ]);
  expect(JSON.stringify(lines)).not.toContain("hush");
  const all = await samples(metrics);
  for (const [endpoint, status] of [
    ["chat", 401],
    ["chat", 500],
    ["other", 429],
  ]) {
    const labels = `endpoint="${endpoint}",model="unknown",tier="unknown",status="${status}",outcome="refused"`;
    expect(all[`gateway_requests_total{${labels}}`]).toBe(1);
  }
});

test("with request lines off, metrics still count and failures are still told", async () => {
  const { observer, metrics, lines } = observe(false);
  observer.finished(exchange(), outcome());
  observer.rejectedEarly({ endpoint: "other", status: 429, code: null, requestId: "r3", durationMs: 1 });
  expect(lines).toEqual([]);
  const error = new Error("x");
  observer.pluginFailed("quota", error);
  expect(lines).toEqual([["warn", { plugin: "quota", err: error }, "plugin failed"]]);
  const all = await samples(metrics);
  expect(all['gateway_plugin_failures_total{plugin="quota"}']).toBe(1);
  expect(all['gateway_request_duration_seconds_count{endpoint="chat",model="route/x"}']).toBe(1);
});

test("a repeated request has its line and a count of its own, and is in no other", async () => {
  const { observer, lines, metrics } = observe();
  const request: ClientRequest = { requestId: "r2", credentials: { kind: "none" }, ip: "::1", endpoint: "chat" };
  observer.replayed?.(request, "r1", 1_400);
  const told = { request_id: "r2", endpoint: "chat", outcome: "replayed", status: 200, latency_ms: 100 };
  expect(lines.map(([, fields]) => fields)).toEqual([{ ...told, replay_of: "r1" }]);
  const all = await samples(metrics);
  expect(all['gateway_replayed_requests_total{endpoint="chat"}']).toBe(1);
  expect(Object.keys(all).filter((name) => name.startsWith("gateway_requests_total"))).toEqual([]);
});

test("a request beside inference is counted and told under its route, by its status", async () => {
  const { observer, lines, metrics } = observe();
  observer.routeServed({ endpoint: "/v1/models", status: 200, requestId: "r1", durationMs: 3 });
  observer.routeServed({ endpoint: "/auth/login", status: 429, requestId: "r2", durationMs: 1 });
  expect(lines.map(([, fields]) => fields)).toEqual([
    { request_id: "r1", endpoint: "/v1/models", outcome: "served", status: 200, latency_ms: 3 },
    { request_id: "r2", endpoint: "/auth/login", outcome: "refused", status: 429, latency_ms: 1 },
  ]);
  expect(await samples(metrics)).toMatchObject({
    'gateway_requests_total{endpoint="/v1/models",model="unknown",tier="unknown",status="200",outcome="served"}': 1,
    'gateway_requests_total{endpoint="/auth/login",model="unknown",tier="unknown",status="429",outcome="refused"}': 1,
  });
});

test.each([true, false])("lines of requests have the client's address only where it is asked for: %s", (addresses) => {
  const { observer, lines } = observe(true, { addresses });
  const request = { requestId: "r1", ip: "203.0.113.7", endpoint: "chat", credentials: { kind: "none" } } as const;
  const served = exchange();
  observer.arrived!(served, request);
  observer.finished(served, outcome());
  observer.refused(request, new GatewayError("INVALID_REQUEST", "x"), 1_000);
  const answered = { requestId: "r1", status: 200, durationMs: 1, address: "203.0.113.7", method: "GET", trace: null };
  observer.routeServed({ ...answered, endpoint: "/v1/models" });
  observer.rejectedEarly({ ...answered, status: 429, code: null, endpoint: "other" });
  const told = lines.filter(([, , message]) => message === "request").map(([, fields]) => "address" in fields);
  expect(told).toEqual([addresses, addresses, addresses, addresses]);
});
