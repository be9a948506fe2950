import { describe, expect, test } from "vitest";
import type { Hooks, Observer, OwnReply, Stage } from "../../src/kit/index.ts";
import { buildPipeline } from "../../src/pipeline/build.ts";
import { HookTimeout } from "../../src/pipeline/timing.ts";
import { Bench, settle } from "../support/bench.ts";
import { FakeSource } from "../support/source.ts";
import { plugin, reserving } from "../support/spy.ts";
import { answers } from "../support/upstream.ts";
import { garbage, nonError } from "./faults.ts";

const TIMEOUT = 200;
const PIPELINE = ["auth", "plan-check", "quota", "breaker", "stream-relay", "meter"];
const hangs = (): Promise<never> => Promise.withResolvers<never>().promise;

const HANGING: readonly (readonly [keyof Hooks, Stage, after: string | null])[] = [
  ["identify", "identify", null],
  ["admit", "admit", "quota"],
  ["transform", "transform", "breaker"],
  ["answer", "transform", "breaker"],
  ["response", "transform", "breaker"],
];

async function benchWith(
  own: ReturnType<typeof plugin>,
  after: string | null,
  fail: "open" | "closed",
): Promise<Bench> {
  const at = after === null ? 0 : PIPELINE.indexOf(after) + 1;
  const step = { use: own.name, fail, timeout: TIMEOUT };
  return Bench.create({ plugins: [own], pipeline: [...PIPELINE.slice(0, at), step, ...PIPELINE.slice(at)] });
}

describe.each(HANGING)("%s that does not return", (hook, stage, after) => {
  test.each(["closed", "open"] as const)("is given up in its time and named; fail: %s decides", async (fail) => {
    const bench = await benchWith(plugin("slow", stage, { [hook]: hangs }), after, fail);
    bench.upstream.play(answers());
    const { client, done } = bench.request();
    await settle();
    bench.clock.advance(TIMEOUT - 1);
    await settle();
    expect(client.answers).toBe(0);
    bench.clock.advance(1);
    await done;
    const [failure] = bench.observer.pluginFailures;
    expect(failure).toMatchObject({ name: "slow", error: { message: `hook ${hook} did not return within 200 ms` } });
    expect(failure?.error).toBeInstanceOf(HookTimeout);
    expect({ answered: client.answered?.status, refused: client.refused?.error }).toMatchObject(
      fail === "open" ? { answered: 200 } : { refused: { code: "INTERNAL" } },
    );
    await bench.audit();
  });
});

test("what an admit hook reserves after it was given up is given back", async () => {
  const journal: string[] = [];
  const gate = Promise.withResolvers<void>();
  const late = reserving("late", journal);
  const hooks = await late.setup({} as never, {} as never);
  const bench = await benchWith(
    { ...late, setup: () => ({ admit: (exchange) => gate.promise.then(() => hooks.admit!(exchange)) }) },
    "quota",
    "closed",
  );
  const { done } = bench.request();
  await settle();
  bench.clock.advance(TIMEOUT);
  await done;
  gate.resolve();
  await settle();
  expect(journal).toEqual(["late admits", "late settles"]);
  await bench.audit();
});

test("an answer that a plugin gives after it was given up is cancelled: nobody reads it", async () => {
  const gate = Promise.withResolvers<void>();
  const source = new FakeSource();
  const own: OwnReply = { type: "events", source, usage: null };
  const late = plugin("late", "transform", { answer: () => gate.promise.then(() => own) });
  const bench = await benchWith(late, "breaker", "open");
  const { done } = bench.stream();
  await settle();
  bench.clock.advance(TIMEOUT);
  await done;
  gate.resolve();
  await settle();
  expect(source.cancelled).toBe(true);
  await bench.audit();
});

test("a hook in its time leaves no timer, and a hook without a time may take any", async () => {
  const slow = plugin("slow", "transform", { transform: async (call) => call });
  const bench = await benchWith(slow, "breaker", "closed");
  bench.upstream.play(answers());
  await bench.serve();
  expect(bench.clock.pending).toBe(0);
  const free = await Bench.create({
    plugins: [plugin("slow", "transform", { transform: hangs })],
    pipeline: ["auth", "quota", "breaker", "slow", "stream-relay", "meter"],
  });
  const { client } = free.request();
  await settle();
  free.clock.advance(3_600_000);
  await settle();
  expect(client.answers).toBe(0);
});

/** What an observer is told of one call of each hook. */
async function measured(
  hooks: Hooks,
  timeout?: number,
): Promise<{ readonly times: string[]; readonly slow: string[] }> {
  const times: string[] = [];
  const slow: string[] = [];
  const observer: Pick<Observer, "hookTimer" | "pluginSlow"> = {
    hookTimer: (name, hook) => (ms) => times.push(`${name} ${hook} ${ms >= 0 && ms < 60_000}`),
    pluginSlow: (name, hook, ms) => slow.push(`${name} ${hook} ${ms >= 5}`),
  };
  const { host } = await Bench.create();
  const settings = { use: "x", options: {}, when: null, fail: "closed" as const, ...(timeout && { timeout }) };
  const relay = { plugin: plugin("relay", "relay", { relay: hangs }), settings };
  const own = { plugin: plugin("own", "identify", hooks), settings };
  const pipeline = await buildPipeline([own, relay], host, observer);
  for (let round = 0; round < 2; round += 1) {
    for (const { call } of pipeline.identify)
      await Promise.resolve({} as never)
        .then(call)
        .catch(() => null);
  }
  return { times, slow };
}

const busy = (): null => {
  const until = performance.now() + 5;
  while (performance.now() < until);
  return null;
};

describe("measuring", () => {
  test.each([
    ["returns", () => null],
    ["resolves", async () => null],
    ["throws", nonError],
    ["rejects", () => Promise.reject(new Error("no"))],
    ["returns anything", garbage({ data: 7 })],
  ])("a hook that %s is measured, once a call", async (_, identify) => {
    expect(await measured({ identify })).toEqual({
      times: ["own identify true", "own identify true"],
      slow: [],
    });
  });

  test("a synchronous one that held everything up is told of, once a minute", async () => {
    expect((await measured({ identify: busy }, 1)).slow).toEqual(["own identify true"]);
    expect((await measured({ identify: busy })).slow).toEqual([]);
  });
});

test("an answer that a plugin is given to keep, and does not, is named; nobody waits for it for ever", async () => {
  const keeper = plugin("keeper", "transform", { answer: () => ({ type: "keep", maxBytes: 10_000, keep: hangs }) });
  const bench = await benchWith(keeper, "breaker", "closed");
  bench.upstream.play(answers());
  const { client, done } = bench.request();
  await settle();
  expect(client.answered?.status).toBe(200);
  bench.clock.advance(TIMEOUT);
  await done;
  expect(bench.observer.pluginFailures).toMatchObject([
    { name: "keeper", error: { message: "hook keep did not return within 200 ms" } },
  ]);
  await bench.audit();
});
