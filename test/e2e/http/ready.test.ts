import { expect, onTestFinished, test } from "vitest";
import { describeRedis, startRedis } from "../../support/redis.ts";
import { eventually } from "../support/http.ts";
import { TestGateway } from "../support/in-process.ts";

async function ready(gateway: TestGateway): Promise<readonly unknown[]> {
  const { status, text } = await gateway.admin("/readyz");
  return [status, (JSON.parse(text) as { reasons?: unknown }).reasons ?? null];
}

const AWAY = [503, ["store unavailable"]];

describeRedis("readiness without the store", () => {
  test.each(["open", "closed"] as const)(
    "on_failure: %s: not before the store has answered once",
    async (onFailure) => {
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      await redis.kill();
      const gateway = await TestGateway.start({
        config: { store: { url: redis.url, on_failure: onFailure, timeout: "300ms" } },
      });
      onTestFinished(() => gateway.stop());
      expect(await ready(gateway)).toEqual(AWAY);
      await redis.restart();
      await eventually(async () => (await ready(gateway))[0] === 200, 15_000);
      await redis.kill();
      // A process that has served goes on with the keys it knows, if it may.
      await eventually(async () => (await ready(gateway))[0] === (onFailure === "open" ? 200 : 503), 15_000);
      expect(await ready(gateway)).toEqual(onFailure === "open" ? [200, null] : AWAY);
    },
  );
});
