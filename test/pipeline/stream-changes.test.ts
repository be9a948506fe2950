import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GatewayError, type Hooks, type StreamChange, type StreamEvent } from "../../src/kit/index.ts";
import { RUNS } from "../properties/runs.ts";
import { Bench, settle } from "../support/bench.ts";
import { chunk, FakeSource } from "../support/source.ts";
import { plugin } from "../support/spy.ts";
import { streamsFrom } from "../support/upstream.ts";
import { garbage, nonError } from "./faults.ts";

const BEAT = ": keep-alive\n\n";
const HEARTBEAT = 15_000;

/** A pipeline in which these hooks stand, in this order, as plugins of their own. */
async function changing(hooks: readonly Hooks[], fail: "open" | "closed" = "closed"): Promise<Bench> {
  const plugins = hooks.map((own, at) => plugin(`change-${at}`, "transform", own));
  const steps = plugins.map(({ name }) => ({ use: name, fail }));
  return Bench.create({ plugins, pipeline: ["auth", "quota", "breaker", ...steps, "stream-relay", "meter"] });
}

/** The event with other text. */
function withText(event: StreamEvent, text: string): StreamEvent {
  return { data: chunk({ content: text }).data, text, ...(event.usage && { usage: event.usage }) };
}

const release = (event: StreamEvent, text: string): readonly StreamEvent[] =>
  text === "" ? [] : [withText(event, text)];

/** Holds back what may be the beginning of `word`, and writes `***` for it. */
function hiding(word: string): StreamChange {
  let held = "";
  return {
    event(event) {
      if (event.text === "") return [...this.end!(), event];
      const text = (held + event.text).replaceAll(word, "***");
      let size = Math.min(word.length - 1, text.length);
      while (!word.startsWith(text.slice(text.length - size))) size -= 1;
      held = text.slice(text.length - size);
      return release(event, text.slice(0, text.length - size));
    },
    end() {
      const rest = held;
      held = "";
      return release(chunk({}), rest);
    },
  };
}

function contents(text: string): string {
  return [...text.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content).join("");
}

const mark = (sign: string): Hooks => ({ event: (event) => withText(event, event.text + sign) });
const twice = (sign: string): Hooks => ({
  stream: () => ({ event: (event) => [withText(event, event.text + sign), withText(event, sign)] }),
});
const many = (event: StreamEvent): StreamEvent[] => Array.from({ length: 10 }, () => event);
const refuse = (): never => {
  throw new GatewayError("INVALID_REQUEST", "not this word");
};

interface Streamed {
  readonly bench: Bench;
  readonly source: FakeSource;
  readonly client: Bench["requests"][0]["client"];
  readonly done: Promise<void>;
}

async function started(bench: Bench): Promise<Streamed> {
  const source = new FakeSource();
  bench.upstream.play(streamsFrom(source));
  const { client, done } = bench.stream();
  await expect.poll(() => source.opened).toBe(true);
  return { bench, source, client, done };
}

