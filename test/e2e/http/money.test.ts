import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { equal, parseRational, plus, type Rational, rational, roundToNano, times } from "../../kit/rational.ts";
import type { Json, LedgerEntry } from "../../../src/kit/index.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

/** As written in the configuration, digit for digit. */
interface Tariff {
  readonly input: string;
  readonly output: string;
  readonly cached?: string;
  readonly request?: string;
  readonly cost?: string;
}

const TARIFFS: readonly Tariff[] = [
  { input: "0.15", output: "0.60", cached: "0.075" },
  { input: "2.5", output: "10.0", cached: "1.25", cost: "1.2" },
  { input: "0", output: "0" },
  { input: "0.0000001", output: "0.0000003" },
  { input: "0.1", output: "0.2", cost: "0.3" },
  { input: "1e-9", output: "123456.789" },
  { input: "3", output: "0", cached: "0" },
  { input: "0.0005", output: "0.0015", request: "0.002", cost: "1.0000001" },
  { input: "0.333333333333", output: "0.666666666667", cost: "3" },
  { input: "1000000", output: "1000000", cost: "0.000001" },
];
/** Claimed by the simulator: prompt, completion, cached. */
const COUNTS: readonly (readonly [number, number, number])[] = [
  [0, 0, 0],
  [1, 0, 0],
  [0, 1, 0],
  [1, 1, 1],
  [17, 31, 5],
  [1_000, 1_000, 999],
  [123_457, 76_543, 100_003],
  [1_000_000, 200_000, 0],
];

const MILLIONTH = rational(1n, 1_000_000n);
const COST_MULTIPLIER = "1.35";

function expectedCharge(
  { input, output, cached = input, request = "0", cost = "1" }: Tariff,
  counts: readonly number[],
): bigint {
  const [prompt, completion, hits] = counts.map((count) => rational(BigInt(count))) as [Rational, Rational, Rational];
  const fresh = plus(prompt, rational(-hits.numerator));
  const tokens = plus(
    plus(times(fresh, parseRational(input)), times(hits, parseRational(cached))),
    times(completion, parseRational(output)),
  );
  const price = plus(times(tokens, MILLIONTH), parseRational(request));
  return roundToNano(times(times(price, parseRational(cost)), parseRational(COST_MULTIPLIER)));
}

const priced = ({ input, output, cached, request, cost }: Tariff): Json => ({
  price: {
    input_per_million: Number(input),
    output_per_million: Number(output),
    ...(cached !== undefined && { cached_input_per_million: Number(cached) }),
    ...(request !== undefined && { per_request: Number(request) }),
  },
  multipliers: { cost: Number(cost ?? "1") },
});

describe("exact charges", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const ids = TARIFFS.map((_, index) => `route/p${index}`);
    gateway = await TestGateway.start({
      chains: Object.fromEntries(ids.map((id) => [id, ["-"]])),
      config: {
        billing: { cost_multiplier: Number(COST_MULTIPLIER) },
        models: Object.fromEntries(TARIFFS.map((tariff, index) => [ids[index], priced(tariff)])),
      },
    });
  });
  afterAll(() => gateway.close());

  test.each(TARIFFS.map((tariff, index) => [JSON.stringify(tariff), index] as const))("%s", async (_, index) => {
    const tariff = TARIFFS[index]!;
    const user = await gateway.user({ credits: "1000000000" });
    let owed = 0n;
    for (const [at, [prompt, completion, cached]] of COUNTS.entries()) {
      const sim = { usage: { prompt, completion, cached } };
      const stream = at % 2 === 1;
      const { status, text } = await gateway.chat(user, { model: `route/p${index}`, stream, sim });
      expect([status, text.includes('"error":')]).toEqual([200, false]);
      owed += expectedCharge(tariff, [prompt, completion, cached]);
    }
    const { ledger, balance, granted } = await gateway.books(user);
    const charges = COUNTS.map((counts) => expectedCharge(tariff, counts));
    expect(
      inOrder(ledger).map(({ charge, usage, estimated }) => [
        charge,
        usage.prompt,
        usage.completion,
        usage.cached,
        estimated,
      ]),
    ).toEqual(COUNTS.map(([prompt, completion, cached], at) => [charges[at], prompt, completion, cached, false]));
    expect({ balance, granted }).toEqual({ balance: granted - owed, granted: 1_000_000_000n * 1_000_000_000n });
  });

  test("the arithmetic of the test is right where it can be done by hand", () => {
    expect(expectedCharge({ input: "0.15", output: "0.60", cached: "0.075" }, [1_000, 1_000, 999])).toBe(911_351n);
    expect(expectedCharge({ input: "1e-9", output: "123456.789" }, [0, 1, 0])).toBe(166_666_665n);
    expect(equal(parseRational("1e-9"), rational(1n, 1_000_000_000n))).toBe(true);
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
    await gateway.chat(user, { model: "route/p6", sim: { usage: { prompt: 10, completion: 0, cached: 1_000 } } });
    expect((await gateway.books(user)).ledger).toMatchObject([{ charge: 0n, usage: { prompt: 10, cached: 10 } }]);
  });
});

