import { describe, expect, test } from "vitest";
import { type AbortReason, GatewayError, type Outcome } from "../../src/kit/index.ts";
import { Bench, type BenchParts, settle } from "../support/bench.ts";
import { chunk, FakeSource } from "../support/source.ts";
import { reserving } from "../support/spy.ts";
import { answers, fails, hangs, type Play, streams, streamsFrom } from "../support/upstream.ts";

const DONE = "data: [DONE]\n\n";
const failureEvent = (message: string): string =>
  `data: ${JSON.stringify({ error: { message, type: "api_error" } })}\n\n${DONE}`;

/** 10 prompt tokens at 1 and 5 completion tokens at 2 per million, in nano-units. */
const CHARGE = 20_000n;
/** "user" and "hi", joined by a line end: two tokens; at 1 per million. */
const PROMPT = 2_000n;

interface Case {
  readonly name: string;
  readonly stream: boolean;
  readonly parts?: BenchParts;
  /** Plays the request to its end. */
  readonly play: (bench: Bench) => Promise<void>;
  readonly outcome: Partial<Outcome>;
  readonly charge: bigint;
  /** What the client of a stream reads last; null when nothing of a stream was sent. */
  readonly last?: string | null;
  /** Refusal of a request whose answer had not begun. */
  readonly refusal?: { readonly code: string; readonly message: string };
}

const request = (bench: Bench, stream: boolean) => bench.request({ body: { stream } });

function simple(stream: boolean, ...script: readonly [Play, ...Play[]]): (bench: Bench) => Promise<void> {
  return async (bench) => {
    bench.upstream.play(...script);
    await request(bench, stream).done;
  };
}

/** Aborts while the upstream has not answered. */
function abortedBefore(stream: boolean, reason: AbortReason): (bench: Bench) => Promise<void> {
  return async (bench) => {
    bench.upstream.play(hangs);
    const { client, done } = request(bench, stream);
    await expect.poll(() => bench.upstream.attempts.length).toBe(1);
    client.abort(reason);
    await done;
  };
}

/** Aborts after the first text of a stream. */
function abortedAfter(reason: AbortReason): (bench: Bench) => Promise<void> {
  return async (bench) => {
    const source = new FakeSource().emit(chunk({ content: "Hello " }));
    bench.upstream.play(streamsFrom(source));
    const { client, done } = request(bench, true);
    await expect.poll(() => source.opened).toBe(true);
    client.abort(reason);
    await done;
    expect(source.cancelled).toBe(true);
  };
}

const cut: Play = (target) => {
  const source = new FakeSource().emit(chunk({ content: "Hello " })).finish("upstream broke off");
  return { stream: true, target, source };
};

const clientFault = { code: "INVALID_REQUEST", message: "Invalid request: max_tokens is too large" };

