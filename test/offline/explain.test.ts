import { describe, expect, test } from "vitest";
import type { Explanation } from "#schema";
import { Explainer } from "../../src/offline/answer.ts";
import { explain, type Question } from "../../src/offline/explain.ts";
import { explanationText } from "../../src/offline/explain-text.ts";
import { loadOffline } from "../../src/offline/load.ts";
import { adminDocument } from "../../src/server/openapi/admin-document.ts";
import { faults } from "../support/openapi.ts";

const DOCUMENT = adminDocument();
const NOW = Date.UTC(2026, 0, 5, 12, 0, 7);
const loaded = await loadOffline({ file: "gateway.yaml", env: {} });
const FRESH = { used: 0, limit: null, resetsAt: NOW + 1_000 };
const CALLER = {
  id: "user_1",
  tier: "Lite",
  balance: 2_000_000_000n,
  held: 500_000_000n,
  used: { windows: { day: FRESH, hour: FRESH, minute: FRESH }, streams: 0 },
  keyIsLive: true,
};

const ask = (question: Partial<Question>): Promise<Explanation> =>
  explain(loaded, { model: "route/swift", now: NOW, ...question });
const decisions = ({ stages }: Explanation): string => stages.map(({ decision }) => decision).join(", ");
const chain = (explanation: Explanation): string =>
  explanation.chain.map(({ targets }) => targets.map(({ upstream, decision }) => `${upstream} ${decision}`)).join(", ");
const reasons = (explanation: Explanation): readonly string[] =>
  explanation.chain.flatMap(({ targets }) => targets.map(({ reason }) => reason));

interface Case {
  readonly asked: Partial<Question>;
  readonly status: number;
  readonly code?: string;
  readonly decisions: string;
  readonly chain: string;
  readonly reasons: readonly string[];
}

