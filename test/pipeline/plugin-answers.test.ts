import { describe, expect, test } from "vitest";
import {
  decimal,
  GatewayError,
  type Hooks,
  type KeepWish,
  type OwnReply,
  replay,
  type StreamEvent,
  type Usage,
  type WholeAnswer,
} from "../../src/kit/index.ts";
import { Bench, type BenchParts } from "../support/bench.ts";
import { testModel } from "../support/snapshot.ts";
import { chunk, FakeSource, usageChunk } from "../support/source.ts";
import { plugin } from "../support/spy.ts";
import { answers, completion, fails, streams, streamsFrom, USAGE } from "../support/upstream.ts";
import { garbage, nonError, rejects } from "./faults.ts";

const DECLARED: Usage = { prompt: 1, completion: 2, cached: 0, reasoning: 0 };
const EVENTS: readonly StreamEvent[] = [
  chunk({ content: "from " }),
  chunk({ content: "memory" }),
  chunk({}, { finish: "stop" }),
  usageChunk(USAGE),
];
const own = (usage: Usage | null = DECLARED): OwnReply => ({ type: "answer", body: completion(USAGE), usage });
const ownStream = (usage: Usage | null = DECLARED): OwnReply => ({ type: "events", source: replay(EVENTS), usage });

/** A plugin that keeps, and what it was given. */
function keeping(maxBytes = 1_000_000): { readonly answer: () => KeepWish; readonly kept: WholeAnswer[] } {
  const kept: WholeAnswer[] = [];
  return { kept, answer: () => ({ type: "keep", maxBytes, keep: (answer) => void kept.push(answer) }) };
}

const loud = (event: StreamEvent): StreamEvent => {
  const { text } = event;
  return text === "" ? event : { data: chunk({ content: text.toUpperCase() }).data, text };
};

/** A pipeline with plugins that answer, in this order. */
async function answering(hooks: readonly Hooks["answer"][], parts: BenchParts = {}, more: Hooks = {}): Promise<Bench> {
  const plugins = hooks.map((answer, at) => plugin(`cache-${at}`, "transform", { answer, ...more }));
  const names = plugins.map(({ name }) => ({ use: name, fail: "closed" as const }));
  return Bench.create({
    plugins,
    pipeline: ["auth", "plan-check", "quota", "breaker", ...names, "stream-relay", "meter"],
    ...parts,
  });
}

function contents(text: string): string {
  return [...text.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content).join("");
}

