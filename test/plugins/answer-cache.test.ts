import { describe, expect, test } from "vitest";
import type answerCache from "../../plugins/answer-cache.ts";
import { type Json, storeUnavailable, type StreamEvent } from "../../src/kit/index.ts";
import { type OfflineResult, openPlugin } from "../../src/testing/index.ts";
import { Bench, type BenchParts, type RequestParts } from "../support/bench.ts";
import type { TestClient } from "../support/client.ts";
import { step, testModel, testUpstream } from "../support/snapshot.ts";
import { chunk, FakeSource } from "../support/source.ts";
import { answers, completion, fails, streams, streamsFrom, USAGE } from "../support/upstream.ts";

type Options = Parameters<typeof answerCache.setup>[0];

async function caching(options: Options = {}, parts: BenchParts = {}): Promise<Bench> {
  const use = { use: "answer-cache", options };
  const pipeline = ["auth", "plan-check", "quota", "breaker", use, "stream-relay", "meter"];
  return Bench.create({ pipeline, ...parts });
}

const COLD: Json = { temperature: 0 };
const STREAM: Json = { ...COLD, stream: true };

async function served(bench: Bench, body: Json = COLD, parts: RequestParts = {}): Promise<TestClient> {
  bench.upstream.play(body["stream"] === true ? streams() : answers());
  return bench.serve({ ...parts, body });
}

/** `hit` or `miss`; undefined where nobody looked. */
function cacheHeader({ answered, stream, refused }: TestClient): string | undefined {
  return (answered ?? stream ?? refused)?.headers["X-Gateway-Cache"];
}

function isAway(): never {
  throw storeUnavailable(new Error("away"));
}

function contents(text: string): string {
  return [...text.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content).join("");
}