/** The first target of the model. */
const { upstream: FIRST, model: FIRST_MODEL } = loaded.snapshot.models["route/swift"]!.chain[0]!.targets[0]!;
const ALL = "passed, passed, passed, passed, passed, passed";
const CASES: Readonly<Record<string, Case>> = {
  "a request that is served": {
    asked: { tier: "Lite" },
    status: 200,
    decisions: ALL,
    chain: "aurora served, borealis not tried",
    reasons: ["", "aurora served"],
  },
  "a plan that may not call the model": {
    asked: { tier: "Free" },
    status: 403,
    code: "MODEL_NOT_ALLOWED",
    decisions: "passed, refused, not reached, not reached, not reached, passed",
    chain: "aurora not tried, borealis not tried",
    reasons: ["refused by plan-check", "refused by plan-check"],
  },
  "a target whose keys rest": {
    asked: {
      tier: "Lite",
      resting: [{ upstream: FIRST, model: FIRST_MODEL, until: NOW + 30_000, reason: "rate limit (429)" }],
    },
    status: 200,
    decisions: ALL,
    chain: "aurora skipped, borealis served",
    reasons: ["its key is resting until 2026-01-05T12:00:37.000Z: rate limit (429)", ""],
  },
  "another model of the upstream whose keys rest": {
    asked: { tier: "Lite", resting: [{ upstream: FIRST, model: "other", until: NOW + 30_000, reason: "" }] },
    status: 200,
    decisions: ALL,
    chain: "aurora served, borealis not tried",
    reasons: ["", "aurora served"],
  },
  "an upstream that is down": {
    asked: { tier: "Lite", faults: { aurora: "down" } },
    status: 200,
    decisions: ALL,
    chain: "aurora failed, borealis served",
    reasons: ["connect: upstream could not be reached", ""],
  },
  "an open breaker, and a status": {
    asked: { tier: "Lite", open: ["aurora"], faults: { borealis: "?status=503" } },
    status: 502,
    code: "PROVIDER_ERROR",
    decisions: "passed, passed, passed, passed, refused, passed",
    chain: "aurora skipped, borealis failed",
    reasons: [expect.stringMatching(/^its breaker is open until 2026-01-05T12:00:/), "status: upstream answered 503"],
  },
  "a body that is not what the endpoint takes": {
    asked: { tier: "Lite", body: { temperature: "hot" } },
    status: 400,
    code: "INVALID_REQUEST",
    decisions: "passed, not reached, not reached, not reached, not reached, not reached",
    chain: "aurora not tried, borealis not tried",
    reasons: ["the request was refused before", "the request was refused before"],
  },
  "a user at their limit": {
    asked: {
      caller: {
        ...CALLER,
        used: { ...CALLER.used, windows: { ...CALLER.used.windows, minute: { ...FRESH, used: 100 } } },
      },
    },
    status: 429,
    code: "RATE_LIMIT_ERROR",
    decisions: "passed, passed, refused, not reached, not reached, passed",
    chain: "aurora not tried, borealis not tried",
    reasons: ["refused by quota", "refused by quota"],
  },
  "a user whose streams take all slots": {
    asked: { stream: true, caller: { ...CALLER, used: { ...CALLER.used, streams: 50 } } },
    status: 429,
    code: "RATE_LIMIT_ERROR",
    decisions: "passed, passed, refused, not reached, not reached, passed",
    chain: "aurora not tried, borealis not tried",
    reasons: ["refused by quota", "refused by quota"],
  },
  "a user whose credits are held": {
    asked: { caller: { ...CALLER, held: CALLER.balance } },
    status: 402,
    code: "INSUFFICIENT_CREDITS",
    decisions: "passed, passed, refused, not reached, not reached, passed",
    chain: "aurora not tried, borealis not tried",
    reasons: ["refused by quota", "refused by quota"],
  },
  "a user of a plan that there is no longer": {
    asked: { caller: { ...CALLER, tier: "Gone" } },
    status: 403,
    code: "MODEL_NOT_ALLOWED",
    decisions: "passed, refused, not reached, not reached, not reached, passed",
    chain: "aurora not tried, borealis not tried",
    reasons: ["refused by plan-check", "refused by plan-check"],
  },
  "a revoked key": {
    asked: { caller: { ...CALLER, keyIsLive: false } },
    status: 401,
    code: "AUTHENTICATION_ERROR",
    decisions: "refused, not reached, not reached, not reached, not reached, not reached",
    chain: "aurora not tried, borealis not tried",
    reasons: ["refused by auth", "refused by auth"],
  },
};

describe("what is explained", () => {
  test.each(Object.entries(CASES))("%s", async (_name, { asked, status, code = null, ...expected }) => {
    const explanation = await ask(asked);
    expect(explanation.answer).toMatchObject({ status, code });
    expect(decisions(explanation)).toBe(expected.decisions);
    expect(chain(explanation)).toBe(expected.chain);
    expect(reasons(explanation)).toEqual(expected.reasons);
  });
});

/** One model of each kind, with a plan that may call it. */
const KINDS = Object.values(Object.groupBy(Object.values(loaded.snapshot.models), ({ kind }) => kind)).map(
  ([model]) => model!,
);
const everyUpstream = (script: string) =>
  Object.fromEntries(Object.keys(loaded.snapshot.upstreams).map((name) => [name, script]));
const WAYS: Readonly<Record<string, Partial<Question>>> = {
  served: {},
  "of a stream": { stream: true },
  "of a user": { caller: CALLER },
  "with every upstream down": { faults: everyUpstream("down") },
  "with every answer a failure": { faults: everyUpstream("?status=503") },
  "with a prompt in a cache": { faults: everyUpstream("?usage.cached=1&usage.cache_write=1"), promptTokens: 5 },
  "with an answer that is none": { faults: everyUpstream("?malformed_after=0") },
  "with every breaker open": { open: Object.keys(loaded.snapshot.upstreams) },
};

