import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Admission } from "../../../src/kit/index.ts";
import { describeRedis, redisOfSuite } from "../../support/redis.ts";
import { startSlowProxy } from "../../support/slow-proxy.ts";
import { openAt, UNAVAILABLE } from "./support.ts";
import { addUser, admission, charged, OPEN, unique } from "../support.ts";

/** As `store.timeout` when it is left out, in milliseconds. */
const TIMEOUT = 1_000;
const ONE_STREAM = { ...OPEN, streams: 1 };

describeRedis("an admission whose answer is lost", () => {
  const server = redisOfSuite();

  async function two() {
    const { port, state, cut, close } = await startSlowProxy(server.port);
    const proxy = { state, cut };
    onTestFinished(close);
    const prefix = `${unique("lost")}:`;
    const one = await openAt(`redis://127.0.0.1:${port}`, { prefix, timeout: TIMEOUT });
    const other = await openAt(server.url, { prefix });
    const [user, first] = [await addUser(other, 100n), await addUser(other, 100n)];
    // The server has to know the script.
    await one.admit(admission(first.id));
    /** What `one` asks now is executed, and it never hears of it: its connections are cut. */
    const lose = async (more: Parameters<typeof admission>[1]) => {
      proxy.state.swallows = true;
      const lost = one.admit(admission(user.id, more));
      await expect.poll(async () => (await other.running(user.id)).requests).toBe(1);
      proxy.cut();
      proxy.state.swallows = false;
      await expect(lost).rejects.toMatchObject(UNAVAILABLE);
    };
    const published = async () =>
      Number(/cmdstat_publish:calls=(\d+)/.exec(await server.client.info("commandstats"))?.[1] ?? 0);
    return { one, other, user, lose, proxy, prefix, published };
  }

  test.each([
    ["day", { limits: { ...OPEN, day: 1 } }],
    ["minute", { limits: { ...OPEN, minute: 1 } }],
    ["streams", { limits: ONE_STREAM, stream: true }],
    ["credits", { hold: 60n, enforceCredits: true }],
  ])("is not what another process refuses for: %s", async (refusal, more) => {
    const { other, user, lose } = await two();
    await lose(more);
    expect(await other.admit(admission(user.id, more))).toMatchObject({ ok: true });
    expect(await other.admit(admission(user.id, more))).toMatchObject({ ok: false, refusal });
  });

  test("what another process runs is refused for, and goes on", async () => {
    const { one, other, user, published } = await two();
    const stream = { limits: ONE_STREAM, stream: true };
    const running = admission(user.id, stream);
    expect(await one.admit(running)).toMatchObject({ ok: true });
    expect(await other.admit(admission(user.id, stream))).toMatchObject({ refusal: "streams" });
    expect(await other.running(user.id)).toMatchObject({ requests: 1, streams: 1 });
    // Known to run since: nobody is asked a second time.
    const before = await published();
    expect(await other.admit(admission(user.id, stream))).toMatchObject({ refusal: "streams" });
    expect(await published()).toBe(before);
    expect(await one.settle(charged(running, 3n))).toBe(true);
    expect(await other.findUser(user.id)).toMatchObject({ balance: 97n, held: 0n });
  });

  test("of a process that is gone: it is asked for one timeout, and refused for until its lease ends", async () => {
    const { other: gone, prefix, user, published } = await two();
    const stream = { limits: ONE_STREAM, stream: true };
    await gone.admit(admission(user.id, stream));
    await gone.close();
    const patience = 300;
    const other = await openAt(server.url, { prefix, timeout: patience });
    expect(await other.admit(admission(user.id, stream))).toMatchObject({ refusal: "streams" });
    const before = await published();
    for (let again = 0; again < 3; again++)
      expect(await other.admit(admission(user.id, stream))).toMatchObject({ refusal: "streams" });
    expect(await published()).toBe(before);
  });

  test("however often connections are cut: never more run than allowed, and nothing is left", async () => {
    const prefix = `${unique("cut")}:`;
    const side = await openAt(server.url, { prefix });
    const user = await addUser(side, 1_000_000n);
    const stream = { limits: { ...OPEN, streams: 2 }, stream: true, hold: 10n };
    const proxies = await Promise.all([1, 2, 3].map(() => startSlowProxy(server.port)));
    const came = { ok: 0, refused: 0, lost: 0 };
    let [running, most] = [0, 0];
    const over = new AbortController();
    const cuts = (async () => {
      for (let turn = 0; !over.signal.aborted; turn++) {
        const { state, cut } = proxies[turn % proxies.length]!;
        state.swallows = true;
        await pause(15);
        cut();
        state.swallows = false;
        await pause(60);
      }
    })();
    const work = proxies.map(async ({ port, close }) => {
      onTestFinished(close);
      const store = await openAt(`redis://127.0.0.1:${port}`, { prefix, timeout: TIMEOUT });
      const settled = async (request: Admission): Promise<void> => {
        for (;;) {
          const done = await Promise.resolve(store.settle(charged(request, 1n))).catch(() => null);
          if (done !== null) return;
          await pause(20);
        }
      };
      for (let turn = 0; turn < 80; turn++) {
        const request = admission(user.id, stream);
        const result = await store.admit(request).catch(() => null);
        if (result === null) came.lost++;
        else came[result.ok ? "ok" : "refused"]++;
        if (!result?.ok) {
          await pause(10);
          continue;
        }
        most = Math.max(most, ++running);
        await pause(5);
        running--;
        await settled(request);
      }
    });
    await Promise.all(work);
    over.abort();
    await cuts;
    expect(most).toBe(2);
    expect(came.ok).toBeGreaterThan(20);
    expect(came.lost).toBeGreaterThan(5);
    await expect.poll(() => side.running(user.id), { timeout: 20_000 }).toEqual({ requests: 0, streams: 0, held: 0n });
    const books = (await side.findUser(user.id))!;
    const charges = (await side.ledger(user.id)).reduce((sum, { charge }) => sum + charge, 0n);
    expect(books).toMatchObject({ held: 0n, balance: 1_000_000n - charges });
    expect(charges).toBe(BigInt(came.ok));
  }, 120_000);
});
