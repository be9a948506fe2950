import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createKey } from "../../../../src/accounts/api-keys.ts";
import type { LedgerEntry } from "../../../../src/kit/index.ts";
import { unanswered } from "../../support/books.ts";
import { textOf } from "../../support/configuration.ts";
import { tier } from "../../support/gateway-config.ts";
import { dataOf, eventually } from "../../support/http.ts";
import { CHAT, MESSAGES, TestGateway, type TestUser } from "../../support/in-process.ts";
import { KeptClient, type KeptStream } from "../../support/kept.ts";

const LIMIT = 20;
const DONE = "data: [DONE]\n\n";
/** Every text in the messages, role included. */
const PROMPT = countTokens("Hello there\nuser");

const RUNNING = "?chunk_delay=20ms&chunks=100000";
const BEFORE = "?first_byte=1h";
/** The role, then three words. */
const AFTER = "?stall_after=4";
const LAST_WORD = '" a"';

let gateway: TestGateway;
let client: KeptClient;
/** One user under two keys. */
let keys: readonly [TestUser, TestUser];

beforeEach(async () => {
  gateway = await TestGateway.start({ config: { tiers: { Streams: tier({ streams: LIMIT }) } } });
  client = new KeptClient();
  const user = await gateway.user({ tier: "Streams" });
  const { body } = await createKey(gateway.store, { userId: user.id, name: "second" });
  keys = [user, { ...user, key: body.key }];
});
afterEach(async () => {
  client.close();
  await gateway.close();
});

/** A chat request on a kept connection. */
function open({ key }: TestUser, body: object, { url = gateway.url, id = "" } = {}): KeptStream {
  const headers = { authorization: `Bearer ${key}`, ...(id === "" ? {} : { "x-request-id": id }) };
  return client.open(url + CHAT, headers, { model: "route/one", messages: MESSAGES, ...body });
}

async function kill({ key }: TestUser, url = gateway.url): Promise<number> {
  const { status, text } = await gateway.send("/v1/user/streams/kill", { url, headers: { "x-api-key": key } });
  expect({ status, text }).toMatchObject({ status: 200 });
  return (JSON.parse(text) as { killed_streams: number }).killed_streams;
}

const asked = (id: string): boolean => gateway.simulator.ledger().some(({ requestId }) => requestId === id);
const contentOf = (text: string): string => textOf(dataOf(text));
/** At 1 a million tokens of input and 2 of output. */
const cost = ({ usage }: LedgerEntry): bigint => 1_000n * BigInt(usage.prompt) + 2_000n * BigInt(usage.completion);

/** 20 streams, ten at each address, alternately under two keys: five of them stuck, two of these before they began. */
const PLANS = Array.from({ length: LIMIT }, (_, index) => ({
  id: `stream-${index}`,
  second: index >= LIMIT / 2,
  script: { 0: BEFORE, 1: AFTER, 10: BEFORE, 11: AFTER, 12: AFTER }[index] ?? RUNNING,
}));
const BEGUN = PLANS.filter(({ script }) => script !== BEFORE);

async function startAll(): Promise<ReadonlyMap<string, KeptStream>> {
  const streams = new Map<string, KeptStream>();
  for (const [index, { id, second, script }] of PLANS.entries()) {
    const url = second ? gateway.secondUrl : gateway.url;
    streams.set(id, open(keys[index % 2]!, { stream: true, sim: script }, { url, id }));
  }
  for (const { id, script } of PLANS) {
    if (script === BEFORE) await eventually(() => asked(id));
    else await streams.get(id)!.until(LAST_WORD);
  }
  return streams;
}

test("a kill ends all 20 streams of its user within 2 s, stuck ones too, and nothing else", async () => {
  const [user] = keys;
  const other = await gateway.user();
  const streams = await startAll();
  const others = Array.from({ length: 3 }, () => open(other, { stream: true, sim: "?chunk_delay=20ms&chunks=80" }));
  for (const stream of others) await stream.until("data:");
  const whole = open(user, { sim: "?first_byte=4000ms" }, { id: "whole" });
  await eventually(() => asked("whole"));
  expect((await gateway.books(user)).running).toMatchObject({ requests: 21, streams: 20 });
  expect((await open(user, { stream: true }).ended).status).toBe(429);

  const from = performance.now();
  expect(await kill(keys[1], gateway.secondUrl)).toBe(20);
  expect(await kill(user)).toBe(0);
  for (const { id, script } of PLANS) {
    const { status, text, whole: complete, at } = await streams.get(id)!.ended;
    expect({ id, status, complete, late: at - from > 2_000 }).toEqual({ id, status: 200, complete: true, late: false });
    expect(text.slice(-DONE.length)).toBe(DONE);
    expect(text.indexOf("[DONE]")).toBe(text.lastIndexOf("[DONE]"));
    expect(text).not.toContain('"error"');
    expect(text === DONE).toBe(script === BEFORE);
    expect(contentOf(text) === "This is a").toBe(script === AFTER);
  }

  // What has ended is settled: its slot is free, and its connection too.
  expect((await gateway.books(user)).running).toMatchObject({ requests: 1, streams: 0 });
  const anew = Array.from({ length: LIMIT }, () => open(user, { stream: true, sim: AFTER }));
  for (const stream of anew) await stream.until(LAST_WORD);
  expect(anew.filter(({ reused }) => reused).length).toBeGreaterThanOrEqual(LIMIT / 2);
  expect(await kill(user)).toBe(LIMIT);
  for (const stream of anew) expect((await stream.ended).text.endsWith(DONE)).toBe(true);

  for (const stream of others) expect(contentOf((await stream.ended).text)).toContain("You said: Hello there");
  expect((await whole.ended).text).toContain("You said: Hello there");
  expect((await gateway.books(other)).ledger.map(({ outcome }) => outcome)).toEqual(["served", "served", "served"]);

  const { ledger, used } = await gateway.books(user);
  const entries = new Map(ledger.map((entry) => [entry.requestId, entry]));
  expect(entries.get("whole")).toMatchObject({ outcome: "served", estimated: false, charge: 20_000n });
  for (const { id } of BEGUN) {
    const completion = countTokens(contentOf(streams.get(id)!.text));
    const entry = entries.get(id)!;
    expect(entry).toMatchObject({ outcome: "killed", estimated: true, usage: { prompt: PROMPT, completion } });
    expect(entry.charge).toBe(cost(entry));
  }
  for (const id of ["stream-0", "stream-10"]) {
    const entry = entries.get(id)!;
    expect(entry).toMatchObject({ outcome: "killed", estimated: true, usage: { prompt: PROMPT, completion: 0 } });
    expect(entry.charge).toBe(cost(entry));
  }
  const count = PLANS.length + 1 + LIMIT;
  expect([ledger.length, used]).toEqual([count, { day: count, hour: count, minute: count }]);
  expect(gateway.simulator.open()).toBe(0);
});

