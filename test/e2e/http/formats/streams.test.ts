import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unanswered } from "../../support/books.ts";
import { askFormat, eventsOf, FORMATS, modelsIn, openFormat, streamedText } from "../../support/formats.ts";
import { eventually } from "../../support/http.ts";
import { TestGateway, type TestUser } from "../../support/in-process.ts";

const OTHERS = ["messages", "responses"] as const;
/** Every text in the messages, role included. */
const PROMPT = countTokens("Hello there\nuser");

const CUTS: Readonly<Record<string, readonly [script: string, message: string]>> = {
  error: ["?error_after=3", "upstream reported an error: Simulated failure"],
  reset: ["?reset_after=3", "upstream connection lost (connection reset)"],
  close: ["?close_after=3", "upstream connection lost (connection reset)"],
  end: ["?end_after=3", "upstream connection lost: premature end of its answer"],
  malformed: ["?malformed_after=3", "upstream sent an event that is not JSON"],
  stall: ["?stall_after=3", "upstream stream timed out in the middle of its answer"],
};

let gateway: TestGateway;
let user: TestUser;
beforeAll(async () => {
  gateway = await TestGateway.start({
    chains: {
      ...Object.fromEntries(Object.entries(CUTS).map(([name, [script]]) => [`route/${name}`, [script]])),
      "route/undone": ["?no_done"],
      "route/mended": ["?error_first", "-"],
    },
    config: {
      defaults: { upstream: { timeouts: { idle: "500ms" } } },
      tiers: { Counted: { access: "all", limits: { day: 10, hour: 10, minute: 10, streams: 1 } } },
    },
  });
});
afterAll(() => gateway.close());

describe.each(OTHERS)("%s: before the first event", (name) => {
  test("an error as the first event fails over", async () => {
    user = await gateway.user();
    const { status, text } = await askFormat(gateway, user, name, { model: "route/mended", stream: true });
    expect([status, streamedText(name, text)]).toEqual([200, "This is a simulated answer. You said: Hello there"]);
    expect(text).toMatch(FORMATS[name].done);
    expect((await gateway.books(user)).ledger).toMatchObject([{ upstream: "mended-2", outcome: "served" }]);
  });
});

describe.each(OTHERS)("%s: an upstream that breaks off half-way", (name) => {
  const format = FORMATS[name];

  test.each(Object.entries(CUTS))(
    "%s: what came before, then the format's error event, no [DONE] and no other upstream",
    async (fault, [, message]) => {
      user = await gateway.user();
      const asked = gateway.simulator.ledger().length;
      const { status, text, whole } = await askFormat(gateway, user, name, { model: `route/${fault}`, stream: true });
      expect([status, whole]).toEqual([200, true]);
      expect(text).toMatch(format.failed(message));
      expect(text).not.toContain("[DONE]");
      expect(text).not.toMatch(/event: (?:message_stop|response\.(?:completed|incomplete))/);
      // The role, then two words.
      expect(streamedText(name, text)).toBe("This is");
      expect(gateway.simulator.ledger()).toHaveLength(asked + 1);
      const [entry] = (await gateway.books(user)).ledger;
      const usage = { prompt: PROMPT, completion: countTokens("This is") };
      expect(entry).toMatchObject({ outcome: "upstream_cut", estimated: true, usage });
      await gateway.audit();
    },
  );

  test("without [DONE], but after a finish reason, the answer is whole", async () => {
    user = await gateway.user();
    const { text } = await askFormat(gateway, user, name, { model: "route/undone", stream: true });
    expect(text).toMatch(format.done);
    expect((await gateway.books(user)).ledger).toMatchObject([{ outcome: "served", estimated: false }]);
  });

  test("its slot is free again at once", async () => {
    user = await gateway.user({ tier: "Counted" });
    for (let count = 0; count < 3; count += 1)
      expect((await askFormat(gateway, user, name, { model: "route/reset", stream: true })).status).toBe(200);
    expect((await gateway.books(user)).used.day).toBe(3);
  });
});

