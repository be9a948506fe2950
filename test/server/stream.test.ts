import { expect, test } from "vitest";
import type { Client, InferenceRequest } from "../../src/kit/index.ts";
import { CHAT, open, send, start, waitFor } from "./support.ts";

const POST = `POST ${CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`;
const EVENT_STREAM = "text/event-stream; charset=utf-8";

/** Hands the client's end to the test. */
function handOver(): {
  early: (request: InferenceRequest) => Promise<void>;
  client: () => Promise<Client>;
  finish: () => void;
} {
  const taken = Promise.withResolvers<Client>();
  const run = Promise.withResolvers<void>();
  return {
    early: ({ client }) => {
      taken.resolve(client);
      return run.promise;
    },
    client: () => taken.promise,
    finish: run.resolve,
  };
}

test("a streamed answer: head and first event in one packet, then event by event, then the connection serves on", async () => {
  const { early, client: taken, finish } = handOver();
  const { port, server } = await start({ early });
  const connection = await open(port);
  const packets: string[] = [];
  connection.socket.on("data", (chunk) => packets.push(chunk.toString()));
  connection.socket.write(POST);
  const client = await taken();
  client.startStream(EVENT_STREAM, { "X-RateLimit-Limit-Day": "5" });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(packets).toEqual([]);
  expect(server.activeStreams()).toBe(1);
  expect(client.write("data: 1\n\n")).toBe(true);
  await connection.until((text) => text.includes("data: 1"));
  expect(packets.length).toBe(1);
  expect(packets[0]).toContain("Content-Type: text/event-stream; charset=utf-8\r\n");
  expect(packets[0]).toContain("Cache-Control: no-cache\r\n");
  expect(packets[0]).toContain("X-Accel-Buffering: no\r\n");
  expect(packets[0]).toContain("X-RateLimit-Limit-Day: 5\r\n");
  expect(packets[0]).toMatch(/X-Request-Id: [0-9a-f-]{36}\r\n/);
  client.write("data: 2\n\n");
  await connection.until((text) => text.includes("data: 2"));
  client.end("data: [DONE]\n\n");
  expect(server.activeStreams()).toBe(0);
  finish();
  await connection.until((text) => text.endsWith("data: [DONE]\n\n\r\n0\r\n\r\n"));
  await waitFor(() => server.inFlight() === 0);
  expect(client.signal.aborted).toBe(false);
  connection.socket.write("GET /v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n");
  await connection.until((text) => text.endsWith('{"message":"Not found"}'));
});

test("an error after the head ends the connection without a second head", async () => {
  const { early, client: taken } = handOver();
  const { port, lines } = await start({ early });
  const connection = await open(port);
  connection.socket.write(POST);
  const client = await taken();
  client.startStream(EVENT_STREAM, {});
  client.write("data: 1\n\n");
  client.refuse(new Error("late"), {});
  client.refuse(new Error("later"), {});
  const text = await connection.until((received) => received.endsWith("0\r\n\r\n"));
  expect(text.split("HTTP/1.1").length).toBe(2);
  expect(lines.map(({ message }) => message)).toContain("request failed");
});

