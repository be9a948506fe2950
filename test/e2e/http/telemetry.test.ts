import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { readDecisions } from "../../../src/telemetry/decision-reader.ts";
import { passingFolder } from "../../support/folder.ts";
import { OtlpReceiver } from "../../support/otlp.ts";
import { poll } from "../support/child.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const SAMPLED = `00-${TRACE_ID}-${PARENT}-01`;
const SECRET_WORDS = "the words of the prompt";

/** An upstream of the chat endpoint that keeps the headers it was sent. */
async function upstream() {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((req, res) => {
    seen.push(req.headers);
    req.resume().on("end", () => {
      const message = { role: "assistant", content: "Well." };
      const usage = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 };
      const body = {
        id: "x",
        object: "chat.completion",
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage,
      };
      res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

async function start(config: Json, url: string | null = null): Promise<{ gateway: TestGateway; user: TestUser }> {
  const chains = {
    "route/failing": ["?status=503", "-"],
    "route/slow": ["?chunks=5&chunk_delay=20ms"],
    "route/stalled": ["?stall_after=2"],
    ...(url !== null && { "route/seen": [url] }),
  };
  const gateway = await TestGateway.start({ config, chains });
  onTestFinished(() => gateway.close());
  return { gateway, user: await gateway.user() };
}

const headers = (id: string) => ({ traceparent: `00-${id}-${PARENT}-01`, "content-type": "application/json" });

describe("traces", () => {
  let receiver: OtlpReceiver;

  beforeAll(async () => {
    receiver = await OtlpReceiver.start();
  });
  afterAll(() => receiver.close());
  afterEach(() => {
    receiver.text = "";
  });

  const otlp = (more: Json = {}): Json => ({
    telemetry: {
      otlp: { endpoint: `${receiver.url}/`, headers: { "x-team": "gateway" }, interval: "1s", ...more },
      access_log: { users: true },
    },
  });

  test("a request is a server span with a client span for each attempt, named by the conventions, without content", async () => {
    const { gateway, user } = await start(otlp());
    const sent = { headers: { traceparent: SAMPLED, tracestate: "vendor=x" } };
    const messages = [{ role: "user", content: SECRET_WORDS }];
    const { status } = await gateway.chat(
      user,
      { model: "route/failing", stream: true, max_tokens: 40, messages },
      sent,
    );
    expect(status).toBe(200);
    const spans = await receiver.trace(TRACE_ID, 3);
    const server = spans.find(({ kind }) => kind === 2)!;
    const [failed, served] = spans
      .filter(({ kind }) => kind === 3)
      .toSorted((a, b) => a.status - b.status)
      .toReversed();
    expect(server).toMatchObject({
      name: "POST /v1/chat/completions",
      parentSpanId: PARENT,
      events: ["gen_ai.first_token"],
      status: 0,
      attributes: {
        "http.request.method": "POST",
        "http.route": "/v1/chat/completions",
        "http.response.status_code": 200,
        "gateway.model": "route/failing",
        "gateway.outcome": "served",
        "gateway.plan": "Max",
        "gateway.attempts": 2,
      },
      resource: { "service.name": "route-gateway", "service.instance.id": gateway.gateway.instance },
    });
    expect(failed).toMatchObject({
      parentSpanId: server.spanId,
      status: 2,
      attributes: { "error.type": "status", "http.response.status_code": 503, "gateway.upstream": "failing-1" },
    });
    expect(served).toMatchObject({
      name: expect.stringMatching(/^chat \S+$/),
      parentSpanId: server.spanId,
      status: 0,
      events: ["gen_ai.first_token"],
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.stream": true,
        "gen_ai.request.max_tokens": 40,
        "gen_ai.usage.input_tokens": expect.any(Number),
        "gen_ai.usage.output_tokens": expect.any(Number),
        "gen_ai.response.time_to_first_chunk": expect.any(Number),
        "server.address": "127.0.0.1",
        "server.port": expect.any(Number),
      },
    });
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(3);
    for (const { start, end } of spans) expect(end).toBeGreaterThanOrEqual(start);
    expect(receiver.headers.at(-1)).toMatchObject({ "x-team": "gateway" });
    for (const secret of [SECRET_WORDS, user.key, user.id]) expect(receiver.text).not.toContain(secret);
  });

  test("an upstream is told the span of its attempt, and the caller's state", async () => {
    const { url, seen } = await upstream();
    const { gateway, user } = await start(otlp(), url);
    const traceId = randomUUID().replaceAll("-", "");
    const sent = { headers: { traceparent: `00-${traceId}-${PARENT}-01`, tracestate: "a=1,b=2" } };
    await gateway.chat(user, { model: "route/seen" }, sent);
    const spans = await receiver.trace(traceId, 2);
    const client = spans.find(({ kind }) => kind === 3)!;
    expect(client.attributes).toMatchObject({ "gen_ai.usage.input_tokens": 11, "gen_ai.usage.output_tokens": 3 });
    expect(seen[0]).toMatchObject({ traceparent: `00-${traceId}-${client.spanId}-01`, tracestate: "a=1,b=2" });
  });

  test("what a caller does not sample is passed on and not sent; sample bounds what begins here", async () => {
    const { url, seen } = await upstream();
    const { gateway, user } = await start(otlp({ sample: 0 }), url);
    const before = receiver.spans.length;
    const unsampled = `00-${TRACE_ID}-${PARENT}-00`;
    await gateway.chat(user, { model: "route/seen" }, { headers: { traceparent: unsampled } });
    await gateway.chat(user, { model: "route/seen" });
    expect(seen[0]!["traceparent"]).toBe(unsampled);
    expect(seen[1]!["traceparent"]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    await poll(() => receiver.points.length > 0);
    expect(receiver.spans.length).toBe(before);
  });

  test("refusals and other routes have spans, too; paths that are none of ours are not named", async () => {
    const { gateway } = await start(otlp());
    const ids = Array.from({ length: 3 }, () => randomUUID().replaceAll("-", ""));
    await gateway.send("/v1/chat/completions", { headers: headers(ids[0]!), body: {} });
    await gateway.send("/v1/models", { method: "GET", headers: headers(ids[1]!) });
    await gateway.send("/some/secret/path", { method: "GET", headers: headers(ids[2]!) });
    const spans = await Promise.all(ids.map(async (id) => (await receiver.trace(id, 1))[0]!));
    expect(spans.map(({ name, attributes }) => [name, attributes["http.response.status_code"]])).toEqual([
      ["POST /v1/chat/completions", 401],
      ["GET /v1/models", 200],
      ["GET", 404],
    ]);
    expect(spans[0]!.attributes).toMatchObject({ "error.type": "AUTHENTICATION_REQUIRED" });
    expect(receiver.text).not.toContain("secret/path");
  });

  test("metrics by the conventions arrive with their bounds", async () => {
    const { gateway, user } = await start(otlp());
    await gateway.chat(user, { stream: true });
    await gateway.chat(user, {});
    const has = (name: string, count: number) => {
      const points = receiver.points.filter((point) => point.name === name);
      return points.reduce((sum, point) => sum + point.count, 0) >= count ? points : null;
    };
    const [usage] = await poll(() => has("gen_ai.client.token.usage", 4));
    expect(usage).toMatchObject({
      unit: "{token}",
      attributes: { "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai" },
    });
    expect(usage!.bounds.slice(0, 3)).toEqual([1, 4, 16]);
    for (const [name, count] of [
      ["gen_ai.client.operation.duration", 2],
      ["gen_ai.client.operation.time_to_first_chunk", 1],
      ["gen_ai.server.request.duration", 2],
      ["gen_ai.server.time_to_first_token", 1],
      ["http.server.request.duration", 2],
    ] as const) {
      expect({ name, points: has(name, count) }).not.toMatchObject({ points: null });
    }
    expect(new Set(receiver.points.map(({ attributes }) => attributes["gen_ai.token.type"]))).toContain("output");
  });

  test("a receiver that is away costs a request nothing, and what it does not get is counted", async () => {
    const gone = await OtlpReceiver.start();
    const endpoint = gone.url;
    await gone.close();
    const { gateway, user } = await start({ telemetry: { otlp: { endpoint } } });
    for (let count = 0; count < 5; count += 1) expect((await gateway.chat(user, {})).status).toBe(200);
    await poll(async () => (await gateway.metric("gateway_telemetry_dropped_total", { signal: "spans" })) >= 10);
  });
});

describe("without a receiver", () => {
  test("a valid trace is passed on as it came, a malformed one is not", async () => {
    const { url, seen } = await upstream();
    const { gateway, user } = await start({}, url);
    const send = (headers: Record<string, string>) => gateway.chat(user, { model: "route/seen" }, { headers });
    await send({ traceparent: SAMPLED, tracestate: "vendor=x, other@sys=y" });
    await send({ traceparent: SAMPLED, tracestate: "NOT=valid" });
    await send({ traceparent: `${SAMPLED}-more`, tracestate: "vendor=x" });
    await send({ tracestate: "vendor=x" });
    // That the id is random is what samplers behind go by.
    await send({ traceparent: SAMPLED.replace(/01$/, "03") });
    await send({ traceparent: SAMPLED.replace(/01$/, "fe") });
    const traces = seen.map(({ traceparent, tracestate }) => [traceparent, tracestate]);
    expect(traces).toEqual([
      [SAMPLED, "vendor=x,other@sys=y"],
      [SAMPLED, undefined],
      [undefined, undefined],
      [undefined, undefined],
      [SAMPLED.replace(/01$/, "03"), undefined],
      [SAMPLED.replace(/01$/, "02"), undefined],
    ]);
  });
});

const parts = (header: string | string[] | undefined) =>
  Object.fromEntries(
    String(header)
      .split(", ")
      .map((part) => part.split(";dur=") as [string, string])
      .map(([name, duration]) => [name, Number(duration)]),
  );

describe("Server-Timing", () => {
  test("on request an answer says what the gateway and what the upstream took, also of a stream and a refusal", async () => {
    const { gateway, user } = await start({});
    const asked = { headers: { "x-server-timing": "1" } };
    for (const stream of [false, true]) {
      const { headers } = await gateway.chat(user, { model: "route/one", stream }, asked);
      const { gateway: own, upstream, total } = parts(headers["server-timing"]);
      expect(total).toBeCloseTo(own! + upstream!, 1);
    }
    const refused = await gateway.chat(user, { model: "route/none" }, asked);
    expect(refused.status).toBe(400);
    expect(parts(refused.headers["server-timing"])).toMatchObject({ upstream: 0 });
    expect((await gateway.chat(user, {})).headers["server-timing"]).toBeUndefined();
  });

  test("a setting says always or never", async () => {
    const { gateway, user } = await start({ telemetry: { server_timing: "always" } });
    expect((await gateway.chat(user, {})).headers["server-timing"]).toMatch(/^gateway;dur=/);
    await gateway.reload({ telemetry: { server_timing: "never" } });
    const { headers } = await gateway.chat(user, {}, { headers: { "x-server-timing": "1" } });
    expect(headers["server-timing"]).toBeUndefined();
  });
});

async function decisions(file: string, count: number) {
  return poll(async () => {
    if (!existsSync(file)) return null;
    const read = [];
    for await (const decision of readDecisions(file, () => {})) read.push(decision);
    return read.length >= count ? read : null;
  });
}

describe("the decision log", () => {
  const ajv = addFormats.default(new Ajv({ allErrors: true, strict: true, allowUnionTypes: true }));
  const isDecision = ajv.compile(
    JSON.parse(readFileSync(new URL("../../../schemas/decision.schema.json", import.meta.url), "utf8")),
  );

  test("has a line for each request as its schema says, and nothing of what was said", async () => {
    const file = join(passingFolder(), "log.jsonl");
    const { gateway, user } = await start({ telemetry: { decision_log: { file } } });
    const other = await gateway.user({ tier: "Free" });
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    const content = [{ type: "text", text: SECRET_WORDS }, image];
    const tools = [{ type: "function", function: { name: "secret_tool", parameters: { type: "object" } } }];
    const served = { stream: true, max_tokens: 50, messages: [{ role: "user", content }], tools };
    await gateway.chat(user, { model: "route/failing", ...served });
    await gateway.chat(other, { model: "route/none" });
    await gateway.send("/v1/embeddings", { headers: { "content-type": "application/json" }, body: {} });
    const stalled = gateway.open(user, { model: "route/stalled", stream: true });
    await stalled.until("data:");
    stalled.leave();
    const lines = await decisions(file, 4);
    for (const line of lines) expect(isDecision(line) ? [] : isDecision.errors).toEqual([]);
    const [first, unknown, nobody, left] = lines;
    const { hash } = gateway.gateway.generation.snapshot;
    expect(first).toMatchObject({
      config: hash,
      endpoint: "chat",
      plan: "Max",
      model: "route/failing",
      stream: true,
      max_output: 50,
      features: ["tools", "vision"],
      outcome: "served",
      status: 200,
      code: null,
      upstream: "failing-2",
      attempts: [
        { upstream: "failing-1", outcome: "status", status: 503, answered_ms: null },
        { upstream: "failing-2", outcome: "ok", status: 0 },
      ],
      given_back: false,
    });
    expect(first!.tokens.completion).toBeGreaterThan(0);
    expect(first!.estimated).toEqual({ prompt: Math.ceil(first!.prompt_bytes! / 4), completion: 50 });
    expect(unknown).toMatchObject({
      model: "route/none",
      plan: "Free",
      outcome: "refused",
      code: "INVALID_MODEL",
      id: null,
    });
    expect(nobody).toMatchObject({ endpoint: "embeddings", user: null, model: null, status: 401 });
    expect(left).toMatchObject({ outcome: "client_gone", user: first!.user, upstream: "stalled-1" });
    expect(unknown!.user).not.toBe(first!.user);
    expect(first!.user).toMatch(/^[\w-]{22}$/);
    const text = await readFile(file, "utf8");
    for (const secret of [SECRET_WORDS, "secret_tool", "AAAA", user.id, user.key, other.id]) {
      expect(text).not.toContain(secret);
    }
  });

  test("a key that stands where a model or an id belongs is neither in it nor in a trace", async () => {
    const receiver = await OtlpReceiver.start();
    onTestFinished(() => receiver.close());
    const file = join(passingFolder(), "log.jsonl");
    const { gateway, user } = await start({ telemetry: { decision_log: { file }, otlp: { endpoint: receiver.url } } });
    const sent = { headers: { traceparent: SAMPLED, "x-request-id": user.key } };
    await gateway.chat(user, { model: user.key }, sent);
    await gateway.chat(user, { model: "route/one" }, sent);
    const [refused, served] = await decisions(file, 2);
    expect([refused!.model, served!.request_id]).toEqual(["[redacted]", "[redacted]"]);
    await receiver.trace(TRACE_ID, 3);
    expect(await readFile(file, "utf8")).not.toContain(user.key);
    expect(receiver.text).not.toContain(user.key);
  });

  test("a reload turns it on and off, and moves it", async () => {
    const folder = passingFolder();
    const { gateway, user } = await start({});
    await gateway.chat(user, {});
    await gateway.reload({ telemetry: { decision_log: { file: join(folder, "a") } } });
    await gateway.chat(user, {});
    await decisions(join(folder, "a"), 1);
    await gateway.reload({ telemetry: { decision_log: { file: join(folder, "b") } } });
    await gateway.chat(user, {});
    await decisions(join(folder, "b"), 1);
    await gateway.reload({ telemetry: { decision_log: null } });
    await gateway.chat(user, {});
    await gateway.audit();
    expect((await decisions(join(folder, "a"), 1)).length).toBe(1);
    expect((await decisions(join(folder, "b"), 1)).length).toBe(1);
  });
});

describe("running streams", () => {
  test("each is listed with who, what and how far, and one is ended as its user could, settled once", async () => {
    const { gateway, user } = await start({});
    const streams = [];
    for (let count = 0; count < 2; count += 1) {
      const stream = gateway.open(user, { model: "route/stalled", stream: true });
      await stream.until("data:");
      streams.push(stream);
    }
    const list = async () => JSON.parse((await gateway.admin("/admin/streams")).text);
    const listed = await poll(async () => {
      const body = await list();
      return body.streams.every(({ events }: { events: number }) => events > 0) ? body : null;
    });
    expect(listed).toMatchObject({ active: 2, complete: true });
    expect(listed.streams[0]).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      instance: gateway.gateway.instance,
      user: user.id,
      model: "route/stalled",
      upstream: "stalled-1",
      state: "streaming",
    });
    expect(listed.streams[0].bytes).toBeGreaterThan(100);
    const { id, request_id } = listed.streams[0];
    const ended = await gateway.admin(`/admin/streams/${id}`, { method: "DELETE" });
    expect([ended.status, ended.text]).toEqual([200, '{"ended":true}']);
    const answers = await Promise.race(streams.map((stream) => stream.whole()));
    expect(answers.text).toMatch(/data: \[DONE\]\s*$/);
    expect(answers.headers["x-request-id"]).toBe(request_id);
    expect((await list()).streams).toHaveLength(1);
    const again = await gateway.admin(`/admin/streams/${id}`, { method: "DELETE" });
    expect([again.status, again.text]).toEqual([404, "No such stream"]);
    for (const stream of streams) stream.leave();
    await gateway.audit();
    const entries = (await gateway.store.ledger(user.id)).filter(({ requestId }) => requestId === request_id);
    expect(entries.map(({ outcome }) => outcome)).toEqual(["killed"]);
  });

  test("one whose upstream says nothing yet is listed as waiting, and ended", async () => {
    const gateway = await TestGateway.start({ chains: { "route/silent": ["?first_event=60s"] } });
    onTestFinished(() => gateway.close());
    const user = await gateway.user();
    const stream = gateway.open(user, { model: "route/silent", stream: true });
    const [one] = await poll(async () => {
      const { streams } = JSON.parse((await gateway.admin("/admin/streams")).text);
      return streams.length === 1 && streams[0].upstream !== null ? streams : null;
    });
    expect(one).toMatchObject({ state: "waiting", events: 0, bytes: 0, upstream: "silent-1" });
    await gateway.admin(`/admin/streams/${one.id}`, { method: "DELETE" });
    expect((await stream.whole()).text).toMatch(/data: \[DONE\]\s*$/);
  });
});
