import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { unanswered } from "../support/books.ts";
import { eventually, type Exchange } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

const SEED = 20_260_115;
/** What a busy machine may take for it; no silence of an upstream ends by itself sooner. */
const CLOSED_WITHIN_MS = 5_000;
/** What the upstream is doing while its client goes away. */
const SCRIPTS = [
  "?first_byte=1h",
  "?stall_after=0",
  "?stall_after=1",
  "?stall_after=3",
  "?chunk_delay=3ms&chunks=400",
  "?drip=40/5ms&chunks=40",
  "?chunks=3000&chunk_bytes=512",
];

let gateway: TestGateway;
let user: TestUser;

beforeEach(async () => {
  gateway = await TestGateway.start({ config: { billing: { enforce: false } } });
  user = await gateway.user();
});
afterEach(() => gateway.close());

type Moment = "at once" | keyof typeof EARLIEST;
/** Never in the body, in its first event, in its second. */
const EARLIEST = { "after a while": "\0", "after the first byte": "data:", "mid-stream": '"content":"T' };

interface Leaving {
  readonly script: string;
  readonly moment: Moment;
  /** Milliseconds after which the client loses patience. */
  readonly amount: number;
}

const leaving: fc.Arbitrary<Leaving> = fc.record({
  script: fc.constantFrom(...SCRIPTS),
  moment: fc.constantFrom<Moment>("at once", "after a while", "after the first byte", "mid-stream"),
  amount: fc.integer({ min: 1, max: 200 }),
});

/** Goes away as told; after a while means after the upstream was asked. @returns when it did, in Unix milliseconds. */
async function leave(call: Exchange, requestId: string, { moment, amount }: Leaving): Promise<number> {
  if (moment !== "at once") {
    await eventually(() => gateway.simulator.ledger().some((entry) => entry.requestId === requestId));
    // The answer may be over before.
    await Promise.race([sleep(amount), call.until(EARLIEST[moment]).catch(() => undefined)]);
  }
  call.leave();
  return Date.now();
}

