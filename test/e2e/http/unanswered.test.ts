import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Endpoint, Json, Kind, Usage } from "../../../src/kit/index.ts";
import { mute } from "../../upstream/support/mute.ts";
import { NOTHING_OWED, unanswered } from "../support/books.ts";
import { ALL_ENDPOINTS, type FormatName, FORMATS, isKind, openAt, placeOf } from "../support/formats.ts";
import { tier } from "../support/gateway-config.ts";
import { eventually, type Exchange } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";
import { chains, PLACES } from "../support/kinds.ts";

/** Requests of the hour: it counts one for each, whatever its kind. */
const LIMIT = 2;
const SILENT = "?first_byte=1h";

/** `unanswered` is left out: the prompt is owed by default, whatever streams that broke off cost. */
const PROMPT_OWED = { billing: { outcomes: { client_gone: "free", killed: "free" } } };
const FREE = { billing: { outcomes: { unanswered: "free" } } };

let silence: Awaited<ReturnType<typeof mute>>;
/** What is given up unanswered is free at one, costs its prompt at the other. */
let free: TestGateway;
let owed: TestGateway;
/** The one that the test is about, and a new user of it. */
let gateway: TestGateway;
let user: TestUser;

beforeAll(async () => {
  silence = await mute();
  const start = (config: Json) =>
    TestGateway.start({
      chains: {
        ...chains("", [SILENT]),
        ...chains("-connecting", [`${silence.origin}/v1`]),
        "route/narrow": [SILENT],
        "route/failing": ["?status=500"],
        "route/two": ["?status=500", `${silence.origin}/v1`],
        "route/late": { scripts: [SILENT], deadline: "100ms" },
      },
      config: {
        tiers: { Few: tier({ hour: LIMIT }) },
        upstreams: { "narrow-1": { concurrency: { requests: 1 } } },
        ...config,
      },
    });
  [free, owed] = [await start(FREE), await start(PROMPT_OWED)];
});
afterAll(async () => {
  // First, or the gateways wait for connections that are still being made.
  await silence.close();
  await Promise.all([free.close(), owed.close()]);
});

async function use(one: TestGateway): Promise<void> {
  gateway = one;
  user = await gateway.user({ tier: "Few" });
}

const kindOf = (endpoint: Endpoint): Kind => (isKind(endpoint) ? PLACES[endpoint].kind : "chat");
const WAYS = ALL_ENDPOINTS.flatMap((endpoint) =>
  (kindOf(endpoint) === "chat" ? [false, true] : [false]).map((stream) => ({ endpoint, stream })),
);
const STREAMED = WAYS.filter(({ stream }) => stream) as readonly { endpoint: FormatName; stream: boolean }[];

const open = (endpoint: Endpoint, stream: boolean, suffix = ""): Exchange =>
  openAt(gateway, user, endpoint, { model: placeOf(endpoint).model + suffix, ...(stream && { stream }) }, {});

const asked = (): number => gateway.simulator.ledger().length;

/** Opens a request and waits until its upstream has it. */
async function sent(endpoint: Endpoint, stream: boolean): Promise<Exchange> {
  const before = asked();
  const call = open(endpoint, stream);
  await eventually(() => asked() === before + 1);
  return call;
}

async function leave(endpoint: Endpoint, stream: boolean): Promise<void> {
  (await sent(endpoint, stream)).leave();
  await gateway.audit();
}

async function kill(): Promise<void> {
  await gateway.send("/v1/user/streams/kill", { headers: { "x-api-key": user.key } });
}

const NO_USAGE: Usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };
const WORDS = { usage: { prompt: countTokens("Hello there\nuser") }, estimated: true, charge: 4_000n };
/** What each kind of request is priced by, as far as it is said with it. */
const ASKED: Readonly<Record<Endpoint, { usage: Partial<Usage>; estimated: boolean; charge: bigint }>> = {
  chat: WORDS,
  messages: WORDS,
  responses: WORDS,
  embeddings: { usage: { prompt: countTokens("three plain words") }, estimated: true, charge: 3_000n },
  rerank: { usage: {}, estimated: false, charge: 1_000_000n },
  speech: { usage: { characters: "Say it.".length }, estimated: false, charge: 70_000n },
  transcription: { usage: { milliseconds: 1_500 }, estimated: true, charge: 1_500_000n },
  image: { usage: {}, estimated: false, charge: 0n },
};

/** What the counters say after so many requests. */
const counted = (endpoint: Endpoint, count: number) => {
  const units = ["speech", "transcription", "image"].includes(kindOf(endpoint)) ? 5 : 1;
  return { day: units * count, hour: count, minute: count };
};

