import { expect, onTestFinished, test } from "vitest";
import { cut, listenOn } from "../../src/server/listen.ts";
import { BODY, CHAT, GOOD, open, send, start } from "./support.ts";

const LENGTH = `Content-Length: ${BODY.length}`;
const FIELDS = `Host: x\r\nAuthorization: Bearer ${GOOD}\r\nContent-Type: application/json\r\n`;
const OK = `POST ${CHAT} HTTP/1.1\r\n${FIELDS}${LENGTH}\r\n\r\n${BODY}`;
const post = (fields: string, body: string, version = "1.1"): string =>
  `POST ${CHAT} HTTP/${version}\r\n${FIELDS}${fields}\r\n\r\n${body}`;
const CHUNKED = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;

test.each<readonly [what: string, bytes: string]>([
  ["a second Host", post(`host: y\r\n${LENGTH}`, BODY)],
  ["no Host", "GET /v1/models HTTP/1.1\r\n\r\n"],
  ...[
    "http://",
    "http:///v1",
    "http://u@x/",
    "http://x:99999/",
    "http://x/#a",
    "ftp://x/",
    "http:x",
    "http://a b/",
  ].map((target) => [`the target ${target}`, `POST ${target} HTTP/1.1\r\n${FIELDS}${LENGTH}\r\n\r\n${BODY}`] as const),
  ...["a b", "x:99999", "x:y", "u@x", "x/y", "x?y", "x#y", "1.2.3.4.5", "[::1", "a%zz", "x\\y"].map(
    (host) => [`the Host ${host}`, `GET /v1/models HTTP/1.1\r\nHost: ${host}\r\n\r\n`] as const,
  ),
  ["a target without a slash", `POST x HTTP/1.1\r\n${FIELDS}${LENGTH}\r\n\r\n${BODY}`],
  ["HTTP/1.0 with Transfer-Encoding", post("Transfer-Encoding: chunked", CHUNKED, "1.0")],
  ["a transfer coding beside chunked", post("Transfer-Encoding: gzip, chunked", CHUNKED)],
  ["chunked twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", CHUNKED)],
  ["an unknown transfer coding", post("Transfer-Encoding: xchunked", CHUNKED)],
  ["Content-Length and Transfer-Encoding", post(`${LENGTH}\r\nTransfer-Encoding: chunked`, CHUNKED)],
  ["two different lengths", post(`${LENGTH}\r\nContent-Length: 1`, BODY)],
  ["a signed length", post(`Content-Length: +${BODY.length}`, BODY)],
  ["a hexadecimal length", post("Content-Length: 0x10", BODY)],
  ["a length with a space", post("Content-Length: 1 0", BODY)],
  ["a space before the colon", post(`Content-Length : ${BODY.length}`, BODY)],
  ["a folded header", post(`X-A: b\r\n c\r\n${LENGTH}`, BODY)],
  ["a NUL in a header", post(`X-A: b\0c\r\n${LENGTH}`, BODY)],
  ["a bare CR in a header", post(`X-A: b\rc: d\r\n${LENGTH}`, BODY)],
  ["a bad chunk size", post("Transfer-Encoding: chunked", `zz\r\n${BODY}\r\n0\r\n\r\n`)],
  ["no HTTP at all", "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n"],
  ["HTTP/2 with prior knowledge", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
])("%s is refused, and nothing after it is served", async (_what, bytes) => {
  const { port, malformed } = await start();
  const connection = await open(port);
  connection.socket.write(bytes, "latin1");
  connection.socket.write(OK);
  const text = await connection.closed();
  expect(text).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
  expect(text).toMatch(/X-Request-Id: [0-9a-f-]{36}\r\n/);
  expect(text).toContain("Connection: close\r\n");
  expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  expect(malformed).toEqual([400]);
});

test.each(["x", "", "localhost:8080", "[::1]:8080", "my_service", "1.2.3.4", "xn--bcher-kva.example", "x:"])(
  "the Host %j is served",
  async (host) => {
    const { port, malformed } = await start();
    const connection = await open(port);
    connection.socket.write(OK.replace("Host: x\r\n", `Host: ${host}\r\n`));
    expect(await connection.until((text) => text.endsWith(BODY))).toMatch(/^HTTP\/1.1 200 /);
    expect(malformed).toEqual([]);
  },
);

test.each([`http://x${CHAT}`, `HTTP://x:8080${CHAT}?a=b`, `https://gateway.example${CHAT}`])(
  "the target %s is served",
  async (target) => {
    const { port, malformed } = await start();
    const connection = await open(port);
    connection.socket.write(OK.replace(CHAT, target));
    expect(await connection.until((text) => text.endsWith(BODY))).toMatch(/^HTTP\/1.1 200 /);
    expect(malformed).toEqual([]);
  },
);

