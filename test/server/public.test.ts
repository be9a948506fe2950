import { expect, test } from "vitest";
import { GatewayError } from "../../src/kit/index.ts";
import { BODY, CHAT, GOOD, keepAliveAgent, open, send, settings, start, waitFor } from "./support.ts";

const JSON_HEADERS = { authorization: `Bearer ${GOOD}`, "content-type": "application/json" };
const EXPOSED = [
  "X-Request-Id",
  "X-Error-Code",
  "X-Gateway-Answered-By",
  "Retry-After",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset-Minute",
];

test.each([
  ["GET", "/", 404],
  ["GET", "/v1/nothing", 404],
  ["POST", `${CHAT}/`, 404],
  ["POST", `/${CHAT}`, 404],
  ["POST", "/V1/chat/completions", 404],
  ["POST", "/v1/../v1/chat/completions", 404],
  ["DELETE", "/%2e%2e/x", 404],
  ["GET", CHAT, 405],
  ["DELETE", CHAT, 405],
  ["OPTIONS", CHAT, 405],
  ["PATCH", "/v1/thing", 405],
])("%s %s is %i", async (method, path, status) => {
  const { port, requests } = await start({
    routes: [
      { method: "GET", path: "/v1/thing", handle: () => ({ is: "a thing" }) },
      { method: "POST", path: "/v1/thing", handle: () => ({}) },
    ],
  });
  const answer = await send(port, { method, path, headers: { "x-request-id": "mine" }, body: "" });
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.text)).toEqual({ message: status === 404 ? "Not found" : "Method not allowed" });
  expect(answer.headers).toMatchObject({ "content-type": "application/json", "x-request-id": "mine" });
  expect(answer.headers["content-length"]).toBe(String(answer.text.length));
  const allowed = path === CHAT ? "POST" : "GET, HEAD, POST";
  expect(answer.headers.allow).toBe(status === 405 ? allowed : undefined);
  expect(requests).toEqual([]);
});

test("HEAD has the status and no body, and the connection goes on", async () => {
  const { port } = await start({ routes: [{ method: "GET", path: "/v1/thing", handle: () => ({ is: "a thing" }) }] });
  const agent = keepAliveAgent();
  expect(await send(port, { agent, method: "HEAD", path: "/v1/thing" })).toMatchObject({ status: 200, text: "" });
  expect(await send(port, { agent, method: "HEAD", path: "/v1/nothing" })).toMatchObject({ status: 404, text: "" });
  expect(await send(port, { agent, method: "HEAD", path: CHAT })).toMatchObject({ status: 405, text: "" });
  expect(await send(port, { agent })).toMatchObject({ status: 200, text: BODY });
});

test("routes: JSON, parameters, bodies, errors of the table, and secrets kept on a throw", async () => {
  const { port, lines, server } = await start({
    routes: [
      { method: "GET", path: "/v1/thing/**", handle: (event) => ({ id: event.context.params?.["_"] }) },
      { method: "POST", path: "/v1/thing", handle: async (event) => ({ got: await event.req.json() }) },
      {
        method: "GET",
        path: "/v1/refused",
        handle: () => {
          throw new GatewayError("RATE_LIMIT_ERROR", "Too many", { retryAfter: 3 });
        },
      },
      { method: "GET", path: "/v1/broken", handle: () => Promise.reject(new Error("secret detail")) },
    ],
  });
  expect(await send(port, { method: "GET", path: "/v1/thing/route/x" })).toMatchObject({ text: '{"id":"route/x"}' });
  expect(await send(port, { path: "/v1/thing", body: '{"a":1}' })).toMatchObject({ text: '{"got":{"a":1}}' });
  const large = await send(port, { path: "/v1/thing", body: JSON.stringify("x".repeat(70_000)) });
  expect(large).toMatchObject({ status: 413, headers: { "x-error-code": "REQUEST_TOO_LARGE" } });
  expect(await send(port, { method: "GET", path: "/v1/refused" })).toMatchObject({
    status: 429,
    text: "Too many",
    headers: { "retry-after": "3", "x-error-code": "RATE_LIMIT_ERROR" },
  });
  const broken = await send(port, { method: "GET", path: "/v1/broken", headers: { "x-request-id": "r1" } });
  expect(broken).toMatchObject({ status: 500, text: "Internal server error" });
  expect(lines).toMatchObject([
    { level: "error", fields: { err: { message: "secret detail" }, request_id: "r1", path: "/v1/broken" } },
  ]);
  await waitFor(() => server.inFlight() === 0);
});

test("Expect: 100-continue is answered for routes too", async () => {
  const { port } = await start();
  const connection = await open(port);
  connection.socket.write("POST /v1/nothing HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  await connection.until((text) => text.startsWith("HTTP/1.1 100 Continue\r\n\r\n"));
  connection.socket.write("{}");
  expect(await connection.until((text) => text.endsWith('"}'))).toContain("HTTP/1.1 404");
});

test.each([CHAT, "/v2/rerank"])("a preflight of %s is answered without a key", async (path) => {
  const { port } = await start({ settings: { ipLimit: { requests: 1, window: 60_000 } } });
  for (let round = 0; round < 3; round += 1) {
    const answer = await send(port, {
      method: "OPTIONS",
      path,
      headers: {
        origin: "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type, x-api-key",
      },
    });
    expect(answer).toMatchObject({ status: 204, text: "" });
    expect(answer.headers).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET, POST, PATCH, DELETE, OPTIONS",
      "access-control-allow-headers": "authorization, content-type, x-api-key",
    });
    expect(answer.headers["x-request-id"]).toBeDefined();
  }
  expect((await send(port)).status).toBe(200);
});

