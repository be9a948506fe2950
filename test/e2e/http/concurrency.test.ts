import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createKey } from "../../../src/accounts/api-keys.ts";
import type { LedgerEntry } from "../../../src/simulator/server.ts";
import { tier } from "../support/gateway-config.ts";
import { eventually } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({
    config: {
      tiers: {
        Minute: tier({ minute: 40 }),
        Hour: tier({ hour: 37 }),
        Day: tier({ day: 23 }),
        Streams: tier({ streams: 5 }),
        Stream: tier({ streams: 1 }),
      },
    },
  });
});
afterAll(() => gateway.close());

/** The same user under two keys. */
async function twoKeys(plan: string): Promise<readonly [TestUser, TestUser]> {
  const user = await gateway.user({ tier: plan });
  const { body } = await createKey(gateway.store, { userId: user.id, name: "second" });
  return [user, { ...user, key: body.key }];
}

test("1,000 streams of one upstream begin at once, and all end when their clients leave", async () => {
  const user = await gateway.user();
  const asked = gateway.simulator.ledger().length;
  const streams = Array.from({ length: 1_000 }, () => gateway.open(user, { stream: true, sim: "?stall_after=2" }));
  await Promise.all(streams.map((stream) => stream.until('"content":"')));
  const served = gateway.simulator.ledger().slice(asked);
  expect(served).toHaveLength(1_000);
  expect(served.every(({ closedAt }) => closedAt === null)).toBe(true);
  for (const stream of streams) stream.leave();
  await eventually(() => served.every(({ closedAt }) => closedAt !== null));
}, 60_000);

describe("200 requests at once, through both addresses and two keys of one user", () => {
  test.each([
    ["Minute", 40, "Per-minute request limit exceeded"],
    ["Hour", 37, "Hourly request limit exceeded"],
    ["Day", 23, "Daily request limit exceeded"],
  ] as const)("%s: exactly %i are admitted, the others are told why", async (plan, limit, text) => {
    const keys = await twoKeys(plan);
    const asked = gateway.simulator.ledger().length;
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        gateway.chat(
          keys[index % 2]!,
          { stream: index % 3 === 0 },
          { url: index % 5 === 0 ? gateway.secondUrl : gateway.url },
        ),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(limit);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(200 - limit);
    expect(new Set(refused.map((answer) => answer.text))).toEqual(new Set([text]));
    expect(gateway.simulator.ledger()).toHaveLength(asked + limit);
    const { used, ledger } = await gateway.books(keys[0]);
    expect([used, ledger.length]).toEqual([{ day: limit, hour: limit, minute: limit }, limit]);
    // Each of the admitted saw a count of its own.
    const name = `x-ratelimit-remaining-${plan.toLowerCase()}`;
    const counts = answers.flatMap(({ status, headers }) => (status === 200 ? [Number(headers[name])] : []));
    expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: limit }, (_, index) => index));
  });
});

describe("concurrent streams", () => {
  test("of 100 that would stay, exactly the limit begins; when they go, as many begin anew", async () => {
    const keys = await twoKeys("Streams");
    for (let round = 0; round < 2; round += 1) {
      const calls = Array.from({ length: 100 }, (_, index) =>
        gateway.open(keys[index % 2]!, { stream: true, sim: "?stall_after=2" }),
      );
      const statuses = await Promise.all(calls.map(async (call) => (await call.head()).statusCode));
      expect(statuses.filter((status) => status === 200)).toHaveLength(5);
      expect(statuses.filter((status) => status === 429)).toHaveLength(95);
      await expect.poll(() => gateway.simulator.open()).toBe(5);
      expect((await gateway.books(keys[0])).running).toMatchObject({ requests: 5, streams: 5 });
      for (const call of calls) call.leave();
      await gateway.audit();
    }
    expect((await gateway.books(keys[0])).used.day).toBe(10);
  });

  test("requests that do not stream go on; a stream that ends makes room", async () => {
    const [user, other] = [await gateway.user({ tier: "Stream" }), await gateway.user({ tier: "Stream" })];
    const stream = gateway.open(user, { stream: true, sim: "?stall_after=2" });
    await stream.until("data:");
    expect((await gateway.chat(user, { stream: true })).text).toBe("Concurrent stream limit exceeded");
    expect((await gateway.chat(user)).status).toBe(200);
    expect((await gateway.chat(other, { stream: true })).status).toBe(200);
    stream.leave();
    await gateway.audit();
    expect((await gateway.chat(user, { stream: true })).status).toBe(200);
  });

  test("the upstream never sees more at once than the limit, however fast they follow each other", async () => {
    const keys = await twoKeys("Streams");
    const asked = gateway.simulator.ledger().length;
    const sent = { served: 0, refused: 0 };
    const client = async (index: number): Promise<void> => {
      for (let count = 0; count < 15; count += 1) {
        const { status } = await gateway.chat(keys[index % 2]!, { stream: true, sim: "?chunk_delay=1ms" });
        if (status === 200) sent.served += 1;
        else sent.refused += 1;
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, index) => client(index)));
    expect(sent.served + sent.refused).toBe(300);
    expect(sent.served).toBeGreaterThanOrEqual(15);
    expect(sent.refused).toBeGreaterThan(0);
    const ledger = gateway.simulator.ledger().slice(asked);
    expect(ledger).toHaveLength(sent.served);
    expect(mostAtOnce(ledger)).toBeLessThanOrEqual(5);
  });
});

/** Streams that were open at the same time; one that begins in the millisecond in which another closes is after it. */
function mostAtOnce(ledger: readonly LedgerEntry[]): number {
  const steps = ledger.flatMap(({ startedAt, closedAt }) => [
    { at: startedAt, change: 1 },
    { at: closedAt ?? Infinity, change: -1 },
  ]);
  let [open, most] = [0, 0];
  for (const { change } of steps.toSorted((a, b) => a.at - b.at || a.change - b.change)) {
    open += change;
    most = Math.max(most, open);
  }
  return most;
}

test("many users do not get in each other's way", async () => {
  const users = await Promise.all(Array.from({ length: 8 }, () => gateway.user({ tier: "Day" })));
  const answers = await Promise.all(users.flatMap((user) => Array.from({ length: 25 }, () => gateway.chat(user))));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(8 * 23);
  for (const user of users) expect((await gateway.books(user)).used.day).toBe(23);
});
