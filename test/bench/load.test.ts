import * as fc from "fast-check";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBare } from "../../bench/load/bare.ts";
import { inRounds } from "../../bench/load/bench.ts";
import { drive } from "../../bench/load/drive.ts";
import type { Load } from "../../bench/load/drive.ts";
import { readOptions } from "../../bench/load/options.ts";
import { AnswerReader } from "../../bench/load/reader.ts";
import { rowsOf, spread, tableOf } from "../../bench/load/report.ts";
import type { Metric } from "../../bench/load/report.ts";
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
  const metrics: Metric<number>[] = [
    { name: "cost", of: (measured) => measured },
    { name: "only of some", of: (measured) => (measured === 20 ? null : measured) },
  ];
  const rounds = [
    { bare: 10, gateway: 20 },
    { bare: 20, gateway: 20 },
    { bare: 40, gateway: 60 },
  ];
  const rows = rowsOf(rounds, metrics, ["bare", "gateway"], [["gateway", "bare"]]);
  expect(rows[0]).toEqual({
    name: "cost",
    targets: { bare: { median: 20, min: 10, max: 40 }, gateway: { median: 20, min: 20, max: 60 } },
    ratios: { "gateway/bare": { median: 1.5, min: 1, max: 2 } },
  });
  expect(rows[1]).toMatchObject({ targets: { bare: null }, ratios: { "gateway/bare": null } });
  expect(tableOf(rows).split("\n")).toEqual([
    "              bare              gateway           gateway/bare",
    "cost          20.0 [10.0-40.0]  20.0 [20.0-60.0]  1.50 [1.00-2.00]",
    "only of some  n/a               n/a               n/a",
  ]);
});

test("targets take turns at being the first", async () => {
  const order: string[] = [];
  const target = (name: string) => async () => order.push(name);
  const rounds = await inRounds(3, { a: target("a"), b: target("b"), c: target("c") });
  expect(order.join("")).toBe("abcbcacab");
  expect(rounds[1]).toEqual({ b: 4, c: 5, a: 6 });
});

test.each([
  [["--rounds", "2"], "--rounds is an odd number from 3"],
  [["--rounds", "x"], "--rounds is an odd number from 3"],
  [["--seconds", "0"], "--seconds is a number from 1 to 30"],
  [["--log-level", "loud"], "--log-level is one of"],
  [["--round", "3"], "Unknown option '--round'"],
])("%j is refused", (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