test.each(Object.entries(WAYS))(
  "an explanation %s is as the admin API describes it, of each kind",
  async (_way, asked) => {
    expect(KINDS.length).toBeGreaterThan(3);
    for (const { id, kind, tier } of KINDS) {
      const explanation = await ask({ model: id, tier, ...asked });
      expect([kind, faults(DOCUMENT, ["components", "schemas", "Explanation"], explanation)]).toEqual([kind, []]);
    }
  },
);

const used = (count: number, length: number) => ({
  used: count,
  limit: null,
  resetsAt: NOW - (NOW % length) + length,
});

test("counters are those the user would have after it, with what they bring", async () => {
  const windows = { day: used(40, 86_400_000), hour: used(9, 3_600_000), minute: used(3, 60_000) };
  const { limits, credits } = await ask({ caller: { ...CALLER, used: { windows, streams: 2 } } });
  expect(limits).toMatchObject({
    day: { limit: 500, used: 41, left: 459 },
    hour: { limit: null, used: 10, left: null },
    minute: { limit: 100, used: 4, left: 96, resets_at: "2026-01-05T12:01:00.000Z" },
    streams: { limit: 50, running: 2 },
  });
  expect(credits).toMatchObject({ balance: "2", held: "0.5", enforced: true });
});

test("the expected charge is of the tokens that are named, else of what is held", async () => {
  const held = await ask({ tier: "Lite" });
  expect(held.charge).toMatchObject({ expected: held.credits.hold, usage: { completion: 1024 } });
  const named = await ask({ tier: "Lite", promptTokens: 1_000_000, outputTokens: 2_000 });
  // 0.5 a million of input, 1.5 a million of output.
  expect(named.charge).toMatchObject({ expected: "0.503", usage: { prompt: 1_000_000, completion: 2_000 } });
  const faults = { aurora: "?usage.cached=1&usage.cache_write=2" };
  const cached = await ask({ tier: "Lite", promptTokens: 9, faults });
  expect(cached.charge.usage).toMatchObject({ prompt: 9, cached: 1, cache_write: 2 });
  expect(explanationText(cached)).toContain("1 cached tokens, 2 tokens written to a cache");
});

test("what a dialect cannot be told is named at every step of the chain, tried or not", async () => {
  const upstreams = { ...loaded.snapshot.upstreams };
  upstreams["borealis"] = { ...upstreams["borealis"]!, dialect: "anthropic" };
  const swift = { ...loaded.snapshot.models["route/swift"]!, features: ["tools", "audio"] };
  const models = { ...loaded.snapshot.models, "route/swift": swift };
  const swapped = { ...loaded, snapshot: { ...loaded.snapshot, upstreams, models } };
  const body = { logit_bias: { 50256: -100 } };
  const explanation = await explain(swapped, { model: "route/swift", tier: "Lite", now: NOW, body });
  const dropped = explanation.chain.map(({ targets: [target] }) => target!.dropped);
  expect(dropped).toEqual([[], ["/logit_bias"]]);
  expect(explanation.chain[1]!.targets[0]!.lost_features).toEqual(["audio"]);
  expect(explanationText(explanation)).toContain("cannot be told /logit_bias, feature audio");
});

test.each([
  [{ model: "route/swft" }, "there is no model route/swft: did you mean route/swift?"],
  [{ tier: "Lit" }, "there is no tier Lit: did you mean Lite?"],
  [{ tier: "Lite", faults: { aurroa: "down" } }, "there is no upstream aurroa: did you mean aurora?"],
  [{ tier: "Lite", open: ["aurroa"] }, "there is no upstream aurroa: did you mean aurora?"],
  [{ tier: "Lite", faults: { aurora: "?statsu=500" } }, "Did you mean 'status'?"],
])("%j is a question that cannot be answered", async (asked, message) => {
  await expect(ask({ tier: "Lite", ...asked })).rejects.toThrow(message);
});

