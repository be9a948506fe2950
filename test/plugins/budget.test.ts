import * as fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import budget from "../../plugins/budget.ts";
import { type Admitted, GatewayError, type Outcome, storeUnavailable } from "../../src/kit/index.ts";
import { openStore } from "../../src/store/open.ts";
import { RUNS } from "../properties/runs.ts";
import { Bench } from "../support/bench.ts";
import { ManualClock } from "../support/clock.ts";
import { describeRedis, startRedis } from "../support/redis.ts";
import { openAt } from "../store/redis/support.ts";
import { testExchange } from "../support/exchange.ts";
import { testSnapshot } from "../support/snapshot.ts";
import { ownHost, pluginHost, setUp } from "./harness.ts";

type Options = Parameters<typeof budget.setup>[0];

const snapshot = testSnapshot();
const UNIT = 1_000_000_000n;
const HOUR = 3_600_000;

async function settle({ settle: settler }: Admitted, charge: bigint): Promise<void> {
  await settler?.({ bill: { charge } } as Outcome);
}

/** Asks for a request of ann's while the store is away. */
async function admittedWithout(onFailure: "open" | "closed"): Promise<unknown> {
  const host = await pluginHost({ snapshot: { ...snapshot, store: { ...snapshot.store, onFailure } } });
  const own = ownHost(budget, host);
  const storage = { ...own.storage, get: () => Promise.reject(storeUnavailable(new Error("away"))) };
  const hooks = await budget.setup({ amount: 1 }, { ...own, storage });
  return hooks.admit!(testExchange(snapshot));
}

/** A budget of ann's; `spend` is a request that is admitted and charged. */
async function budgetOf(options: Options, instances = 1) {
  const clock = new ManualClock();
  const store = await openStore("memory:", { serving: true, now: clock.now });
  const hosts = await Promise.all(Array.from({ length: instances }, () => pluginHost({ snapshot, store, clock })));
  const hooks = await Promise.all(hosts.map((host) => setUp(budget, options, host)));
  const admit = async (at = 0, parts: Parameters<typeof testExchange>[1] = {}): Promise<Admitted> =>
    (await hooks[at]!.admit!(testExchange(snapshot, parts))) ?? {};
  const spend = async (charge: bigint, at = 0): Promise<Admitted> => {
    const admitted = await admit(at);
    await settle(admitted, charge);
    return admitted;
  };
  return { clock, hosts, admit, spend };
}

async function refusal(work: Promise<unknown>): Promise<GatewayError> {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(GatewayError);
  return error as GatewayError;
}