/** Entries that ended in the same millisecond are in no order of their own. */
function inOrder(ledger: readonly LedgerEntry[]): readonly LedgerEntry[] {
  return ledger.toSorted((a, b) => a.receivedAt - b.receivedAt);
}

describe("credits", () => {
  test("balance for one request, 100 at once: one upstream call, 99 times 402 (H12)", async () => {
    const gateway = await TestGateway.start({ config: { billing: { hold_output_tokens: 100 } } });
    // The hold: 4 tokens of prompt (15 bytes), 100 of output at 2 a million.
    const user = await gateway.user({ credits: "0.000204" });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        gateway.chat(user, { stream: index % 2 === 0, sim: "?first_byte=200ms" }),
      ),
    );
    const count = (status: number): number => answers.filter((answer) => answer.status === status).length;
    expect([count(200), count(402)]).toEqual([1, 99]);
    expect(gateway.simulator.ledger()).toHaveLength(1);
    const { used, ledger, balance } = await gateway.books(user);
    expect([used, ledger.length, balance]).toEqual([{ day: 1, hour: 1, minute: 1 }, 1, 204_000n - 20_000n]);
    await gateway.close();
  });

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

  test("a price of zero needs no credits; without enforcement nobody is refused, and all is recorded", async () => {
    const free = await TestGateway.start({
      config: { models: { "route/one": { price: { input_per_million: 0, output_per_million: 0 } } } },
    });
    const poor = await free.user({ credits: "0" });
    expect((await free.chat(poor)).status).toBe(200);
    expect((await free.books(poor)).ledger).toMatchObject([{ charge: 0n, usage: { prompt: 2, completion: 9 } }]);
    await free.close();

    const lax = await TestGateway.start({ config: { billing: { enforce: false } } });
    const debtor = await lax.user({ credits: "0" });
    expect((await lax.chat(debtor)).status).toBe(200);
    expect((await lax.books(debtor)).balance).toBe(-20_000n);
    await lax.close();
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

const remaining = (headers: Record<string, unknown>): readonly unknown[] =>
  ["day", "hour", "minute"].map((window) => headers[`x-ratelimit-remaining-${window}`]);

describe("request units", () => {
  test("a multiplier counts on the day only", async () => {
    const limits = { day: 12, hour: 100, minute: 100, streams: 5 };
    const gateway = await TestGateway.start({
      config: {
        tiers: { Twelve: { access: "all", limits } },
        models: { "route/one": { multipliers: { requests: 5 } } },
      },
    });
    const user = await gateway.user({ tier: "Twelve" });
    expect(remaining((await gateway.chat(user)).headers)).toEqual(["7", "99", "99"]);
    expect(remaining((await gateway.chat(user, { stream: true })).headers)).toEqual(["2", "98", "98"]);
    const refused = await gateway.chat(user);
    expect([refused.status, refused.text, ...remaining(refused.headers)]).toEqual([
      429,
      "Daily request limit exceeded",
      "2",
      "98",
      "98",
    ]);
    expect((await gateway.books(user)).used).toEqual({ day: 10, hour: 2, minute: 2 });
    // A new day counts afresh.
    gateway.clock.advance(86_400_000);
    expect(remaining((await gateway.chat(user)).headers)).toEqual(["7", "99", "99"]);
    await gateway.close();
  });

  test("what is given back returns all its units", async () => {
    const gateway = await TestGateway.start({
      chains: { "route/bad": ["?status=500"] },
      config: { models: { "route/bad": { multipliers: { requests: 5 } } } },
    });
    const user: TestUser = await gateway.user();
    await gateway.chat(user);
    expect((await gateway.chat(user, { model: "route/bad" })).status).toBe(502);
    expect((await gateway.books(user)).used).toEqual({ day: 1, hour: 1, minute: 1 });
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
