import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AbortReason, AttemptError } from "../../src/kit/index.ts";
import { Bench, settle } from "../support/bench.ts";
import { TestClient } from "../support/client.ts";
import { chunk, FakeSource, usageChunk } from "../support/source.ts";
import { plugin } from "../support/spy.ts";
import { answers, connects, fails, type Play, USAGE } from "../support/upstream.ts";
import { DONE, PROMPT } from "./outcome-cases.ts";
import { RUNS } from "../properties/runs.ts";

const REASONS: readonly AbortReason[] = ["client_gone", "killed", "shutdown"];
const DELIVERED = {
  client_gone: "delivered",
  killed: "delivered",
  upstream_cut: "delivered",
  no_usage: "estimate",
} as const;
const PIPELINE = ["auth", "plan-check", "quota", "breaker", "slow", "stream-relay", "meter"];

type Script = "whole" | "cut" | "failover" | "failing" | "hanging" | "connecting" | "no usage";

/** What of it an upstream has got. */
interface Reached {
  sent: boolean;
}

/** Plays with every step of the upstream left to the scheduler; an attempt that nobody waits for gives up. */
function scripted(s: fc.Scheduler, script: Script, stream: boolean, reached: Reached): readonly [Play, ...Play[]] {
  /** Waits for a moment of the scheduler's, then goes on with `play`. */
  const at =
    (moment: string, play: Play): Play =>
    async (target, call, exchange, onSent) => {
      const aborted = connects(target, call, exchange, onSent);
      await Promise.race([s.schedule(Promise.resolve(), moment), aborted]);
      return exchange.signal.aborted ? aborted : play(target, call, exchange, onSent);
    };
  const sent = (play: Play): Play =>
    at("the upstream is connected", (target, call, exchange, onSent) => {
      reached.sent = true;
      onSent();
      return play(target, call, exchange, onSent);
    });
  const later = (play: Play): Play => sent(at("the upstream answers", play));
  const streamed: Play = (target) => {
    const source = new FakeSource();
    const steps: readonly (() => void)[] = [
      () => source.emit(chunk({ content: "Hello " })),
      () => source.emit(chunk({ content: "world" }, { finish: script === "cut" ? undefined : "stop" })),
      () => (script === "no usage" ? source : source.emit(usageChunk(USAGE))),
      () => source.finish(script === "cut" ? "upstream broke off" : undefined),
    ];
    void (async () => {
      for (const step of steps) {
        await s.schedule(Promise.resolve(), "the upstream sends");
        step();
      }
    })();
    return { type: "events" as const, target, source };
  };
  const served = later(stream ? streamed : answers(script === "no usage" ? null : USAGE));
  switch (script) {
    case "failover":
      return [at("the connection fails", fails("connect")), served];
    case "failing":
      return [later(fails("timeout")), later(fails("status"))];
    case "hanging":
      return [sent(connects)];
    case "connecting":
      return [connects];
    case "whole":
    case "cut":
    case "no usage":
      return [served];
  }
}

async function createBench(s: fc.Scheduler, unanswered: "free" | "prompt"): Promise<Bench> {
  const wait = async <T>(value: T, name: string): Promise<T> => s.schedule(Promise.resolve(value), name);
  const slow = plugin("slow", "transform", {
    transform: (call) => wait(call, "transform"),
    response: (body) => wait(body, "response"),
  });
  return Bench.create({
    plugins: [slow],
    pipeline: PIPELINE,
    billing: { outcomes: { ...DELIVERED, unanswered } },
    countTokens: (text) => wait(Math.ceil(text.length / 4), "tokenizer"),
    override: (store) => ({
      admit: async (admission) => {
        await wait(null, "admit");
        return wait(await store.admit(admission), "admitted");
      },
      settle: async (settlement) => {
        await wait(null, "settle");
        return store.settle(settlement);
      },
    }),
  });
}

