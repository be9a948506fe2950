import { describe, expect, test } from "vitest";
import meter from "../../plugins/meter.ts";
import {
  type Bill,
  type BillingSettings,
  decimal,
  type Ending,
  type Kind,
  type OutcomeKind,
  type OutcomePolicy,
  type Price,
  type Units,
  type Usage,
} from "../../src/kit/index.ts";
import { testExchange } from "../support/exchange.ts";
import { testCall } from "../support/kinds.ts";
import { testModel, testSnapshot, testTarget } from "../support/snapshot.ts";
import { pluginHost, setUp } from "./harness.ts";

type Outcomes = BillingSettings["outcomes"];
const DEFAULT: Outcomes = {
  client_gone: "delivered",
  killed: "delivered",
  upstream_cut: "delivered",
  unanswered: "prompt",
  no_usage: "estimate",
};
const NOTHING: Usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };
const USAGE: Usage = { prompt: 100, completion: 50, cached: 10, reasoning: 5 };
/** What the tokenizer counts. */
const ESTIMATE: Usage = { prompt: 30, completion: 20, cached: 0, reasoning: 0 };
/** At 1 and 2 per million. */
const COUNTED = 200_000n;
const ESTIMATED = 70_000n;

function ending(kind: OutcomeKind, begun: boolean, usage: Usage | null): Ending & { counts: number } {
  const result = {
    kind,
    sent: begun,
    begun,
    finished: false,
    status: 200,
    code: null,
    usage,
    usageComplete: usage !== null,
    target: begun ? testTarget("alpha") : null,
    dropped: [],
    attempts: 1,
    firstEventAt: begun ? 1 : null,
    endedAt: 2,
    counts: 0,
    estimate: async () => ((result.counts += 1), ESTIMATE),
  };
  return result;
}

async function bill(given: Ending, outcomes: Partial<Outcomes> = {}): Promise<Bill> {
  const snapshot = testSnapshot({ billing: { outcomes: { ...DEFAULT, ...outcomes } } });
  const hooks = await setUp(meter, {}, await pluginHost({ snapshot }));
  return hooks.settle!(given, testExchange(snapshot));
}

