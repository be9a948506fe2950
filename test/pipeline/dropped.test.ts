import { describe, expect, test } from "vitest";
import { Bench } from "../support/bench.ts";
import { chunk, FakeSource } from "../support/source.ts";
import { answers, completion, fails, type Play, USAGE } from "../support/upstream.ts";
import { refusalOf } from "./checks.ts";

const DROPPED = ["/top_k", "/messages/0/content/1"];
const VALUE = "/top_k, /messages/0/content/1";

const without =
  (dropped: readonly string[]): Play =>
  (target) => ({ type: "answer", target, body: completion(USAGE), usage: USAGE, dropped });

describe("what an upstream could not be asked", () => {
  test("stands in the head of an answer and of a stream, and in the outcome", async () => {
    const bench = await Bench.create();
    bench.upstream.play(without(DROPPED));
    const client = await bench.serve();
    expect(client.answered?.headers["X-Gateway-Dropped"]).toBe(VALUE);
    bench.upstream.play((target) => {
      const source = new FakeSource().emit(chunk({ content: "Hi" }, { finish: "stop" })).finish();
      return { type: "events", target, source, dropped: DROPPED };
    });
    const stream = bench.stream();
    await stream.done;
    expect(stream.client.stream?.headers["X-Gateway-Dropped"]).toBe(VALUE);
    expect(bench.observer.finishes.map(({ outcome }) => outcome.dropped)).toEqual([DROPPED, DROPPED]);
    await bench.audit();
  });

  test("is not mentioned when there is nothing, nor of an upstream that failed", async () => {
    const bench = await Bench.create();
    bench.upstream.play(fails("status"), answers());
    const client = await bench.serve();
    expect(client.answered?.headers).not.toHaveProperty("X-Gateway-Dropped");
  });

  test.each([
    ["a line end", ["/a\r\nX-Evil: 1"], "/a%0D%0AX-Evil:%201"],
    ["half a character and others", ["/\ud800é,"], "/%EF%BF%BD%C3%A9%2C"],
  ])("%s in a name stays a name", async (_, dropped, value) => {
    const bench = await Bench.create();
    bench.upstream.play(without(dropped));
    expect((await bench.serve()).answered?.headers["X-Gateway-Dropped"]).toBe(value);
  });

  test("fills a kilobyte at most", async () => {
    const bench = await Bench.create();
    bench.upstream.play(without(Array.from({ length: 500 }, (_, index) => `/field-${index}`)));
    const value = (await bench.serve()).answered?.headers["X-Gateway-Dropped"] ?? "";
    expect([value.length, value.slice(-3)]).toEqual([1027, "..."]);
  });
});

describe("a strict model", () => {
  const unsupported = fails("unsupported", "/top_k cannot be expressed for this model");

  test("goes on to an upstream that can be asked everything", async () => {
    const bench = await Bench.create();
    bench.upstream.play(unsupported, answers());
    expect((await bench.serve()).answered?.status).toBe(200);
    expect(bench.observer.finishes[0]?.outcome.attempts).toBe(1);
    await bench.audit();
  });

  test("refuses when none can: nothing was sent, nothing counts", async () => {
    const bench = await Bench.create();
    bench.upstream.play(unsupported);
    expect(refusalOf(await bench.serve())).toMatchObject({
      code: "INVALID_REQUEST",
      message: "Invalid request: /top_k cannot be expressed for this model",
    });
    expect(bench.observer.finishes[0]?.outcome).toMatchObject({ kind: "refused", attempts: 0, giveBack: true });
    expect(await bench.used()).toEqual({ day: 0, hour: 0, minute: 0 });
    await bench.audit();
  });

  test("whose other upstreams are down is a failure of theirs", async () => {
    const bench = await Bench.create();
    bench.upstream.play(unsupported, fails("status"));
    expect(refusalOf(await bench.serve())).toMatchObject({ code: "PROVIDER_ERROR" });
    await bench.audit();
  });
});
