import { describe, expect, test } from "vitest";
import type { StreamEvent, Thinking, Usage } from "../../src/kit/index.ts";
import { Bench, type BenchParts } from "../support/bench.ts";
import { chunk, FakeSource, usageChunk } from "../support/source.ts";
import { streamsFrom } from "../support/upstream.ts";
import { DONE } from "./outcome-cases.ts";

/* Models that think without showing it: what a client is charged that leaves such a stream (decisions 6.3a). */

const READ_ON_MS = 2_000;
const SILENT: Thinking = { effort: "high", whole: true };
const FINISH = chunk({}, { finish: "stop" });
/** "Hello " is two tokens to the bench. */
const HELLO = chunk({ content: "Hello " });
const VISIBLE = 2;
/** Output tokens that a request holds. */
const HOLD = 1_024;

const thought = (text: string, type = "reasoning.text"): StreamEvent => ({
  ...chunk({ reasoning_content: text, reasoning_details: [{ type }] }),
  text,
});
const counted = (reasoning: number): Usage => ({ prompt: 10, completion: reasoning + 5, cached: 4, reasoning });

async function begun(events: readonly StreamEvent[], parts: BenchParts = {}, thinking = SILENT, body = {}) {
  const bench = await Bench.create(parts);
  const open = async (events: readonly StreamEvent[]) => {
    const source = new FakeSource().emit(...events);
    bench.upstream.play(streamsFrom(source, thinking));
    const { client, done } = bench.request({ body: { stream: true, ...body } });
    await expect.poll(() => source.opened).toBe(true);
    const entry = async () => {
      await done;
      await bench.audit();
      return (await bench.store.ledger("ann")).at(-1)!;
    };
    return { bench, source, client, entry, open };
  };
  return open(events);
}

describe.each(["client_gone", "killed"] as const)("%s once a word has come", (reason) => {
  test("the upstream is read on; slot and hold are free and a killed stream has its end at once", async () => {
    const { bench, source, client, entry } = await begun([HELLO]);
    client.abort(reason);
    await expect.poll(() => bench.store.running("ann")).toEqual({ requests: 1, streams: 0, held: 0n });
    await expect.poll(() => client.ended).toBe(reason === "killed");
    expect(client.writes.at(-1) === DONE).toBe(reason === "killed");
    expect([source.cancelled, await bench.store.ledger("ann")]).toEqual([false, []]);
    source.emit(chunk({ content: "world" }));
    source.emit(FINISH, usageChunk(counted(3_000))).finish();
    expect(await entry()).toMatchObject({ outcome: reason, estimated: false, usage: counted(3_000) });
    expect(client.text).not.toContain("world");
  });

  test("what it held is charged when nothing is told within two seconds and nothing is known of the model", async () => {
    const { bench, source, client, entry } = await begun([HELLO]);
    client.abort(reason);
    bench.clock.advance(READ_ON_MS);
    expect(source.cancelled).toBe(true);
    const usage = { prompt: 2, completion: VISIBLE + HOLD, reasoning: HOLD };
    expect(await entry()).toMatchObject({ outcome: reason, estimated: true, usage });
  });

  test("a limit of the client's own is what it held", async () => {
    const { bench, client, entry } = await begun([HELLO], {}, SILENT, { max_tokens: 5_000 });
    client.abort(reason);
    bench.clock.advance(READ_ON_MS);
    expect(await entry()).toMatchObject({ usage: { reasoning: 5_000 } });
  });

  test("the mean of the model's recent requests at that effort is charged, and no less than a usual hold", async () => {
    for (const [before, expected] of [
      [[2_000, 4_000], 3_000],
      [[100, 200], HOLD],
      [[0, 0], 0],
    ] as const) {
      let last = await begun([HELLO]);
      last.source.emit(FINISH, usageChunk(counted(before[0]))).finish();
      await last.entry();
      last = await last.open([HELLO]);
      last.source.emit(FINISH, usageChunk(counted(before[1]))).finish();
      await last.entry();
      last = await last.open([HELLO]);
      last.client.abort(reason);
      last.bench.clock.advance(READ_ON_MS);
      expect((await last.entry()).usage).toMatchObject({ completion: VISIBLE + expected, reasoning: expected });
    }
  });

  test("a process that must end does not wait, and charges the estimate", async () => {
    const { source, client, entry } = await begun([HELLO]);
    client.abort(reason);
    client.abort("shutdown");
    expect(source.cancelled).toBe(true);
    expect(await entry()).toMatchObject({ outcome: reason, estimated: true, usage: { reasoning: HOLD } });
  });

  test("summaries of thoughts do not say how much was thought", async () => {
    for (const [events, thinking] of [
      [[thought("I think", "reasoning.summary"), HELLO], SILENT],
      [[thought("I think"), HELLO], { effort: "", whole: false }],
    ] as const) {
      const { bench, source, client, entry } = await begun(events, {}, thinking);
      client.abort(reason);
      expect(source.cancelled).toBe(false);
      bench.clock.advance(READ_ON_MS);
      expect((await entry()).usage).toMatchObject({ completion: VISIBLE + HOLD, reasoning: HOLD });
    }
  });

  test.each<readonly [string, readonly StreamEvent[], object, Partial<Usage>]>([
    ["all of its thoughts were shown", [thought("I think so."), HELLO], {}, { completion: 5, reasoning: 3 }],
    ["its thoughts were told before", [{ ...HELLO, usage: counted(700) }], {}, counted(700)],
    [
      "they were told in part",
      [{ ...HELLO, usage: counted(700), partial: true }],
      {},
      { completion: 705, reasoning: 700 },
    ],
    ["what breaks off is free", [HELLO], { [reason]: "free" }, { completion: VISIBLE + HOLD }],
  ])("it is ended at once if %s", async (_, events, outcomes, usage) => {
    const free = { client_gone: "delivered", killed: "delivered", upstream_cut: "delivered" } as const;
    const billing = { outcomes: { ...free, unanswered: "prompt", no_usage: "estimate", ...outcomes } as const };
    const { source, client, entry } = await begun(events, { billing });
    client.abort(reason);
    expect(source.cancelled).toBe(true);
    expect((await entry()).usage).toMatchObject(usage);
  });

  test("words behind the last count are charged beside it", async () => {
    const { bench, source, client, entry } = await begun([{ ...HELLO, usage: counted(700) }, HELLO]);
    client.abort(reason);
    expect(source.cancelled).toBe(true);
    bench.clock.advance(READ_ON_MS);
    expect((await entry()).usage).toMatchObject({ completion: 705 + VISIBLE, reasoning: 700, cached: 4 });
  });
});

test("a stream that its upstream cuts is charged no thoughts that nobody has seen", async () => {
  const { source, entry } = await begun([HELLO]);
  source.finish("upstream broke off");
  expect((await entry()).usage).toMatchObject({ completion: VISIBLE, reasoning: 0 });
});