describe("the same question", () => {
  test("is answered once, and then from the store", async () => {
    const bench = await caching();
    const first = await served(bench);
    const second = await served(bench);
    expect([cacheHeader(first), cacheHeader(second)]).toEqual(["miss", "hit"]);
    expect(bench.upstream.attempts).toHaveLength(1);
    const [one, other] = [first, second].map((client) => JSON.parse(client.answered!.body) as Json);
    expect(other).toEqual({ ...one, provider: "answer-cache", latency_ms: other!["latency_ms"] });
    expect(second.answered?.headers).toMatchObject({ "X-Gateway-Answered-By": "answer-cache" });
    await bench.audit();
  });

  test("so is a stream, to the letter", async () => {
    const bench = await caching();
    const first = await served(bench, STREAM);
    const second = await served(bench, STREAM);
    expect([cacheHeader(first), cacheHeader(second)]).toEqual(["miss", "hit"]);
    expect(bench.upstream.attempts).toHaveLength(1);
    expect(second.text).toBe(first.text);
    await bench.audit();
  });

  test("a stream is given complete", async () => {
    const bench = await caching();
    await served(bench, STREAM);
    const other = await served(bench);
    expect(cacheHeader(other)).toBe("hit");
    expect(JSON.parse(other.answered!.body)).toMatchObject({
      object: "chat.completion",
      choices: [{ message: { role: "assistant", content: "Hello world" }, finish_reason: "stop" }],
      usage: { total_tokens: 15 },
    });
    await bench.audit();
  });

  test("a complete answer is given as a stream", async () => {
    const bench = await caching();
    await served(bench);
    const other = await served(bench, { ...STREAM, stream_options: { include_usage: true } });
    expect(cacheHeader(other)).toBe("hit");
    expect(contents(other.text)).toBe("Hello world");
    expect(other.text).toContain('"total_tokens":15');
    expect(other.text).toMatch(/"finish_reason":"stop"[^]*data: \[DONE\]\n\n$/);
    await bench.audit();
  });

  test.each<readonly [string, Json]>([
    ["fields in another order", { messages: [{ role: "user", content: "hi" }], temperature: 0 }],
    ["for whom it is", { ...COLD, user: "x", metadata: { a: 1 }, safety_identifier: "y", prompt_cache_key: "z" }],
  ])("%s: the same", async (_, body) => {
    const bench = await caching();
    await served(bench, { model: "route/free", ...COLD });
    expect(cacheHeader(await served(bench, body))).toBe("hit");
  });

  test.each<readonly [string, Json]>([
    ["another prompt", { ...COLD, messages: [{ role: "user", content: "hi!" }] }],
    ["another limit", { ...COLD, max_tokens: 7 }],
    ["a tool", { ...COLD, tools: [{ type: "function", function: { name: "f" } }] }],
    ["a field that nobody knows", { ...COLD, future: 1 }],
    ["another model", { ...COLD, model: "route/other" }],
  ])("%s: another one", async (_, body) => {
    const models = [testModel("route/free"), testModel("route/other")];
    const bench = await caching({}, { models });
    await served(bench);
    expect(cacheHeader(await served(bench, body))).toBe("miss");
    expect(bench.upstream.attempts).toHaveLength(2);
  });

  test("another upstream behind the model: another one, over one store", async () => {
    const first = await caching();
    await served(first);
    const models = [testModel("route/free", { chain: [step("beta")] })];
    const upstreams = [testUpstream("alpha", { baseUrl: "http://127.0.0.1:2" }), testUpstream("beta")];
    const kept = { override: () => ({ getValue: (...of: [string, string]) => first.store.getValue(...of) }) };
    expect(cacheHeader(await served(await caching({}, kept)))).toBe("hit");
    expect(cacheHeader(await served(await caching({}, { ...kept, models })))).toBe("miss");
    expect(cacheHeader(await served(await caching({}, { ...kept, upstreams })))).toBe("miss");
  });

  test("of another user: only where answers are shared", async () => {
    for (const scope of ["user", "shared"] as const) {
      const bench = await caching(
        { scope },
        {
          identities: {
            presume: async (secret) => ({ userId: secret === "bob" ? "bob" : "ann", tier: "Free", keyId: "k" }),
          },
        },
      );
      await bench.store.addUser({ id: "bob", email: "bob@example.com", tier: "Free", credits: 10_000_000_000n });
      await served(bench);
      const second = await served(bench, COLD, { credentials: { kind: "key", value: "bob" } });
      expect(cacheHeader(second)).toBe(scope === "shared" ? "hit" : "miss");
    }
  });

  test.each([false, true])(
    "what an upstream repeats of for whom it was is not given to others, streamed: %s",
    async (stream) => {
      const bench = await caching({ scope: "shared" });
      const repeated = { user: "ann-7", metadata: { of: "ann-7" }, safety_identifier: "ann-7" };
      bench.upstream.play((target) => {
        if (!stream) return { type: "answer", target, usage: USAGE, body: { ...completion(USAGE), ...repeated } };
        const events = [chunk({ content: "hi" }), chunk({}, { finish: "stop" })];
        const source = new FakeSource().emit(
          ...events.map((event) => ({ ...event, data: { ...event.data, ...repeated } })),
        );
        return { type: "events", target, source: source.finish() };
      });
      const asking = (user: string) => bench.serve({ body: { ...COLD, stream, user } });
      await asking("ann-7");
      const second = await asking("bob-8");
      expect(cacheHeader(second)).toBe("hit");
      expect(stream ? second.text : second.answered?.body).not.toContain("ann-7");
    },
  );

  test.each<readonly [string, Options]>([
    ["time", { ttl: "31d" }],
    ["size", { max_size: "3MiB" }],
  ])("more than there may be of %s: refused at setup", async (_, options) => {
    await expect(caching(options)).rejects.toThrow(/too much/);
  });

  test("is forgotten after its time", async () => {
    const bench = await caching({ ttl: "60s" });
    await served(bench);
    bench.clock.advance(59_999);
    expect(cacheHeader(await served(bench))).toBe("hit");
    bench.clock.advance(1);
    expect(cacheHeader(await served(bench))).toBe("miss");
  });

  test("a client that asks for a new answer, or that none is kept, has it so", async () => {
    const bench = await caching();
    const asking = (control: string) => served(bench, COLD, { headers: { "cache-control": control } });
    expect(cacheHeader(await asking("no-store"))).toBeUndefined();
    expect(cacheHeader(await served(bench))).toBe("miss");
    expect(cacheHeader(await asking("max-age=0, No-Cache"))).toBe("miss");
    expect(cacheHeader(await served(bench))).toBe("hit");
  });
});

