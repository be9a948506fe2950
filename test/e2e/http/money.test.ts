import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json, LedgerEntry } from "../../../src/kit/index.ts";
import { FORMAT_NAMES, openFormat } from "../support/formats.ts";
import { TestGateway } from "../support/in-process.ts";

/** Charges in nano-units by hand; that any charge is the exact rational is in kit/tariff. */
const CHARGES: readonly (readonly [string, prompt: number, completion: number, cached: number, charge: bigint])[] = [
  ["route/p0", 0, 0, 0, 0n],
  // 4,050 a token of input, 2,025 of those that were cached, 16,200 of output.
  ["route/p0", 1, 1, 1, 18_225n],
  ["route/p0", 17, 31, 5, 560_925n],
  ["route/p0", 1_000, 1_000, 999, 18_227_025n],
  // 0.5 and 1.5 a token and 2,000,000 a request, 1.350000135 times: rounded once.
  ["route/p1", 0, 0, 0, 2_700_000n],
  ["route/p1", 1, 1, 1, 2_700_003n],
  ["route/p1", 17, 31, 5, 2_700_075n],
  ["route/p1", 1_000, 1_000, 999, 2_702_700n],
];

describe("exact charges", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await TestGateway.start({
      chains: {
        "route/p0": {
          scripts: ["-"],
          price: { input_per_million: 2.5, output_per_million: 10, cached_input_per_million: 1.25 },
          multipliers: { cost: 1.2 },
        },
        "route/p1": {
          scripts: ["-"],
          price: { input_per_million: 0.0005, output_per_million: 0.0015, per_request: 0.002 },
          multipliers: { cost: 1.0000001 },
        },
        "route/cached": {
          scripts: ["-"],
          price: { input_per_million: 3, output_per_million: 0, cached_input_per_million: 0 },
        },
      },
      config: { billing: { cost_multiplier: 1.35 } },
    });
  });
  afterAll(() => gateway.close());

  test.each(CHARGES)("%s: %i, %i, %i tokens cost %i", async (model, prompt, completion, cached, charge) => {
    const user = await gateway.user({ credits: "1000000000" });
    const sim = { usage: { prompt, completion, cached } };
    for (const stream of [false, true]) {
      const { status, text } = await gateway.chat(user, { model, stream, sim });
      expect([status, text.includes('"error":')]).toEqual([200, false]);
    }
    const { ledger, balance, granted } = await gateway.books(user);
    const entry = { charge, estimated: false, usage: { prompt, completion, cached } };
    expect(ledger).toMatchObject([entry, entry]);
    expect(balance).toBe(granted - 2n * charge);
  });

  test.each<Json>([
    { prompt: -1, completion: 5, cached: 0 },
    { prompt: 1.5, completion: 5, cached: 0 },
    { prompt: "seven", completion: 5, cached: 0 },
    { prompt: 1e15, completion: 5, cached: 0 },
  ])("%j is no count: estimated instead, and never a credit", async (usage) => {
    for (const stream of [false, true]) {
      const user = await gateway.user();
      const { text } = await gateway.chat(user, { model: "route/p0", stream, sim: { usage } });
      expect(text.includes('"error":')).toBe(false);
      const [entry] = (await gateway.books(user)).ledger;
      expect(entry).toMatchObject({ estimated: true, outcome: "served" });
      expect(entry!.charge).toBeGreaterThan(0n);
    }
  });

  test("more cached tokens than the prompt has are no credit", async () => {
    const user = await gateway.user();
    await gateway.chat(user, { model: "route/cached", sim: { usage: { prompt: 10, completion: 0, cached: 1_000 } } });
    expect((await gateway.books(user)).ledger).toMatchObject([{ charge: 0n, usage: { prompt: 10, cached: 10 } }]);
  });
});

/** Entries that ended in the same millisecond are in no order of their own. */
function inOrder(ledger: readonly LedgerEntry[]): readonly LedgerEntry[] {
  return ledger.toSorted((a, b) => a.receivedAt - b.receivedAt);
}