describe("what is owed for", () => {
  test.each<readonly [OutcomeKind, boolean]>([
    ["refused", false],
    ["failed", false],
    ["client_fault", false],
    ["client_gone", false],
    ["killed", false],
    ["shutdown", false],
  ])("%s before anything came: nothing, and nothing is counted", async (kind, begun) => {
    const given = ending(kind, begun, null);
    expect(await bill(given)).toEqual({
      usage: { prompt: 0, completion: 0, cached: 0, reasoning: 0 },
      estimated: false,
      charge: 0n,
    });
    expect(given.counts).toBe(0);
  });

  describe.each(["client_gone", "killed"] as const)(
    "%s before the first byte of an upstream that was asked",
    (kind) => {
      const asked = () => ({ ...ending(kind, false, null), sent: true });

      test("free: nothing, and nothing is counted, whatever a stream that broke off costs", async () => {
        const given = asked();
        expect(await bill(given, { unanswered: "free" })).toEqual({ usage: NOTHING, estimated: false, charge: 0n });
        expect(given.counts).toBe(0);
      });

      test("prompt: the estimate, whatever a stream that broke off costs", async () => {
        const given = { ...asked(), estimate: async () => ({ ...ESTIMATE, completion: 0 }) };
        const free = { client_gone: "free", killed: "free", upstream_cut: "free", no_usage: "free" } as const;
        expect(await bill(given, free)).toEqual({
          usage: { ...ESTIMATE, completion: 0 },
          estimated: true,
          charge: 30_000n,
        });
      });

      test("prompt: nothing of a request that was not sent", async () => {
        expect(await bill(ending(kind, false, null), { unanswered: "prompt" })).toMatchObject({ charge: 0n });
      });
    },
  );

  test.each(["failed", "client_fault", "shutdown", "refused"] as const)(
    "%s of a request that was sent costs no prompt: nobody gave it up",
    async (kind) => {
      const given = { ...ending(kind, false, null), sent: true };
      expect(await bill(given, { unanswered: "prompt" })).toMatchObject({ charge: 0n });
    },
  );

  test("an answer with a count: that count, no tokenizer", async () => {
    const given = ending("served", true, USAGE);
    expect(await bill(given)).toEqual({ usage: USAGE, estimated: false, charge: COUNTED });
    expect(given.counts).toBe(0);
  });

  test("an answer without a count: by tokenizer, or nothing, as no_usage says", async () => {
    expect(await bill(ending("served", true, null))).toEqual({ usage: ESTIMATE, estimated: true, charge: ESTIMATED });
    expect(await bill(ending("served", true, null), { no_usage: "free" })).toEqual({
      usage: ESTIMATE,
      estimated: true,
      charge: 0n,
    });
    expect(await bill(ending("served", true, USAGE), { no_usage: "free" })).toMatchObject({ charge: COUNTED });
  });

  type Setting = Exclude<keyof Outcomes, "unanswered">;
  /** Each way of breaking off, and the setting that rules it. */
  const BROKEN: readonly (readonly [OutcomeKind, Setting])[] = [
    ["client_gone", "client_gone"],
    ["killed", "killed"],
    ["upstream_cut", "upstream_cut"],
    ["shutdown", "upstream_cut"],
  ];
  const POLICIES: readonly (readonly [OutcomePolicy, bigint, bigint])[] = [
    ["delivered", ESTIMATED, COUNTED],
    ["estimate", ESTIMATED, COUNTED],
    ["free", 0n, 0n],
  ];
  const TABLE = BROKEN.flatMap(([kind, setting]) =>
    POLICIES.map(([policy, estimated, counted]) => ({ kind, setting, policy, estimated, counted })),
  );

  test.each(TABLE)(
    "a stream that broke off ($kind) with $setting: $policy",
    async ({ kind, setting, policy, estimated, counted }) => {
      const others = Object.fromEntries(
        Object.keys(DEFAULT).map((name) => [name, policy === "free" ? "delivered" : "free"]),
      ) as Outcomes;
      const outcomes = { ...others, unanswered: "free" as const, no_usage: "estimate" as const, [setting]: policy };
      expect(await bill(ending(kind, true, null), outcomes)).toMatchObject({ estimated: true, charge: estimated });
      expect(await bill(ending(kind, true, USAGE), outcomes)).toMatchObject({ estimated: false, charge: counted });
    },
  );

  test("no_usage is about whole answers: what was delivered of a broken one is owed all the same", async () => {
    for (const [kind] of BROKEN) {
      expect(await bill(ending(kind, true, null), { no_usage: "free" })).toMatchObject({ charge: ESTIMATED });
    }
  });
});

const partial = (kind: OutcomeKind): Ending & { counts: number } => ({
  ...ending(kind, true, USAGE),
  usageComplete: false,
});

describe("what is told in part", () => {
  test("is estimated: the ending's estimate keeps what was told", async () => {
    const given = { ...partial("client_gone"), estimate: async () => ({ ...USAGE, completion: 70 }) };
    expect(await bill(given)).toEqual({
      usage: { ...USAGE, completion: 70 },
      estimated: true,
      charge: COUNTED + 40_000n,
    });
  });

  test("is all that counts where tokens have no price", async () => {
    const snapshot = testSnapshot({ models: [testModel("route/free", { price: { perRequest: decimal(1) } })] });
    const hooks = await setUp(meter, {}, await pluginHost({ snapshot }));
    expect(await hooks.settle!(partial("upstream_cut"), testExchange(snapshot))).toMatchObject({
      usage: USAGE,
      estimated: false,
    });
  });

  test("of an answer that ended is missing usage: no_usage rules", async () => {
    expect(await bill(partial("served"), { no_usage: "free" })).toMatchObject({ estimated: true, charge: 0n });
  });
});

test("a failure of the gateway's own is free, whatever the settings, and keeps what was told", async () => {
  for (const usage of [USAGE, null]) {
    const given = ending("gateway_error", true, usage);
    const kept = usage ?? { prompt: 0, completion: 0, cached: 0, reasoning: 0 };
    expect(await bill(given)).toEqual({ usage: kept, estimated: false, charge: 0n });
    expect(given.counts).toBe(0);
  }
});

test("an answer that a plugin refuses is owed: the upstream has made it", async () => {
  expect(await bill(ending("refused", true, USAGE))).toMatchObject({ charge: COUNTED });
  expect(await bill(ending("refused", true, null))).toMatchObject({ charge: ESTIMATED, estimated: true });
});

