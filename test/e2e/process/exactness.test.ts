import { expect, test } from "vitest";
import { type Burst, LIMITS, runBursts } from "../../chaos/burst.ts";
import { describeRedis } from "../../support/redis.ts";

describeRedis("limits across processes", () => {
  test("4 processes x 500 requests at the same moment: exactly what is allowed", { timeout: 180_000 }, async () => {
    const bursts: Burst[] = [];
    await runBursts(2, { instances: 4, each: 500 }, (burst) => bursts.push(burst));
    expect(bursts).toHaveLength(2);
    for (const { faults, mostStreams, streams } of bursts) {
      expect(faults).toEqual([]);
      expect(mostStreams).toBeLessThanOrEqual(LIMITS.streams);
      expect(streams).toBeGreaterThan(0);
    }
  });
});
