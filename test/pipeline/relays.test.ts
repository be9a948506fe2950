import { describe, expect, test } from "vitest";
import type { Hooks, Reply } from "../../src/kit/index.ts";
import { Bench, settle } from "../support/bench.ts";
import { chunk, FakeSource } from "../support/source.ts";
import { testTarget } from "../support/snapshot.ts";
import { plugin } from "../support/spy.ts";
import { streams } from "../support/upstream.ts";
import { bug, garbage, nonError } from "./faults.ts";

const relayed = (relay: Hooks["relay"]): Promise<Bench> =>
  Bench.create({
    plugins: [plugin("own-relay", "relay", { relay })],
    pipeline: ["auth", "plan-check", "quota", "breaker", "transform", "own-relay", "meter"],
  });

describe("a relay", () => {
  test.each([
    ["throws at once", async () => bug()],
    ["throws what is no Error", async () => nonError()],
    ["returns nothing", garbage(Promise.resolve(undefined))],
    ["returns no reply", garbage(Promise.resolve({ type: "events" }))],
  ] as const)("that %s is named and fails the request", async (_, relay) => {
    const bench = await relayed(relay);
    const client = await bench.serve();
    expect(client.refused?.error).toMatchObject({ code: "INTERNAL" });
    expect(bench.observer.pluginFailures.map(({ name }) => name)).toEqual(["own-relay"]);
    expect(await bench.used()).toEqual({ day: 0, hour: 0, minute: 0 });
    await bench.audit();
  });

  test("that throws after it opened a stream leaves neither stream nor permit behind", async () => {
    const bench = await relayed(async (exchange, open) => {
      await open(exchange.model.chain[0]!.targets[0]!);
      throw new TypeError("bug");
    });
    const { client } = bench.stream();
    await bench.audit();
    expect(client.refused?.error).toMatchObject({ code: "INTERNAL" });
    expect(bench.upstream.sources.map(({ cancelled }) => cancelled)).toEqual([true]);
  });

  test("that ends a stream once more when it is over tells its guards nothing new", async () => {
    let opened: Reply | undefined;
    const bench = await relayed(async (exchange, open) => {
      opened = await open(exchange.model.chain[0]!.targets[0]!);
      return opened;
    });
    await bench.stream().done;
    if (opened?.type === "events") opened.source.cancel();
    expect(bench.host.breakers.get("alpha")?.endings).toEqual([{ ok: true }]);
  });

  test("that opens two streams and returns one leaves the other not running", async () => {
    const bench = await relayed(async (exchange, open) => {
      const targets = exchange.model.chain.flatMap((step) => step.targets);
      const replies = await Promise.all(targets.map((target) => open(target)));
      return replies[1]!;
    });
    const { client } = bench.stream();
    await bench.audit();
    expect(client.writes.at(-1)).toBe("data: [DONE]\n\n");
    expect(bench.host.breakers.get("alpha")?.endings).toMatchObject([{ ok: false, error: { failure: "aborted" } }]);
    expect(bench.host.breakers.get("beta")?.endings).toEqual([{ ok: true }]);
  });

  test("that returns while an attempt is still under way does not leak its stream", async () => {
    const late = Promise.withResolvers<void>();
    const bench = await relayed(async (exchange, open) => {
      const [first, second] = exchange.model.chain.flatMap((step) => step.targets);
      void open(first!).catch(() => undefined);
      return open(second!);
    });
    const slow = new FakeSource().emit(chunk({ content: "late" }));
    bench.upstream.play(async (target) => {
      await late.promise;
      return { type: "events" as const, target, source: slow };
    }, streams());
    await bench.stream().done;
    late.resolve();
    await settle();
    expect(slow.cancelled).toBe(true);
    await bench.audit();
  });

  test.each([true, false])(
    "that answers in the other way than was asked fails the request (asked for a stream: %s)",
    async (stream) => {
      const source = new FakeSource();
      const target = testTarget("alpha");
      const bench = await relayed(async () =>
        stream
          ? { type: "answer" as const, target, body: { choices: [] }, usage: null }
          : { type: "events" as const, target, source },
      );
      const { client } = bench.request({ body: { stream } });
      await bench.audit();
      expect(client.refused?.error).toMatchObject({ code: "INTERNAL" });
      expect(source.cancelled).toBe(!stream);
    },
  );
});

test("a pipeline in which one plan has no relay is not built", async () => {
  const pipeline = ["auth", "plan-check", "quota", { use: "stream-relay", when: { tiers: ["Max"] } }, "meter"];
  await expect(Bench.create({ pipeline })).rejects.toThrow("no plugin of this pipeline relays; add stream-relay");
});
