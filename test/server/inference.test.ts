import { expect, test } from "vitest";
import { GatewayError } from "../../src/kit/index.ts";
import { BODY, CHAT, GOOD, open, send, start, waitFor } from "./support.ts";

const AUTH = { authorization: `Bearer ${GOOD}` };
const JSON_HEADERS = { ...AUTH, "content-type": "application/json" };

test("a good request reaches the pipeline and its answer the client", async () => {
  const { port, requests } = await start();
  const answer = await send(port, { path: `${CHAT}?x=1`, headers: { ...JSON_HEADERS, "x-request-id": "mine-1" } });
  expect(answer).toMatchObject({ status: 200, text: BODY });
  expect(answer.headers).toMatchObject({
    "x-request-id": "mine-1",
    "x-test": "1",
    "content-type": "application/json",
    "content-length": String(BODY.length),
  });
  const [request] = requests;
  const { header, ...head } = request!.head;
  expect(head).toEqual({
    requestId: "mine-1",
    credentials: { kind: "key", value: GOOD },
    ip: "127.0.0.1",
    endpoint: "chat",
  });
  expect([header!("x-request-id"), header!("x-none")]).toEqual(["mine-1", undefined]);
  expect(Math.abs(Date.now() - request!.receivedAt)).toBeLessThan(60_000);
});

test("the charge's id is the gateway's own, also when a client repeats its request id", async () => {
  const { port, requests } = await start();
  for (let round = 0; round < 2; round += 1) await send(port, { headers: { ...JSON_HEADERS, "x-request-id": "same" } });
  expect(requests.map(({ head }) => head.requestId)).toEqual(["same", "same"]);
  expect(new Set(requests.map(({ id }) => id)).size).toBe(2);
  expect(requests.map(({ id }) => id)).not.toContain("same");
});

test.each([
  ["a".repeat(128), true],
  ["~!{}", true],
  ["a".repeat(129), false],
  ["two words", false],
  ["caf\u00e9", false],
])("request id %j is kept: %s", async (id, kept) => {
  const { port } = await start();
  const { headers } = await send(port, { headers: { ...JSON_HEADERS, "x-request-id": id } });
  expect(headers["x-request-id"] === id).toBe(kept);
  expect(headers["x-request-id"]).toMatch(/^[\x21-\x7e]{1,128}$/);
});

test("bodies are read only after the credentials are good", async () => {
  const { port } = await start();
  // A refusal for the body would be a 415.
  const answer = await send(port, { headers: { authorization: "Bearer rk_bad", "content-type": "text/plain" } });
  expect(answer).toMatchObject({ status: 401, text: "Invalid API key" });
  expect(answer.headers).toMatchObject({ "x-error-code": "AUTHENTICATION_ERROR" });
  const nobody = await send(port, { headers: {} });
  expect(nobody).toMatchObject({ status: 401, text: '{"message":"Authentication required"}' });
  expect(nobody.headers["x-error-code"]).toBeUndefined();
});

test.each([
  ["", "Invalid request: / must not be empty"],
  ["{", "Invalid request: / must be valid JSON"],
  ["\ufeff{}", "Invalid request: / must be valid JSON"],
  [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), "Invalid request: / must be UTF-8"],
  ["[]", "Invalid request: / must be an object"],
  ["null", "Invalid request: / must be an object"],
  ['"x"', "Invalid request: / must be an object"],
  ["{}", "Invalid request: /model is required"],
  [
    `{"model":1,"x":${"[".repeat(200)}${"]".repeat(200)}}`,
    "Invalid request: / must not be nested deeper than 200 levels",
  ],
  [
    `{"x":${"[".repeat(200_000)}${"]".repeat(200_000)}}`,
    "Invalid request: / must not be nested deeper than 200 levels",
  ],
])("body %.20s is refused", async (body, text) => {
  const { port } = await start();
  const answer = await send(port, { body });
  expect(answer).toMatchObject({ status: 400, text });
  expect(answer.headers).toMatchObject({
    "x-error-code": "INVALID_REQUEST",
    "content-type": "text/plain; charset=utf-8",
  });
});

test("63 levels inside the body are fine, and a __proto__ in it harms nobody", async () => {
  const { port } = await start();
  const body = `{"model":1,"__proto__":{"polluted":true},"x":${"[".repeat(63)}${"]".repeat(63)}}`;
  expect(await send(port, { body })).toMatchObject({ status: 200, text: body });
  expect({}).not.toHaveProperty("polluted");
});

test.each([
  ["application/json", 200],
  ["Application/JSON; charset=UTF-8", 200],
  ['application/json;charset="utf-8"', 200],
  ["application/json; charset=utf-7", 415],
  ["application/json; charset=utf-16", 415],
  ["application/jsonx", 415],
  ["text/plain", 415],
  ["multipart/form-data; boundary=x", 415],
  ["", 415],
])("content type %j gives %i", async (type, status) => {
  const { port } = await start();
  const answer = await send(port, { headers: { ...AUTH, ...(type && { "content-type": type }) } });
  expect(answer.status).toBe(status);
  expect(answer.headers["x-error-code"]).toBe(status === 415 ? "UNSUPPORTED_MEDIA_TYPE" : undefined);
});

test.each([
  ["gzip", 415],
  ["gzip, identity", 415],
  ["identity", 200],
])("content encoding %s gives %i", async (encoding, status) => {
  const { port } = await start();
  const answer = await send(port, { headers: { ...JSON_HEADERS, "content-encoding": encoding } });
  expect(answer.status).toBe(status);
});

