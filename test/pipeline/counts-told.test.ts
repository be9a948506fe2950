import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StreamEvent, Usage } from "../../src/kit/index.ts";
import { Bench, type BenchParts } from "../support/bench.ts";
import { chunk, FakeSource, usageChunk } from "../support/source.ts";
import { streamsFrom, USAGE } from "../support/upstream.ts";
import { CHARGE, DONE, PROMPT } from "./outcome-cases.ts";
import { RUNS } from "../properties/runs.ts";

const READ_ON_MS = 2_000;
const FINISH = chunk({}, { finish: "stop" });
/** Long prompts are read from the cache: at a tenth of the price it makes all the difference. */
const TOLD: Usage = { prompt: 100_010, completion: 1, cached: 100_000, reasoning: 0 };

/** A stream that has begun, in the test's hands. */
async function begun(...events: readonly StreamEvent[]) {
  return begunWith({}, ...events);
}

async function begunWith(parts: BenchParts, ...events: readonly StreamEvent[]) {
  const bench = await Bench.create(parts);
  const source = new FakeSource().emit(...events);
  bench.upstream.play(streamsFrom(source));
  const { client, done } = bench.stream();
  await expect.poll(() => source.opened).toBe(true);
  const entry = async () => {
    await done;
    await bench.audit();
    const [first] = await bench.store.ledger("ann");
    return first;
  };
  return { bench, source, client, done, entry };
}

describe.each(["client_gone", "killed"] as const)("%s after a finish reason", (reason) => {
  test("the upstream is read on, and what it then counts is charged", async () => {
    const { bench, source, client, entry } = await begun(chunk({ content: "Hello " }), FINISH);
    client.abort(reason);
    expect(source.cancelled).toBe(false);
    source.emit(usageChunk(USAGE)).finish();
    expect(await entry()).toMatchObject({ outcome: reason, estimated: false, usage: USAGE, charge: CHARGE });
    expect(bench.observer.attempts.map(({ result }) => result)).toEqual([{ ok: true }]);
    expect(client.writes.at(-1)).toBe(reason === "killed" ? DONE : client.writes.at(-1));
    expect(client.text).not.toContain('"usage"');
  });

  test("the slot and the hold are free at once; only the charge waits", async () => {
    const { bench, source, client, entry } = await begun(chunk({ content: "Hello " }), FINISH);
    client.abort(reason);
    await expect.poll(() => bench.store.running("ann")).toEqual({ requests: 1, streams: 0, held: 0n });
    await expect.poll(() => client.ended).toBe(reason === "killed");
    expect(await bench.store.ledger("ann")).toEqual([]);
    source.emit(usageChunk(USAGE));
    // No more is to be learnt: the upstream need not end first.
    expect(await entry()).toMatchObject({ charge: CHARGE });
    expect(source.cancelled).toBe(true);
  });

  test("an upstream that does not count is given up after two seconds, and estimated", async () => {
    const { bench, source, client, entry } = await begun(chunk({ content: "Hello " }), FINISH);
    client.abort(reason);
    bench.clock.advance(READ_ON_MS - 1);
    expect(source.cancelled).toBe(false);
    bench.clock.advance(1);
    expect(source.cancelled).toBe(true);
    expect(await entry()).toMatchObject({ outcome: reason, estimated: true, charge: PROMPT + 4_000n });
  });

  test("a process that must end does not wait", async () => {
    const { source, client, entry } = await begun(chunk({ content: "Hello " }), FINISH);
    client.abort(reason);
    client.abort("shutdown");
    expect(source.cancelled).toBe(true);
    expect(await entry()).toMatchObject({ outcome: reason, estimated: true, charge: PROMPT + 4_000n });
  });

  test("an upstream that has counted already is not waited for", async () => {
    const { source, client, entry } = await begun(chunk({ content: "Hello " }), FINISH, usageChunk(USAGE));
    client.abort(reason);
    expect(source.cancelled).toBe(true);
    expect(await entry()).toMatchObject({ estimated: false, charge: CHARGE });
  });

  test("it is owed where what breaks off is free: nothing broke off", async () => {
    const free = { client_gone: "free", killed: "free", upstream_cut: "free", no_usage: "free" } as const;
    const outcomes = { ...free, unanswered: "free" } as const;
    const { source, client, entry } = await begunWith({ billing: { outcomes } }, chunk({ content: "Hello " }), FINISH);
    client.abort(reason);
    source.emit(usageChunk(USAGE)).finish();
    expect(await entry()).toMatchObject({ estimated: false, charge: CHARGE });
  });

  test("also when the finish reason waited behind a slow client", async () => {
    const { source, client, entry } = await begun(chunk({ content: "He" }));
    client.block();
    source.emit(chunk({ content: "llo " }));
    source.emit(FINISH);
    client.abort(reason);
    source.emit(usageChunk(USAGE)).finish();
    expect(await entry()).toMatchObject({ estimated: false, charge: CHARGE });
  });
});

