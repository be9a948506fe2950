import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { runChaos } from "../../chaos/chaos.ts";
import { report, violations } from "../../chaos/report.ts";
import { describeRedis } from "../../support/redis.ts";

/** The short form of `npm run chaos`, which says more about it. */
const SIZE = { requests: 1_500, rate: 100, together: 200, fsync: "always", bury: true } as const;

describeRedis("several gateways on one Redis while everything goes wrong", () => {
  test.each([
    { instances: 3, setup: { workers: 0, onFailure: "closed", slowStore: 0 } },
    { instances: 2, setup: { workers: 2, onFailure: "open", slowStore: 0 } },
  ] as const)(
    "$setup.workers workers, $setup.onFailure: nothing is lost, charged twice, leaked or exceeded",
    { timeout: 240_000 },
    async ({ instances, setup }) => {
      const seed = randomInt(2 ** 31);
      const outcome = await runChaos({ ...SIZE, instances, setup, seed, say: () => undefined });
      const { verdict, evidence, done } = outcome;
      if (verdict.violations.length > 0) console.error(report(outcome));
      const how = `--instances ${instances} --workers ${setup.workers} --on-failure ${setup.onFailure} --seed ${seed}`;
      expect(violations(verdict.violations), `npm run chaos -- --requests 1500 --rate 100 --bury ${how}`).toEqual([]);
      // What nothing has happened to shows nothing.
      const endings = Map.groupBy(evidence.seen, ({ ending }) => ending);
      expect(endings.get("whole")?.length).toBeGreaterThan(100);
      expect(done.get("kill")).toBeGreaterThan(0);
      expect(done.get("redis_kill")).toBeGreaterThan(0);
      expect(done.get("redis_pause")).toBeGreaterThan(0);
      // Tried, that is: an instance may have been down at that moment.
      expect(done.has("kill_workers")).toBe(setup.workers > 0);
    },
  );
});
