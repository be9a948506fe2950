import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Store, StreamEvent } from "../../src/kit/index.ts";
import { Bench, settle } from "../support/bench.ts";
import { chunk, FakeSource } from "../support/source.ts";
import { plugin } from "../support/spy.ts";
import { answers, fails, hangs, type Play, streams, streamsFrom } from "../support/upstream.ts";
import { RUNS } from "../properties/runs.ts";

const BEAT = ": keep-alive\n\n";
const DONE = "data: [DONE]\n\n";
const HEARTBEAT = 15_000;

/** An attempt that waits until it is let go, then plays. */
function held(play: Play): { readonly play: Play; readonly release: () => void } {
  const gate = Promise.withResolvers<void>();
  return {
    play: async (...args) => {
      await gate.promise;
      return play(...args);
    },
    release: () => gate.resolve(),
  };
}

/** The texts of all content deltas a client received. */
function contents(text: string): string {
  return text
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: {"))
    .map(
      (frame) =>
        (JSON.parse(frame.slice(6)) as { choices?: { delta?: { content?: string } }[] }).choices?.[0]?.delta?.content ??
        "",
    )
    .join("");
}

describe("heartbeat", () => {
  test("a silent upstream: the answer starts with a comment, then goes on as any other", async () => {
    const bench = await Bench.create();
    const upstream = held(streams());
    bench.upstream.play(upstream.play);
    const { client, done } = bench.stream();
    await settle();
    bench.clock.advance(HEARTBEAT - 1);
    expect(client.stream).toBeNull();
    bench.clock.advance(1);
    expect(client.stream?.headers).toMatchObject({ "X-RateLimit-Remaining-Day": "999" });
    expect(client.text).toBe(BEAT);
    bench.clock.advance(HEARTBEAT);
    expect(client.text).toBe(BEAT + BEAT);
    upstream.release();
    await done;
    expect(contents(client.text)).toBe("Hello world");
    expect(client.writes.at(-1)).toBe(DONE);
    await bench.audit();
  });

  test("the chain still fails over after it, and its failure is then an error event, given back", async () => {
    const bench = await Bench.create();
    const upstream = held(fails("timeout"));
    bench.upstream.play(upstream.play, fails("timeout", "upstream was slow"));
    const { client, done } = bench.stream();
    await settle();
    bench.clock.advance(HEARTBEAT);
    upstream.release();
    await done;
    expect(bench.upstream.attempts.map(({ target }) => target.upstream)).toEqual(["alpha", "beta"]);
    expect(client.text).toBe(
      `${BEAT}data: {"error":{"message":"Every upstream timed out: upstream timeout; upstream was slow","type":"api_error"}}\n\n${DONE}`,
    );
    expect(bench.observer.finishes[0]?.outcome).toMatchObject({ kind: "failed", begun: false, giveBack: true });
    expect(await bench.used()).toEqual({ day: 0, hour: 0, minute: 0 });
    await bench.audit();
  });

  test.each([
    ["killed", DONE, 1],
    ["shutdown", `data: {"error":{"message":"Server is shutting down","type":"api_error"}}\n\n${DONE}`, 0],
  ] as const)("%s after it, before anything came", async (reason, last, counts) => {
    const bench = await Bench.create();
    bench.upstream.play(hangs);
    const { client, done } = bench.stream();
    await settle();
    bench.clock.advance(HEARTBEAT);
    client.abort(reason);
    await done;
    expect(client.text).toBe(BEAT + last);
    expect(await bench.used()).toEqual({ day: counts, hour: counts, minute: counts });
    expect(await bench.store.ledger("ann")).toHaveLength(counts);
    await bench.audit();
  });

  test("fills silences of a running stream, and only those", async () => {
    const bench = await Bench.create();
    const source = new FakeSource().emit(chunk({ content: "a" }));
    bench.upstream.play(streamsFrom(source));
    const { client, done } = bench.stream();
    await expect.poll(() => source.opened).toBe(true);
    for (let i = 0; i < 5; i += 1) {
      bench.clock.advance(HEARTBEAT - 1);
      source.emit(chunk({ content: "b" }));
    }
    expect(client.text).not.toContain(BEAT);
    bench.clock.advance(3 * HEARTBEAT);
    expect(client.writes.filter((text) => text === BEAT)).toHaveLength(3);
    source.finish();
    await done;
    expect(contents(client.text)).toBe("abbbbb");
    await bench.audit();
  });

  test.each([
    ["settling", "settle"],
    ["reading the counters", "windows"],
  ] as const)("does not turn a failure into a 200 while %s takes long", async (_, method) => {
    let bench: Bench | undefined;
    const slow = async (store: Store, ...args: readonly unknown[]): Promise<unknown> => {
      bench?.clock.advance(10 * HEARTBEAT);
      return Reflect.apply(store[method] as (...args: readonly unknown[]) => unknown, store, args);
    };
    bench = await Bench.create({
      override: (store) => ({ [method]: (...args: readonly unknown[]) => slow(store, ...args) }),
    });
    bench.upstream.play(fails("connect"));
    const { client } = bench.stream();
    await bench.audit();
    expect(client.refused?.error).toMatchObject({ code: "PROVIDER_ERROR" });
  });

  test("a request that does not stream never gets one", async () => {
    const bench = await Bench.create();
    const upstream = held(answers());
    bench.upstream.play(upstream.play);
    const { client, done } = bench.request();
    await settle();
    bench.clock.advance(10 * HEARTBEAT);
    upstream.release();
    await done;
    expect(client.writes).toEqual([]);
    expect(client.answered?.status).toBe(200);
    await bench.audit();
  });
});

async function started(): Promise<{ bench: Bench; source: FakeSource; client: Bench["requests"][0]["client"] }> {
  const bench = await Bench.create();
  const source = new FakeSource();
  bench.upstream.play(streamsFrom(source));
  const { client } = bench.stream();
  await expect.poll(() => source.opened).toBe(true);
  return { bench, source, client };
}

describe("back-pressure", () => {
  test("a full buffer pauses the upstream until it has drained", async () => {
    const { bench, source, client } = await started();
    client.block();
    source.emit(chunk({ content: "a" }));
    expect(source.paused).toBe(true);
    source.emit(chunk({ content: "b" })).emit(chunk({ content: "c" }));
    expect(contents(client.text)).toBe("a");
    client.drain();
    expect(contents(client.text)).toBe("abc");
    expect(source).toMatchObject({ pauses: 1, resumes: 1 });
    source.finish();
    await bench.audit();
  });

  test("an event that the client does not see does not pause", async () => {
    const { bench, source, client } = await started();
    client.block();
    source.emit({ data: { usage: {} }, text: "", usage: { prompt: 1, completion: 1, cached: 0, reasoning: 0 } });
    expect(source.paused).toBe(false);
    source.finish();
    await bench.audit();
  });

  test.each(["client_gone", "killed", "shutdown"] as const)("%s while paused ends the upstream", async (reason) => {
    const { bench, source, client } = await started();
    client.block();
    source.emit(chunk({ content: "a" }), chunk({ content: "b" }));
    client.abort(reason);
    expect(source.cancelled).toBe(true);
    await bench.audit();
    // Once, for what it held: that was produced too.
    const { resumes } = source;
    expect(resumes).toBe(1);
    client.drain();
    expect(source.resumes).toBe(resumes);
  });

  test("a buffer that drains after the end resumes nothing", async () => {
    const { bench, source, client } = await started();
    client.block();
    source.emit(chunk({ content: "a" }));
    client.drain();
    client.drain();
    source.finish();
    await bench.audit();
    client.drain();
    expect(source.resumes).toBe(1);
  });

  test("whatever the order of reads and drains: everything arrives in order, and nothing is written to a full buffer", async () => {
    const action = fc.oneof(
      fc.record({
        kind: fc.constant("read" as const),
        batch: fc.array(fc.string({ maxLength: 3 }), { minLength: 1, maxLength: 3 }),
      }),
      fc.constant({ kind: "block" as const }),
      fc.constant({ kind: "drain" as const }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 30 }), async (actions) => {
        const { bench, source, client } = await started();
        let full = false;
        let writesWhileFull = 0;
        client.onWrite = () => {
          if (full) writesWhileFull += 1;
          full = client.blocked;
        };
        for (const step of actions) {
          if (step.kind === "read") source.emit(...step.batch.map((content) => chunk({ content })));
          else if (step.kind === "block") client.block();
          else {
            full = false;
            client.drain();
          }
        }
        full = false;
        client.drain();
        source.finish();
        await bench.audit();
        const sent = actions.flatMap((step) => (step.kind === "read" ? step.batch : []));
        expect(contents(client.text)).toBe(sent.join(""));
        expect(writesWhileFull).toBe(0);
      }),
      { numRuns: Math.ceil(RUNS / 5) },
    );
  });
});

// Without raw text and count, as a plugin makes an event anew.
const shout = ({ data, text }: StreamEvent): StreamEvent => {
  const choices = [{ index: 0, delta: { content: text.toUpperCase() } }];
  return { data: { ...data, choices }, text };
};

describe("event hooks", () => {
  test("change what the client reads, not what is charged", async () => {
    const bench = await Bench.create({
      plugins: [plugin("shout", "transform", { event: shout })],
      pipeline: ["auth", "quota", "shout", "stream-relay", "meter"],
    });
    const { client, done } = bench.stream();
    await done;
    expect(contents(client.text)).toBe("HELLO WORLD");
    expect(bench.observer.finishes[0]?.outcome.bill.charge).toBe(20_000n);
    await bench.audit();
  });
});
