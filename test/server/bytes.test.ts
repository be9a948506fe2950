import { randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import type { Client, InferenceRequest } from "../../src/kit/index.ts";
import { CHAT, LOOPBACK, open, start, waitFor } from "./support.ts";

const POST = `POST ${CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`;

/** Hands the client's end to the test. */
function handOver(): { early: (request: InferenceRequest) => Promise<void>; client: () => Promise<Client> } {
  const taken = Promise.withResolvers<Client>();
  return {
    early: async ({ client }) => {
      taken.resolve(client);
    },
    client: () => taken.promise,
  };
}

/** What an ordinary client makes of an answer. */
function ask(
  port: number,
): Promise<{ readonly type: string | undefined; readonly body: Buffer; readonly whole: boolean }> {
  return new Promise((resolve, reject) => {
    const req = httpRequest({ host: LOOPBACK, port, method: "POST", path: CHAT, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("error", () => {});
      res.on("close", () => {
        resolve({ type: res.headers["content-type"], body: Buffer.concat(chunks), whole: res.complete });
      });
    });
    req.on("error", reject);
    req.end();
  });
}

test("a body of bytes arrives as it was written, with its own type and none of the headers of event streams", async () => {
  const { early, client: taken } = handOver();
  const { port, server } = await start({ early });
  const connection = await open(port);
  connection.socket.write(POST);
  const client = await taken();
  client.startStream("audio/mpeg", { "X-RateLimit-Limit-Day": "5" });
  client.write(Buffer.from([0, 255, 128]));
  const head = await connection.until((text) => text.includes("\0"));
  expect(head).toContain("Content-Type: audio/mpeg\r\n");
  expect(head).toContain("X-RateLimit-Limit-Day: 5\r\n");
  expect(head).not.toMatch(/cache-control|x-accel-buffering/i);
  expect(server.activeStreams()).toBe(0);
  client.end("");
  expect(await connection.until((text) => text.endsWith("0\r\n\r\n"))).toMatch(/3\r\n\0\xff\x80\r\n0\r\n\r\n$/);
});

test("a body that is cut reaches its client up to there, and does not look whole", async () => {
  const { early, client: taken } = handOver();
  const { port, server } = await start({ early });
  const answer = ask(port);
  const client = await taken();
  const bytes = randomBytes(3 * 1024 * 1024);
  client.startStream("audio/mpeg", {});
  for (let at = 0; at < bytes.length; at += 65_536) client.write(bytes.subarray(at, at + 65_536));
  client.cut();
  client.cut();
  const { type, body, whole } = await answer;
  expect(type).toBe("audio/mpeg");
  expect(body.equals(bytes)).toBe(true);
  expect(whole).toBe(false);
  await waitFor(() => server.inFlight() === 0);
});

test("a body that is cut before its first byte is no answer at all", async () => {
  const { early, client: taken } = handOver();
  const { port } = await start({ early });
  const connection = await open(port);
  connection.socket.write(POST);
  const client = await taken();
  client.startStream("audio/mpeg", {});
  client.cut();
  expect(await connection.closed()).not.toMatch(/0\r\n\r\n$/);
});

test("a cut waits for no client that takes nothing", async () => {
  const { early, client: taken } = handOver();
  const { port } = await start({ early, listen: { timeouts: { stall: 300 } } });
  const connection = await open(port);
  connection.socket.pause();
  connection.socket.write(POST);
  const client = await taken();
  client.startStream("audio/mpeg", {});
  client.write(Buffer.alloc(32 * 1024 * 1024));
  client.cut();
  await waitFor(() => client.signal.aborted);
  expect(client.signal.reason).toBe("client_gone");
});

test("HTTP/1.0 has no chunks: a cut body ends in a reset", async () => {
  const { early, client: taken } = handOver();
  const { port } = await start({ early });
  const connection = await open(port);
  const failed = new Promise<NodeJS.ErrnoException>((resolve) => connection.socket.once("error", resolve));
  connection.socket.write(`POST ${CHAT} HTTP/1.0\r\nContent-Length: 0\r\n\r\n`);
  const client = await taken();
  client.startStream("audio/mpeg", {});
  client.write("some");
  await connection.until((text) => text.endsWith("some"));
  client.cut();
  expect((await failed).code).toBe("ECONNRESET");
});

test("a cut behind a pipelined answer that is still running ends that connection", async () => {
  const clients: Client[] = [];
  const { port } = await start({
    early: async ({ client }) => {
      clients.push(client);
    },
  });
  const connection = await open(port);
  connection.socket.write(POST + POST);
  await waitFor(() => clients.length === 2);
  clients[1]!.startStream("audio/mpeg", {});
  clients[1]!.write("second");
  clients[1]!.cut();
  clients[0]!.answer(200, "text/plain", "first", {});
  const text = await connection.closed();
  expect(text).toContain("first");
  expect(text).not.toMatch(/second\r\n0\r\n\r\n$/);
});

test("after an answer, a cut changes nothing", async () => {
  const { early, client: taken } = handOver();
  const { port } = await start({ early });
  const answer = ask(port);
  const client = await taken();
  client.answer(200, "text/plain", "whole", {});
  client.cut();
  expect(await answer).toMatchObject({ body: Buffer.from("whole"), whole: true });
});