const CASES: readonly Case[] = [
  { name: "an answer", stream: false, play: simple(false, answers()), outcome: { kind: "served", begun: true, giveBack: false, status: 200, code: null, attempts: 1 }, charge: CHARGE },
  { name: "a stream", stream: true, play: simple(true, streams()), outcome: { kind: "served", begun: true, giveBack: false, status: 200, code: null, attempts: 1 }, charge: CHARGE, last: DONE },
  { name: "an answer after one failed attempt", stream: false, play: simple(false, fails("connect"), answers()), outcome: { kind: "served", attempts: 2, target: expect.objectContaining({ upstream: "beta" }) as never }, charge: CHARGE },
  { name: "an answer without usage is estimated", stream: false, play: simple(false, answers(null)), outcome: { kind: "served", usage: null, bill: { usage: { prompt: 2, completion: 3, cached: 0, reasoning: 0 }, estimated: true, charge: PROMPT + 6_000n } }, charge: PROMPT + 6_000n },
  { name: "a stream without usage is estimated", stream: true, play: simple(true, streams(null)), outcome: { kind: "served", usage: null }, charge: PROMPT + 6_000n, last: DONE },
  { name: "every upstream failed", stream: false, play: simple(false, fails("connect"), fails("timeout")), outcome: { kind: "failed", begun: false, giveBack: true, status: 502, code: "PROVIDER_ERROR", attempts: 2 }, charge: 0n, refusal: { code: "PROVIDER_ERROR", message: "Every upstream failed: upstream connect; upstream timeout" } },
  { name: "every upstream failed before a stream began", stream: true, play: simple(true, fails("timeout")), outcome: { kind: "failed", begun: false, giveBack: true, status: 504, code: "PROVIDER_TIMEOUT", attempts: 2 }, charge: 0n, last: null, refusal: { code: "PROVIDER_TIMEOUT", message: "Every upstream timed out: upstream timeout" } },
  { name: "the client's fault counts and costs nothing", stream: false, play: simple(false, fails("client_fault", "max_tokens is too large")), outcome: { kind: "client_fault", begun: false, giveBack: false, status: 400, code: "INVALID_REQUEST", attempts: 1 }, charge: 0n, refusal: clientFault },
  { name: "the client's fault after another upstream failed", stream: true, play: simple(true, fails("status"), fails("client_fault", "max_tokens is too large")), outcome: { kind: "client_fault", giveBack: false, attempts: 2 }, charge: 0n, last: null, refusal: clientFault },
  { name: "a stream cut half-way", stream: true, play: simple(true, cut), outcome: { kind: "upstream_cut", begun: true, giveBack: false, status: 200 }, charge: PROMPT + 4_000n, last: failureEvent("upstream broke off") },
  { name: "client gone before anything came", stream: false, play: abortedBefore(false, "client_gone"), outcome: { kind: "client_gone", begun: false, giveBack: true, status: 499, code: null }, charge: 0n },
  { name: "client gone before a stream began", stream: true, play: abortedBefore(true, "client_gone"), outcome: { kind: "client_gone", begun: false, giveBack: true, status: 499, code: null }, charge: 0n },
  { name: "client gone half-way", stream: true, play: abortedAfter("client_gone"), outcome: { kind: "client_gone", begun: true, giveBack: false }, charge: PROMPT + 4_000n },
  { name: "killed before a stream began", stream: true, play: abortedBefore(true, "killed"), outcome: { kind: "killed", begun: false, giveBack: true, status: 200, code: null }, charge: 0n, last: DONE },
  { name: "killed half-way", stream: true, play: abortedAfter("killed"), outcome: { kind: "killed", begun: true, giveBack: false, status: 200, code: null }, charge: PROMPT + 4_000n, last: DONE },
  { name: "shutdown before an answer", stream: false, play: abortedBefore(false, "shutdown"), outcome: { kind: "shutdown", begun: false, giveBack: true, status: 503, code: "SHUTTING_DOWN" }, charge: 0n, refusal: { code: "SHUTTING_DOWN", message: "Server is shutting down" } },
  { name: "shutdown half-way", stream: true, play: abortedAfter("shutdown"), outcome: { kind: "shutdown", begun: true, giveBack: false }, charge: PROMPT + 4_000n, last: failureEvent("Server is shutting down") },
  { name: "cut streams are free where billing says so", stream: true, parts: { billing: { outcomes: { client_gone: "delivered", killed: "delivered", upstream_cut: "free", no_usage: "estimate" } } }, play: simple(true, cut), outcome: { kind: "upstream_cut", giveBack: false }, charge: 0n, last: failureEvent("upstream broke off") },
];

describe.each(CASES)("$name", ({ stream, parts, play, outcome, charge, last, refusal }) => {
  test("settles once, in reverse order, with the right outcome, charge, counters and last words", async () => {
    const journal: string[] = [];
    const outcomes: Outcome[] = [];
    const bench = await Bench.create({
      ...parts,
      plugins: [reserving("first", journal, outcomes), reserving("last", journal)],
      pipeline: ["auth", "first", "plan-check", "quota", "last", "breaker", "transform", "stream-relay", "meter"],
    });
    const before = await bench.balance();
    await play(bench);
    expect(journal).toEqual(["first admits", "last admits", "last settles", "first settles"]);
    expect(outcomes).toHaveLength(1);
    expect(outcomes[0]).toMatchObject(outcome);
    const given = outcomes[0]!.giveBack;
    expect(await bench.used()).toEqual(given ? { day: 0, hour: 0, minute: 0 } : { day: 1, hour: 1, minute: 1 });
    expect(before - (await bench.balance())).toBe(charge);
    const ledger = await bench.store.ledger("ann");
    expect(ledger.map((entry) => [entry.id, entry.requestId, entry.outcome, entry.charge])).toEqual(
      given ? [] : [["request-0", "client-request-0", outcomes[0]!.kind, charge]],
    );
    const [{ client }] = bench.requests as [(typeof bench.requests)[0]];
    if (stream && last !== undefined) {
      expect(client.stream === null).toBe(last === null);
      if (last !== null) expect(client.writes.at(-1)).toBe(last);
    }
    if (refusal) {
      expect(client.refused?.error).toBeInstanceOf(GatewayError);
      expect(client.refused?.error).toMatchObject(refusal);
      const remaining = client.refused?.headers["X-RateLimit-Remaining-Day"];
      expect(remaining).toBe(given ? "1000" : "999");
    }
    await bench.audit();
  });
});

test("the headers of a stream killed before it began show it given back", async () => {
  const bench = await Bench.create();
  await abortedBefore(true, "killed")(bench);
  expect(bench.requests[0]?.client.stream?.headers).toMatchObject({ "X-RateLimit-Remaining-Day": "1000" });
});

