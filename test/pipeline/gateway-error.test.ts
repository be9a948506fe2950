import { describe, expect, test } from "vitest";
import { chatFormat, readChat } from "../../src/dialects/chat/client.ts";
import type { AnswerFormat, Hooks, StreamFormat } from "../../src/kit/index.ts";
import { Bench, type RequestParts } from "../support/bench.ts";
import { chunk, FakeSource, usageChunk } from "../support/source.ts";
import { plugin } from "../support/spy.ts";
import { answers, fails, streams, streamsFrom, USAGE } from "../support/upstream.ts";
import { benchWith, bug } from "./faults.ts";

const NONE = { day: 0, hour: 0, minute: 0 };
const ONE = { day: 1, hour: 1, minute: 1 };

/** What must hold of one request that failed by the gateway's own fault. */
async function expectFree(bench: Bench, { delivered, usage = USAGE }: { delivered: boolean; usage?: object }) {
  await bench.audit();
  const { outcome } = bench.observer.finishes[0]!;
  expect(outcome).toMatchObject({ kind: "gateway_error", begun: true, status: 500, code: "INTERNAL" });
  expect(outcome.giveBack).toBe(!delivered);
  expect(await bench.store.ledger("ann")).toMatchObject([{ outcome: "gateway_error", charge: 0n, usage }]);
  expect(await bench.used()).toEqual(delivered ? ONE : NONE);
  expect(bench.observer.attempts.map(({ result }) => result)).toEqual([{ ok: true }]);
  const { answered, endings } = bench.host.breakers.get("alpha")!;
  expect({ answered: answered + endings.filter(({ ok }) => ok).length, endings }).toMatchObject({
    endings: [{ ok: true }],
  });
}

/** A request whose answer is written by a format with a fault. */
function faulty(
  stream: boolean,
  fault: (format: AnswerFormat & { readonly stream: StreamFormat }) => AnswerFormat,
): RequestParts {
  const body = { model: "route/free", messages: [{ role: "user", content: "hi" }], stream };
  const call = readChat(body);
  return { read: async () => ({ call, format: fault(chatFormat(call)) }) };
}