test("before a finish reason the upstream is ended at once", async () => {
  const { source, client, entry } = await begun(chunk({ content: "Hello " }));
  client.abort("client_gone");
  expect(source.cancelled).toBe(true);
  expect(await entry()).toMatchObject({ estimated: true, charge: PROMPT + 4_000n });
});

describe("a count at the start of a stream", () => {
  const started = { ...chunk({ role: "assistant", content: "" }, { usage: TOLD }), partial: true as const };

  test.each(["client_gone", "killed", "shutdown", "cut"] as const)(
    "stays when the stream ends by %s: only the output is estimated",
    async (how) => {
      const { source, client, entry } = await begun(started, chunk({ content: "Hello " }));
      if (how === "cut") source.finish("upstream broke off");
      else client.abort(how);
      const usage = { ...TOLD, completion: 2 };
      expect(await entry()).toMatchObject({ estimated: true, usage, charge: 100_010_000n + 4_000n });
    },
  );

  test("no estimate is below what was told of the output", async () => {
    const much = { ...TOLD, completion: 900, reasoning: 700 };
    const { source, entry } = await begun({ ...started, usage: much }, chunk({ content: "Hello " }));
    source.finish("upstream broke off");
    expect(await entry()).toMatchObject({ estimated: true, usage: much });
  });

  test("is not taken for the count of an answer that ends without another", async () => {
    const { bench, source, entry } = await begun(started, chunk({ content: "Hello " }), FINISH);
    source.finish();
    expect(await entry()).toMatchObject({ outcome: "served", estimated: true, usage: { ...TOLD, completion: 2 } });
    expect(bench.observer.finishes[0]?.outcome).toMatchObject({ usage: TOLD, usageComplete: false });
  });
});

test("a count that comes with every event leaves nothing to estimate", async () => {
  const { source, entry } = await begun(
    { ...chunk({ content: "Hello " }), usage: { ...USAGE, completion: 3 } },
    { ...chunk({ content: "world" }), usage: USAGE },
  );
  source.finish("upstream broke off");
  expect(await entry()).toMatchObject({ outcome: "upstream_cut", estimated: false, usage: USAGE, charge: CHARGE });
});

test("whatever is told, and wherever the stream ends: never less than told, and exact where all is told", async () => {
  const count = fc.record({
    prompt: fc.nat(1_000),
    cached: fc.nat(1_000),
    completion: fc.nat(50),
  });
  const event = fc.record({ text: fc.string({ maxLength: 12 }), count: fc.option(count), partial: fc.boolean() });
  const end = fc.constantFrom("client_gone", "killed", "shutdown", "cut", "whole");
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 6 }), end, async (events, how) => {
      let told: Usage | null = null;
      let isComplete = false;
      let isWhole = false;
      /** What was written behind the last count of everything; null before there was one. */
      let since: string | null = null;
      const sent = events.map(({ text, count, partial }) => {
        if (text !== "") isComplete = false;
        since = since === null ? null : since + text;
        if (count === null) return chunk({ content: text });
        told = { ...count, cached: Math.min(count.cached, count.prompt), reasoning: 0 };
        isComplete = isWhole = !partial;
        if (isComplete) since = "";
        return { ...chunk({ content: text }, { usage: told }), ...(partial && { partial }) };
      });
      const { source, client, entry } = await begun(...sent);
      if (how === "cut") source.finish("upstream broke off");
      else if (how === "whole") source.finish();
      else client.abort(how);
      const { usage, estimated } = (await entry())!;
      const known = told as Usage | null;
      const all = events.map(({ text }) => text).join("");
      const written = Math.ceil((since ?? all).length / 4);
      // A prompt of no tokens has not been counted yet.
      const { prompt, cached, completion } = known ?? { prompt: 0, cached: 0, completion: 0 };
      const reckoned = {
        prompt: prompt || 2,
        completion: known !== null && isWhole ? completion + written : Math.max(completion, written),
        cached,
        reasoning: 0,
      };
      expect(estimated).toBe(!isComplete);
      expect(usage).toEqual(isComplete ? known : reckoned);
    }),
    { numRuns: Math.ceil(RUNS / 5) },
  );
});