describe("an own answer", () => {
  test("serves a call without an upstream: admitted, counted, charged as declared, in the client's format", async () => {
    const bench = await answering([() => own()]);
    const client = await bench.serve();
    expect(JSON.parse(client.answered?.body ?? "")).toMatchObject({
      model: "route/free",
      provider: "cache-0",
      choices: [{ message: { content: "Hello world" } }],
    });
    expect(client.answered?.headers).toMatchObject({
      "X-Gateway-Answered-By": "cache-0",
      "X-RateLimit-Remaining-Day": "999",
    });
    const [finish] = bench.observer.finishes;
    expect(finish?.outcome).toMatchObject({
      kind: "served",
      sent: false,
      begun: true,
      answeredBy: "cache-0",
      target: null,
      attempts: 0,
      giveBack: false,
      bill: { usage: DECLARED, estimated: false, charge: 5_000n },
    });
    expect(bench.upstream.attempts).toEqual([]);
    expect(await bench.used()).toEqual({ day: 1, hour: 1, minute: 1 });
    expect(await bench.store.ledger("ann")).toMatchObject([{ upstream: null, outcome: "served", charge: 5_000n }]);
    await bench.audit();
  });

  test("a stream is replayed, and what its events count is not charged", async () => {
    const bench = await answering([() => ownStream()]);
    const { client, done } = bench.stream({ body: { stream_options: { include_usage: true } } });
    await done;
    expect(contents(client.text)).toBe("from memory");
    expect(client.text).toContain('"total_tokens":15');
    expect(client.writes.at(-1)).toBe("data: [DONE]\n\n");
    expect(bench.observer.finishes[0]?.outcome).toMatchObject({ finished: true, bill: { charge: 5_000n } });
    await bench.audit();
  });

  test.each([null, { prompt: 0, completion: 0, cached: 0, reasoning: 0 }])(
    "usage %j: free, but for a price per request where it is not null",
    async (usage) => {
      const models = [testModel("route/free", { price: { perRequest: decimal(0.001), perSecond: decimal(1) } })];
      const bench = await answering([() => own(usage)], { models });
      await bench.serve();
      expect(bench.observer.finishes[0]?.outcome.bill).toMatchObject({
        charge: usage === null ? 0n : 1_000_000n,
        estimated: false,
      });
      await bench.audit();
    },
  );

  test("comes after the limits and the transforms, which the hook sees", async () => {
    const seen: unknown[] = [];
    const bench = await answering(
      [
        (call) => {
          seen.push(call.body["seed"], Object.isFrozen(call.body));
          return own();
        },
      ],
      { credits: 20_000_000n },
      { transform: (call) => ({ ...call, body: { ...call.body, seed: 7 } }) },
    );
    await bench.serve();
    expect(seen).toEqual([7, true]);
    const poor = await answering([() => own()], { credits: 0n });
    expect((await poor.serve()).refused?.error).toMatchObject({ code: "INSUFFICIENT_CREDITS" });
  });

  test("is seen by response, event and stream hooks", async () => {
    const bench = await answering(
      [({ stream }) => (stream ? ownStream() : own())],
      {},
      {
        response: (body) => ({ ...body, seen: true }),
        event: loud,
      },
    );
    expect(JSON.parse((await bench.serve()).answered?.body ?? "")).toMatchObject({ seen: true });
    const { client, done } = bench.stream();
    await done;
    expect(contents(client.text)).toBe("FROM MEMORY");
    await bench.audit();
  });

  test("the first to answer wins; those before it had no interest, those after it are not asked", async () => {
    const asked: string[] = [];
    const bench = await answering([
      () => void asked.push("first"),
      async () => {
        asked.push("second");
        return own();
      },
      () => void asked.push("third"),
    ]);
    await bench.serve();
    expect(asked).toEqual(["first", "second"]);
    expect(bench.observer.finishes[0]?.outcome.answeredBy).toBe("cache-1");
  });

  test("a client that leaves in the middle ends it, charged as billing.outcomes says", async () => {
    const source = new FakeSource().emit(chunk({ content: "a" }));
    const bench = await answering([() => ({ type: "events", source, usage: DECLARED })], {
      billing: {
        outcomes: {
          client_gone: "free",
          killed: "delivered",
          upstream_cut: "delivered",
          unanswered: "free",
          no_usage: "estimate",
        },
      },
    });
    const { client, done } = bench.stream();
    await expect.poll(() => source.opened).toBe(true);
    client.abort("client_gone");
    await done;
    expect(source.cancelled).toBe(true);
    expect(bench.observer.finishes[0]?.outcome).toMatchObject({ kind: "client_gone", bill: { charge: 0n } });
    await bench.audit();
  });

  test("a slow client is not sent more than it takes", async () => {
    const many = Array.from({ length: 1_000 }, (_, at) => chunk({ content: `${at},` }));
    const bench = await answering([() => ({ type: "events", source: replay(many), usage: null })]);
    const client = bench.stream().client;
    client.block();
    await expect.poll(() => client.writes.length).toBe(1);
    client.onWrite = () => expect(client.blocked).toBe(false);
    client.drain();
    await bench.audit();
    expect(contents(client.text)).toBe(many.map(({ text }) => text).join(""));
  });

  test("one with a header that it may not have is cancelled", async () => {
    const source = new FakeSource();
    const bench = await answering([() => ({ type: "events", source, usage: null, headers: { Server: "x" } })]);
    await bench.stream().done;
    expect(bench.observer.pluginFailures).toMatchObject([{ name: "cache-0" }]);
    expect(source.cancelled).toBe(true);
    await bench.audit();
  });

  test("a hook that refuses does; nothing is charged", async () => {
    const bench = await answering([
      () => {
        throw new GatewayError("MODEL_NOT_ALLOWED", "not this");
      },
    ]);
    expect((await bench.serve()).refused?.error).toMatchObject({ code: "MODEL_NOT_ALLOWED" });
    expect(await bench.used()).toEqual({ day: 0, hour: 0, minute: 0 });
    await bench.audit();
  });
});