test("back-pressure: write says stop, drain says go on, and memory is bounded meanwhile", async () => {
  const { early, client: taken } = handOver();
  const { port } = await start({ early });
  const connection = await open(port);
  connection.socket.pause();
  connection.socket.write(POST);
  const client = await taken();
  client.startStream(EVENT_STREAM, {});
  const event = `data: ${"x".repeat(16_000)}\n\n`;
  let written = 0;
  let drained = 0;
  const fill = (): void => {
    do written += event.length;
    while (client.write(event));
  };
  client.onDrain(() => {
    drained += 1;
  });
  fill();
  await new Promise((resolve) => setTimeout(resolve, 50));
  while (drained > 0) {
    drained = 0;
    fill();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(written).toBeLessThan(64 * 1024 * 1024);
  connection.socket.resume();
  await waitFor(() => drained === 1);
  client.end("data: [DONE]\n\n");
  const text = await connection.until((received) => received.endsWith("data: [DONE]\n\n\r\n0\r\n\r\n"));
  expect(text.length).toBeGreaterThan(written);
});

test.each(["a stream", "an answer", "a stream's end"])("a client that takes nothing of %s is cut", async (what) => {
  const { early, client: taken } = handOver();
  const { port } = await start({ early, listen: { timeouts: { stall: 300 } } });
  const connection = await open(port);
  connection.socket.pause();
  connection.socket.write(POST);
  const client = await taken();
  const much = "x".repeat(32 * 1024 * 1024);
  if (what === "an answer") client.answer(200, "text/plain", much, {});
  else client.startStream(EVENT_STREAM, {});
  if (what === "a stream") client.write(much);
  if (what === "a stream's end") client.end(much);
  await waitFor(() => client.signal.aborted);
  expect(client.signal.reason).toBe("client_gone");
  expect(client.write("more")).toBe(true);
});

test("a client that has taken everything may wait as long as the upstream is silent", async () => {
  const { early, client: taken } = handOver();
  const { port } = await start({ early, listen: { timeouts: { stall: 200 } } });
  const connection = await open(port);
  connection.socket.pause();
  connection.socket.write(POST);
  const client = await taken();
  client.startStream(EVENT_STREAM, {});
  const drained = new Promise<void>((resolve) => client.onDrain(resolve));
  expect(client.write("x".repeat(16 * 1024 * 1024))).toBe(false);
  connection.socket.resume();
  await drained;
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(client.signal.aborted).toBe(false);
  client.end("data: late\n\n");
  await connection.until((text) => text.includes("data: late"));
});

test("a client that takes its answer slowly but steadily is not cut", async () => {
  const { early, client: taken } = handOver();
  const { port } = await start({ early, listen: { timeouts: { stall: 400 } } });
  const connection = await open(port);
  connection.socket.pause();
  connection.socket.write(POST);
  const client = await taken();
  const size = 24 * 1024 * 1024;
  client.answer(200, "text/plain", "x".repeat(size), {});
  const began = Date.now();
  while (Date.now() - began < 1500) {
    connection.socket.resume();
    await new Promise((resolve) => setTimeout(resolve, 1));
    connection.socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  expect(client.signal.aborted).toBe(false);
  connection.socket.resume();
  const text = await connection.until((received) => received.length > size);
  expect(text.length).toBeGreaterThan(size);
});

test("a client that leaves mid-stream aborts; what is still written goes nowhere and throws nothing", async () => {
  const { early, client: taken, finish } = handOver();
  const { port, server } = await start({ early });
  const connection = await open(port);
  connection.socket.write(POST);
  const client = await taken();
  client.startStream(EVENT_STREAM, {});
  client.write("data: 1\n\n");
  await connection.until((text) => text.includes("data: 1"));
  connection.socket.destroy();
  await waitFor(() => client.signal.aborted);
  expect(client.signal.reason).toBe("client_gone");
  expect(client.write("data: 2\n\n")).toBe(true);
  client.end("data: [DONE]\n\n");
  client.answer(200, "text/plain", "x", {});
  client.refuse(new Error("x"), {});
  expect(server.inFlight()).toBe(1);
  finish();
  await waitFor(() => server.inFlight() === 0);
});

test("requestTimeout is for receiving: an answer may stream for longer", async () => {
  const { early, client: taken } = handOver();
  const { port } = await start({ early, listen: { timeouts: { request: 300, headers: 200, check: 50 } } });
  const answered = send(port);
  const client = await taken();
  client.startStream(EVENT_STREAM, {});
  for (let beat = 0; beat < 10; beat += 1) {
    client.write(": keep-alive\n\n");
    await new Promise((resolve) => setTimeout(resolve, 80));
  }
  client.end("data: [DONE]\n\n");
  const { status, text } = await answered;
  expect(status).toBe(200);
  expect(text).toMatch(/\[DONE\]\n\n$/);
});