test.each(["client_gone", "killed", "shutdown"] as const)(
  "%s after the finish reason is owed as counted; uncounted it broke off",
  async (kind) => {
    const free = { client_gone: "free", killed: "free", upstream_cut: "free", no_usage: "free" } as const;
    expect(await bill({ ...ending(kind, true, USAGE), finished: true }, free)).toMatchObject({ charge: COUNTED });
    expect(await bill({ ...ending(kind, true, null), finished: true }, free)).toMatchObject({ charge: 0n });
  },
);

test("prices, cached prices and multipliers of the model and of billing", async () => {
  const price = { inputPerMillion: decimal(1), outputPerMillion: decimal(2), cachedInputPerMillion: decimal("0.5") };
  const snapshot = testSnapshot({
    billing: { costMultiplier: decimal("1.5") },
    models: [testModel("route/free", { price, multipliers: { requests: 1, cost: decimal(2) } })],
  });
  const hooks = await setUp(meter, {}, await pluginHost({ snapshot }));
  const { charge } = await hooks.settle!(ending("served", true, USAGE), testExchange(snapshot));
  expect(charge).toBe((90_000n + 5_000n + 100_000n) * 3n);
});

async function billOf(kind: Kind, price: Price, units: Units, given: Ending, outcomes: Partial<Outcomes> = {}) {
  const snapshot = testSnapshot({
    billing: { outcomes: { ...DEFAULT, ...outcomes } },
    models: [testModel("route/free", { kind, price })],
  });
  const hooks = await setUp(meter, {}, await pluginHost({ snapshot }));
  const call = testCall(kind, { model: "route/free" }, units);
  return hooks.settle!(given, { ...testExchange(snapshot), call });
}

describe("units other than tokens", () => {
  const none = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };

  test("what the gateway counts itself needs no count of the upstream, whatever no_usage says", async () => {
    const price = { perImage: decimal("0.04") };
    const given = ending("served", true, null);
    expect(await billOf("image", price, { images: 2 }, given, { no_usage: "free" })).toEqual({
      usage: { ...none, images: 2 },
      estimated: false,
      charge: 80_000_000n,
    });
    expect(given.counts).toBe(0);
  });

  test("images that are priced by tokens and came without a count are an estimate, what was told of them stays", async () => {
    const perImage = { default: decimal("0.04"), high: decimal("0.25") };
    const usage = { ...none, images: 1, imageVariant: "1024x1024/high" };
    const price = { outputPerMillion: decimal(8), perImage };
    const given = ending("served", true, usage);
    expect(await billOf("image", price, { images: 2, imageVariant: "/low" }, given)).toEqual({
      usage,
      estimated: true,
      charge: 250_000_000n,
    });
    const counted = { ...usage, prompt: 5, completion: 1_000 };
    expect(await billOf("image", price, { images: 2 }, ending("served", true, counted))).toMatchObject({
      estimated: false,
      charge: 258_000_000n,
    });
  });

  test("the upstream's own measure goes before the call's", async () => {
    const usage = { ...none, milliseconds: 1_500 };
    const price = { perSecond: decimal("0.001") };
    expect(await billOf("transcription", price, { milliseconds: 9_000 }, ending("served", true, usage))).toEqual({
      usage,
      estimated: false,
      charge: 1_500_000n,
    });
  });

  test("a count of tokens alone leaves the seconds to the estimate", async () => {
    const price = { perSecond: decimal("0.001") };
    const given = ending("served", true, USAGE);
    const bill = await billOf("transcription", price, { milliseconds: 9_000 }, given);
    expect(bill).toEqual({ usage: { ...USAGE, milliseconds: 9_000 }, estimated: true, charge: 9_000_000n });
    expect(await billOf("transcription", price, { milliseconds: 9_000 }, given, { no_usage: "free" })).toMatchObject({
      charge: 0n,
      estimated: true,
    });
  });

  test("a request priced by itself alone costs that, with no tokenizer", async () => {
    const given = ending("served", true, null);
    expect(await billOf("rerank", { perRequest: decimal("0.002") }, {}, given)).toEqual({
      usage: none,
      estimated: false,
      charge: 2_000_000n,
    });
    expect(given.counts).toBe(0);
  });
});
