import { describe, expect, test } from "vitest";
import type { Guarded } from "../../src/kit/index.ts";
import { settle } from "../support/bench.ts";
import { FakeSource } from "../support/source.ts";
import { plugin } from "../support/spy.ts";
import { answers, fails, streams, streamsFrom } from "../support/upstream.ts";
import { benchWith, bug, garbage, rejects } from "./faults.ts";

const guard = (guarded: Guarded) => plugin("bad", "guard", { attempt: () => guarded });

describe("a guard", () => {
  test.each(["stream", "answer"] as const)(
    "whose settle throws is named; the others are settled and the client is served (%s)",
    async (kind) => {
      const bench = await benchWith(guard({ settle: bug }), "closed");
      bench.upstream.play(kind === "stream" ? streams() : answers());
      const { client } = bench.request({ body: { stream: kind === "stream" } });
      await settle();
      expect(client.ended).toBe(true);
      expect(bench.observer.finishes[0]?.outcome.kind).toBe("served");
      expect(bench.observer.pluginFailures.map(({ name }) => name)).toEqual(["bad"]);
      await bench.audit();
    },
  );

  test("whose settle throws when the attempt failed does not hide why it failed", async () => {
    const bench = await benchWith(guard({ settle: bug }), "closed");
    bench.upstream.play(fails("timeout"));
    const client = await bench.serve();
    expect(client.refused?.error).toMatchObject({ code: "PROVIDER_TIMEOUT" });
    await bench.audit();
  });

  test("whose settle throws when its client has gone leaves nothing behind", async () => {
    const bench = await benchWith(guard({ settle: bug }), "closed");
    const source = new FakeSource();
    bench.upstream.play(streamsFrom(source));
    const { client } = bench.stream();
    await expect.poll(() => source.opened).toBe(true);
    client.abort("client_gone");
    await bench.audit();
  });

  test("whose answered throws is named and the stream goes on", async () => {
    const bench = await benchWith(guard({ answered: bug, settle: () => undefined }), "closed");
    const client = await bench.serve({ body: { stream: true } });
    expect(client.writes.at(-1)).toBe("data: [DONE]\n\n");
    expect(bench.observer.pluginFailures.map(({ name }) => name)).toEqual(["bad"]);
    await bench.audit();
  });

  test("that fails releases those that had said yes, and skips nothing", async () => {
    const bench = await benchWith(plugin("bad", "guard", { attempt: bug }), "closed");
    const client = await bench.serve();
    expect(client.refused?.error).toMatchObject({ code: "INTERNAL" });
    expect(bench.host.breakers.get("alpha")?.endings).toMatchObject([{ ok: false, error: { failure: "skipped" } }]);
    expect(bench.upstream.attempts).toEqual([]);
    await bench.audit();
  });

  test("that returns false skips the target", async () => {
    const bench = await benchWith(
      plugin("picky", "guard", { attempt: ({ upstream }) => (upstream === "alpha" ? false : undefined) }),
      "closed",
    );
    bench.upstream.play(answers());
    await bench.serve();
    expect(bench.upstream.attempts.map(({ target }) => target.upstream)).toEqual(["beta"]);
    expect(bench.host.breakers.get("alpha")?.endings).toMatchObject([{ ok: false, error: { failure: "skipped" } }]);
    await bench.audit();
  });
});

const failing = (settler: () => Promise<void> | void) => plugin("bad", "admit", { admit: () => ({ settle: settler }) });

describe("a settler", () => {
  test.each([
    ["throws", bug],
    ["rejects", rejects],
    ["is no function", "garbage"],
  ])("that %s is told to the log; the others run", async (_, settler) => {
    const journal: string[] = [];
    const bench = await benchWith(failing(settler as never), "closed", journal);
    bench.upstream.play(answers());
    expect((await bench.serve()).answered?.status).toBe(200);
    expect(journal).toEqual(["first admits", "last admits", "last settles", "first settles"]);
    expect(bench.host.log.lines.filter(({ level }) => level === "error")).toHaveLength(1);
    await bench.audit();
  });
});

describe("an account plugin", () => {
  test.each([
    ["throws", bug],
    ["rejects", rejects],
    ["returns nothing", garbage(undefined)],
    ["returns no bill", garbage({ charge: 1 })],
    [
      "returns a negative charge",
      garbage({ usage: { prompt: 0, completion: 0, cached: 0, reasoning: 0 }, estimated: false, charge: -1n }),
    ],
  ])("that %s is named; the bill before it stands and everything is released", async (_, hook) => {
    const bench = await benchWith(plugin("bad", "account", { settle: hook }), "closed");
    bench.upstream.play(answers());
    expect((await bench.serve()).answered?.status).toBe(200);
    expect(bench.observer.pluginFailures.map(({ name }) => name)).toEqual(["bad"]);
    expect(bench.observer.finishes[0]?.outcome.bill.charge).toBe(20_000n);
    await bench.audit();
  });
});
