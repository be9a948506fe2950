import { describe, expect, test } from "vitest";
import quota from "../../plugins/quota.ts";
import {
  type Admission,
  type AdmissionResult,
  decimal,
  type Json,
  type Limits,
  type Outcome,
  type Refusal,
  type Settlement,
  type Store,
  type Windows,
} from "../../src/kit/index.ts";
import { testExchange } from "../support/exchange.ts";
import { testCall } from "../support/kinds.ts";
import { testModel, testSnapshot, testTarget, testTier } from "../support/snapshot.ts";
import { pluginHost, setUp } from "./harness.ts";

const NOW = Date.UTC(2026, 0, 15, 12, 0, 0);
const windows: Windows = {
  day: { used: 3, limit: 1000, resetsAt: NOW + 43_200_000 },
  hour: { used: 2, limit: 500, resetsAt: NOW + 1_799_001 },
  minute: { used: 1, limit: 100, resetsAt: NOW + 10 },
};

/** A store that notes what it is asked and answers as told. */
function noting(result: AdmissionResult = { ok: true, windows, stopToken: 0 }) {
  const admissions: Admission[] = [];
  const settlements: Settlement[] = [];
  const released: object[] = [];
  const asked: (readonly [string, Limits])[] = [];
  const store: Pick<Store, "admit" | "release" | "settle" | "windows"> = {
    release: (running) => void released.push(running),
    admit: (admission) => {
      admissions.push(admission);
      return result;
    },
    settle: (settlement) => {
      settlements.push(settlement);
      return true;
    },
    windows: (userId, limits) => {
      asked.push([userId, limits]);
      return windows;
    },
  };
  return { admissions, settlements, released, asked, store: store as Store };
}

async function hooksOf(noted: ReturnType<typeof noting>, snapshot = testSnapshot()) {
  return setUp(quota, {}, await pluginHost({ snapshot, store: noted.store }));
}

const admission = async (body: Json, snapshot = testSnapshot()): Promise<Admission> => {
  const noted = noting();
  const hooks = await hooksOf(noted, snapshot);
  await hooks.admit!(testExchange(snapshot, { body }));
  expect(noted.admissions).toHaveLength(1);
  return noted.admissions[0]!;
};

describe("admit", () => {
  test("one step in the store with everything it needs, under the gateway's own id", async () => {
    const snapshot = testSnapshot({
      models: [testModel("route/free", { multipliers: { requests: 5, cost: decimal(1) } })],
    });
    expect(await admission({ stream: true, max_tokens: 10 }, snapshot)).toEqual({
      id: "exchange-1",
      userId: "ann",
      limits: { day: 1000, hour: 500, minute: 100, streams: 50 },
      units: 5,
      stream: true,
      // "user" and "hi" are 6 bytes: 2 tokens at 1 per million; 10 at 2.
      hold: 22_000n,
      fullHold: 2_000n + 2n * 16_384_000n,
      enforceCredits: true,
      model: "route/free",
    });
  });

  test("the hold without max_tokens is billing's, per answer otherwise", async () => {
    expect((await admission({})).hold).toBe(2_000n + 2_048_000n);
    expect((await admission({}, testSnapshot({ billing: { holdOutputTokens: 1 } }))).hold).toBe(4_000n);
    expect((await admission({ max_tokens: 10, n: 4 })).hold).toBe(2_000n + 80_000n);
    expect((await admission({ n: 4 })).hold).toBe(2_000n + 4n * 2_048_000n);
  });

  test("the longest answer is told, unless it is shorter than the usual hold or the model does not say", async () => {
    const snapshot = testSnapshot({ models: [testModel("route/free", { maxOutput: 8_192 })] });
    expect(await admission({}, snapshot)).toMatchObject({ hold: 2_050_000n, fullHold: 2_000n + 16_384_000n });
    expect(await admission({ max_tokens: 10 }, snapshot)).toMatchObject({ hold: 22_000n, fullHold: 16_386_000n });
    expect(await admission({ n: 3 }, snapshot)).toMatchObject({ fullHold: 2_000n + 3n * 16_384_000n });
    for (const [body, of] of [
      [{ max_tokens: 9_000 }, snapshot],
      [{}, testSnapshot({ models: [testModel("route/free", { maxOutput: null })] })],
      [{}, testSnapshot({ models: [testModel("route/free", { maxOutput: 512 })] })],
    ] as const) {
      expect(await admission(body, of)).not.toHaveProperty("fullHold");
    }
  });

  test("what is released is the request's own slot and hold", async () => {
    const noted = noting();
    const hooks = await hooksOf(noted);
    const admitted = await hooks.admit!(testExchange(testSnapshot()));
    await admitted?.release?.();
    expect(noted.released).toEqual([{ id: "exchange-1", userId: "ann" }]);
  });

  test("units other than tokens are held, too", async () => {
    const noted = noting();
    const price = { perImage: decimal("0.04") };
    const snapshot = testSnapshot({ models: [testModel("route/free", { kind: "image", price })] });
    const hooks = await hooksOf(noted, snapshot);
    const exchange = testExchange(snapshot);
    const call = testCall("image", { model: "route/free" }, { images: 2 });
    expect(await hooks.admit!({ ...exchange, call })).toMatchObject({ stopToken: 0 });
    expect(noted.admissions[0]?.hold).toBe(80_000_000n);
  });

  test("a price of zero holds nothing and needs no credits", async () => {
    const price = { inputPerMillion: decimal(0), outputPerMillion: decimal(0) };
    const snapshot = testSnapshot({ models: [testModel("route/free", { price })] });
    expect((await admission({}, snapshot)).hold).toBe(0n);
  });

  test("credits are not enforced where billing says so", async () => {
    expect((await admission({}, testSnapshot({ billing: { enforce: false } }))).enforceCredits).toBe(false);
  });

  test("a request that does not stream takes no slot", async () => {
    expect((await admission({})).stream).toBe(false);
  });

  test.each<readonly [Refusal, string, string, number | undefined]>([
    ["credits", "INSUFFICIENT_CREDITS", "Insufficient credits for this request", undefined],
    ["day", "DAILY_REQUEST_LIMIT_EXCEEDED", "Daily request limit exceeded", 43_200],
    ["hour", "RATE_LIMIT_ERROR", "Hourly request limit exceeded", 1_800],
    ["minute", "RATE_LIMIT_ERROR", "Per-minute request limit exceeded", 1],
    ["streams", "RATE_LIMIT_ERROR", "Concurrent stream limit exceeded", 1],
  ])("refused for %s", async (refusal, code, message, retryAfter) => {
    const hooks = await hooksOf(noting({ ok: false, refusal, windows }));
    const details = retryAfter === undefined ? {} : { retryAfter };
    await expect(async () => hooks.admit!(testExchange(testSnapshot()))).rejects.toMatchObject({
      code,
      message,
      details,
    });
  });

  test("a window that has ended meanwhile still asks for a second of patience", async () => {
    const past = { ...windows, minute: { ...windows.minute, resetsAt: NOW - 5_000 } };
    const hooks = await hooksOf(noting({ ok: false, refusal: "minute", windows: past }));
    await expect(async () => hooks.admit!(testExchange(testSnapshot()))).rejects.toMatchObject({
      details: { retryAfter: 1 },
    });
  });
});