test("as text", async () => {
  const explanation = await ask({ tier: "Lite", faults: { aurora: "down" } });
  const hash = explanation.request.hash.slice(0, 12);
  expect(explanationText(explanation)).toBe(`route/swift (chat) for a user of Lite, at chat; configuration ${hash}
→ 200 served by borealis

stages
  identify  auth          passed
  admit     plan-check    passed  Lite may call models of Lite
  admit     quota         passed  counts 1 of the day, holds 0.0015375
  guard     breaker       passed  aurora: passed, borealis: passed
  relay     stream-relay  passed  borealis serves
  account   meter         passed  charges 0.0015375

chain
  1.  aurora    aurora-1           openai  failed  connect: upstream could not be reached
  2.  borealis  borealis-medium-2  openai  served

limits
  day      1 of 500 used, 499 left  until 2026-01-06T00:00:00Z
  hour     no limit
  minute   1 of 100 used, 99 left   until 2026-01-05T12:01:00Z
  streams  0 of 50 run

credits
  balance          enough
  hold             0.0015375 USD
  expected charge  0.0015375 USD  for 3 prompt tokens, 1024 output tokens
`);
});

const notAsked = (): never => {
  throw new Error("not asked");
};

test("a process answers one question at a time", async () => {
  const asked = Promise.withResolvers<null>();
  const explainer = new Explainer({
    loaded: () => loaded,
    store: {
      findUser: () => asked.promise,
      windows: () => Promise.reject(new Error("not asked")),
      running: () => Promise.reject(new Error("not asked")),
      listKeys: () => Promise.reject(new Error("not asked")),
    },
    breakers: () => [["aurora", "open"]],
    resting: () => [],
    manual: () => [],
    now: () => NOW,
  });
  const first = explainer.answer({ model: "route/swift", user: "somebody" });
  await expect(explainer.answer({ model: "route/swift", tier: "Lite" })).rejects.toMatchObject({ code: "OVERLOADED" });
  asked.resolve(null);
  await expect(first).rejects.toMatchObject({ code: "INVALID_REQUEST", message: expect.stringContaining("somebody") });
  const explained = await explainer.answer({ model: "route/swift", tier: "Lite" });
  expect("chain" in explained && chain(explained)).toBe("aurora skipped, borealis served");
});

test("a plan has to be named, unless the only one may call every model", async () => {
  const process = {
    store: { findUser: () => null, windows: notAsked, running: notAsked, listKeys: notAsked },
    breakers: () => [],
    resting: () => [],
    manual: () => [],
    now: () => NOW,
  };
  const several = new Explainer({ ...process, loaded: () => loaded });
  await expect(several.answer({ model: "route/swift" })).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    message: expect.stringContaining("/tier"),
  });
  const shortest = await loadOffline({ file: "docs/shortest.yaml", env: {} });
  const one = new Explainer({ ...process, loaded: () => shortest });
  expect(await one.answer({ model: "route/llama" })).toMatchObject({
    request: { tier: "Open" },
    answer: { status: 200, upstream: "ollama" },
  });
});

test("a plugin that never ends is told, and keeps no process from the next question", async () => {
  let never = true;
  const relay = loaded.steps.findIndex(({ plugin }) => plugin.stage === "relay");
  const { plugin, ...step } = loaded.steps[relay]!;
  const hanging: typeof plugin = {
    ...plugin,
    setup: async (options, host) => (never ? { relay: () => new Promise(() => {}) } : plugin.setup(options, host)),
  };
  const explainer = new Explainer({
    loaded: () => ({ ...loaded, steps: loaded.steps.with(relay, { ...step, plugin: hanging }) }),
    store: { findUser: () => null, windows: notAsked, running: notAsked, listKeys: notAsked },
    breakers: () => [],
    resting: () => [],
    manual: () => [],
    now: () => NOW,
  });
  const question = { model: "route/swift", tier: "Lite" };
  await expect(explainer.answer(question)).rejects.toThrow("waits for nothing that can happen");
  never = false;
  const explained = await explainer.answer(question);
  expect("chain" in explained && chain(explained)).toBe("aurora served, borealis not tried");
});