describe("a budget", () => {
  test("refuses from where it is spent until its month ends, and says how much is left", async () => {
    const { clock, admit, spend } = await budgetOf({ amount: 2 });
    expect((await spend(UNIT)).headers).toMatchObject({
      "X-Gateway-Budget-Limit": "2",
      "X-Gateway-Budget-Remaining": "2",
    });
    expect((await spend(UNIT - 1n)).headers).toMatchObject({ "X-Gateway-Budget-Remaining": "1" });
    expect((await spend(1n)).headers).toMatchObject({
      "X-Gateway-Budget-Remaining": "0.000000001",
      "X-Gateway-Budget-Warning": "99% of the budget of this month is used",
    });
    const error = await refusal(admit());
    expect(error).toMatchObject({ code: "INSUFFICIENT_CREDITS", message: "The budget of this month is used up" });
    const date = new Date(clock.now());
    const wait = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) - clock.now();
    expect(error.details.retryAfter).toBe(Math.ceil(wait / 1000));
    clock.advance(wait - 1);
    await refusal(admit());
    clock.advance(1);
    expect((await admit()).headers).toMatchObject({ "X-Gateway-Budget-Remaining": "2" });
  });

  test("of a day; what was admitted in one is charged to it, however late it ends", async () => {
    const { clock, admit, spend } = await budgetOf({ amount: 1, period: "day" });
    const late = await admit();
    clock.advance(24 * HOUR);
    await spend(1n);
    await settle(late, 5n * UNIT);
    expect((await admit()).headers).toMatchObject({ "X-Gateway-Budget-Remaining": "0.999999999" });
  });

  test("is a user's own, and a plan may have its own or none", async () => {
    const { admit } = await budgetOf({ tiers: { Free: 1 } });
    await settle(await admit(), UNIT);
    await refusal(admit());
    expect(await admit(0, { principal: { userId: "bob" } })).toHaveProperty("headers");
    expect(await admit(0, { tier: "Max" })).toEqual({});
  });

  test("warns once in the log, on whatever instance the share was passed", async () => {
    const { hosts, spend } = await budgetOf({ amount: 1, warn_at: "50%" }, 2);
    expect((await spend(UNIT / 4n, 0)).headers).not.toHaveProperty("X-Gateway-Budget-Warning");
    await spend(UNIT / 4n, 1);
    await spend(UNIT / 4n, 0);
    const warned = hosts.map(({ log }) => log.lines.filter(({ level }) => level === "warn"));
    expect(warned.map(({ length }) => length)).toEqual([0, 1]);
    expect(warned[1]![0]).toMatchObject({
      fields: { request_id: expect.any(String) as unknown, tier: "Free", spent: "0.5", budget: "1" },
      message: "a user has spent 50 % of the budget of this month",
    });
    expect(JSON.stringify(warned)).not.toContain("ann");
  });

  test.each<readonly [string, Options]>([
    ["without a sum", {}],
    ["with a plan that there is not", { tiers: { Nobody: 1 } }],
  ])("%s: refused at setup", async (_, options) => {
    const host = await pluginHost({ snapshot });
    await expect(async () => setUp(budget, options, host)).rejects.toThrow(/plan/);
  });

  test("a store that is away refuses, unless it may fail open", async () => {
    expect(await refusal(admittedWithout("closed"))).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await admittedWithout("open")).toMatchObject({ headers: {} });
  });

  test("what ends days behind its period is charged to it still", async () => {
    const { clock, admit } = await budgetOf({ amount: 1, period: "day" });
    const late = await admit();
    clock.advance(96 * HOUR);
    await expect(settle(late, UNIT)).resolves.toBeUndefined();
  });

  test("no budget at all", async () => {
    const { admit } = await budgetOf({ amount: 0 });
    expect((await refusal(admit())).details.headers).toMatchObject({ "X-Gateway-Budget-Limit": "0" });
  });

  test("refuses nobody below it, and is passed by what runs at the same time alone", async () => {
    const step = fc.record({ admits: fc.boolean(), at: fc.nat(1), charge: fc.bigInt(0n, UNIT), which: fc.nat(9) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { admit } = await budgetOf({ amount: 2 }, 2);
        let spent = 0n;
        const running: Admitted[] = [];
        const [admitted, expected]: boolean[][] = [[], []];
        for (const { admits, at, charge, which } of steps) {
          if (admits) {
            const one = await admit(at).catch(() => null);
            if (one !== null) running.push(one);
            admitted!.push(one !== null);
            expected!.push(spent < 2n * UNIT);
          } else if (running.length > 0) {
            const [one] = running.splice(which % running.length, 1);
            await settle(one!, charge);
            spent += charge;
          }
        }
        expect(admitted).toEqual(expected);
      }),
      { numRuns: Math.ceil(RUNS / 3) },
    );
  });

  test("many at once: each charge counts", async () => {
    const { admit } = await budgetOf({ amount: 1 }, 2);
    const admitted = await Promise.all(Array.from({ length: 20 }, async (_, index) => admit(index % 2)));
    await Promise.all(admitted.map(async (one) => settle(one, UNIT / 20n)));
    expect(await refusal(admit())).toMatchObject({ code: "INSUFFICIENT_CREDITS" });
  });
});

test("in a pipeline: refused with 402, nothing counted; its headers are on every answer", async () => {
  const options = { amount: 0.00002 };
  const bench = await Bench.create({
    pipeline: ["auth", { use: "budget", options }, "quota", "breaker", "stream-relay", "meter"],
  });
  const first = bench.stream();
  await first.done;
  expect(first.client.stream?.headers).toMatchObject({ "X-Gateway-Budget-Remaining": "0.00002" });
  const charged = bench.observer.finishes[0]!.outcome.bill.charge;
  expect(charged).toBeGreaterThan(0n);
  let count = 1;
  while ((await bench.stream().done, bench.observer.finishes.at(-1)!.outcome.kind === "served")) count += 1;
  expect(BigInt(count)).toBe((20_000n + charged - 1n) / charged);
  const refused = bench.requests.at(-1)!.client.refused!;
  expect(refused.error).toMatchObject({ code: "INSUFFICIENT_CREDITS" });
  expect(await bench.used()).toMatchObject({ day: count });
  await bench.audit();
});

describeRedis("over one Redis", () => {
  test("two instances charge one budget: of many at once each counts, and then both refuse", async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const hooks = await Promise.all(
      [0, 1].map(async () =>
        setUp(budget, { amount: 1 }, await pluginHost({ store: await openAt(server.url, { prefix: "b:" }) })),
      ),
    );
    const admit = async (at: number): Promise<Admitted> => (await hooks[at % 2]!.admit!(testExchange(snapshot))) ?? {};
    const admitted = await Promise.all(Array.from({ length: 20 }, async (_, index) => admit(index)));
    await Promise.all(admitted.slice(1).map(async (one) => settle(one, UNIT / 20n)));
    expect((await admit(0)).headers).toMatchObject({ "X-Gateway-Budget-Remaining": "0.05" });
    await settle(admitted[0]!, UNIT / 20n);
    for (const at of [0, 1]) expect(await refusal(admit(at))).toMatchObject({ code: "INSUFFICIENT_CREDITS" });
  });
});