const outcome = (more: Partial<Outcome>): Outcome => ({
  kind: "served",
  sent: true,
  begun: true,
  finished: false,
  status: 200,
  code: null,
  usage: null,
  usageComplete: false,
  target: testTarget("beta"),
  dropped: [],
  attempts: 2,
  firstEventAt: NOW + 1,
  endedAt: NOW + 2,
  estimate: async () => ({ prompt: 0, completion: 0, cached: 0, reasoning: 0 }),
  bill: { usage: { prompt: 1, completion: 2, cached: 0, reasoning: 0 }, estimated: true, charge: 77n },
  giveBack: false,
  ...more,
});

const settled = async (more: Partial<Outcome>): Promise<Settlement> => {
  const noted = noting();
  const hooks = await hooksOf(noted);
  const admitted = await hooks.admit!(testExchange(testSnapshot()));
  if (!admitted?.settle) throw new Error("quota returned no settler");
  expect(admitted.windows).toBe(windows);
  await admitted.settle(outcome(more));
  return noted.settlements[0]!;
};

describe("settle", () => {
  test("the charge with its record", async () => {
    expect(await settled({})).toEqual({
      id: "exchange-1",
      userId: "ann",
      giveBack: false,
      charge: 77n,
      record: {
        requestId: "request-1",
        keyId: "key_ann",
        model: "route/free",
        upstream: "beta",
        tier: "Free",
        outcome: "served",
        usage: { prompt: 1, completion: 2, cached: 0, reasoning: 0 },
        estimated: true,
        receivedAt: NOW,
        endedAt: NOW + 2,
      },
    });
  });

  test("what is given back leaves no record", async () => {
    const nothing = { usage: { prompt: 0, completion: 0, cached: 0, reasoning: 0 }, estimated: false, charge: 0n };
    expect(await settled({ kind: "failed", giveBack: true, target: null, bill: nothing })).toMatchObject({
      giveBack: true,
      charge: 0n,
      record: null,
    });
  });

  test("a failure of the gateway's own is given back and recorded: the upstream has served", async () => {
    const bill = { usage: { prompt: 1, completion: 2, cached: 0, reasoning: 0 }, estimated: false, charge: 0n };
    expect(await settled({ kind: "gateway_error", giveBack: true, bill })).toMatchObject({
      giveBack: true,
      charge: 0n,
      record: { outcome: "gateway_error", upstream: "beta", usage: bill.usage },
    });
  });

  test("a request that no upstream served is recorded without one", async () => {
    expect((await settled({ kind: "client_fault", target: null })).record).toMatchObject({
      upstream: null,
      outcome: "client_fault",
    });
  });
});

describe("windows", () => {
  test("are the caller's, by the limits of the plan in force", async () => {
    const noted = noting();
    const hooks = await hooksOf(noted, testSnapshot({ tiers: [testTier("Free", { day: 7 })] }));
    expect(await hooks.windows!({ userId: "ann", tier: "Free", keyId: null })).toBe(windows);
    expect(noted.asked).toEqual([["ann", { day: 7, hour: 500, minute: 100, streams: 50 }]]);
  });

  test.each(["Gone", "constructor"])("of a plan that is no more (%s) nothing remains", async (tier) => {
    const noted = noting();
    await (
      await hooksOf(noted)
    ).windows!({ userId: "ann", tier, keyId: null });
    expect(noted.asked[0]?.[1]).toEqual({ day: 0, hour: 0, minute: 0, streams: 0 });
  });
});
