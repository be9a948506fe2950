import { describe, expect, test } from "vitest";
import { GatewayError, type Guarded, type Hooks, type Plugin, type Stage } from "../../src/kit/index.ts";
import { Bench, settle } from "../support/bench.ts";
import { chunk, FakeSource } from "../support/source.ts";
import { plugin, reserving } from "../support/spy.ts";
import { answers, fails, streams, streamsFrom } from "../support/upstream.ts";

const bug = (): never => {
  throw new TypeError("bug");
};
const rejects = (): Promise<never> => Promise.reject(new TypeError("bug"));
const nonError = (): never => {
  // oxlint-disable-next-line no-throw-literal -- plugins do
  throw "not an Error";
};
/** What a hook in plain JavaScript may return whatever its type says. */
const garbage = (value: unknown) => (): never => value as never;

interface Case {
  readonly stage: Stage;
  readonly hook: keyof Hooks;
  readonly how: string;
  readonly hooks: Hooks;
  /** Whether the hook runs for a stream, a complete answer, or both. */
  readonly on?: "stream" | "answer";
}

const throwing = (stage: Stage, hook: keyof Hooks, on?: Case["on"]): readonly Case[] => [
  { stage, hook, on, how: "throws", hooks: { [hook]: bug } },
  { stage, hook, on, how: "throws what is no Error", hooks: { [hook]: nonError } },
];

const CASES: readonly Case[] = [
  ...throwing("identify", "identify"),
  { stage: "identify", hook: "identify", how: "rejects", hooks: { identify: rejects } },
  ...throwing("admit", "admit"),
  { stage: "admit", hook: "admit", how: "rejects", hooks: { admit: rejects } },
  ...throwing("guard", "attempt"),
  ...throwing("transform", "transform"),
  { stage: "transform", hook: "transform", how: "rejects", hooks: { transform: rejects } },
  { stage: "transform", hook: "transform", how: "returns nothing", hooks: { transform: garbage(undefined) } },
  { stage: "transform", hook: "transform", how: "returns no call", hooks: { transform: garbage({ body: null }) } },
  { stage: "transform", hook: "transform", how: "turns streaming over", hooks: { transform: (call) => ({ ...call, stream: !call.stream }) } },
  { stage: "transform", hook: "transform", how: "changes the model", hooks: { transform: (call) => ({ ...call, model: "route/max" }) } },
  { stage: "transform", hook: "transform", how: "writes into the frozen call", hooks: { transform: (call) => Object.assign(call, { model: "x" }) } },
  { stage: "transform", hook: "transform", how: "writes into the frozen body", hooks: { transform: (call) => (Object.assign(call.body, { model: "x" }), call) } },
  { stage: "transform", hook: "transform", how: "writes into the frozen exchange", hooks: { transform: (call, exchange) => (Object.assign(exchange, { call: null }), call) } },
  ...throwing("transform", "event", "stream"),
  { stage: "transform", hook: "event", on: "stream", how: "returns nothing", hooks: { event: garbage(undefined) } },
  { stage: "transform", hook: "event", on: "stream", how: "returns a promise", hooks: { event: garbage(Promise.resolve({})) } },
  ...throwing("transform", "response", "answer"),
  { stage: "transform", hook: "response", on: "answer", how: "rejects", hooks: { response: rejects } },
  { stage: "transform", hook: "response", on: "answer", how: "returns nothing", hooks: { response: garbage(undefined) } },
];

const PIPELINE = ["auth", "first", "plan-check", "quota", "last", "breaker", "transform", "stream-relay", "meter"];
const AFTER: Readonly<Record<Stage, string>> = {
  identify: "",
  admit: "quota",
  guard: "breaker",
  transform: "transform",
  relay: "",
  account: "meter",
};

function pipelineWith(added: Plugin, fail: "open" | "closed"): readonly (string | { use: string; fail: "open" | "closed" })[] {
  const step = { use: added.name, fail };
  const at = PIPELINE.indexOf(AFTER[added.stage]) + 1;
  return [...PIPELINE.slice(0, at), step, ...PIPELINE.slice(at)];
}

