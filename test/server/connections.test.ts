import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import type { InferenceRequest, ServerSettings } from "../../src/kit/index.ts";
import { trustProxies } from "../../src/server/client-address.ts";
import { Connections } from "../../src/server/connections.ts";
import { BODY, CHAT, echo, GOOD, open, type RawConnection, start, waitFor } from "./support.ts";

const FIELDS = `Host: x\r\nAuthorization: Bearer ${GOOD}\r\nContent-Type: application/json\r\n`;
const ONE = `POST ${CHAT} HTTP/1.1\r\n${FIELDS}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
const REFUSED = /^HTTP\/1.1 503 Service Unavailable\r\n[^]*X-Error-Code: OVERLOADED\r\n[^]*Server is busy$/;

async function isServed(connection: RawConnection): Promise<boolean> {
  connection.socket.write(ONE);
  return /^HTTP\/1.1 200 /.test(await connection.until((text) => text.includes("\r\n\r\n")));
}

function starting(connections: ServerSettings["connections"], trustedProxies: readonly string[] = []) {
  return start({ settings: { connections, trustedProxies } });
}

test("a connection beyond the bound is refused, the others go on, and there is room again when one closes", async () => {
  const { port, malformed, server, requests } = await starting({ total: 2, perAddress: null });
  const [first, second] = [await open(port), await open(port)];
  expect(await isServed(first)).toBe(true);
  const third = await open(port);
  third.socket.write(ONE);
  const text = await third.closed();
  expect(text).toMatch(REFUSED);
  expect(text).toMatch(/X-Request-Id: [0-9a-f-]{36}\r\n[^]*Retry-After: 1\r\n[^]*Connection: close\r\n/);
  expect(malformed).toEqual([503]);
  expect(await isServed(second)).toBe(true);
  expect(requests).toHaveLength(2);
  second.socket.destroy();
  await waitFor(() => server.connections.open === 1);
  expect(await isServed(await open(port))).toBe(true);
});

test("a client's own bound counts its address, and no trusted proxy's", async () => {
  const { port } = await starting({ total: 100, perAddress: 1 });
  expect(await isServed(await open(port))).toBe(true);
  expect(await (await open(port)).closed()).toMatch(REFUSED);
  const behind = await starting({ total: 100, perAddress: 1 }, ["127.0.0.0/8"]);
  for (const connection of [await open(behind.port), await open(behind.port)]) {
    expect(await isServed(connection)).toBe(true);
  }
});

function from(remoteAddress: string): Socket {
  return Object.assign(new EventEmitter(), { remoteAddress }) as Socket;
}

test("a /64 is one client, a mapped address its IPv4 one; bounds in force count what is open already", () => {
  let perAddress: number | null = null;
  const isProxy = trustProxies([]);
  const connections = new Connections(() => ({ bounds: { total: 100, perAddress }, isProxy }));
  const first = from("2001:db8::1");
  expect(connections.take(first)).toBe(true);
  perAddress = 1;
  expect(connections.take(from("2001:db8:0:0:ffff::2"))).toBe(false);
  expect(connections.take(from("2001:db8:0:1::1"))).toBe(true);
  expect(connections.take(from("::ffff:192.0.2.1"))).toBe(true);
  expect(connections.take(from("192.0.2.1"))).toBe(false);
  first.emit("close");
  expect(connections.take(from("2001:db8::3"))).toBe(true);
  expect(connections.open).toBe(3);
});

/** Requests that are answered when the test says so. */
function held(): {
  readonly run: (request: InferenceRequest) => Promise<void>;
  readonly release: (count: number) => void;
} {
  const waiting: (() => void)[] = [];
  return {
    run: async (request) => {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
      await echo(request);
    },
    release: (count) => {
      for (const go of waiting.splice(0, count)) go();
    },
  };
}

const numbered = (n: number): string => {
  const body = JSON.stringify({ model: `route/${n}`, messages: [] });
  return `POST ${CHAT} HTTP/1.1\r\n${FIELDS}Content-Length: ${body.length}\r\n\r\n${body}`;
};

test("of pipelined requests a few are served at once, and all of them answered in order", async () => {
  const { run, release } = held();
  const { port, requests } = await start({ run });
  const connection = await open(port);
  const count = 100;
  connection.socket.write(Array.from({ length: count }, (_, n) => numbered(n)).join(""));
  let most = 0;
  for (let answered = 0; answered < count; answered += 1) {
    await waitFor(() => requests.length > answered);
    most = Math.max(most, requests.length - answered);
    release(1);
    await connection.until((text) => text.split("HTTP/1.1 200 ").length === answered + 2);
  }
  expect(most).toBeLessThanOrEqual(8);
  const order = [...connection.text().matchAll(/route\/(\d+)/g)].map(([, n]) => Number(n));
  expect(order).toEqual(Array.from({ length: count }, (_, n) => n));
});

test("while pipelined requests wait no more of the connection is read", async () => {
  const { run, release } = held();
  const { port, requests } = await start({ run });
  const connection = await open(port);
  const flood = Buffer.from("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1_000_000));
  connection.socket.write(Array.from({ length: 20 }, (_, n) => numbered(n)).join(""));
  connection.socket.write(flood);
  await waitFor(() => requests.length > 0);
  // What the kernel holds of a connection on either side is a few megabytes.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(connection.socket.writableLength).toBeGreaterThan(flood.length / 2);
  expect(requests.length).toBeLessThanOrEqual(8);
  release(requests.length);
});

test("a body that is still on its way when its request waits is read in its turn", async () => {
  const { run, release } = held();
  const { port, requests } = await start({ run });
  const connection = await open(port);
  const last = numbered(9);
  connection.socket.write(Array.from({ length: 9 }, (_, n) => numbered(n)).join("") + last.slice(0, -10));
  await waitFor(() => requests.length === 8);
  connection.socket.write(last.slice(-10));
  for (let n = 0; n < 10; n += 1) {
    await waitFor(() => requests.length > n);
    release(1);
  }
  const text = await connection.until((received) => received.split("HTTP/1.1 200 ").length === 11);
  expect(text).toContain("route/9");
});
