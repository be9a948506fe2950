import * as fc from "fast-check";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openMemory } from "../../src/store/sqlite/database.ts";
import type { RedisConnection } from "../../src/store/redis/connection.ts";
import { sqliteStore } from "../../src/store/sqlite/store.ts";
import { START } from "../store/support.ts";
import { type RedisServer, describeRedis, startRedis } from "../support/redis.ts";
import { PROGRAM } from "./admission-program.ts";
import { Run } from "./admission-run.ts";
import { connect, instanceOn, withClock } from "./instances.ts";
import { inLanes } from "./lanes.ts";
import { PATIENCE } from "./runs.ts";
import { Wire } from "./wire.ts";

test("on SQLite, many clients: every answer is the model's", { timeout: PATIENCE }, async () => {
  const time = { now: START };
  const direct = sqliteStore(openMemory(), () => time.now);
  onTestFinished(() => direct.close());
  // An admission is answered at once: what a settlement gives back counts with its commit.
  const shared = new Set(["settle"]);
  const all = fc.asyncProperty(fc.scheduler(), PROGRAM, async (scheduler, program) => {
    const wire = new Wire(scheduler);
    time.now = START + program.offset;
    const instances = [wire.store("sqlite", direct, shared)];
    await new Run({ instances, direct, versions: false }, wire, time, program).play();
  });
  await expect(inLanes(all, 1)).resolves.toBeUndefined();
});

describeRedis("on Redis", () => {
  let server: RedisServer;
  let connection: RedisConnection;
  beforeAll(async () => {
    server = await startRedis();
    connection = await connect(server.url);
  });
  afterAll(async () => {
    await connection.close();
    await server.stop();
  });

  test("three instances, many clients: every answer is the model's", { timeout: PATIENCE }, async () => {
    // No lease ends here.
    const common = { prefix: "admission:", lease: 1e15 };
    const all = fc.asyncProperty(fc.scheduler(), PROGRAM, async (scheduler, program) => {
      const wire = new Wire(scheduler);
      const time = { now: START + program.offset };
      const timed = withClock(connection, () => time.now);
      const open = (instance: string) => instanceOn(wire.connection(instance, timed), { ...common, instance });
      const instances = ["a", "b", "c"].map(open);
      const direct = instanceOn(timed, { ...common, instance: "direct" });
      try {
        await new Run({ instances, direct, versions: true }, wire, time, program).play();
      } finally {
        for (const store of [...instances, direct]) await store.close();
      }
    });
    await expect(inLanes(all)).resolves.toBeUndefined();
  });
});
