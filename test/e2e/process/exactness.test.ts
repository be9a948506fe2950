import { expect, test } from "vitest";
import { type Burst, LIMITS, runBursts } from "../../chaos/burst.ts";
import { describeRedis } from "../../support/redis.ts";

/** In an ordinary run; `BURSTS=20` is the long form, as is `test/chaos/exactness.ts`. */
const BURSTS = Number(process.env["BURSTS"] ?? 1);

describeRedis("limits across processes", () => {
  test(
    "4 processes x 500 requests at the same moment: exactly what is allowed",
    { timeout: 150_000 + 20_000 * BURSTS },
    async () => {
      const bursts: Burst[] = [];
      await runBursts(BURSTS, { instances: 4, each: 500 }, (burst) => bursts.push(burst));
      expect(bursts).toHaveLength(BURSTS);
      for (const { faults, mostStreams, streams } of bursts) {
        expect(faults).toEqual([]);
        expect(mostStreams).toBeLessThanOrEqual(LIMITS.streams);
        expect(streams).toBeGreaterThan(0);
      }
    },
  );
});