describe("100 streams whose clients go away at random moments", () => {
  test("their upstreams are closed at once, their slots and holds are free, the books balance", async () => {
    const plans = fc.sample(leaving, { numRuns: 100, seed: SEED });
    const left = new Map<string, number>();
    await Promise.all(
      plans.map(async (plan, index) => {
        const requestId = `leaver-${index}`;
        const call = gateway.open(user, { stream: true, sim: plan.script }, { headers: { "x-request-id": requestId } });
        left.set(requestId, await leave(call, requestId, plan));
      }),
    );
    await eventually(() => gateway.simulator.ledger().every(({ closedAt }) => closedAt !== null), 20_000);
    const seen = gateway.simulator.ledger();
    expect(seen.length).toBeGreaterThan(60);
    const late = seen
      .map(({ requestId, closedAt }) => ({ requestId, after: (closedAt ?? Infinity) - left.get(requestId)! }))
      .filter(({ after }) => after > CLOSED_WITHIN_MS);
    expect(late).toEqual([]);
    await gateway.audit();
    const { ledger, used } = await gateway.books(user);
    // What an upstream was sent counts, what had begun is charged.
    expect(used.day).toBe(ledger.length);
    for (const entry of ledger) {
      expect(["client_gone", "served"]).toContain(entry.outcome);
      expect(entry.charge).toBe(1_000n * BigInt(entry.usage.prompt) + 2_000n * BigInt(entry.usage.completion));
    }
    expect(new Set(ledger.map(({ requestId }) => requestId)).size).toBe(ledger.length);
    expect(ledger.filter(({ outcome }) => outcome === "client_gone").length).toBeGreaterThan(5);
    // The gateway is as good as new.
    expect((await gateway.chat(user, { stream: true })).text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test("requests that are not streamed: counted once sent, and charged their prompt or their answer", async () => {
    const plans = fc.sample(leaving, { numRuns: 60, seed: SEED + 1 });
    await Promise.all(
      plans.map(async (plan, index) => {
        const requestId = `leaver-${index}`;
        const call = gateway.open(user, { sim: plan.script }, { headers: { "x-request-id": requestId } });
        await leave(call, requestId, plan);
      }),
    );
    await gateway.audit();
    const { ledger, used } = await gateway.books(user);
    expect(used.day).toBe(ledger.length);
    const counted = new Set(ledger.map(({ requestId }) => requestId));
    expect(gateway.simulator.ledger().filter(({ requestId }) => !counted.has(requestId))).toEqual([]);
    // An answer that had begun to come is read on.
    for (const { outcome, charge } of ledger)
      expect(charge >= 20_000n || (outcome !== "served" && charge === 4_000n)).toBe(true);
    await eventually(() => gateway.simulator.ledger().every(({ closedAt }) => closedAt !== null));
  });

  test("nothing is asked of another upstream after its client has gone", async () => {
    const chained = await TestGateway.start({
      chains: { "route/chain": ["?first_byte=1h", "-", "-"] },
      config: { upstreams: { "chain-1": { retries: { attempts: 5, min_delay: "1ms", max_delay: "1ms" } } } },
    });
    const someone = await chained.user();
    for (const stream of [true, false]) {
      const call = chained.open(someone, { model: "route/chain", stream });
      await eventually(() => chained.simulator.ledger().at(-1)?.closedAt === null);
      call.leave();
      await chained.audit();
    }
    expect(chained.simulator.ledger()).toHaveLength(2);
    expect(await chained.books(someone)).toMatchObject(unanswered({ outcome: "client_gone", count: 2 }));
    await chained.close();
  });

  test("a body that is broken off is nobody's request", async () => {
    const before = await gateway.books(user);
    for (let count = 0; count < 10; count += 1) {
      const call = gateway.open(user, {}, { body: '{"model":', headers: { "content-length": "5000" } });
      await sleep(5);
      call.leave();
    }
    await gateway.audit();
    expect(await gateway.books(user)).toEqual(before);
    expect(gateway.simulator.ledger()).toEqual([]);
  });
});

describe("a client that reads slowly", () => {
  const CHUNKS = 20_000;
  const CHUNK_BYTES = 4_096;
  const script = `?chunks=${CHUNKS}&chunk_bytes=${CHUNK_BYTES}`;

  test("pauses the upstream, is not held in memory, and gets everything when it reads on", async () => {
    const slow = await TestGateway.start({ config: { defaults: { upstream: { timeouts: { idle: "1s" } } } } });
    const someone = await slow.user({ credits: "1000" });
    const before = memory();
    const call = slow.open(someone, { stream: true, sim: script });
    await call.until("data:");
    await call.pause();
    const sent = (): number => slow.simulator.ledger()[0]!.bytes;
    let last = -1;
    await eventually(async () => {
      const now = sent();
      const still = now === last;
      last = now;
      await sleep(400);
      return still;
    }, 20_000);
    // What the kernel's buffers of two connections take, far from the whole.
    expect(last).toBeLessThan((CHUNKS * CHUNK_BYTES) / 2);
    expect(slow.simulator.open()).toBe(1);
    // Nothing more is read meanwhile: what is held stays, what was garbage goes.
    await eventually(() => memory() - before - Buffer.byteLength(call.text) < 24 * 1024 * 1024, 20_000);
    // Longer than the upstream may be silent: it is not its silence.
    await sleep(1_300);
    await call.resume();
    const { text, whole } = await call.whole();
    expect([whole, text.includes('"error":'), text.slice(-14)]).toEqual([true, false, "data: [DONE]\n\n"]);
    expect(text.length).toBeGreaterThan(CHUNKS * CHUNK_BYTES);
    expect((await slow.books(someone)).ledger).toMatchObject([{ outcome: "served", estimated: false }]);
    await slow.close();
  });

  test("and then goes away frees everything", async () => {
    const call = gateway.open(user, { stream: true, sim: script });
    await call.until("data:");
    await call.pause();
    await sleep(200);
    call.leave();
    const left = Date.now();
    await eventually(() => gateway.simulator.open() === 0);
    expect(gateway.simulator.ledger()[0]!.closedAt! - left).toBeLessThanOrEqual(CLOSED_WITHIN_MS);
    await gateway.audit();
    expect((await gateway.books(user)).ledger).toMatchObject([{ outcome: "client_gone" }]);
  });
});

/** Bytes in use outside the kernel, garbage aside. */
function memory(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
