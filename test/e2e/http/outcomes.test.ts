import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LedgerEntry } from "../../../src/kit/index.ts";
import { unanswered } from "../support/books.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

const WHOLE = "This is a simulated answer. You said: Hello there";
/** The role, then three words of a token each. */
const PART = 4;
const PART_TOKENS = 3;

/** What an entry costs at 1 a million tokens of input and 2 of output. */
const cost = ({ usage }: LedgerEntry): bigint => 1_000n * BigInt(usage.prompt) + 2_000n * BigInt(usage.completion);

describe.each([
  ["delivered", "free"],
  ["free", "estimate"],
] as const)("billing.outcomes: broken off %s, without usage %s", (brokenOff, noUsage) => {
  let gateway: TestGateway;
  let user: TestUser;

  beforeAll(async () => {
    const outcomes = { client_gone: brokenOff, killed: brokenOff, upstream_cut: brokenOff, no_usage: noUsage };
    gateway = await TestGateway.start({ config: { server: { heartbeat: "100ms" }, billing: { outcomes } } });
  });
  afterAll(() => gateway.close());

  /** The one entry of a new user after `play`, with its slot, hold and balance as they should be. */
  async function entryAfter(play: () => Promise<void>): Promise<LedgerEntry> {
    user = await gateway.user();
    await play();
    await gateway.audit();
    const { ledger, used } = await gateway.books(user);
    expect([ledger.length, used.day]).toEqual([1, 1]);
    const [entry] = ledger;
    const policy = entry!.outcome === "served" ? noUsage : brokenOff;
    expect(entry!.charge).toBe(entry!.estimated && policy === "free" ? 0n : cost(entry!));
    return entry!;
  }

  test("the client leaves half-way", async () => {
    const entry = await entryAfter(async () => {
      const call = gateway.open(user, { stream: true, sim: `?stall_after=${PART}` });
      await call.until('" a"');
      call.leave();
    });
    expect(entry).toMatchObject({ outcome: "client_gone", estimated: true, usage: { completion: PART_TOKENS } });
    expect(entry.usage.prompt).toBeGreaterThanOrEqual(countTokens("Hello there"));
  });

  test.each(["reset_after", "end_after", "error_after", "malformed_after"])(
    "the upstream breaks off (%s)",
    async (fault) => {
      const entry = await entryAfter(async () => {
        await gateway.chat(user, { stream: true, sim: `?${fault}=${PART}` });
      });
      expect(entry).toMatchObject({ outcome: "upstream_cut", estimated: true, usage: { completion: PART_TOKENS } });
    },
  );

  test.each([true, false])("a whole answer without usage (streamed: %s)", async (stream) => {
    const entry = await entryAfter(async () => {
      await gateway.chat(user, { stream, sim: "?no_usage" });
    });
    expect(entry).toMatchObject({ outcome: "served", estimated: true, usage: { completion: countTokens(WHOLE) } });
  });

  test.each([true, false])(
    "a whole answer with usage is charged whatever the policy (streamed: %s)",
    async (stream) => {
      const entry = await entryAfter(async () => {
        await gateway.chat(user, { stream });
      });
      expect(entry).toMatchObject({ outcome: "served", estimated: false, charge: 20_000n });
    },
  );

  test.each([
    ["between the head and the first event", true, "?stall_after=0"],
    ["in the middle of an answer that is not streamed", false, "?stall_after=1"],
  ])(
    "the client leaves %s: counted, and charged its prompt whatever is charged of what broke off",
    async (_, stream, sim) => {
      user = await gateway.user();
      const asked = gateway.simulator.ledger().length;
      const call = gateway.open(user, { stream, sim });
      await expect.poll(() => gateway.simulator.ledger().length, { interval: 5 }).toBe(asked + 1);
      call.leave();
      await gateway.audit();
      expect(gateway.simulator.ledger().at(-1)?.aborted).toBe(true);
      expect(await gateway.books(user)).toMatchObject(unanswered({ outcome: "client_gone" }));
    },
  );

  test("the client leaves after a heartbeat, before the first event: counted, its prompt charged", async () => {
    user = await gateway.user();
    const call = gateway.open(user, { stream: true, sim: "?first_byte=1h" });
    await call.until(": keep-alive");
    call.leave();
    await gateway.audit();
    expect(await gateway.books(user)).toMatchObject(unanswered({ outcome: "client_gone" }));
  });
});
