import { once } from "node:events";
import { isDeepStrictEqual } from "node:util";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MODEL } from "../../bench/load/wire.ts";
import type { Json } from "../../src/kit/index.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { TestGateway, type TestUser } from "../e2e/support/in-process.ts";
import { describeRedis, redisOfSuite } from "../support/redis.ts";
import { BOUNDS, CONTENT_EVENTS, type Work } from "./bounds.ts";
import { corrected, difference, lowerQuartileOf, WorkCounter } from "./counter.ts";
import type { RequestBatch } from "./peer.ts";

const WARMUP_REQUESTS = 30;
const REQUESTS = 50;
/** On a busy machine a whole batch may find its answers cut in more parts than they were written in. */
const MAX_BATCHES = 40;

let peer: Worker;
let upstreamPort: number;
beforeAll(async () => {
  peer = new Worker(new URL("peer.ts", import.meta.url));
  [upstreamPort] = (await once(peer, "message")) as [number];
});
afterAll(() => peer.terminate());

describe("on SQLite", () => {
  testWork("SQLite", () => ({}));
});

describeRedis("on Redis", () => {
  const redis = redisOfSuite(["--appendonly", "yes", "--maxmemory-policy", "noeviction"]);
  testWork("Redis", () => ({ store: { url: redis.url } }));
});

test("a bound stays while 1 or a tenth of it is unused", () => {
  const zero = corrected(work(0), work(0));
  expect(zero).toEqual(work(0));
  for (const [bound, measured, right] of [
    [30, 30, 30],
    [30, 27, 30],
    [30, 26, 26],
    [30, 31, 31],
    [9, 8, 9],
    [9, 7, 7],
  ] as const)
    expect(corrected(work(bound), work(measured))).toEqual(work(right));
});

function testWork(store: keyof typeof BOUNDS, config: () => Json): void {
  let gateway: TestGateway;
  let user: TestUser;
  beforeAll(async () => {
    const url = `http://127.0.0.1:${upstreamPort}/v1`;
    gateway = await TestGateway.start({
      chains: { [MODEL]: [url] },
      config: config(),
      log: createLog({ level: "info", pretty: false, destination: { write: () => true } }),
    });
    user = await gateway.user();
  });
  afterAll(() => gateway.close());

  test.each([
    ["request", null],
    ["stream", CONTENT_EVENTS],
  ] as const)("the work of one %s", async (name, events) => {
    const batch = { port: Number(new URL(gateway.url).port), key: user.key, events };
    await passing(gateway, { ...batch, requests: WARMUP_REQUESTS });
    const bounds = BOUNDS[store][name];
    let found = bounds;
    for (let count = 0; count < MAX_BATCHES; count++) {
      found = corrected(bounds, lowerQuartileOf(await passing(gateway, { ...batch, requests: REQUESTS })));
      if (isDeepStrictEqual(found, bounds)) break;
    }
    expect(found).toEqual(bounds);
  });
}

/** The work of each request. */
async function passing({ store }: TestGateway, batch: RequestBatch): Promise<readonly Work[]> {
  const counter = new WorkCounter(store);
  const read = [counter.read()];
  await new Promise<void>((resolve, reject) => {
    const note = () => {
      read.push(counter.read());
      if (read.length <= batch.requests) return;
      peer.off("message", note).off("error", reject);
      resolve();
    };
    peer.on("message", note).on("error", reject);
    peer.postMessage(batch, []);
  }).finally(() => counter.end());
  return read.slice(1).map((after, index) => difference(after, read[index]!));
}

function work(count: number): Work {
  return {
    "store calls": count,
    "SQL statements": count,
    "Redis commands": count,
    "JSON.parse": count,
    "JSON.stringify": count,
    promises: count,
    timers: count,
    immediates: count,
    "abort controllers": count,
  };
}