describe("what is kept", () => {
  test.each<readonly [string, Options, Json, readonly (string | undefined)[]]>([
    ["no answer of chance", {}, {}, [undefined, undefined]],
    ["nor of a temperature", {}, { temperature: 0.1 }, [undefined, undefined]],
    ["unless all are", { answers: "all" }, {}, ["miss", "hit"]],
    ["none that is too large", { answers: "all", max_size: "1KiB" }, {}, ["miss", "hit"]],
  ])("%s", async (_, options, body, expected) => {
    const bench = await caching(options);
    expect([cacheHeader(await served(bench, body)), cacheHeader(await served(bench, body))]).toEqual(expected);
  });

  test("nothing beyond its size", async () => {
    const bench = await caching({ max_size: "1KiB" });
    const message = { role: "assistant", content: "x".repeat(1024) };
    const long = { ...completion(USAGE), choices: [{ index: 0, message, finish_reason: "stop" }] };
    bench.upstream.play((target) => ({ type: "answer", target, usage: USAGE, body: long }));
    for (const expected of ["miss", "miss"]) expect(cacheHeader(await bench.serve({ body: COLD }))).toBe(expected);
  });

  test.each<readonly [string, Options["except"], string, string]>([
    ["a filtered one", [], "content_filter", "miss"],
    ["one that its limit cut", undefined, "length", "miss"],
    ["one that its limit cut, where it may be", [], "length", "hit"],
    ["calls", undefined, "tool_calls", "hit"],
    ["calls, where they may not be", ["tool_calls"], "tool_calls", "miss"],
  ])("%s: %s %s is then a %s", async (_, except, finish, expected) => {
    for (const stream of [false, true]) {
      const bench = await caching({ except });
      const body = completion(USAGE);
      const [choice] = body["choices"] as readonly Json[];
      const whole = { ...body, choices: [{ ...choice, finish_reason: finish }] };
      bench.upstream.play((target) => {
        if (!stream) return { type: "answer", target, usage: USAGE, body: whole };
        const source = new FakeSource().emit(chunk({ content: "a" }), chunk({}, { finish }));
        return { type: "events", target, source: source.finish() };
      });
      await bench.serve({ body: { ...COLD, stream } });
      expect(cacheHeader(await bench.serve({ body: { ...COLD, stream } }))).toBe(expected);
    }
  });

  test("no failure, and no stream that broke off", async () => {
    const bench = await caching();
    bench.upstream.play(fails("client_fault"));
    await bench.serve({ body: COLD });
    const cut: StreamEvent[] = [chunk({ content: "a" })];
    bench.upstream.play(streamsFrom(new FakeSource().emit(...cut).finish("cut")));
    await bench.serve({ body: STREAM });
    expect(cacheHeader(await served(bench))).toBe("miss");
    await bench.audit();
  });

  test("what the first upstream was not asked is told again", async () => {
    const bench = await caching();
    bench.upstream.play((target) => ({
      type: "answer",
      target,
      usage: USAGE,
      body: completion(USAGE),
      dropped: ["/seed"],
    }));
    await bench.serve({ body: COLD });
    expect((await bench.serve({ body: COLD })).answered?.headers).toMatchObject({ "X-Gateway-Dropped": "/seed" });
  });

  test("a store that is away is a miss, and nobody's failure", async () => {
    const away = { getValue: isAway, setValue: isAway };
    const bench = await caching({}, { override: () => away });
    for (const expected of ["miss", "miss"]) expect(cacheHeader(await served(bench))).toBe(expected);
    expect(bench.observer.pluginFailures).toEqual([]);
    await bench.audit();
  });

  test("what cannot be read is a miss, and is told", async () => {
    const bench = await caching({}, { override: () => ({ getValue: () => "no answer" }) });
    expect(cacheHeader(await served(bench))).toBe("miss");
    expect(bench.host.log.lines.map(({ message }) => message)).toContain("cached answer could not be read");
  });
});

