import { describe, expect, test } from "vitest";
import streamRelay from "../../plugins/stream-relay.ts";
import {
  AttemptError,
  type FailureClass,
  GatewayError,
  type Model,
  type Open,
  type Reply,
} from "../../src/kit/index.ts";
import { testExchange } from "../support/exchange.ts";
import { step, testModel, testSnapshot, testTarget, testUpstream } from "../support/snapshot.ts";
import { pluginHost, setUp } from "./harness.ts";

const NAMES = ["alpha", "beta", "gamma", "delta"];

type Ending = FailureClass | "served" | Error;

interface Played {
  readonly tried: readonly string[];
  readonly result: Promise<Reply>;
}

interface Options {
  readonly chain?: Model["chain"];
  readonly deadline?: number;
  /** Milliseconds each attempt takes. */
  readonly takes?: number;
  readonly signal?: AbortSignal;
  /** Breakers that are open until so many milliseconds from now. */
  readonly open?: Readonly<Record<string, number>>;
  readonly onAttempt?: () => void;
}

/** Relays over a chain whose attempts end as told, in order. */
async function relay(endings: readonly Ending[], options: Options = {}): Promise<Played> {
  const chain = options.chain ?? endings.map((_, index) => step(NAMES[index]!));
  const snapshot = testSnapshot({
    upstreams: NAMES.map((name) => testUpstream(name)),
    models: [testModel("route/free", { chain, deadline: options.deadline ?? 60_000 })],
  });
  const host = await pluginHost({ snapshot });
  for (const [name, wait] of Object.entries(options.open ?? {})) {
    Object.assign(host.breakers.get(name)!, { state: "open", retryAt: host.now() + wait });
  }
  const tried: string[] = [];
  const open: Open = async (target) => {
    const ending = endings[tried.length]!;
    tried.push(target.upstream);
    options.onAttempt?.();
    if (ending !== "skipped") host.clock.advance(options.takes ?? 0);
    if (ending === "served") return { type: "answer" as const, target, body: {}, usage: null };
    throw ending instanceof Error ? ending : new AttemptError(ending, `${target.upstream} ${ending}`);
  };
  const hooks = await setUp(streamRelay, {}, host);
  return { tried, result: hooks.relay!(testExchange(snapshot, { signal: options.signal }), open) };
}

describe("the chain", () => {
  test.each<readonly [string, readonly Ending[], number]>([
    ["the first that serves serves", ["served", "served"], 1],
    ["every failure but the client's fails over", ["connect", "timeout", "reset", "served"], 4],
    ["also statuses, rate limits, credentials", ["status", "rate_limited", "credentials", "served"], 4],
    ["also broken protocol and skipped upstreams", ["protocol", "skipped", "served"], 3],
    ["also what is no fault of the client's", ["quota", "declined", "parameter", "served"], 4],
    ["also upstreams whose keys rest", ["resting", "served"], 2],
  ])("%s", async (_, endings, count) => {
    const { tried, result } = await relay(endings);
    expect((await result).target.upstream).toBe(NAMES[count - 1]);
    expect(tried).toEqual(NAMES.slice(0, count));
  });

  test("the targets of a step are tried in the host's order, then the next step", async () => {
    const shared = { balance: "weighted" as const, targets: [testTarget("gamma"), testTarget("alpha")] };
    const { tried, result } = await relay(["status", "status", "served"], { chain: [shared, step("beta")] });
    await result;
    expect(tried).toEqual(["gamma", "alpha", "beta"]);
  });
});

describe("the verdict", () => {
  test.each<readonly [readonly Ending[], string, string]>([
    [["skipped"], "CIRCUIT_BREAKER_OPEN", "Circuit breaker open for an upstream"],
    [["skipped", "skipped"], "CIRCUIT_BREAKER_OPEN", "Circuit breaker open for an upstream"],
    [["timeout"], "PROVIDER_TIMEOUT", "Every upstream timed out: alpha timeout"],
    [["timeout", "timeout"], "PROVIDER_TIMEOUT", "Every upstream timed out: alpha timeout; beta timeout"],
    [["skipped", "timeout"], "PROVIDER_TIMEOUT", "Every upstream timed out: beta timeout"],
    [["timeout", "skipped", "timeout"], "PROVIDER_TIMEOUT", "Every upstream timed out: alpha timeout; gamma timeout"],
    [["timeout", "status"], "PROVIDER_ERROR", "Every upstream failed: alpha timeout; beta status"],
    [["skipped", "connect"], "PROVIDER_ERROR", "Every upstream failed: beta connect"],
    [["rate_limited"], "PROVIDER_ERROR", "Every upstream failed: alpha rate_limited"],
    [["credentials"], "PROVIDER_ERROR", "Every upstream failed: alpha credentials"],
    [["protocol"], "PROVIDER_ERROR", "Every upstream failed: alpha protocol"],
    [["resting"], "CIRCUIT_BREAKER_OPEN", "Every upstream is cooling down"],
    [["resting", "resting"], "CIRCUIT_BREAKER_OPEN", "Every upstream is cooling down"],
    [["skipped", "resting"], "CIRCUIT_BREAKER_OPEN", "Circuit breaker open for an upstream"],
    [["resting", "status"], "PROVIDER_ERROR", "Every upstream failed: beta status"],
    [["parameter", "declined"], "PROVIDER_ERROR", "Every upstream failed: alpha parameter; beta declined"],
  ])("%j: %s", async (endings, code, message) => {
    await expect((await relay(endings)).result).rejects.toMatchObject({ code, message });
  });

  test("says the same cause once", async () => {
    const { result } = await relay([new AttemptError("status", "busy"), new AttemptError("status", "busy")]);
    await expect(result).rejects.toMatchObject({ message: "Every upstream failed: busy" });
  });

  test.each([
    [{ alpha: 9_001, beta: 2_500 }, 3],
    [{ alpha: 1, beta: 1 }, 1],
    [{ alpha: -5_000, beta: 60_000 }, 1],
  ])("open breakers %j: come back in %d s", async (open, retryAfter) => {
    const { result } = await relay(["skipped", "skipped"], { open });
    await expect(result).rejects.toMatchObject({ details: { retryAfter } });
  });
});