/** The format with some of its methods replaced. */
function withMethods<Format extends object>(format: Format, methods: Partial<Format>): Format {
  return new Proxy(format, {
    get(target, name) {
      const value: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

const opensAndThrows: Hooks["relay"] = async ({ model }, open) => {
  await open(model.chain[0]!.targets[0]!);
  return bug();
};

const DEAR: Hooks["settle"] = () => ({ usage: USAGE, estimated: false, charge: 77n });

describe("nothing was delivered: free, given back and recorded", () => {
  test("a response hook that throws", async () => {
    const bench = await benchWith(plugin("bad", "transform", { response: bug }), "closed");
    bench.upstream.play(answers());
    const client = await bench.serve();
    expect(client.refused?.error).toMatchObject({ code: "INTERNAL" });
    expect(client.refused?.headers["X-RateLimit-Remaining-Day"]).toBe("1000");
    await expectFree(bench, { delivered: false });
  });

  test("an answer that cannot be written in the client's format", async () => {
    const bench = await Bench.create();
    bench.upstream.play(answers());
    const client = await bench.serve(faulty(false, (format) => withMethods(format, { answer: bug })));
    expect(client.refused?.error).toMatchObject({ code: "INTERNAL" });
    await expectFree(bench, { delivered: false });
  });

  test("an event hook that throws at the first event", async () => {
    const bench = await benchWith(plugin("bad", "transform", { event: bug }), "closed");
    const source = new FakeSource().emit(chunk({ content: "Hello" }, { usage: USAGE }));
    bench.upstream.play(streamsFrom(source));
    await bench.serve({ body: { stream: true } });
    expect(source.cancelled).toBe(true);
    await expectFree(bench, { delivered: false });
  });

  test("a relay that throws after an upstream had answered", async () => {
    for (const stream of [true, false]) {
      const bench = await Bench.create({
        plugins: [plugin("bad", "relay", { relay: opensAndThrows })],
        pipeline: ["auth", "quota", "breaker", "bad", "meter"],
      });
      bench.upstream.play(stream ? streams() : answers());
      await bench.serve({ body: { stream } });
      await bench.audit();
      expect(bench.observer.finishes[0]?.outcome).toMatchObject({ kind: "gateway_error", giveBack: true });
      expect(bench.observer.attempts.map(({ result }) => result)).toEqual([{ ok: true }]);
      expect(await bench.used()).toEqual(NONE);
    }
  });
});

describe("something was delivered: free, and counted", () => {
  test("an event hook that throws half-way", async () => {
    let seen = 0;
    const event: Hooks["event"] = (current) => (++seen === 3 ? bug() : current);
    const bench = await benchWith(plugin("bad", "transform", { event }), "closed");
    const source = new FakeSource().emit(chunk({ content: "one" }), chunk({ content: "two" }), chunk({ content: "!" }));
    bench.upstream.play(streamsFrom(source));
    const client = await bench.serve({ body: { stream: true } });
    expect(source.cancelled).toBe(true);
    expect(client.writes.at(-1)).toContain("Internal server error");
    await expectFree(bench, { delivered: true, usage: { prompt: 0, completion: 0 } });
  });

  test("an event that cannot be written, and is logged", async () => {
    const bench = await Bench.create();
    const source = new FakeSource().emit(chunk({ content: "one" }, { usage: USAGE })).emit(chunk({ content: "two" }));
    bench.upstream.play(streamsFrom(source));
    let seen = 0;
    const request = faulty(true, (format) => {
      const { stream } = format;
      const event: StreamFormat["event"] = (shown) => (++seen === 2 ? bug() : stream.event(shown));
      return { ...chatParts(format), stream: withMethods(stream, { event }) };
    });
    await bench.serve(request);
    expect(bench.host.log.lines.filter(({ level }) => level === "error")).toMatchObject([
      { message: "request failed" },
    ]);
    await expectFree(bench, { delivered: true });
  });

  test("an ending that cannot be written", async () => {
    const bench = await Bench.create();
    bench.upstream.play(
      streamsFrom(
        new FakeSource()
          .emit(chunk({ content: "one" }))
          .emit(usageChunk(USAGE))
          .finish(),
      ),
    );
    const request = faulty(true, (format) => ({
      ...chatParts(format),
      stream: withMethods(format.stream, { done: bug }),
    }));
    const client = await bench.serve(request);
    expect(client.writes.at(-1)).toContain("Internal server error");
    await expectFree(bench, { delivered: true });
  });
});

const chatParts = (format: AnswerFormat): AnswerFormat => ({
  contentType: format.contentType,
  answer: (body, extras) => format.answer(body, extras),
  promptText: () => format.promptText(),
  producedText: (body) => format.producedText(body),
  stream: format.stream,
});

test("a hook that says what it costs has no say: it is free", async () => {
  const bench = await Bench.create({
    plugins: [plugin("bad", "transform", { response: bug }), plugin("dear", "account", { settle: DEAR })],
    pipeline: ["auth", "quota", "breaker", "bad", "stream-relay", "meter", "dear"],
  });
  bench.upstream.play(answers());
  const client = await bench.serve();
  expect(client.refused?.error).toMatchObject({ code: "INTERNAL" });
  await expectFree(bench, { delivered: false });
});

test("hooks that fail before an upstream answered, or without one, are no such failure", async () => {
  const early = await benchWith(plugin("bad", "transform", { transform: bug }), "closed");
  await early.serve();
  expect(early.observer.finishes[0]?.outcome).toMatchObject({ kind: "refused", begun: false });
  const none = await benchWith(plugin("bad", "transform", { response: bug }), "closed");
  none.upstream.play(fails("connect"));
  await none.serve();
  expect(none.observer.finishes[0]?.outcome).toMatchObject({ kind: "failed" });
});
