import { describe, expect, test } from "vitest";
import { GatewayError, type Hooks, type Stage } from "../../src/kit/index.ts";
import { Bench } from "../support/bench.ts";
import { chunk, FakeSource } from "../support/source.ts";
import { plugin } from "../support/spy.ts";
import { answers, streams, streamsFrom } from "../support/upstream.ts";
import { benchWith, bug, garbage, nonError, rejects } from "./faults.ts";

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
  {
    stage: "transform",
    hook: "transform",
    how: "turns streaming over",
    hooks: { transform: (call) => ({ ...call, stream: !call.stream }) },
  },
  {
    stage: "transform",
    hook: "transform",
    how: "changes the model",
    hooks: { transform: (call) => ({ ...call, model: "route/max" }) },
  },
  {
    stage: "transform",
    hook: "transform",
    how: "writes into the frozen call",
    hooks: { transform: (call) => Object.assign(call, { model: "x" }) },
  },
  {
    stage: "transform",
    hook: "transform",
    how: "writes into the frozen body",
    hooks: { transform: (call) => (Object.assign(call.body, { model: "x" }), call) },
  },
  {
    stage: "transform",
    hook: "transform",
    how: "writes into the frozen exchange",
    hooks: { transform: (call, exchange) => (Object.assign(exchange, { call: null }), call) },
  },
  ...throwing("transform", "event", "stream"),
  { stage: "transform", hook: "event", on: "stream", how: "returns nothing", hooks: { event: garbage(undefined) } },
  {
    stage: "transform",
    hook: "event",
    on: "stream",
    how: "returns a promise",
    hooks: { event: garbage(Promise.resolve({})) },
  },
  ...throwing("transform", "response", "answer"),
  { stage: "transform", hook: "response", on: "answer", how: "rejects", hooks: { response: rejects } },
  {
    stage: "transform",
    hook: "response",
    on: "answer",
    how: "returns nothing",
    hooks: { response: garbage(undefined) },
  },
];

describe.each(CASES)("$hook that $how", ({ stage, hook, hooks, on }) => {
  const kinds = on === undefined ? (["stream", "answer"] as const) : [on];
  const bad = plugin("bad", stage, hooks);

  test.each(kinds)("fails the request and is named; what was reserved is settled once (%s)", async (kind) => {
    const journal: string[] = [];
    const bench = await benchWith(bad, "closed", journal);
    bench.upstream.play(kind === "stream" ? streams() : answers());
    const client = await bench.serve({ body: { stream: kind === "stream" } });
    expect(bench.observer.pluginFailures.map(({ name }) => name)).toEqual(["bad"]);
    // An event hook runs when the stream has begun.
    expect(client.refused === null ? client.text : String(client.refused.error)).toBe(
      hook === "event"
        ? 'data: {"error":{"message":"Internal server error","type":"api_error"}}\n\ndata: [DONE]\n\n'
        : "GatewayError: Internal server error",
    );
    expect(journal.filter((line) => line.endsWith("settles")).length).toBe(
      journal.filter((line) => line.endsWith("admits")).length,
    );
    await bench.audit();
  });

  test.each(kinds)("with fail: open is named and passed over (%s)", async (kind) => {
    const journal: string[] = [];
    const bench = await benchWith(bad, "open", journal);
    bench.upstream.play(kind === "stream" ? streams() : answers());
    const client = await bench.serve({ body: { stream: kind === "stream" } });
    expect(new Set(bench.observer.pluginFailures.map(({ name }) => name))).toEqual(new Set(["bad"]));
    expect(client.answered?.body ?? client.text).toMatch(/Hello (?:.*\n)*.*world/);
    expect(client.refused).toBeNull();
    expect(bench.observer.finishes[0]?.outcome.kind).toBe("served");
    expect(journal).toEqual(["first admits", "last admits", "last settles", "first settles"]);
    await bench.audit();
  });
});

const refusal = (): never => {
  throw new GatewayError("INVALID_REQUEST", "Invalid request: no such words");
};

describe("a hook that answers by a GatewayError", () => {
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

  test("response: the answer is refused, what the upstream did is charged and is not its fault", async () => {
    const bench = await benchWith(plugin("strict", "transform", { response: refusal }), "closed");
    bench.upstream.play(answers(null));
    const client = await bench.serve();
    expect(client.refused?.error).toMatchObject({ code: "INVALID_REQUEST" });
    expect(bench.observer.finishes[0]?.outcome).toMatchObject({
      kind: "refused",
      begun: true,
      giveBack: false,
      bill: { charge: 8_000n },
    });
    await bench.audit();
  });

  test("event: what came before it reaches the client, then its message", async () => {
    let seen = 0;
    const event: Hooks["event"] = (current) => {
      seen += 1;
      return seen === 3 ? refusal() : current;
    };
    const bench = await benchWith(plugin("strict", "transform", { event }), "closed");
    const source = new FakeSource().emit(
      chunk({ content: "one" }),
      chunk({ content: "two" }),
      chunk({ content: "three" }),
    );
    bench.upstream.play(streamsFrom(source));
    const client = await bench.serve({ body: { stream: true } });
    expect(source.cancelled).toBe(true);
    expect(client.text).toContain("two");
    expect(client.text).not.toContain("three");
    expect(client.writes.at(-1)).toContain("no such words");
    expect(bench.observer.finishes[0]?.outcome).toMatchObject({ kind: "refused", begun: true, giveBack: false });
    expect(bench.observer.attempts.map(({ result }) => result)).toEqual([{ ok: true }]);
    await bench.audit();
  });
});

test("a transform that writes into what the transform before it made fails: it may be the configuration's own", async () => {
  const bench = await Bench.create({
    plugins: [
      plugin("maker", "transform", { transform: (call) => ({ ...call, body: { ...call.body, made: true } }) }),
      plugin("bad", "transform", { transform: (call) => (Object.assign(call.body, { made: false }), call) }),
    ],
    pipeline: ["auth", "quota", "maker", "bad", "stream-relay", "meter"],
  });
  const client = await bench.serve();
  expect(client.refused?.error).toMatchObject({ code: "INTERNAL" });
  expect(bench.observer.pluginFailures.map(({ name }) => name)).toEqual(["bad"]);
  await bench.audit();
});
