import { expect, onTestFinished, test } from "vitest";
import { describeRedis, startRedis } from "../../support/redis.ts";
import { eventually } from "../support/http.ts";
import { TestGateway } from "../support/in-process.ts";

const LIMIT = 50;
/** What a second process may let through on top of it. */
const MORE = 1;

/** Two gateways on one Redis, whose clocks stand still and agree. */
async function two() {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const config = {
    server: { ip_limit: { requests: LIMIT, window: "1m" }, trusted_proxies: ["127.0.0.1"] },
    store: { url: redis.url, prefix: "t:", timeout: "10s" },
  };
  const gateways = await Promise.all([1, 2].map(() => TestGateway.start({ config })));
  onTestFinished(async () => {
    await Promise.all(gateways.map((gateway) => gateway.close()));
  });
  const now = Math.max(...gateways.map(({ clock }) => clock.now()));
  for (const { clock } of gateways) {
    clock.stop();
    clock.advance(now - clock.now());
  }
  /** Sends so many from one address through both in turn, 20 at a time. @returns how many were served. */
  const send = async (count: number, address: string): Promise<number> => {
    let served = 0;
    let sent = 0;
    const client = async (): Promise<void> => {
      while (sent < count) {
        const gateway = gateways[(sent += 1) % gateways.length]!;
        const answer = await gateway.send("/v1/models", { method: "GET", headers: { "x-forwarded-for": address } });
        expect([200, 429]).toContain(answer.status);
        if (answer.status === 200) served += 1;
      }
    };
    await Promise.all(Array.from({ length: 20 }, client));
    return served;
  };
  const calls = async (): Promise<number> => {
    const lines = await redis.client.info("commandstats");
    return Number(/cmdstat_hincrby:calls=(\d+)/.exec(lines)?.[1] ?? 0);
  };
  return { redis, gateways, send, calls };
}

describeRedis("the IP limit of two gateways on one Redis", () => {
  test("is one: an address that goes through both is let through as often, a fiftieth more at most", async () => {
    const { gateways, send, calls } = await two();
    for (const address of ["192.0.2.1", "2001:db8::1"]) {
      const served = await send(3 * LIMIT, address);
      expect(served).toBeGreaterThanOrEqual(LIMIT);
      expect(served).toBeLessThanOrEqual(LIMIT + MORE);
    }
    expect(await send(20, "2001:db8::2"), "the same /64").toBe(0);
    const before = await calls();
    expect(await send(LIMIT, "192.0.2.1")).toBe(0);
    expect((await calls()) - before, "what is refused costs no call").toBe(0);
    for (const { clock } of gateways) clock.advance(60_000);
    expect(await send(LIMIT, "192.0.2.1"), "the next window").toBe(LIMIT);
    expect(await send(LIMIT, "192.0.2.1")).toBeLessThanOrEqual(MORE);
  });

  test("is each gateway's own while the store is away", async () => {
    const { redis, gateways, send } = await two();
    expect(await send(LIMIT / 2, "192.0.2.1")).toBe(LIMIT / 2);
    await redis.kill();
    const served = await send(4 * LIMIT, "192.0.2.1");
    expect(served).toBeGreaterThanOrEqual(LIMIT / 2);
    expect(served + LIMIT / 2).toBeLessThanOrEqual(2 * LIMIT);
    expect(await send(4 * LIMIT, "192.0.2.2")).toBe(2 * LIMIT);
    await redis.restart();
    for (const { clock } of gateways) clock.advance(60_000);
    await eventually(async () => {
      for (const { clock } of gateways) clock.advance(60_000);
      return (await send(2 * LIMIT, "192.0.2.1")) <= LIMIT + MORE;
    });
  });
});