test.each([
  ["http://gateway.example:81/v1/models?a=b", "/v1/models?a=b"],
  ["http://gateway.example:81?a=b", "/?a=b"],
  ["http://gateway.example:81", "/"],
])("the target %s is %s of that host, whatever the header says", async (target, path) => {
  const listening = await listenOn([{ host: "127.0.0.1", port: 0 }], ({ url, headers }, res) =>
    res.end(`${headers.host} ${url}`),
  );
  onTestFinished(() => cut(listening));
  const connection = await open(listening.addresses[0]!.port);
  connection.socket.write(`GET ${target} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`);
  expect(await connection.closed()).toContain(`gateway.example:81 ${path}`);
});

test.each([
  ["101 fields", Array.from({ length: 97 }, (_, n) => `X-${n}: 1\r\n`).join("")],
  ["2,100 fields before the length", Array.from({ length: 2100 }, (_, n) => `a${n}:\r\n`).join("")],
  ["17 KiB of fields", `X-A: ${"x".repeat(17 * 1024)}\r\n`],
])("%s is a 431", async (_what, fields) => {
  const { port, malformed } = await start();
  const connection = await open(port);
  connection.socket.write(post(`${fields}${LENGTH}`, BODY));
  const text = await connection.closed();
  expect(text).toMatch(/^HTTP\/1.1 431 /);
  expect(text).toMatch(/X-Request-Id: /);
  expect(malformed).toEqual([431]);
});

test("100 fields are served", async () => {
  const { port } = await start();
  const connection = await open(port);
  const fields = Array.from({ length: 96 }, (_, n) => `X-${n}: 1\r\n`).join("");
  connection.socket.write(post(`${fields}${LENGTH}`, BODY));
  expect(await connection.until((text) => text.endsWith(BODY))).toMatch(/^HTTP\/1.1 200 /);
});

test.each([
  ["its head", `POST ${CHAT} HTTP/1.1\r\nHost: x\r\n`],
  ["its body", `POST ${CHAT} HTTP/1.1\r\n${FIELDS}Content-Length: 100\r\n\r\n{`],
])("a request that never brings the rest of %s is a 408", async (_what, bytes) => {
  const { port, malformed, server } = await start({
    listen: { timeouts: { headers: 200, request: 300, check: 50 } },
  });
  const connection = await open(port);
  connection.socket.write(bytes);
  const text = await connection.closed();
  expect(text).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/);
  expect(malformed).toEqual([408]);
  expect(server.inFlight()).toBe(0);
});

test("an upgrade is not taken: the request is served as what it is", async () => {
  const { port } = await start();
  const connection = await open(port);
  connection.socket.write(post(`Connection: Upgrade\r\nUpgrade: websocket\r\n${LENGTH}`, BODY));
  expect(await connection.until((text) => text.endsWith(BODY))).toMatch(/^HTTP\/1.1 200 /);
});

test("CONNECT opens nothing", async () => {
  const { port } = await start();
  const connection = await open(port);
  connection.socket.write("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n");
  expect(await connection.closed()).toBe("");
});

test("an unknown expectation is a 417", async () => {
  const { port } = await start();
  const connection = await open(port);
  connection.socket.write(post(`Expect: the-unexpected\r\n${LENGTH}`, BODY));
  const text = await connection.until((received) => received.includes("Expectation Failed"));
  expect(text).toMatch(/^HTTP\/1.1 417 /);
  expect(text).toMatch(/X-Request-Id: /);
});

test("bytes after a malformed request never end up inside an answer that has begun", async () => {
  const { port } = await start({
    run: async ({ client }) => {
      client.startStream("text/event-stream", {});
      client.write("data: 1\n\n");
    },
  });
  const connection = await open(port);
  connection.socket.write(OK);
  await connection.until((text) => text.includes("data: 1"));
  connection.socket.write("garbage\r\n\r\n");
  const text = await connection.closed();
  expect(text).not.toMatch(/HTTP\/1\.1 400|INVALID_REQUEST/);
});

test("HTTP/1.0 clients are served and their connection closed", async () => {
  const { port } = await start();
  const connection = await open(port);
  connection.socket.write(post(LENGTH, BODY, "1.0"));
  const text = await connection.closed();
  expect(text).toMatch(/^HTTP\/1.1 200 /);
  expect(text.endsWith(BODY)).toBe(true);
});

test("a model name full of traps never becomes a 500", async () => {
  const { port } = await start();
  for (const model of ["a\r\nX-Evil: 1", "\u010d\u010a", "\0", "x".repeat(10_000), "../..", "__proto__", "\ud800"]) {
    const answer = await send(port, { body: JSON.stringify({ model }) });
    expect(answer.status).toBe(200);
    expect(answer.headers["x-evil"]).toBeUndefined();
  }
});