describe("a change of a stream", () => {
  test("sees across the borders of events, whatever they are, and of other streams nothing", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 12 }), async (sizes) => {
        const bench = await changing([{ stream: () => hiding("secret") }]);
        const text = "a secret is secretly a secre";
        const other = await started(bench);
        const { source, client, done } = await started(bench);
        let at = 0;
        for (const size of [...sizes, text.length]) {
          const part = text.slice(at, at + size);
          at += size;
          if (part !== "") source.emit(chunk({ content: part }));
          other.source.emit(chunk({ content: "sec" }));
        }
        source.emit(chunk({}, { finish: "stop" })).finish();
        other.source.finish();
        await Promise.all([done, other.done]);
        expect(contents(client.text)).toBe("a *** is ***ly a secre");
        expect(contents(other.client.text)).toBe("sec".repeat(sizes.length + 1));
        // What was held back came before the finish reason.
        expect(client.text.lastIndexOf("content")).toBeLessThan(client.text.indexOf('"stop"'));
        await bench.audit();
      }),
      { numRuns: Math.ceil(RUNS / 10) },
    );
  });

  test("what is charged is what the upstream made, not what the client reads", async () => {
    const bench = await changing([{ stream: () => ({ event: ({ usage }) => (usage ? [] : []) }) }]);
    const { client, done } = bench.stream();
    await done;
    expect(contents(client.text)).toBe("");
    expect(bench.observer.finishes[0]?.outcome.bill.charge).toBe(20_000n);
    await bench.audit();
  });

  test("stands in the order of the pipeline among event hooks", async () => {
    const { source, client, done } = await started(await changing([mark("a"), twice("b"), mark("c"), twice("d")]));
    source.emit(chunk({ content: "-" })).finish();
    await done;
    expect(contents(client.text)).toBe("-abcddbcdd");
  });

  test.each([undefined, "the upstream broke off"])("what is held back comes at the end, cut: %s", async (cut) => {
    const bench = await changing([
      { stream: () => hiding("secret") },
      { event: (event) => withText(event, event.text.toUpperCase()) },
    ]);
    const { source, client, done } = await started(bench);
    source.emit(chunk({ content: "secre" })).finish(cut);
    await done;
    expect(contents(client.text)).toBe("SECRE");
    expect(client.text.includes("broke off")).toBe(cut !== undefined);
    await bench.audit();
  });

  test("heartbeats fill the silence while everything is held back, and nothing pauses the upstream", async () => {
    const bench = await changing([{ stream: () => ({ event: () => [] }) }]);
    const { source, client } = await started(bench);
    client.block();
    bench.clock.advance(HEARTBEAT - 1);
    source.emit(chunk({ content: "a" }));
    expect(source.paused).toBe(false);
    bench.clock.advance(1);
    expect(client.text).toBe(BEAT);
    source.finish();
    await bench.audit();
  });

  test("a full buffer pauses the upstream, whatever one event has become", async () => {
    const { bench, source, client } = await started(await changing([{ stream: () => ({ event: many }) }]));
    client.block();
    source.emit(chunk({ content: "a" })).emit(chunk({ content: "b" }));
    expect(contents(client.text)).toBe("a".repeat(10));
    expect(source.paused).toBe(true);
    client.drain();
    source.finish();
    await bench.audit();
    expect(contents(client.text)).toBe("a".repeat(10) + "b".repeat(10));
  });

  test.each(["event", "end"] as const)("a refusal in %s ends the stream and is charged", async (at) => {
    const change = at === "event" ? { event: refuse } : { event: () => [], end: refuse };
    const { bench, source, client, done } = await started(await changing([{ stream: () => change }]));
    source.emit(chunk({ content: "bad" }));
    if (at === "end") source.finish();
    await done;
    expect(client.text).toContain("not this word");
    expect(contents(client.text)).toBe("");
    expect(source.live).toBe(false);
    expect(bench.observer.finishes[0]?.outcome).toMatchObject({ kind: "refused", begun: true });
    await bench.audit();
  });

  test("is not asked for what nobody reads", async () => {
    let ends = 0;
    const { bench, source, client } = await started(
      await changing([{ stream: () => ({ event: (event) => [event], end: () => ((ends += 1), []) }) }]),
    );
    source.emit(chunk({ content: "a" }));
    client.abort("killed");
    await bench.audit();
    expect(ends).toBe(0);
  });

  test("nothing returned leaves the stream as it is", async () => {
    const plain = await changing([]);
    const first = plain.stream();
    await first.done;
    const bench = await changing([{ stream: () => null }, { stream() {} }]);
    const second = bench.stream();
    await second.done;
    expect(second.client.text).toBe(first.client.text);
  });
});

describe("what a plugin does wrong", () => {
  const wrong: readonly (readonly [string, NonNullable<Hooks["stream"]>])[] = [
    ["throws at its beginning", nonError],
    ["throws at an event", () => ({ event: nonError })],
    ["returns an event for a list", () => ({ event: garbage({ data: {}, text: "" }) })],
    ["returns a list of something else", () => ({ event: garbage([7]) })],
    ["throws at the end", () => ({ event: (event) => [event], end: nonError })],
  ];
  test.each(wrong)("%s: named, fails the stream, free", async (_, stream) => {
    const { bench, source, client, done } = await started(await changing([{ stream }]));
    source.emit(chunk({ content: "a" })).finish();
    await done;
    expect(client.text).toContain("Internal server error");
    expect(bench.observer.pluginFailures.map(({ name }) => name)).toEqual(["change-0"]);
    expect(bench.observer.finishes[0]?.outcome).toMatchObject({ kind: "gateway_error", bill: { charge: 0n } });
    await bench.audit();
  });

  test.each(wrong)("%s with fail: open: the rest passes as it is, named once", async (_, stream) => {
    const { bench, source, client, done } = await started(await changing([{ stream }], "open"));
    source
      .emit(chunk({ content: "a" }))
      .emit(chunk({ content: "b" }))
      .finish();
    await done;
    await settle();
    expect(contents(client.text)).toBe("ab");
    expect(bench.observer.pluginFailures).toHaveLength(1);
    await bench.audit();
  });
});