describe("a request given up at any point", () => {
  test("leaves no stream, permit, slot, hold or timer, and is settled once as what it was", async () => {
    const script = fc.constantFrom<Script>("whole", "cut", "failover", "failing", "hanging", "connecting", "no usage");
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.constantFrom(...REASONS),
        fc.boolean(),
        script,
        fc.constantFrom("free", "prompt"),
        async (s, reason, stream, script, unanswered) => {
          const bench = await createBench(s, unanswered);
          const reached: Reached = { sent: false };
          bench.upstream.play(...scripted(s, script, stream, reached));
          const client = new TestClient();
          const { done } = bench.request({ client, body: { stream } });
          void s.schedule(Promise.resolve(), "abort").then(() => client.abort(reason));
          await s.waitFor(done);
          await s.waitIdle();
          await bench.audit();

          const [{ outcome }] = bench.observer.finishes as [(typeof bench.observer.finishes)[0]];
          const entries = await bench.store.ledger("ann");
          expect([reason, "served", "failed", "upstream_cut"]).toContain(outcome.kind);
          const givenUp = outcome.kind === "client_gone" || outcome.kind === "killed";
          expect(outcome.giveBack).toBe(!outcome.begun && !(givenUp && reached.sent));
          const owed = !outcome.giveBack && unanswered === "prompt" ? PROMPT : 0n;
          expect(outcome.begun ? owed : outcome.bill.charge).toBe(owed);
          expect(await bench.used()).toEqual(
            outcome.giveBack ? { day: 0, hour: 0, minute: 0 } : { day: 1, hour: 1, minute: 1 },
          );
          expect(entries.map(({ outcome, charge }) => ({ outcome, charge }))).toEqual(
            outcome.giveBack ? [] : [{ outcome: outcome.kind, charge: outcome.bill.charge }],
          );
          const served = outcome.kind === "served" && script !== "no usage";
          expect(served ? outcome.bill.charge : 20_000n).toBe(20_000n);
          const killed = stream && outcome.kind === "killed";
          expect(killed ? client.writes.at(-1) : DONE).toBe(DONE);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

describe("a request whose client has gone already", () => {
  test.each([true, false])("is given back without a trace (streamed: %s)", async (stream) => {
    const bench = await Bench.create();
    bench.upstream.play(connects);
    const client = new TestClient();
    client.abort("client_gone");
    await bench.request({ client, body: { stream } }).done;
    expect(bench.observer.finishes[0]?.outcome).toMatchObject({ kind: "client_gone", begun: false, giveBack: true });
    await bench.audit();
  });

  test("no upstream is tried after it left", async () => {
    const bench = await Bench.create();
    const client = new TestClient();
    bench.upstream.play(() => {
      client.abort("client_gone");
      throw new AttemptError("connect", "refused");
    });
    await bench.request({ client }).done;
    expect(bench.upstream.attempts).toHaveLength(1);
    await bench.audit();
  });

  test("a stream that begins at that moment is ended, not opened", async () => {
    const bench = await Bench.create();
    const client = new TestClient();
    const source = new FakeSource().emit(chunk({ content: "a" }));
    bench.upstream.play((target) => {
      client.abort("killed");
      return { type: "events" as const, target, source };
    });
    await bench.request({ client, body: { stream: true } }).done;
    expect(source).toMatchObject({ opened: false, cancelled: true });
    expect(client.text).toBe(DONE);
    await bench.audit();
  });

  test.each(REASONS)("%s after the whole answer came: charged as that, not as served", async (reason) => {
    const client = new TestClient();
    const bench = await Bench.create({
      plugins: [plugin("slow", "transform", { response: (body) => (client.abort(reason), body) })],
      pipeline: PIPELINE,
      billing: {
        outcomes: {
          client_gone: "free",
          killed: "free",
          upstream_cut: "free",
          unanswered: "free",
          no_usage: "estimate",
        },
      },
    });
    bench.upstream.play(answers());
    await bench.request({ client }).done;
    const { outcome } = bench.observer.finishes[0]!;
    expect(outcome).toMatchObject({ kind: reason, begun: true, giveBack: false, bill: { charge: 0n } });
    await bench.audit();
  });

  test("a body that cannot be read any more is a refusal, not a failure of the gateway", async () => {
    const bench = await Bench.create();
    const client = new TestClient();
    await bench.request({ client, read: () => Promise.reject(new Error("aborted")) }).done;
    await settle();
    expect(bench.observer.refusals).toHaveLength(1);
    await bench.audit();
  });
});