test("answers and errors carry CORS headers and expose what clients need", async () => {
  const { port } = await start({
    run: async ({ client, head }) => {
      if (head.requestId !== "stream") return client.refuse(new Error("x"), {});
      client.startStream("text/event-stream", {});
      client.end("data: [DONE]\n\n");
    },
  });
  const from = { origin: "https://app.example" };
  const answers = [
    await send(port, { headers: { ...JSON_HEADERS, ...from } }),
    await send(port, { headers: { ...JSON_HEADERS, ...from, "x-request-id": "stream" } }),
    await send(port, { path: "/v1/nothing", headers: from }),
    await send(port, { path: CHAT, method: "GET", headers: from }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([500, 200, 404, 405]);
  for (const { headers } of answers) {
    expect(headers["access-control-allow-origin"]).toBe("*");
    const exposed = headers["access-control-expose-headers"]!.split(", ");
    for (const name of EXPOSED) expect(exposed).toContain(name);
  }
  expect((await send(port)).headers["access-control-allow-origin"]).toBeUndefined();
  expect(
    (await send(port, { path: "/elsewhere", headers: from })).headers["access-control-allow-origin"],
  ).toBeUndefined();
});

test("with a list of origins only those are let in", async () => {
  const { port } = await start({ settings: { cors: { origins: ["https://a.example", "https://b.example"] } } });
  const ask = async (origin: string) => (await send(port, { headers: { ...JSON_HEADERS, origin } })).headers;
  expect(await ask("https://b.example")).toMatchObject({
    "access-control-allow-origin": "https://b.example",
    vary: "Origin",
  });
  for (const origin of ["https://c.example", "null", "https://a.example.evil"]) {
    const headers = await ask(origin);
    expect(headers["access-control-allow-origin"]).toBeUndefined();
    expect(headers.vary).toBe("Origin");
  }
  const preflight = await send(port, {
    method: "OPTIONS",
    headers: { origin: "https://c.example", "access-control-request-method": "POST" },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers["access-control-allow-origin"]).toBeUndefined();
});

test("the IP limit: every request counts, the refusal says until when, and a new window is a new start", async () => {
  let now = 1_000_000_000_000;
  const { port, refused, requests } = await start({
    settings: { ipLimit: { requests: 3, window: 60_000 } },
    now: () => now,
  });
  expect((await send(port)).status).toBe(200);
  expect((await send(port, { headers: {} })).status).toBe(401);
  expect((await send(port, { method: "GET", path: "/v1/nothing" })).status).toBe(404);
  const agent = keepAliveAgent();
  for (const path of [CHAT, "/v1/nothing"]) {
    const answer = await send(port, { agent, path });
    const seconds = 60 - ((now / 1000) % 60);
    expect(answer.status).toBe(429);
    expect(JSON.parse(answer.text)).toEqual({
      message: "Rate limit exceeded. Please try again later.",
      retry_after: seconds,
    });
    expect(answer.headers).toMatchObject({
      "content-type": "application/json",
      "retry-after": String(seconds),
      "x-ratelimit-limit": "3",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(seconds),
    });
    expect(answer.headers["x-error-code"]).toBeUndefined();
  }
  expect(refused).toMatchObject([
    { endpoint: "chat", status: 429, code: "IP_RATE_LIMIT", durationMs: 0 },
    { endpoint: "other", status: 429, code: "IP_RATE_LIMIT" },
  ]);
  expect(requests.length).toBe(2);
  now += 60_000;
  expect((await send(port, { agent })).status).toBe(200);
});

test("behind a trusted proxy the client's own address is limited, and shown to the pipeline", async () => {
  const { port, requests } = await start({
    settings: { ipLimit: { requests: 1, window: 60_000 }, trustedProxies: ["127.0.0.0/8", "10.0.0.0/8"] },
    now: () => 0,
  });
  const from = async (forwarded: string) =>
    (await send(port, { headers: { ...JSON_HEADERS, "x-forwarded-for": forwarded } })).status;
  expect(await from("6.6.6.6, 203.0.113.9, 10.1.1.1")).toBe(200);
  expect(await from("7.7.7.7, 203.0.113.9, 10.1.1.1")).toBe(429);
  expect(await from("203.0.113.10")).toBe(200);
  expect(await from("2001:db8:1:2::1")).toBe(200);
  expect(await from("2001:db8:1:2:ffff::2")).toBe(429);
  expect(requests.map(({ head }) => head.ip)).toEqual(["203.0.113.9", "203.0.113.10", "2001:db8:1:2::1"]);
});

test("settings are those in force at each request", async () => {
  let inForce = settings({ bodyLimit: 10 });
  const { createPublicServer } = await import("../../src/server/public.ts");
  const { listenOn } = await import("../../src/server/listen.ts");
  const { testPipeline, memoryLog } = await import("./support.ts");
  const lines: Parameters<typeof memoryLog>[0] = [];
  const server = createPublicServer({
    pipeline: () => testPipeline({}),
    settings: () => inForce,
    validateBody: () => null,
    now: Date.now,
    log: memoryLog(lines),
  });
  const listening = await listenOn([{ host: "127.0.0.1", port: 0 }], server.handler);
  const { port } = listening.addresses[0]!;
  try {
    expect((await send(port)).status).toBe(413);
    inForce = settings({ bodyLimit: 1000 });
    expect((await send(port)).status).toBe(200);
    inForce = settings({ trustedProxies: ["no address"] });
    expect((await send(port)).status).toBe(200);
    expect(lines).toMatchObject([{ level: "error", message: "proxy check failed; no proxy is trusted" }]);
  } finally {
    listening.closeAll();
    await listening.close();
  }
});
