import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import { unanswered } from "../../support/books.ts";
import { eventually } from "../../support/http.ts";
import { TestGateway, type TestUser } from "../../support/in-process.ts";
import { askKind, KIND_CHAINS, openKind } from "../../support/kinds.ts";

const LONG = { input: "word ".repeat(100) };
/** 500 characters at 10 a million. */
const WHOLE = 5_000_000n;

const free = { billing: { outcomes: { upstream_cut: "free", client_gone: "free" } } };
const impatient = { upstreams: { "voice-1": { timeouts: { idle: "150ms" } } } };
let delivered: TestGateway;
let lenient: TestGateway;

beforeAll(async () => {
  delivered = await TestGateway.start({ chains: KIND_CHAINS, config: impatient });
  lenient = await TestGateway.start({ chains: KIND_CHAINS, config: { ...impatient, ...free } });
});
afterAll(() => Promise.all([delivered.close(), lenient.close()]));

const say = (gateway: TestGateway, user: TestUser, sim: Json | string) =>
  askKind(gateway, user, "speech", { ...LONG, sim });

describe("an upstream that breaks off", () => {
  test.each(["?reset_after=5", "?close_after=5", "?stall_after=5", "?wrong_length"])(
    "%s: what came is passed on, the connection is cut, and the charge is as billing.outcomes says",
    async (sim) => {
      for (const [gateway, charge] of [
        [delivered, WHOLE],
        [lenient, 0n],
      ] as const) {
        const user = await gateway.user();
        const { status, whole, bytes, headers } = await say(gateway, user, sim);
        expect([status, whole, headers["content-type"]]).toEqual([200, false, "audio/mpeg"]);
        const sent = gateway.simulator.ledger().at(-1)!;
        expect(bytes.length).toBeGreaterThan(0);
        expect(bytes.length).toBeLessThanOrEqual(sent.bytes);
        await eventually(async () => (await gateway.books(user)).ledger.length === 1);
        const { ledger, used, balance, granted } = await gateway.books(user);
        expect(ledger).toMatchObject([
          { outcome: "upstream_cut", charge, usage: { characters: 500 }, estimated: false },
        ]);
        expect([used.day, balance]).toEqual([5, granted - charge]);
      }
    },
  );

  test("a clean end is an end: audio has no mark of its own", async () => {
    const user = await delivered.user();
    const { whole } = await say(delivered, user, "?end_after=5");
    expect(whole).toBe(true);
    expect((await delivered.books(user)).ledger).toMatchObject([{ outcome: "served", charge: WHOLE }]);
  });

  test("counts against its breaker, as the answer that it began counts for it", async () => {
    const touchy = await TestGateway.start({
      chains: KIND_CHAINS,
      config: {
        upstreams: {
          "voice-1": { breaker: { minimum: 4, ratio: 0.5, window: "1h", open_for: "1h", max_open_for: "1h" } },
        },
      },
    });
    const user = await touchy.user();
    for (let count = 0; count < 2; count += 1) await say(touchy, user, "?reset_after=5");
    expect((await say(touchy, user, "-")).status).toBe(503);
    await touchy.close();
  });
});

describe("a client that goes away", () => {
  test("during the audio: the upstream is closed, and the charge is as billing.outcomes says", async () => {
    for (const [gateway, charge] of [
      [delivered, WHOLE],
      [lenient, 0n],
    ] as const) {
      const user = await gateway.user();
      const call = openKind(gateway, user, "speech", { ...LONG, sim: "?chunks=2000&chunk_delay=5ms" });
      await call.head();
      await eventually(() => call.received > 1_000);
      call.leave();
      const left = Date.now();
      await eventually(() => gateway.simulator.open() === 0);
      expect(gateway.simulator.ledger().at(-1)).toMatchObject({ aborted: true });
      expect(gateway.simulator.ledger().at(-1)!.closedAt! - left).toBeLessThanOrEqual(5_000);
      await gateway.audit();
      const { ledger, used } = await gateway.books(user);
      expect(ledger).toMatchObject([{ outcome: "client_gone", charge, usage: { characters: 500 } }]);
      expect(used).toEqual({ day: 5, hour: 1, minute: 1 });
    }
  });

  test.each(["?first_byte=1h", "?stall_after=0"])(
    "before the audio (%s): counted, its characters charged",
    async (sim) => {
      const user = await delivered.user();
      const asked = delivered.simulator.ledger().length;
      const call = openKind(delivered, user, "speech", { ...LONG, sim });
      await eventually(() => delivered.simulator.ledger().length > asked);
      call.leave();
      await eventually(() => delivered.simulator.ledger().at(-1)!.closedAt !== null);
      await delivered.audit();
      const owed = { usage: { characters: 500 }, estimated: false, charge: WHOLE };
      expect(await delivered.books(user)).toMatchObject(unanswered({ outcome: "client_gone", units: 5, owed }));
    },
  );
});

describe("a client that reads slowly", () => {
  test("is not held in memory: the upstream waits, and all of it arrives", async () => {
    // Long enough for a busy machine, and shorter than the client's pause.
    const config = { upstreams: { "voice-1": { timeouts: { idle: "1s" } } } };
    const gateway = await TestGateway.start({ chains: KIND_CHAINS, config });
    const user = await gateway.user();
    const call = openKind(gateway, user, "speech", { ...LONG, sim: "?chunks=800&chunk_bytes=65536" });
    await call.head();
    await call.pause();
    const sent = (): number => gateway.simulator.ledger()[0]!.bytes;
    let last = -1;
    await eventually(async () => {
      const still = sent() === last;
      last = sent();
      await sleep(300);
      return still;
    }, 20_000);
    // What the kernel's buffers of two connections take, far from the whole of 50 MB.
    expect(last).toBeLessThan(26 * 1024 * 1024);
    await sleep(1_200);
    await call.resume();
    const { whole, bytes } = await call.whole();
    expect([whole, bytes.length]).toEqual([true, sent()]);
    expect((await gateway.books(user)).ledger).toMatchObject([{ outcome: "served", charge: WHOLE }]);
    await gateway.close();
  });
});

test("killing the user's streams leaves speech alone: it is none", async () => {
  const user = await delivered.user();
  const call = openKind(delivered, user, "speech", { ...LONG, sim: "?chunk_delay=10ms&chunks=60" });
  await call.head();
  const killed = await delivered.send("/v1/user/streams/kill", { headers: { "x-api-key": user.key } });
  expect(JSON.parse(killed.text)).toEqual({ killed_streams: 0 });
  expect(await delivered.metric("gateway_active_streams")).toBe(0);
  expect((await call.whole()).whole).toBe(true);
});