describe("what a breaker is told", () => {
  const results = (bench: Bench, name: string): readonly string[] =>
    bench.host.breakers.get(name)!.endings.map((result) => (result.ok ? "ok" : result.error.failure));

  test.each([
    ["a stream", simple(true, streams()), ["ok"], 1],
    ["an answer", simple(false, answers()), ["ok"], 0],
    ["a cut stream", simple(true, cut), ["reset"], 1],
    ["a stream given up by its client", abortedAfter("client_gone"), ["aborted"], 1],
    ["nothing yet when the client left", abortedBefore(true, "client_gone"), ["aborted"], 0],
    ["a refusal of the request", simple(false, fails("client_fault")), ["client_fault"], 0],
    ["a failure", simple(false, fails("status"), answers()), ["status"], 0],
    ["a fault of ours", simple(false, () => Promise.reject(new TypeError("bug"))), ["aborted"], 0],
  ] as const)("%s", async (_, play, endings, answered) => {
    const bench = await Bench.create();
    await play(bench);
    expect(results(bench, "alpha")).toEqual(endings);
    expect(bench.host.breakers.get("alpha")!.answered).toBe(answered);
    expect(bench.observer.attempts.map(({ target }) => target.upstream)[0]).toBe("alpha");
    await bench.audit();
  });

  test("a stream's permit ends with the stream, not with its first event", async () => {
    const bench = await Bench.create();
    const source = new FakeSource().emit(chunk({ content: "a" }));
    bench.upstream.play(streamsFrom(source));
    const { done } = bench.stream();
    await expect.poll(() => source.opened).toBe(true);
    await settle();
    expect(bench.host.breakers.get("alpha")!).toMatchObject({ running: 1, answered: 1 });
    source.finish();
    await done;
    await bench.audit();
  });

  test("an open breaker passes the request on and is not told of it", async () => {
    const bench = await Bench.create();
    bench.host.breakers.get("alpha")!.state = "open";
    bench.upstream.play(answers());
    expect((await bench.serve()).answered?.status).toBe(200);
    expect(results(bench, "alpha")).toEqual([]);
    expect(results(bench, "beta")).toEqual(["ok"]);
    await bench.audit();
  });
});

describe("a call that cannot be written for its upstream", () => {
  test("is the client's fault and given back: it was never sent", async () => {
    const bench = await Bench.create();
    bench.upstream.play(() => Promise.reject(new GatewayError("INVALID_REQUEST", "Invalid request: / is nested too deeply")));
    const client = await bench.serve();
    expect(client.refused?.error).toMatchObject({ code: "INVALID_REQUEST" });
    expect(bench.observer.finishes[0]?.outcome).toMatchObject({ kind: "refused", giveBack: true, status: 400 });
    await bench.audit();
  });
});

describe("settlement", () => {
  test("is durable before the client sees the end of its answer", async () => {
    for (const stream of [true, false]) {
      const bench = await Bench.create();
      bench.upstream.play(stream ? streams() : answers());
      const seen: unknown[] = [];
      const { client, done } = request(bench, stream);
      client.onEnd = () => {
        seen.push(bench.store.ledger("ann"));
      };
      await done;
      expect(await Promise.all(seen)).toEqual([[expect.objectContaining({ charge: CHARGE })]]);
    }
  });

  test("a store that fails to settle is told to the log; the answer and the other settlers go their way", async () => {
    const journal: string[] = [];
    const bench = await Bench.create({
      plugins: [reserving("first", journal)],
      pipeline: ["auth", "first", "quota", "breaker", "stream-relay", "meter"],
      override: () => ({ settle: () => Promise.reject(new Error("disk is gone")) }),
    });
    bench.upstream.play(answers());
    const client = await bench.serve();
    expect(client.answered?.status).toBe(200);
    expect(journal).toEqual(["first admits", "first settles"]);
    expect(bench.host.log.lines).toContainEqual(
      expect.objectContaining({ level: "error", message: "settlement failed", fields: expect.objectContaining({ id: "request-0" }) as object }),
    );
  });

  test.each([true, false])("a tokenizer that fails does not make an answer free (streamed: %s)", async (stream) => {
    const bench = await Bench.create({ countTokens: () => Promise.reject(new Error("worker died")) });
    bench.upstream.play(stream ? streams(null) : answers(null));
    await request(bench, stream).done;
    expect(bench.observer.finishes[0]?.outcome.bill).toMatchObject({ estimated: true, charge: PROMPT + 6_000n });
    await bench.audit();
  });

  test("an estimate of a long stream counts all of it", async () => {
    const bench = await Bench.create();
    const source = new FakeSource();
    const text = "x".repeat(1_000);
    for (let i = 0; i < 100; i += 1) source.emit(chunk({ content: text }));
    bench.upstream.play(streamsFrom(source.finish()));
    await bench.stream().done;
    expect(bench.observer.finishes[0]?.outcome.bill.usage.completion).toBe(25_000);
    await bench.audit();
  });
});