async function benchWith(added: Plugin, fail: "open" | "closed", journal: string[] = []): Promise<Bench> {
  return Bench.create({
    plugins: [added, reserving("first", journal), reserving("last", journal)],
    pipeline: pipelineWith(added, fail),
  });
}

describe.each(CASES)("$hook that $how", ({ stage, hook, hooks, on }) => {
  const kinds = on === undefined ? (["stream", "answer"] as const) : [on];
  const bad = plugin("bad", stage, hooks);

  test.each(kinds)("fails the request and is named; what was reserved is settled once (%s)", async (kind) => {
    const journal: string[] = [];
    const bench = await benchWith(bad, "closed", journal);
    bench.upstream.play(kind === "stream" ? streams() : answers());
    const client = await bench.serve({ body: { stream: kind === "stream" } });
    expect(bench.observer.pluginFailures.map(({ name }) => name)).toEqual(["bad"]);
    if (hook === "event") {
      expect(client.text).toBe('data: {"error":{"message":"Internal server error","type":"api_error"}}\n\ndata: [DONE]\n\n');
    } else {
      expect(client.refused?.error).toMatchObject({ code: "INTERNAL", message: "Internal server error" });
    }
    expect(journal.filter((line) => line.endsWith("settles")).length).toBe(journal.filter((line) => line.endsWith("admits")).length);
    await bench.audit();
  });

  test.each(kinds)("with fail: open is named and passed over (%s)", async (kind) => {
    const journal: string[] = [];
    const bench = await benchWith(bad, "open", journal);
    bench.upstream.play(kind === "stream" ? streams() : answers());
    const client = await bench.serve({ body: { stream: kind === "stream" } });
    expect(new Set(bench.observer.pluginFailures.map(({ name }) => name))).toEqual(new Set(["bad"]));
    if (kind === "stream") {
      expect(client.text).toContain("Hello ");
      expect(client.writes.at(-1)).toBe("data: [DONE]\n\n");
    } else expect(client.answered?.body).toContain("Hello world");
    expect(bench.observer.finishes[0]?.outcome.kind).toBe("served");
    expect(journal).toEqual(["first admits", "last admits", "last settles", "first settles"]);
    await bench.audit();
  });
});

describe("a hook that answers by a GatewayError", () => {
  const refusal = (): never => {
    throw new GatewayError("INVALID_REQUEST", "Invalid request: no such words");
  };
  test.each([
    ["identify", "identify", "closed"],
    ["admit", "admit", "open"],
    ["guard", "attempt", "open"],
    ["transform", "transform", "closed"],
  ] as const)("%s: is its answer, whatever `fail` says", async (stage, hook, fail) => {
    const bench = await benchWith(plugin("strict", stage, { [hook]: refusal }), fail);
    const client = await bench.serve();
    expect(client.refused?.error).toMatchObject({ code: "INVALID_REQUEST", message: "Invalid request: no such words" });
    expect(bench.observer.pluginFailures).toEqual([]);
    expect(await bench.used()).toEqual({ day: 0, hour: 0, minute: 0 });
    await bench.audit();
  });

  test("response: the answer is refused, what the upstream did is charged as a cut", async () => {
    const bench = await benchWith(plugin("strict", "transform", { response: refusal }), "closed");
    bench.upstream.play(answers(null));
    const client = await bench.serve();
    expect(client.refused?.error).toMatchObject({ code: "INVALID_REQUEST" });
    expect(bench.observer.finishes[0]?.outcome).toMatchObject({ kind: "upstream_cut", giveBack: false, bill: { charge: 8_000n } });
    await bench.audit();
  });

  test("event: what came before it reaches the client, then its message", async () => {
    let seen = 0;
    const event: Hooks["event"] = (current) => {
      seen += 1;
      return seen === 3 ? refusal() : current;
    };
    const bench = await benchWith(plugin("strict", "transform", { event }), "closed");
    const source = new FakeSource().emit(chunk({ content: "one" }), chunk({ content: "two" }), chunk({ content: "three" }));
    bench.upstream.play(streamsFrom(source));
    const client = await bench.serve({ body: { stream: true } });
    expect(source.cancelled).toBe(true);
    expect(client.text).toContain("two");
    expect(client.text).not.toContain("three");
    expect(client.writes.at(-1)).toContain("no such words");
    await bench.audit();
  });
});

