import * as fc from "fast-check";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startBare } from "../../bench/load/bare.ts";
import { AnswerCheck } from "../../bench/load/answer.ts";
import { drive, quantilesOf } from "../../bench/load/drive.ts";
import type { Load } from "../../bench/load/drive.ts";
import { holdStreams } from "../../bench/load/held.ts";
import { ALL_ROWS, readOptions } from "../../bench/load/options.ts";
import { inRounds } from "../../bench/load/proxies.ts";
import { AnswerReader } from "../../bench/load/reader.ts";
import { type Comparison, lineOf, spread, tableOf } from "../../bench/load/report.ts";
import { setRate, startUpstream, upstreamState } from "../../bench/load/upstream.ts";
import {
  ANSWER_BYTES,
  answerBody,
  CONTENT_MARKS,
  EVENT_BYTES,
  events,
  FORMATS,
  RATE,
  REQUEST_BYTES,
  requestBody,
  stampNow,
  stampOf,
} from "../../bench/load/wire.ts";

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
  expect(requestBody(null, { bytes: 200 * 1024 }).length).toBe(200 * 1024);
  for (const format of FORMATS) expect(events(format).content.length).toBe(EVENT_BYTES);
});

const both = ["direct", "through the bare proxy"] as const;
const portOf = (way: (typeof both)[number]) => (way === "direct" ? upstream : bare).port;

test.each(
  both.flatMap((way) =>
    [
      { mode: "json" },
      { mode: "json", requestBytes: 200 * 1024 },
      { mode: "json", rate: 200 },
      { mode: "json", turns: { keys: 3, models: 2 } },
      { mode: "sse" },
      { mode: "sse", format: "anthropic" },
    ].map((how) => [how as Pick<Load, "mode">, way] as const),
  ),
)("answers to %j are right and counted, %s", async (how, way) => {
  const result = await drive({ ...load(portOf(way), how.mode), ...how });
  expect(result).toMatchObject({ bad: 0, sample: "" });
  expect(result.count).toBeGreaterThan(20);
  expect(result.cpu).toBeGreaterThan(0);
  expect(result.residentBytes).toBeGreaterThan(1e6);
  const { p50, p99, max } = result.delay!;
  expect([0, p50, p99, max]).toEqual([0, p50, p99, max].toSorted((a, b) => a - b));
});

test("a fixed rate is kept to", async () => {
  const begun = performance.now();
  const { answers } = await drive({ ...load(upstream.port, "json"), rate: 100 });
  expect(answers).toBeLessThanOrEqual((performance.now() - begun) / 10);
});

test("streams that are held are open until they are let go, however silent", async () => {
  await setRate(upstream.port, 0);
  const held = await holdStreams(bare.port, "any", 5);
  expect(await upstreamState(upstream.port)).toEqual({ open: 5 });
  held.close();
  await vi.waitFor(async () => expect(await upstreamState(upstream.port)).toEqual({ open: 0 }), 10_000);
  await setRate(upstream.port, RATE);
});

test.each(FORMATS)("events of %s are counted and timed the same however reads split them", (format) => {
  const { first, content, last } = events(format);
  const text = `${first}${content.replace(CONTENT_MARKS[format] + stampOf(0), CONTENT_MARKS[format] + stampOf(stampNow() - 5_000))}${content}${last}`;
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: text.length }), { maxLength: 8 }), (cuts) => {
      const delays: number[] = [];
      const check = new AnswerCheck(format, (delay) => delays.push(delay));
      check.begin(2, "nonce-0000000000");
      const places = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      const pieces = places.slice(1).map((to, index) => text.slice(places[index], to));
      expect(pieces.reduce((sum, piece) => sum + check.body(Buffer.from(piece)), 0)).toBe(2);
      expect(check.end(200)).toBeNull();
      expect(delays[0]).toBeGreaterThanOrEqual(5_000);
      expect(delays[1]).toBeGreaterThan(delays[0]!);
    }),
  );
});

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

test("quantiles are in milliseconds", () => {
  expect(quantilesOf(Array.from({ length: 200 }, (_, index) => (200 - index) * 1_000))).toEqual({
    p50: 100,
    p99: 198,
    max: 200,
  });
  expect(quantilesOf([])).toBeNull();
});

test("medians need an odd number of values, and ratios are taken within a round", () => {
  expect(spread([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
  expect(() => spread([1, 2])).toThrow(RangeError);
  const about = { row: 1, what: "cost", unit: "us" };
  const reference = { name: "bare", values: [10, 20, 40] };
  const comparisons: Comparison[] = [
    { ...about, reference, measured: { name: "gateway", values: [20, 20, 60] } },
    { ...about, row: 2, reference: null, measured: { name: "gateway", values: [120] } },
    { ...about, row: 7, reference, measured: { name: "gateway", values: [] }, absent: "not installed" },
  ];
  const lines = comparisons.map(lineOf);
  expect(lines[0]).toEqual({
    ...about,
    reference: { name: "bare", median: 20, min: 10, max: 40 },
    measured: { name: "gateway", median: 20, min: 20, max: 60 },
    ratio: { median: 1.5, min: 1, max: 2 },
    absent: null,
  });
  expect(tableOf(lines).split("\n")).toEqual([
    "row  what  unit  against                measured                  ratio",
    "1    cost  us    bare 20.0 [10.0-40.0]  gateway 20.0 [20.0-60.0]  1.50 [1.00-2.00]",
    "2    cost  us                           gateway 120",
    "7    cost  us    not installed",
  ]);
});

test("targets take turns at being the first", async () => {
  const order: string[] = [];
  await inRounds(3, ["a", "b", "c"], async (name) => void order.push(name));
  expect(order.join("")).toBe("abcbcacab");
});

test("all rows but the longest are measured unless told", () => {
  expect(readOptions([]).rows).toEqual(ALL_ROWS.slice(0, -1));
  expect(readOptions(["--rows", "all"]).rows).toEqual(ALL_ROWS);
  expect(readOptions(["--rows", "14,2"]).rows).toEqual([14, 2]);
});

test.each([
  [["--rounds", "2"], "--rounds is an odd number"],
  [["--rounds", "x"], "--rounds is an odd number"],
  [["--seconds", "0"], "--seconds is a number from 1 to 30"],
  [["--rows", "1,15"], "--rows is `all`, or numbers from 1 to 14"],
  [["--rows", ""], "--rows is `all`, or numbers from 1 to 14"],
  [["--log-level", "loud"], "--log-level is one of"],
  [["--round", "3"], "Unknown option '--round'"],
])("%j is refused", (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
