import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dataOf } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

const DONE = "data: [DONE]\n\n";
const failure = (message: string): string => `data: {"error":{"message":"${message}","type":"api_error"}}\n\n${DONE}`;
const BEAT = ": keep-alive\n\n";

let gateway: TestGateway;
let user: TestUser;

beforeAll(async () => {
  gateway = await TestGateway.start({
    chains: {
      "route/late": ["?status=500&first_byte=400ms", "-"],
      "route/lost": ["?status=500&first_byte=400ms", "?status=500"],
    },
    config: {
      server: { heartbeat: "100ms" },
      defaults: { upstream: { timeouts: { idle: "1s" } } },
      tiers: { Counted: { access: "all", limits: { day: 10, hour: 10, minute: 10, streams: 1 } } },
    },
  });
});
afterAll(() => gateway.close());

describe("an upstream that breaks off half-way", () => {
  test.each([
    ["?error_after=3", "upstream reported an error: Simulated failure"],
    [
      "?error_after=3&message=no%20sk-abcdef0123456789abcdef%20%3Cb%3Ehttp%3A%2F%2Fx%2Fy",
      "upstream reported an error: no [redacted] [url]",
    ],
    ["?reset_after=3", "upstream connection lost (connection reset)"],
    ["?close_after=3", "upstream connection lost (connection reset)"],
    ["?end_after=3", "upstream connection lost: premature end of its answer"],
    ["?malformed_after=3", "upstream sent an event that is not JSON"],
    ["?stall_after=3", "upstream stream timed out in the middle of its answer"],
    ["?wrong_length&no_done&end_after=3", "upstream connection lost (connection reset)"],
  ])(
    "%s: what came before, the error event, [DONE]; never a clean end, never another upstream",
    async (script, message) => {
      user = await gateway.user();
      const asked = gateway.simulator.ledger().length;
      const { status, text, whole } = await gateway.chat(user, { stream: true, sim: script });
      expect([status, whole]).toEqual([200, true]);
      const events = text.replaceAll(BEAT, "");
      expect(events.endsWith(failure(message))).toBe(true);
      const before = dataOf(events.slice(0, -failure(message).length));
      expect(before).toHaveLength(3);
      expect(gateway.simulator.ledger()).toHaveLength(asked + 1);
      const [entry] = (await gateway.books(user)).ledger;
      expect(entry).toMatchObject({ outcome: "upstream_cut", estimated: true });
      expect(entry!.charge).toBeGreaterThan(0n);
      await gateway.audit();
    },
  );

  test("without [DONE], but after a finish reason, the answer is whole", async () => {
    user = await gateway.user();
    const { text } = await gateway.chat(user, { stream: true, sim: "?no_done" });
    expect(text.endsWith(DONE)).toBe(true);
    expect(text).not.toContain('"error":');
    expect((await gateway.books(user)).ledger).toMatchObject([{ outcome: "served", estimated: false }]);
  });

  test("its slot is free again at once", async () => {
    user = await gateway.user({ tier: "Counted" });
    for (let count = 0; count < 5; count += 1)
      expect((await gateway.chat(user, { stream: true, sim: "?reset_after=2" })).status).toBe(200);
    expect((await gateway.books(user)).used.day).toBe(5);
  });
});

describe("heartbeats", () => {
  test("are comments while an upstream is silent before its first event", async () => {
    user = await gateway.user();
    const call = gateway.open(user, { stream: true, sim: "?first_event=1h" });
    expect(await call.until(BEAT + BEAT)).toMatch(/^(: keep-alive\n\n)+$/);
    call.leave();
    await gateway.audit();
  });

  test("and between events", async () => {
    user = await gateway.user();
    const slow = await gateway.chat(user, { stream: true, max_tokens: 2, sim: "?chunk_delay=250ms" });
    expect(slow.text).toMatch(/data: \{[^\n]*\}\n\n(: keep-alive\n\n)+data: /);
  });

  test("start the answer; the chain still fails over", async () => {
    user = await gateway.user();
    const { status, headers, text } = await gateway.chat(user, { model: "route/late", stream: true });
    expect([status, headers["content-type"]]).toEqual([200, "text/event-stream; charset=utf-8"]);
    expect(text).toMatch(/^(: keep-alive\n\n)+(data: \{[^\n]*\}\n\n)+data: \[DONE\]\n\n$/);
    expect((await gateway.books(user)).ledger).toMatchObject([{ upstream: "late-2", outcome: "served" }]);
  });

  test.each([
    [{ model: "route/lost" }, "Every upstream failed: upstream answered 500"],
    [{ sim: "?first_byte=300ms&status=422&message=too%20long" }, "Invalid request: too long"],
  ])("%j: a failure of the whole chain after one is an error event", async (body, message) => {
    user = await gateway.user({ tier: "Counted" });
    const before = await gateway.books(user);
    const { status, text } = await gateway.chat(user, { ...body, stream: true });
    expect(status).toBe(200);
    expect(text.replaceAll(BEAT, "")).toBe(failure(message));
    expect(text.startsWith(BEAT)).toBe(true);
    const after = await gateway.books(user);
    expect(after.balance).toBe(before.balance);
    expect(after.used.day).toBe("model" in body ? 0 : 1);
  });

  test("a complete answer has none, however late it is", async () => {
    user = await gateway.user();
    const { text } = await gateway.chat(user, { sim: "?first_byte=300ms" });
    expect(text.startsWith("{")).toBe(true);
  });
});

test("the chain's deadline ends the wait for a first event, not a stream that has begun", async () => {
  const limited = await TestGateway.start({
    chains: { "route/limit": ["?first_byte=1h", "-"] },
    config: { models: { "route/limit": { deadline: "800ms" }, "route/one": { deadline: "800ms" } } },
  });
  const someone = await limited.user();
  const late = await limited.chat(someone, { model: "route/limit", stream: true });
  expect([late.status, late.text]).toEqual([
    504,
    "Every upstream timed out: the request's deadline passed before the answer",
  ]);
  const long = await limited.chat(someone, { stream: true, max_tokens: 2, sim: "?chunk_delay=300ms" });
  expect(long.text.endsWith(DONE)).toBe(true);
  expect(long.text).not.toContain('"error":');
  await limited.close();
});