test("what is no GatewayError is a 500 that says nothing, and is logged with the request id", async () => {
  const { port, lines } = await start({ run: () => Promise.reject(new TypeError("secret detail")) });
  const answer = await send(port, { headers: { ...JSON_HEADERS, "x-request-id": "r1" } });
  expect(answer).toMatchObject({ status: 500, text: "Internal server error" });
  expect(answer.headers["x-error-code"]).toBeUndefined();
  expect(answer.headers["x-request-id"]).toBe("r1");
  expect(lines).toMatchObject([{ level: "error", fields: { request_id: "r1", err: { message: "secret detail" } } }]);
});

test.each([
  [
    new GatewayError("RATE_LIMIT_ERROR", "Hourly request limit exceeded"),
    429,
    "Hourly request limit exceeded",
    { "retry-after": "1", "x-error-code": "RATE_LIMIT_ERROR" },
  ],
  [
    new GatewayError("DAILY_REQUEST_LIMIT_EXCEEDED", "Daily", { retryAfter: 10.2 }),
    429,
    "Daily",
    { "retry-after": "11" },
  ],
  [new GatewayError("RATE_LIMIT_ERROR", "x", { retryAfter: 0 }), 429, "x", { "retry-after": "1" }],
  [new GatewayError("RATE_LIMIT_ERROR", "x", { retryAfter: Number.NaN }), 429, "x", { "retry-after": "1" }],
  [
    new GatewayError("PROVIDER_ERROR", "x", { permanent: true }),
    502,
    "x",
    { "x-should-retry": "false", "x-error-code": "PROVIDER_ERROR", "retry-after": undefined },
  ],
  [
    new GatewayError("PROVIDER_TIMEOUT", "x", { retryAfter: 9.4 }),
    504,
    "x",
    { "retry-after": "10", "x-should-retry": undefined },
  ],
  [new GatewayError("CIRCUIT_BREAKER_OPEN", "x"), 503, "x", { "retry-after": "1", "x-should-retry": undefined }],
  [new GatewayError("INTERNAL", "never shown"), 500, "Internal server error", { "x-error-code": undefined }],
  [
    new GatewayError("INVALID_TOKEN", "Invalid or expired token", { fields: { more: 1 }, headers: { "X-More": "2" } }),
    401,
    '{"message":"Invalid or expired token","more":1}',
    { "x-more": "2", "content-type": "application/json", "x-error-code": undefined },
  ],
  [
    new GatewayError("INVALID_MODEL", "Invalid model: 'route/\u010d\u010a\r\n\u{1f600}'"),
    400,
    "Invalid model: 'route/\u010d\u010a\r\n\u{1f600}'",
    {},
  ],
])("%s", async (error, status, text, headers) => {
  const { port } = await start({
    run: async ({ client }) => client.refuse(error, { "X-RateLimit-Limit-Day": "50" }),
  });
  const answer = await send(port);
  expect(answer).toMatchObject({ status, text });
  expect(answer.headers).toMatchObject({ "x-ratelimit-limit-day": "50" });
  for (const [name, value] of Object.entries(headers)) expect(answer.headers[name]).toBe(value);
});

test("the signal says that the client has gone, while its body is read and while it waits", async () => {
  const { port, requests, server } = await start({
    run: async ({ client }) => {
      if (!client.signal.aborted) await new Promise((resolve) => client.signal.addEventListener("abort", resolve));
    },
  });
  for (const sent of [BODY, "{"]) {
    const connection = await open(port);
    connection.socket.write(
      `POST ${CHAT} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${GOOD}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${sent}`,
    );
    await waitFor(() => server.inFlight() === 1);
    const { signal } = requests.at(-1)!.client;
    expect(signal.aborted).toBe(false);
    connection.socket.destroy();
    await waitFor(() => signal.aborted && server.inFlight() === 0);
    expect(signal.reason).toBe("client_gone");
  }
});

test("abortAll reaches every running request, whose answer can still be given", async () => {
  const { port, server } = await start({
    run: async ({ client }) => {
      await new Promise((resolve) => client.signal.addEventListener("abort", resolve));
      client.refuse(new GatewayError("SHUTTING_DOWN", String(client.signal.reason)), {});
    },
  });
  const answers = [send(port), send(port)];
  await waitFor(() => server.inFlight() === 2);
  server.abortAll("shutdown");
  for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ status: 503, text: "shutdown" });
  await waitFor(() => server.inFlight() === 0);
});

test("while draining, answers close their connection", async () => {
  const { port, server } = await start();
  server.setDraining(true);
  for (const path of [CHAT, "/v1/nothing"]) {
    const { headers } = await send(port, { path, headers: { ...JSON_HEADERS, connection: "keep-alive" } });
    expect(headers.connection).toBe("close");
  }
  server.setDraining(false);
  const { headers } = await send(port, { headers: { ...JSON_HEADERS, connection: "keep-alive" } });
  expect(headers.connection).toBe("keep-alive");
});

function expecting(key: string, length: number): string {
  return (
    `POST ${CHAT} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
    `Expect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`
  );
}

test("Expect: 100-continue is answered only when the body is wanted", async () => {
  const { port } = await start();
  const good = await open(port);
  good.socket.write(expecting(GOOD, BODY.length));
  expect(await good.until((text) => text.includes("\r\n\r\n"))).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  good.socket.write(BODY);
  expect(await good.until((text) => text.endsWith(BODY))).toContain("HTTP/1.1 200 OK");

  const bad = await open(port);
  bad.socket.write(expecting("rk_bad", BODY.length));
  const refused = await bad.until((text) => text.endsWith("Invalid API key"));
  expect(refused).toMatch(/^HTTP\/1.1 401 /);
  expect(refused).toContain("Connection: close");

  const big = await open(port);
  big.socket.write(expecting(GOOD, 2 * 1024 * 1024));
  expect(await big.until((text) => text.includes("exceeds"))).toMatch(/^HTTP\/1.1 413 /);
});
