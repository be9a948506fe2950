import * as fc from "fast-check";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBare } from "../../bench/load/bare.ts";
import { drive } from "../../bench/load/drive.ts";
import type { Load, Result } from "../../bench/load/drive.ts";
import { AnswerReader } from "../../bench/load/reader.ts";
import { rowsOf, spread, tableOf } from "../../bench/load/report.ts";
import type { Round } from "../../bench/load/report.ts";
import { startUpstream } from "../../bench/load/upstream.ts";
import { ANSWER_BYTES, answerBody, EVENT_BYTES, events, REQUEST_BYTES, requestBody } from "../../bench/load/wire.ts";

let upstream: Awaited<ReturnType<typeof startUpstream>>;
let bare: Awaited<ReturnType<typeof startBare>>;
beforeAll(async () => {
  upstream = await startUpstream();
  bare = await startBare(`http://127.0.0.1:${upstream.port}`);
});
afterAll(async () => {
  await bare.close();
  upstream.close();
});

const load = (port: number, mode: Load["mode"]): Load => ({
  port,
  pid: process.pid,
  key: "any",
  mode,
  connections: 8,
  warmup: 0.1,
  seconds: 0.3,
});

test("sizes are what the figures say", () => {
  for (const body of [requestBody(null), requestBody(500)]) expect(body.length).toBe(REQUEST_BYTES);
  expect(answerBody().length).toBe(ANSWER_BYTES);
  expect(events().content.length).toBe(EVENT_BYTES);
});

test.each(["json", "sse"] as const)(
  "%s answers are right and counted, direct and through the bare proxy",
  async (mode) => {
    for (const { port } of [upstream, bare]) {
      const result = await drive(load(port, mode));
      expect(result).toMatchObject({ bad: 0, sample: "" });
      expect(result.count).toBeGreaterThan(20);
      expect(result.cpu).toBeGreaterThan(0);
      expect(result.residentBytes).toBeGreaterThan(1e6);
    }
  },
);

test("the bare proxy aborts upstream when its client leaves", async () => {
  const left = new Promise<void>((resolve) =>
    silent.once("connection", (socket) => socket.once("close", () => resolve()).resume()),
  );
  const proxy = await startBare(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  const call = new AbortController();
  const answer = fetch(`http://127.0.0.1:${proxy.port}/v1/chat/completions`, {
    method: "POST",
    body: "{}",
    signal: call.signal,
  });
  await new Promise((resolve) => silent.once("connection", resolve));
  call.abort();
  await expect(answer).rejects.toThrow("abort");
  await left;
  await proxy.close();
});

let silent: Server;
beforeAll(async () => {
  silent = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => silent.once("listening", resolve));
});
afterAll(() => silent.close());

test.each([
  ["another request's answer", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"],
  ["a refusal", "HTTP/1.1 503 No\r\ncontent-length: 2\r\n\r\n{}"],
])("%s is bad", async (_, answer) => {
  const server = createServer(
    (socket) => void socket.on("data", () => socket.write(answer)).on("error", () => undefined),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const result = await drive(load((server.address() as AddressInfo).port, "json"));
  expect(result.bad).toBeGreaterThan(0);
  expect(result.sample).toContain("{}");
  server.close();
});

test("answers are read the same however the reads split them", () => {
  const body = fc.string({ maxLength: 60 });
  const answer = fc.oneof(
    body.map((text) => ({
      text,
      bytes: `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    })),
    fc.array(body.filter((text) => text !== "")).map((texts) => ({
      text: texts.join(""),
      bytes: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${[...texts, ""].map(chunk).join("")}`,
    })),
  );
  fc.assert(
    fc.property(
      fc.array(answer, { maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      (answers, sizes) => {
        const read: string[] = [];
        let open: Buffer[] = [];
        const reader = new AnswerReader({
          body: (bytes) => void open.push(Buffer.from(bytes)),
          end: (status) => {
            read.push(`${status} ${Buffer.concat(open).toString()}`);
            open = [];
          },
        });
        const all = Buffer.from(answers.map(({ bytes }) => bytes).join(""));
        for (let at = 0, turn = 0; at < all.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          reader.feed(all.subarray(at, at + size));
          at += size;
        }
        expect(read).toEqual(answers.map(({ text }) => `200 ${text}`));
      },
    ),
  );
});

test("medians need an odd number of values, and ratios are taken within a round", () => {
  expect(spread([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
  expect(() => spread([1, 2])).toThrow(RangeError);
  const rows = rowsOf([round(10, 20), round(20, 20), round(40, 60)]);
  expect(rows[0]).toMatchObject({
    name: "CPU us/request",
    bare: { median: 20 },
    gateway: { median: 20 },
    ratio: { median: 1.5, min: 1, max: 2 },
  });
  expect(tableOf(rows)).toMatch(/CPU us\/request +20\.0 \[10\.0-40\.0\] +20\.0 \[20\.0-60\.0\] +1\.50 \[1\.00-2\.00\]/);
});

function round(bare: number, gateway: number): Round {
  return {
    bare: { json: result(bare), sse: result(bare) },
    gateway: { json: result(gateway), sse: result(gateway) },
  };
}

function result(cpu: number): Result {
  return { count: 100, seconds: 1, cpu, residentBytes: 2 ** 20, bad: 0, sample: "" };
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