test("a stream that starts after the kill runs on, however close it follows", async () => {
  const [user] = keys;
  for (let round = 0; round < 10; round += 1) {
    const killed = open(user, { stream: true, sim: AFTER });
    await killed.until(LAST_WORD);
    expect(await kill(user)).toBe(1);
    const next = open(keys[1], { stream: true });
    expect(contentOf((await next.ended).text)).toContain("You said: Hello there");
    expect((await killed.ended).text.endsWith(DONE)).toBe(true);
  }
});

test("of ten kills at once each stream is counted by one", async () => {
  const streams = await startAll();
  const counts = await Promise.all(Array.from({ length: 10 }, (_, index) => kill(keys[index % 2]!)));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(LIMIT);
  for (const stream of streams.values()) expect((await stream.ended).text.endsWith(DONE)).toBe(true);
});

test("one's streams are not another's to kill, and who has none kills none", async () => {
  const [user] = keys;
  const other = await gateway.user();
  const stream = open(user, { stream: true, sim: "?chunk_delay=5ms&chunks=40" });
  await stream.until("data:");
  expect(await kill(other)).toBe(0);
  expect(contentOf((await stream.ended).text)).toContain("You said: Hello there");
  expect(await kill(user)).toBe(0);
});

describe("a killed stream", () => {
  test("that has had only comments ends in its ending, counts and costs its prompt", async () => {
    await gateway.reload({ server: { heartbeat: "50ms" } });
    const stream = open(keys[0], { stream: true, sim: BEFORE });
    await stream.until(": keep-alive");
    expect(await kill(keys[0])).toBe(1);
    expect((await stream.ended).text).toMatch(/^(?:: keep-alive\n\n)+data: \[DONE\]\n\n$/);
    expect(await gateway.books(keys[0])).toMatchObject(unanswered({ outcome: "killed" }));
  });

  test("that waits for its second upstream asks no third, counts and costs its prompt", async () => {
    const chained = await TestGateway.start({ chains: { "route/chain": ["?status=500", BEFORE, "-"] } });
    const user = await chained.user();
    const stream = chained.open(user, { model: "route/chain", stream: true });
    await eventually(() => chained.simulator.ledger().length === 2);
    await chained.send("/v1/user/streams/kill", { headers: { "x-api-key": user.key } });
    expect((await stream.whole()).text).toBe(DONE);
    expect(chained.simulator.ledger()).toHaveLength(2);
    expect(await chained.books(user)).toMatchObject(unanswered({ outcome: "killed" }));
    await chained.close();
  });

  test("whose client reads nothing is settled at once; the client finds the ending when it reads on", async () => {
    const user = await gateway.user({ credits: "1000" });
    const stream = gateway.open(user, { stream: true, sim: "?chunks=20000&chunk_bytes=4096" });
    await stream.until("data:");
    await stream.pause();
    await eventually(async () => {
      const { bytes } = gateway.simulator.ledger()[0]!;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return gateway.simulator.ledger()[0]!.bytes === bytes;
    });
    expect(await kill(user)).toBe(1);
    await eventually(async () => (await gateway.books(user)).running.requests === 0);
    expect((await gateway.books(user)).ledger).toMatchObject([{ outcome: "killed", estimated: true }]);
    await stream.resume();
    const { text, whole } = await stream.whole();
    expect([whole, text.endsWith(DONE)]).toEqual([true, true]);
  });

  test("of an earlier configuration ends like any other", async () => {
    const stream = open(keys[0], { stream: true, sim: AFTER });
    await stream.until(LAST_WORD);
    await gateway.reload({ billing: { cost_multiplier: 3 } });
    expect(await kill(keys[0])).toBe(1);
    expect((await stream.ended).text.endsWith(DONE)).toBe(true);
    const [entry] = (await gateway.books(keys[0])).ledger;
    expect([entry?.outcome, entry?.charge]).toEqual(["killed", cost(entry!)]);
  });

  test("costs what billing.outcomes.killed says", async () => {
    await gateway.reload({ billing: { outcomes: { killed: "free" } } });
    const stream = open(keys[0], { stream: true, sim: AFTER });
    await stream.until(LAST_WORD);
    expect(await kill(keys[0])).toBe(1);
    await stream.ended;
    expect((await gateway.books(keys[0])).ledger).toMatchObject([{ outcome: "killed", charge: 0n }]);
  });
});