describe("a guard", () => {
  const guard = (guarded: Guarded) => plugin("bad", "guard", { attempt: () => guarded });

  test.each(["stream", "answer"] as const)("whose settle throws is named; the others are settled and the client is served (%s)", async (kind) => {
    const bench = await benchWith(guard({ settle: bug }), "closed");
    bench.upstream.play(kind === "stream" ? streams() : answers());
    const { client } = bench.request({ body: { stream: kind === "stream" } });
    await settle();
    expect(client.ended).toBe(true);
    expect(bench.observer.finishes[0]?.outcome.kind).toBe("served");
    expect(bench.observer.pluginFailures.map(({ name }) => name)).toEqual(["bad"]);
    await bench.audit();
  });

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
    const bench = await benchWith(plugin("picky", "guard", { attempt: ({ upstream }) => (upstream === "alpha" ? false : undefined) }), "closed");
    bench.upstream.play(answers());
    await bench.serve();
    expect(bench.upstream.attempts.map(({ target }) => target.upstream)).toEqual(["beta"]);
    expect(bench.host.breakers.get("alpha")?.endings).toMatchObject([{ ok: false, error: { failure: "skipped" } }]);
    await bench.audit();
  });
});

describe("a settler", () => {
  const failing = (settler: () => Promise<void> | void) => plugin("bad", "admit", { admit: () => ({ settle: settler }) });

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
    ["returns a negative charge", garbage({ usage: { prompt: 0, completion: 0, cached: 0, reasoning: 0 }, estimated: false, charge: -1n })],
  ])("that %s is named; the bill before it stands and everything is released", async (_, hook) => {
    const bench = await benchWith(plugin("bad", "account", { settle: hook }), "closed");
    bench.upstream.play(answers());
    expect((await bench.serve()).answered?.status).toBe(200);
    expect(bench.observer.pluginFailures.map(({ name }) => name)).toEqual(["bad"]);
    expect(bench.observer.finishes[0]?.outcome.bill.charge).toBe(20_000n);
    await bench.audit();
  });
});

describe("a relay", () => {
  const relayed = (relay: Hooks["relay"]): Promise<Bench> =>
    Bench.create({
      plugins: [plugin("own-relay", "relay", { relay })],
      pipeline: ["auth", "plan-check", "quota", "breaker", "transform", "own-relay", "meter"],
    });

  test.each([
    ["throws at once", async () => bug()],
    ["throws what is no Error", async () => nonError()],
    ["returns nothing", garbage(Promise.resolve(undefined))],
    ["returns no reply", garbage(Promise.resolve({ stream: true }))],
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
    bench.upstream.play(
      async (target) => {
        await late.promise;
        return { stream: true, target, source: slow };
      },
      streams(),
    );
    await bench.stream().done;
    late.resolve();
    await settle();
    expect(slow.cancelled).toBe(true);
    await bench.audit();
  });

  test.each([true, false])("that answers in the other way than was asked fails the request (asked for a stream: %s)", async (stream) => {
    const source = new FakeSource();
    const target = { upstream: "alpha" } as never;
    const bench = await relayed(async () =>
      stream ? { stream: false, target, body: { choices: [] }, usage: null } : { stream: true, target, source },
    );
    const { client } = bench.request({ body: { stream } });
    await bench.audit();
    expect(client.refused?.error).toMatchObject({ code: "INTERNAL" });
    if (!stream) expect(source.cancelled).toBe(true);
  });
});

test("a plan without a relay answers 500 and settles nothing", async () => {
  const bench = await Bench.create({
    pipeline: ["auth", "plan-check", "quota", { use: "stream-relay", when: { tiers: ["Max"] } }, "meter"],
  });
  const { client } = bench.request();
  await bench.audit();
  expect(client.refused?.error).toMatchObject({ message: expect.stringContaining("stream-relay") as string });
});