describe("what a plugin does wrong", () => {
  const wrong: readonly (readonly [string, NonNullable<Hooks["answer"]>])[] = [
    ["throws", nonError],
    ["rejects", rejects],
    ["returns text", garbage("yes")],
    ["returns a stream for a whole answer", () => ({ type: "events", source: new FakeSource(), usage: null })],
    ["declares no usage", garbage({ type: "answer", body: {} })],
    ["wants to keep without a bound", garbage({ type: "keep", keep() {} })],
  ];
  test.each(wrong)("%s: named, and fails the request", async (_, answer) => {
    const bench = await answering([answer]);
    expect((await bench.serve()).refused?.error).toMatchObject({ code: "INTERNAL" });
    expect(bench.observer.pluginFailures.map(({ name }) => name)).toEqual(["cache-0"]);
    await bench.audit();
  });

  test.each(wrong)("%s with fail: open: an upstream serves", async (_, answer) => {
    const bench = await Bench.create({
      plugins: [plugin("cache", "transform", { answer })],
      pipeline: ["auth", "quota", "breaker", { use: "cache", fail: "open" }, "stream-relay", "meter"],
    });
    bench.upstream.play(answers());
    expect((await bench.serve()).answered?.status).toBe(200);
    expect(bench.observer.pluginFailures).toHaveLength(1);
    await bench.audit();
  });

  test("an own answer that another hook breaks on is free", async () => {
    const bench = await answering([() => own()], {}, { response: rejects });
    await bench.serve();
    expect(bench.observer.finishes[0]?.outcome).toMatchObject({ kind: "gateway_error", bill: { charge: 0n } });
    await bench.audit();
  });
});

describe("a wish to keep the upstream's answer", () => {
  test("a complete answer, as it came, once it is settled", async () => {
    const { answer, kept } = keeping();
    const bench = await answering([answer], {}, { response: (body) => ({ ...body, changed: true }) });
    bench.upstream.play(answers());
    await bench.serve();
    const { type, target, usage, dropped, ...rest } = kept[0]!;
    expect({ type, upstream: target.upstream, usage, dropped }).toEqual({
      type: "answer",
      upstream: "alpha",
      usage: USAGE,
      dropped: [],
    });
    expect(rest).toEqual({ body: completion(USAGE) });
    await bench.audit();
  });

  test("a stream's events, which replayed read the same", async () => {
    const { answer, kept } = keeping();
    const bench = await answering([answer]);
    const first = bench.stream();
    await first.done;
    const [whole] = kept;
    if (whole?.type !== "events") throw new Error("no events were kept");
    const second = await answering([() => ({ type: "events", source: replay(whole.events), usage: null })]);
    const replayed = second.stream();
    await replayed.done;
    expect(replayed.client.text).toBe(first.client.text);
    expect(second.upstream.attempts).toEqual([]);
    await bench.audit();
    await second.audit();
  });

  test.each([
    ["all that was asked for", 600, 2],
    ["of what is too large nothing", 3, 0],
  ])("%s", async (_, maxBytes, count) => {
    const { answer, kept } = keeping(maxBytes);
    const small = keeping(1);
    const bench = await answering([answer, small.answer]);
    const source = new FakeSource()
      .emit(chunk({ content: "a" }))
      .emit(chunk({ content: "b" }))
      .finish();
    bench.upstream.play(streamsFrom(source));
    await bench.stream().done;
    expect(kept.flatMap((whole) => (whole.type === "events" ? whole.events : []))).toHaveLength(count);
    expect(small.kept).toEqual([]);
    await bench.audit();
  });

  test("not of an answer that broke off, was refused, failed, or was left", async () => {
    const { answer, kept } = keeping();
    const cut = await answering([answer]);
    cut.upstream.play(streamsFrom(new FakeSource().emit(chunk({ content: "a" })).finish("cut")));
    await cut.stream().done;
    const failed = await answering([answer]);
    failed.upstream.play(fails("status"));
    await failed.serve();
    const refused = await answering(
      [answer],
      {},
      {
        event: () => {
          throw new GatewayError("INVALID_REQUEST", "no");
        },
      },
    );
    await refused.stream().done;
    const left = await answering([answer]);
    const source = new FakeSource().emit(chunk({ content: "a" }));
    left.upstream.play(streamsFrom(source));
    const { client, done } = left.stream();
    await expect.poll(() => source.opened).toBe(true);
    client.abort("client_gone");
    await done;
    for (const bench of [cut, failed, refused, left]) await bench.audit();
    expect(kept).toEqual([]);
  });

  test("one that fails is named, and the client has its answer", async () => {
    const bench = await answering([() => ({ type: "keep", maxBytes: 10_000, keep: rejects })]);
    bench.upstream.play(streams());
    const { client, done } = bench.stream();
    await done;
    expect(client.writes.at(-1)).toBe("data: [DONE]\n\n");
    expect(bench.observer.pluginFailures.map(({ name }) => name)).toEqual(["cache-0"]);
    expect(bench.observer.finishes[0]?.outcome.kind).toBe("served");
    await bench.audit();
  });

  test("nothing of an answer that another plugin gave", async () => {
    const { answer, kept } = keeping();
    const bench = await answering([answer, () => own()]);
    await bench.serve();
    expect(kept).toEqual([]);
  });
});