test.each([
  [[9_001, 2_500], 3],
  [[null, 60_000], 1],
])("keys that rest for %j ms: come back in %d s", async (waits, retryAfter) => {
  const rests = waits.map((wait) => new AttemptError("resting", "every key rests", { retryAfter: wait }));
  await expect((await relay(rests)).result).rejects.toMatchObject({ details: { retryAfter } });
});

/** A chain of targets with windows of so many tokens. */
const sized = (...windows: readonly (number | null)[]): Model["chain"] =>
  windows.map((contextWindow, index) => ({
    balance: "single",
    targets: [testTarget(NAMES[index]!, { contextWindow })],
  }));

describe("a prompt beyond a window", () => {
  test.each<readonly [string, readonly (number | null)[], readonly Ending[], readonly string[], string]>([
    ["a larger one", [8, 16], ["context_overflow", "served"], ["alpha", "beta"], "served"],
    ["smaller ones are left out", [8, 4, 8, 16], ["context_overflow", "served"], ["alpha", "delta"], "served"],
    ["none is larger", [16, 8], ["context_overflow"], ["alpha"], "INVALID_REQUEST"],
    [
      "the largest is too small",
      [8, 16],
      ["context_overflow", "context_overflow"],
      ["alpha", "beta"],
      "INVALID_REQUEST",
    ],
    ["an unknown one is none larger", [8, null], ["context_overflow"], ["alpha"], "INVALID_REQUEST"],
    ["the larger one fails", [8, 16], ["context_overflow", "status"], ["alpha", "beta"], "PROVIDER_ERROR"],
    [
      "the larger one cannot be tried",
      [8, 16],
      ["context_overflow", "resting"],
      ["alpha", "beta"],
      "CIRCUIT_BREAKER_OPEN",
    ],
    ["behind a failure", [8, 4], ["status", "context_overflow"], ["alpha", "beta"], "INVALID_REQUEST"],
  ])("%s: %j", async (_name, windows, endings, expected, verdict) => {
    const { tried, result } = await relay(endings, { chain: sized(...windows) });
    const code = await result.then(
      () => "served",
      (error: GatewayError) => error.code,
    );
    expect([tried, code]).toEqual([expected, verdict]);
  });

  test("is the client's fault in the outcome, too", async () => {
    const { result } = await relay(["context_overflow"], { chain: sized(8) });
    await expect(result).rejects.toMatchObject({ cause: { failure: "client_fault" } });
  });
});

describe("the client's fault", () => {
  test("ends the chain at once, with the upstream's words", async () => {
    const fault = new AttemptError("client_fault", "max_tokens is too large", { status: 400 });
    const { tried, result } = await relay(["status", fault, "served"]);
    await expect(result).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: "Invalid request: max_tokens is too large",
      cause: fault,
    });
    expect(tried).toEqual(["alpha", "beta"]);
  });

  test("a GatewayError of an attempt passes as it is", async () => {
    const refusal = new GatewayError("INVALID_REQUEST", "Invalid request: / is nested too deeply");
    await expect((await relay([refusal, "served"])).result).rejects.toBe(refusal);
  });
});

describe("the deadline of the whole chain", () => {
  test("passed: no further upstream is tried", async () => {
    const { tried, result } = await relay(["timeout", "served"], { deadline: 1_000, takes: 1_000 });
    await expect(result).rejects.toMatchObject({ code: "PROVIDER_TIMEOUT" });
    expect(tried).toEqual(["alpha"]);
  });

  test("not passed: the chain goes on", async () => {
    const { tried, result } = await relay(["status", "status", "served"], { deadline: 1_000, takes: 499 });
    await result;
    expect(tried).toHaveLength(3);
  });

  test("passed with other failures: what happened is said", async () => {
    const { result } = await relay(["status", "timeout", "served"], { deadline: 1_000, takes: 600 });
    await expect(result).rejects.toMatchObject({
      code: "PROVIDER_ERROR",
      message: "Every upstream failed: alpha status; beta timeout",
    });
  });

  test("one attempt is always made, also when admission took all the time", async () => {
    const { tried, result } = await relay(["served"], { deadline: 0 });
    await result;
    expect(tried).toEqual(["alpha"]);
  });
});

describe("nobody waits any more", () => {
  test("the chain ends with the attempt that was under way", async () => {
    const abort = new AbortController();
    const { tried, result } = await relay(["aborted", "served"], {
      signal: abort.signal,
      onAttempt: () => abort.abort("client_gone"),
    });
    await expect(result).rejects.toMatchObject({ failure: "aborted" });
    expect(tried).toEqual(["alpha"]);
  });
});
