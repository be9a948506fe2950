import { describe, expect, test } from "vitest";
import { decimal, GatewayError } from "../../src/kit/index.ts";
import { Bench, settle } from "../support/bench.ts";
import { chunk, FakeSource } from "../support/source.ts";
import { testModel } from "../support/snapshot.ts";
import { plugin, reserving } from "../support/spy.ts";
import { answers, fails, streams, streamsFrom } from "../support/upstream.ts";
import { abortedAfter, abortedBefore, CHARGE, cut, failureEvent, PROMPT, request, simple } from "./outcome-cases.ts";

const results = (bench: Bench, name: string): readonly string[] =>
  bench.host.breakers.get(name)!.endings.map((result) => (result.ok ? "ok" : result.error.failure));

describe("what a breaker is told", () => {
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

  test("a stream that ended by itself is not given up as well", async () => {
    const bench = await Bench.create();
    await simple(true, streams())(bench);
    expect(bench.upstream.sources.map(({ cancelled }) => cancelled)).toEqual([false]);
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
    bench.upstream.play(() =>
      Promise.reject(new GatewayError("INVALID_REQUEST", "Invalid request: / is nested too deeply")),
    );
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

  test("happens once, also when the answer cannot be written after it", async () => {
    const journal: string[] = [];
    const bench = await Bench.create({
      plugins: [
        reserving("first", journal),
        plugin("odd", "transform", {
          response: (body) => ({ ...body, n: 1n }),
          event: ({ data }) => ({ data: { ...data, n: 1n }, text: "" }),
        }),
      ],
      pipeline: ["auth", "first", "quota", "breaker", "odd", "stream-relay", "meter"],
    });
    bench.upstream.play(answers());
    expect((await bench.serve()).refused?.error).toMatchObject({ code: "INTERNAL" });
    bench.upstream.play(streams());
    expect((await bench.serve({ body: { stream: true } })).text).toBe(failureEvent("Internal server error"));
    expect(journal).toEqual(["first admits", "first settles", "first admits", "first settles"]);
    await bench.audit();
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
      expect.objectContaining({
        level: "error",
        message: "settlement failed",
        fields: expect.objectContaining({ id: "request-0" }) as object,
      }),
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

test.each([true, false])(
  "a charge that no store can hold frees slot and hold all the same (streamed: %s)",
  async (stream) => {
    const price = { inputPerMillion: decimal(1e15), outputPerMillion: decimal(0) };
    const bench = await Bench.create({
      models: [testModel("route/free", { price })],
      billing: { enforce: false },
    });
    bench.upstream.play(stream ? streams() : answers());
    const client = await bench.serve({ body: { stream } });
    expect(client.answers).toBe(1);
    await bench.audit();
    expect(await bench.used()).toEqual({ day: 1, hour: 1, minute: 1 });
    expect(bench.host.log.lines.map(({ message }) => message)).toContain("settlement failed");
  },
);