/** The status of one request more, or that it reached the upstream, which would keep it. */
async function statusOfNext(endpoint: Endpoint, stream: boolean): Promise<number | string | undefined> {
  const before = asked();
  const call = open(endpoint, stream);
  const reached = eventually(() => asked() > before).then(() => "reached the upstream");
  const status = call.head().then(({ statusCode }) => statusCode);
  const first = await Promise.race([status, reached.catch(() => status)]);
  call.leave();
  return first;
}

describe.each(WAYS)("$endpoint (streamed: $stream)", ({ endpoint, stream }) => {
  test("who leaves before the first byte, again and again, is stopped by the limit", async () => {
    await use(free);
    for (let count = 0; count < LIMIT; count += 1) await leave(endpoint, stream);
    expect(await statusOfNext(endpoint, stream)).toBe(429);
    const { day: units } = counted(endpoint, 1);
    const books = unanswered({ outcome: "client_gone", count: LIMIT, units, owed: NOTHING_OWED });
    expect(await gateway.books(user)).toMatchObject(books);
  });

  test("by default what was asked is charged, exactly, and nothing of what was to be made", async () => {
    await use(owed);
    await leave(endpoint, stream);
    const { ledger, used, balance, granted } = await gateway.books(user);
    const { usage, ...more } = ASKED[endpoint];
    expect(ledger).toMatchObject([{ outcome: "client_gone", usage: { ...NO_USAGE, ...usage }, ...more }]);
    expect([used, balance]).toEqual([counted(endpoint, 1), granted - more.charge]);
  });

  test("while a connection is made everything goes back, however often", async () => {
    await use(owed);
    for (let count = 0; count <= LIMIT; count += 1) {
      const call = open(endpoint, stream, "-connecting");
      await eventually(async () => (await gateway.books(user)).running.requests === 1);
      call.leave();
      await gateway.audit();
    }
    const { ledger, used, balance, granted } = await gateway.books(user);
    expect([ledger, used, balance]).toEqual([[], counted(endpoint, 0), granted]);
  });
});

describe.each(STREAMED)("a stream of $endpoint that its user kills", ({ endpoint }) => {
  test("before the first byte, again and again, is stopped by the limit", async () => {
    await use(free);
    for (let count = 0; count < LIMIT; count += 1) {
      const call = await sent(endpoint, true);
      await kill();
      const { status, text, whole } = await call.whole();
      expect([status, whole]).toEqual([200, true]);
      expect(text).toMatch(FORMATS[endpoint].killed);
    }
    expect(await statusOfNext(endpoint, true)).toBe(429);
    expect(await gateway.books(user)).toMatchObject(
      unanswered({ outcome: "killed", count: LIMIT, owed: NOTHING_OWED }),
    );
  });

  test("before the first byte costs its prompt by default", async () => {
    await use(owed);
    const call = await sent(endpoint, true);
    await kill();
    await call.whole();
    const { ledger, balance, granted } = await gateway.books(user);
    expect(ledger).toMatchObject([{ ...ASKED[endpoint], outcome: "killed" }]);
    expect(balance).toBe(granted - ASKED[endpoint].charge);
  });
});

test("a request that waits for one of the upstream's connections has not been sent", async () => {
  await use(free);
  const before = asked();
  const busy = gateway.open(await gateway.user(), { model: "route/narrow" });
  await eventually(() => asked() === before + 1);
  for (const stream of [false, true, false, true]) {
    const call = gateway.open(user, { model: "route/narrow", stream });
    await eventually(async () => (await gateway.books(user)).running.requests === 1);
    call.leave();
    await eventually(async () => (await gateway.books(user)).running.requests === 0);
  }
  expect(await gateway.books(user)).toMatchObject({ ledger: [], used: { day: 0, hour: 0, minute: 0 } });
  expect(asked()).toBe(before + 1);
  busy.leave();
  await gateway.audit();
});

test("one upstream has been asked, the next is being connected: it counts", async () => {
  await use(free);
  const before = asked();
  const call = gateway.open(user, { model: "route/two", stream: true });
  await eventually(() => asked() === before + 1 && gateway.simulator.open() === 0);
  call.leave();
  await gateway.audit();
  expect(await gateway.books(user)).toMatchObject({
    ledger: [{ outcome: "client_gone", charge: 0n }],
    used: { day: 1, hour: 1, minute: 1 },
  });
});

test.each([
  ["every upstream failed", "route/failing", 502],
  ["every upstream timed out", "route/late", 504],
])("%s: given back whole, whatever unanswered says", async (_, model, status) => {
  await use(owed);
  for (let count = 0; count <= LIMIT; count += 1) expect((await gateway.chat(user, { model })).status).toBe(status);
  const { ledger, used, balance, granted } = await gateway.books(user);
  expect([ledger, used, balance]).toEqual([[], { day: 0, hour: 0, minute: 0 }, granted]);
});
