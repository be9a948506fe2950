import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Processes } from "../../bench/load/processes.ts";
import { startRedis } from "../../bench/load/redis.ts";
import type { RedisServer } from "../../bench/load/redis.ts";
import { startUpstream } from "../../bench/load/upstream.ts";
import { measureStore } from "../../bench/scale/measure.ts";
import { Meter } from "../../bench/scale/meter.ts";
import { OPERATIONS } from "../../bench/scale/model.ts";
import { addPeople, openStores } from "../../bench/scale/people.ts";
import { pass } from "../../bench/scale/traffic.ts";
import { describeRedis } from "../support/redis.ts";

describeRedis("measuring a real server", () => {
  const processes = new Processes();
  let folder: string;
  let server: RedisServer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "gateway-bench-test-"));
    server = await startRedis(processes, folder);
  });
  afterAll(async () => {
    await server.close();
    await processes.endAll();
    await rm(folder, { recursive: true, force: true });
  });

  const own = () => ({ gatewayPid: process.pid, storePid: server.pid, storeUrl: server.url });
  const traffic = {
    secrets: ["one", "two", "three"],
    requestsPerSecond: 100,
    streamShare: 0.25,
    chunksPerStream: 10,
    warmup: 0.3,
    seconds: 1,
  };

  test("a meter reads what the work alone has cost", async () => {
    const [store, ...others] = await openStores(server.url);
    await store!.ping();
    const meter = await Meter.create(server);
    const reading = await meter.over(async () => {
      for (let count = 0; count < 1_000; count++) await store!.ping();
    });
    // *1 $4 PING and +PONG. Less than a meter's own questions, which are several thousand bytes; stores may subscribe late.
    expect(Math.abs(reading.wire - 21 * 1_000)).toBeLessThan(1_000);
    expect(reading).toMatchObject({ scripts: 0, script: 0 });
    expect(reading.cpu).toBeGreaterThan(0);
    for (const each of [store!, ...others]) await each.close();
  });

  test("every constant is found, and people are as the gateway makes them", async () => {
    const stores = await openStores(server.url);
    const [person] = await addPeople(stores, 1);
    expect(await stores[0]!.principalByDigest(person!.digest)).toMatchObject({ userId: person!.userId });
    for (const store of stores) await store.close();

    const { store, scripts } = await measureStore(server, 2_048);
    for (const name of OPERATIONS) {
      expect(store.operations[name].cpu).toBeGreaterThan(0);
      // Each carries a user's id at least, there or back.
      expect(store.operations[name].wire).toBeGreaterThan(24);
    }
    for (const name of ["admit", "settle", "renew", "principal", "touch"] as const)
      expect(scripts[name]).toBeGreaterThan(0);
    // Ids and text alone are as much.
    expect(store.memory.user).toBeGreaterThan(400);
    expect(store.memory.caller).toBeGreaterThan(50);
    expect(store.memory.reservation).toBeGreaterThan(150);
    expect(store.memory.ledgerEntry).toBeGreaterThan(120);
    for (const part of Object.values(store.memory)) expect(part).toBeLessThan(5_000);
  });

  test.each([
    ["a refusal", "HTTP/1.1 503 No\r\ncontent-length: 2\r\n\r\n{}", "503 with 0 events: {}"],
    ["an answer without an end", "HTTP/1.1 200 OK\r\n\r\n{}", "neither length nor chunks"],
    ["a closed connection", null, "the connection was closed"],
  ])("%s is bad, and the traffic ends", async (_, answer, sample) => {
    const upstream = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.on("data", () => (answer === null ? socket.destroy() : socket.write(answer)));
    });
    await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
    const { port } = upstream.address() as AddressInfo;
    const passage = await pass({ ...traffic, ...own(), port });
    upstream.close();
    expect(passage.bad).toBeGreaterThan(20);
    expect(passage.sample).toContain(sample);
  });

  test("traffic has its rate, its share of streams and every answer checked", async () => {
    const upstream = await startUpstream();
    const passage = await pass({ ...traffic, ...own(), port: upstream.port });
    upstream.close();
    expect(passage).toMatchObject({ bad: 0, sample: "" });
    expect(passage.answers).toBeGreaterThan(20);
    expect(passage.allAnswers).toBeGreaterThanOrEqual(passage.answers);
    expect(passage.chunks).toBeGreaterThan(20);
    expect(passage.gatewayCpu).toBeGreaterThan(0);
    expect(passage.scripts).toBe(0);
  });
});