describe("of other kinds", () => {
  test.each<readonly [string, Json, Options, readonly unknown[]]>([
    ["embedding", { input: "hello" }, {}, ["miss", "hit"]],
    ["rerank", { query: "hello", documents: ["a", "b"] }, {}, ["miss", "hit"]],
    ["speech", { input: "hello", voice: "a" }, {}, [null, null]],
    ["speech", { input: "hello", voice: "a" }, { answers: "all" }, ["miss", "hit"]],
    ["image", { prompt: "hello" }, { answers: "all" }, ["miss", "hit"]],
  ])("%s %j with %j", async (kind, body, options, expected) => {
    await using room = await openPlugin("answer-cache", { options });
    const results: OfflineResult[] = [];
    for (const _ of expected) results.push(await room.request({ model: `route/${kind}`, body }));
    expect(results.map(({ status }) => status)).toEqual([200, 200]);
    expect(results.map(({ headers }) => headers["x-gateway-cache"] ?? null)).toEqual(expected);
    const [first, second] = results.map(({ body }) =>
      body.replaceAll(/"(?:provider|latency_ms)":(?:"[^"]*"|\d+),?/g, ""),
    );
    expect(second).toEqual(first);
  });
});

describe("an answer from the store", () => {
  test.each<readonly [Options["charge"], bigint]>([
    [undefined, 0n],
    ["full", 1n],
  ])("charged %s", async (charge, times) => {
    const bench = await caching({ charge });
    await served(bench);
    await served(bench);
    const [first, second] = bench.observer.finishes.map(({ outcome }) => outcome.bill.charge);
    expect(first).toBeGreaterThan(0n);
    expect(second).toBe(first! * times);
    await bench.audit();
  });

  test("counts against the limits, and is not for who has used them up", async () => {
    const bench = await caching();
    await served(bench);
    await served(bench);
    expect(await bench.used()).toEqual({ day: 2, hour: 2, minute: 2 });
    await bench.store.grant("ann", -(await bench.balance()));
    expect((await served(bench)).refused?.error).toMatchObject({ code: "INSUFFICIENT_CREDITS" });
  });

  test("stops when its user stops it", async () => {
    const bench = await caching();
    const many = Array.from({ length: 200 }, (_, at) => chunk({ content: `${at},` }));
    bench.upstream.play(streamsFrom(new FakeSource().emit(...many, chunk({}, { finish: "stop" })).finish()));
    await bench.serve({ body: STREAM });
    const { client, done } = bench.stream({ body: COLD });
    client.block();
    await expect.poll(() => client.writes.length).toBe(1);
    client.abort("killed");
    await done;
    expect(bench.observer.finishes.at(-1)?.outcome).toMatchObject({ kind: "killed", answeredBy: "answer-cache" });
    await bench.audit();
  });

  test("is changed by the plugins that follow, as an upstream's is: what was masked is another user's own", async () => {
    const bench = await Bench.create({
      pipeline: [
        "auth",
        "breaker",
        "pii-mask",
        { use: "answer-cache", options: { scope: "shared" } },
        "stream-relay",
        "meter",
      ],
    });
    bench.upstream.play((target) => {
      const message = { role: "assistant", content: "to [EMAIL_1]" };
      return {
        type: "answer",
        target,
        usage: USAGE,
        body: { choices: [{ index: 0, message, finish_reason: "stop" }] },
      };
    });
    const asking = (address: string) =>
      bench.serve({ body: { ...COLD, messages: [{ role: "user", content: address }] } });
    expect((await asking("ann@example.com")).answered?.body).toContain("to ann@example.com");
    const second = await asking("bob@example.com");
    expect(cacheHeader(second)).toBe("hit");
    expect(second.answered?.body).toContain("to bob@example.com");
  });
});