describe.each(OTHERS)("%s: with heartbeats", (name) => {
  const { beat, done, failed, killed } = FORMATS[name];
  let beating: TestGateway;
  let someone: TestUser;
  beforeAll(async () => {
    beating = await TestGateway.start({
      chains: {
        "route/late": ["?status=500&first_byte=250ms", "-"],
        "route/lost": ["?status=500&first_byte=250ms", "?status=500"],
        "route/slow": ["?chunk_delay=150ms"],
        "route/stuck": ["?stall_after=4"],
        "route/mute": ["?first_byte=1h"],
      },
      config: { server: { heartbeat: "60ms" } },
    });
    someone = await beating.user();
  });
  afterAll(() => beating.close());

  const beats = new RegExp(`^(?:${RegExp.escape(beat)})+`);

  test("they start the answer; the chain still fails over", async () => {
    const { status, text } = await askFormat(beating, someone, name, { model: "route/late", stream: true });
    expect(status).toBe(200);
    expect(text).toMatch(beats);
    expect(text).toMatch(done);
    expect(streamedText(name, text.replaceAll(beat, ""))).toContain("You said: Hello there");
  });

  test("they come between events", async () => {
    const call = openFormat(beating, someone, name, { model: "route/slow", stream: true });
    await call.until("This");
    const length = call.text.length;
    await call.until(new RegExp(`[^]{${length}}[^]*${RegExp.escape(beat)}`));
    expect(call.text.slice(length)).toContain(beat);
    call.leave();
    await beating.audit();
  });

  test("a failure of the whole chain after one is the format's error event, and the request never was", async () => {
    const before = await beating.books(someone);
    const { status, text } = await askFormat(beating, someone, name, { model: "route/lost", stream: true });
    expect(status).toBe(200);
    expect(text).toMatch(beats);
    const rest = text.replaceAll(beat, "");
    expect(rest).toMatch(failed("Every upstream failed: upstream answered 500"));
    // A failed response begins as any other.
    expect(eventsOf(rest)).toHaveLength(name === "responses" ? 4 : 1);
    expect((await beating.books(someone)).balance).toBe(before.balance);
  });

  test("a killed stream that has had nothing else is a whole answer, counted and charged its prompt", async () => {
    const another = await beating.user();
    const call = openFormat(beating, another, name, { model: "route/mute", stream: true });
    await call.until(beat);
    expect(await kill(beating, another)).toBe(1);
    const { text, whole } = await call.whole();
    expect(whole).toBe(true);
    expect(text.replaceAll(beat, "")).toMatch(killed);
    expect([...modelsIn(eventsOf(text))]).toEqual(["route/mute"]);
    expect(await beating.books(another)).toMatchObject(unanswered({ outcome: "killed" }));
  });
});

async function kill(at: TestGateway, { key }: TestUser): Promise<number> {
  const { text } = await at.send("/v1/user/streams/kill", { headers: { "x-api-key": key } });
  return (JSON.parse(text) as { killed_streams: number }).killed_streams;
}

describe.each(OTHERS)("%s: a stream that ends early", (name) => {
  const format = FORMATS[name];
  let still: TestGateway;
  let someone: TestUser;
  beforeAll(async () => {
    still = await TestGateway.start({
      chains: {
        "route/stuck": ["?stall_after=4"],
        "route/run": ["?chunk_delay=10ms&chunks=100000"],
      },
    });
  });
  afterAll(() => still.close());

  test("killed in the middle closes what is open and ends in the format's ending", async () => {
    someone = await still.user();
    const call = openFormat(still, someone, name, { model: "route/stuck", stream: true });
    await call.until('" a"');
    expect(await kill(still, someone)).toBe(1);
    const { status, text, whole } = await call.whole();
    expect([status, whole]).toEqual([200, true]);
    expect(text).toMatch(format.killed);
    expect(text).not.toMatch(/event: error|\[DONE\]|response\.completed/);
    expect(streamedText(name, text)).toBe("This is a");
    const types = eventsOf(text).map(({ type }) => type);
    expect(types.slice(-format.killedTypes.length)).toEqual(format.killedTypes);
    expect([...modelsIn(eventsOf(text))]).toEqual(["route/stuck"]);
    const usage = { prompt: PROMPT, completion: countTokens("This is a") };
    expect((await still.books(someone)).ledger).toMatchObject([{ outcome: "killed", estimated: true, usage }]);
  });

  test("left by its client frees everything at once and costs what was delivered", async () => {
    someone = await still.user();
    const call = openFormat(still, someone, name, { model: "route/run", stream: true });
    await call.until('" a"');
    call.leave();
    const left = Date.now();
    await eventually(() => still.simulator.open() === 0);
    expect(still.simulator.ledger().at(-1)!.closedAt! - left).toBeLessThanOrEqual(5_000);
    await still.audit();
    const { ledger, used } = await still.books(someone);
    expect(ledger).toMatchObject([{ outcome: "client_gone", estimated: true }]);
    expect([ledger[0]!.charge > 0n, used.day]).toEqual([true, 1]);
  });
});