describe("credits", () => {
  test("one nano-unit less than the hold is too little; exactly the hold is enough, also with max_tokens", async () => {
    const gateway = await TestGateway.start();
    for (const [credits, body, status] of [
      ["0.002052", {}, 200],
      ["0.002051999", {}, 402],
      ["0.000024", { max_tokens: 10 }, 200],
      ["0.000023999", { max_tokens: 10 }, 402],
      ["0.000024", { max_completion_tokens: 10, max_tokens: 1 }, 200],
      ["0.000043999", { max_tokens: 10, n: 2 }, 402],
      ["0.000044", { max_tokens: 10, n: 2 }, 200],
    ] as const) {
      const user = await gateway.user({ credits });
      expect([credits, (await gateway.chat(user, body)).status]).toEqual([credits, status]);
    }
    await gateway.close();
  });

  test("a charge above the hold takes the balance below zero, and the next request finds none", async () => {
    const gateway = await TestGateway.start();
    const user = await gateway.user({ credits: "0.0021" });
    expect((await gateway.chat(user, { sim: { usage: { prompt: 5_000, completion: 0 } } })).status).toBe(200);
    expect((await gateway.books(user)).balance).toBe(2_100_000n - 5_000_000n);
    expect((await gateway.chat(user)).status).toBe(402);
    await gateway.store.grant(user.id, 10_000_000n);
    expect((await gateway.chat(user)).status).toBe(200);
    await gateway.close();
  });

  test("what is held shows while a request runs, and goes with it", async () => {
    const gateway = await TestGateway.start();
    const user = await gateway.user();
    const call = gateway.open(user, { stream: true, max_tokens: 100, sim: "?stall_after=2" });
    await call.until("data:");
    expect((await gateway.books(user)).running).toEqual({ requests: 1, streams: 1, held: 204_000n });
    call.leave();
    await gateway.close();
  });
});

test("a request in flight keeps the price it began with", async () => {
  const gateway = await TestGateway.start();
  const user = await gateway.user();
  const running = gateway.open(user, { stream: true, sim: "?chunk_delay=60ms" });
  await running.until("data:");
  const dearer = { models: { "route/one": { price: { input_per_million: 100, output_per_million: 200 } } } };
  expect(await gateway.reload(dearer)).toMatchObject({ ok: true });
  expect((await gateway.chat(user)).status).toBe(200);
  expect((await running.whole()).text.endsWith("data: [DONE]\n\n")).toBe(true);
  const { ledger } = await gateway.books(user);
  expect(inOrder(ledger).map(({ charge }) => charge)).toEqual([20_000n, 2_000_000n]);
  await gateway.close();
});

describe("100 requests at once against 0.01 credits", () => {
  const MAX_OUTPUT = 8_192;
  /** Of the longest answer, at 1 and 2 per million. */
  const WORTH = 4_000n + 2_000n * BigInt(MAX_OUTPUT);
  let gateway: TestGateway;
  beforeAll(async () => {
    const counts = `usage.prompt=4&usage.completion=${MAX_OUTPUT}`;
    const long = { scripts: [`?first_byte=20ms&${counts}`], max_output: MAX_OUTPUT };
    gateway = await TestGateway.start({ chains: { "route/long": long } });
  });
  afterAll(() => gateway.close());

  test.each(FORMAT_NAMES)(
    "%s: one runs at a time, and the balance falls by one request's worth at most",
    async (name) => {
      const user = await gateway.user({ credits: "0.01" });
      const calls = Array.from({ length: 100 }, (_, index) =>
        openFormat(gateway, user, name, { model: "route/long", stream: index % 2 === 0 }).whole(),
      );
      const statuses = (await Promise.all(calls)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect(new Set(statuses)).toEqual(new Set([200, 402]));
      await gateway.audit();
      const { balance, ledger } = await gateway.books(user);
      expect(ledger).toMatchObject([{ outcome: "served", charge: WORTH }]);
      expect(balance).toBe(10_000_000n - WORTH);
    },
  );

  test("with credits for the longest answer as many run as the balance has room for", async () => {
    const user = await gateway.user({ credits: "1" });
    const body = { model: "route/long", max_tokens: 10 };
    const statuses = await Promise.all(
      Array.from({ length: 20 }, () =>
        gateway
          .open(user, body)
          .whole()
          .then(({ status }) => status),
      ),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    await gateway.audit();
  });
});
