import { expect, test } from "vitest";
import { BODY, CHAT, GOOD, keepAliveAgent, open, send, start, waitFor } from "./support.ts";

const MIB = 1024 * 1024;
const JSON_HEADERS = { authorization: `Bearer ${GOOD}`, "content-type": "application/json" };

function chat(key: string, framing: string, body = ""): string {
  return (
    `POST ${CHAT} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\n${framing}\r\n\r\n${body}`
  );
}

test.each([
  ["a bad key", { authorization: "Bearer rk_bad", "content-type": "application/json" }, BODY, 401],
  ["no key", {}, BODY, 401],
  ["a wrong type", { authorization: `Bearer ${GOOD}`, "content-type": "text/plain" }, BODY, 415],
  ["malformed JSON", JSON_HEADERS, "{", 400],
  ["an empty body", JSON_HEADERS, "", 400],
  ["a bad key and a 60 KiB body", { authorization: "Bearer rk_bad" }, "x".repeat(60 * 1024), 401],
])("the connection serves on after %s", async (_what, headers, body, status) => {
  const { port } = await start();
  const agent = keepAliveAgent();
  const sockets = new Set<number>();
  for (let round = 0; round < 3; round += 1) {
    const refused = await send(port, { agent, headers: { ...headers }, body });
    expect(refused.status).toBe(status);
    expect(refused.headers.connection).toBe("keep-alive");
    const served = await send(port, { agent });
    expect(served).toMatchObject({ status: 200, text: BODY });
    for (const free of Object.values(agent.freeSockets)) for (const socket of free!) sockets.add(socket.localPort!);
  }
  expect(sockets.size).toBe(1);
});

test("unknown paths and methods leave the connection usable, also with a body", async () => {
  const { port } = await start();
  const agent = keepAliveAgent();
  const body = "x".repeat(2 * MIB);
  expect((await send(port, { agent, path: "/v1/nothing", body })).status).toBe(404);
  expect((await send(port, { agent, method: "PUT", body })).status).toBe(405);
  expect((await send(port, { agent })).status).toBe(200);
});

test.each([
  ["a bad key", "rk_bad", 401, 5 * MIB],
  ["a body over the limit", GOOD, 413, 5 * MIB],
])("5 MB with %s: answered, read over, closed, and never hanging", async (_what, key, status, size) => {
  const { port } = await start();
  const connection = await open(port);
  connection.socket.write(chat(key, `Content-Length: ${size}`));
  const answer = await connection.until((text) => /\r\n\r\n.+/s.test(text));
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(answer).toContain("Connection: close");
  connection.socket.write(Buffer.alloc(size, 120));
  expect(await connection.closed()).toBe(answer);
});

test.each([false, true])("413 reaches an ordinary client, chunked: %s", async (chunked) => {
  const { port } = await start();
  const body = Buffer.alloc(5 * MIB, 120);
  const answer = await send(port, { body, chunked, agent: keepAliveAgent() });
  expect(answer).toMatchObject({ status: 413, text: "Request body exceeds the limit of 1048576 bytes" });
  expect(answer.headers).toMatchObject({ "x-error-code": "REQUEST_TOO_LARGE", connection: "close" });
});

test.each([
  [0, 200],
  [1, 413],
])("a body of the limit and %i bytes gives %i, declared or chunked", async (over, status) => {
  const { port } = await start({ settings: { bodyLimit: 1000 } });
  const body = `{"model":"${"x".repeat(1000 - 12 + over)}"}`;
  expect(body.length).toBe(1000 + over);
  expect((await send(port, { body })).status).toBe(status);
  expect((await send(port, { body, chunked: true })).status).toBe(status);
});

test("an endless chunked body is cut after a bounded amount", async () => {
  const { port } = await start();
  const connection = await open(port);
  connection.socket.write(chat(GOOD, "Transfer-Encoding: chunked"));
  const chunk = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(MIB, 120), Buffer.from("\r\n")]);
  let sent = 0;
  while (!connection.socket.closed && sent < 200) {
    sent += 1;
    if (connection.socket.write(chunk)) continue;
    await waitFor(() => connection.socket.closed || !connection.socket.writableNeedDrain);
  }
  expect(await connection.closed()).toMatch(/^HTTP\/1.1 413 /);
  expect(sent).toBeLessThan(100);
});

test("a body that arrives byte by byte is whole", async () => {
  const { port } = await start();
  const connection = await open(port);
  connection.socket.setNoDelay(true);
  connection.socket.write(chat(GOOD, `Content-Length: ${BODY.length}`));
  for (const byte of BODY) {
    connection.socket.write(byte);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await connection.until((text) => text.endsWith(BODY))).toMatch(/^HTTP\/1.1 200 /);
});

test("a chunked body may be split anywhere, and the next request is read as one", async () => {
  const { port } = await start();
  const connection = await open(port);
  const chunks = Array.from(BODY, (byte) => `1\r\n${byte}\r\n`).join("");
  const one = chat(GOOD, "Transfer-Encoding: chunked", `${chunks}0\r\n\r\n`);
  for (let at = 0; at < one.length; at += 7) {
    connection.socket.write(one.slice(at, at + 7));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await connection.until((text) => text.endsWith(BODY));
  connection.socket.write(chat(GOOD, `Content-Length: ${BODY.length}`, BODY));
  const all = await connection.until((text) => text.split("HTTP/1.1 200 ").length === 3 && text.endsWith(BODY));
  expect(all.split(BODY).length).toBe(3);
});

test("pipelined requests are answered in order", async () => {
  const { port } = await start();
  const connection = await open(port);
  const bodies = [1, 2, 3].map((n) => JSON.stringify({ model: `route/${n}`, messages: [] }));
  connection.socket.write(bodies.map((body) => chat(GOOD, `Content-Length: ${body.length}`, body)).join(""));
  const text = await connection.until((received) => received.endsWith(bodies[2]!));
  expect([...text.matchAll(/route\/(\d)/g)].map(([, n]) => n)).toEqual(["1", "2", "3"]);
});

test("a client that is refused and then sends nothing more is cut, on every kind of route", async () => {
  const { port, server } = await start();
  const asked = [CHAT, "/v1/nothing"].map(async (path) => {
    const connection = await open(port);
    connection.socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${5 * MIB}\r\n\r\nx`);
    return connection.closed();
  });
  const [inference, other] = await Promise.all(asked);
  expect(inference).toMatch(/^HTTP\/1.1 401 /);
  expect(other).toMatch(/^HTTP\/1.1 404 /);
  await waitFor(() => server.inFlight() === 0);
});
