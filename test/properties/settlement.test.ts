import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RedisConnection } from "../../src/store/redis/connection.ts";
import { type RedisServer, describeRedis, startRedis } from "../support/redis.ts";
import { connect } from "./instances.ts";
import { inLanes } from "./lanes.ts";
import { PATIENCE } from "./runs.ts";
import { OUTAGES, Run, STEPS } from "./settlement-run.ts";

describeRedis("on Redis", () => {
  let server: RedisServer;
  let connection: RedisConnection;
  let folder: string;
  beforeAll(async () => {
    server = await startRedis();
    connection = await connect(server.url);
    folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "gateway-settlement-"));
  });
  afterAll(async () => {
    await connection.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test(
    "two processes: whatever is lost on the way or forgotten, each is charged once",
    { timeout: PATIENCE },
    async () => {
      const all = fc.asyncProperty(
        fc.scheduler(),
        fc.constantFrom("closed" as const, "open" as const),
        OUTAGES,
        STEPS,
        async (scheduler, onFailure, outages, steps) => {
          const own = mkdtempSync(join(folder, "run-"));
          const journal = join(own, "settlements.db");
          try {
            await new Run({ scheduler, outages, onFailure, connection, journal }).play(steps);
          } finally {
            rmSync(own, { recursive: true, force: true });
          }
        },
      );
      await expect(inLanes(all)).resolves.toBeUndefined();
    },
  );
});
