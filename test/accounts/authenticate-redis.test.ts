import { expect, onTestFinished, test } from "vitest";
import { createAuthentication } from "../../src/accounts/authenticate.ts";
import { createKey } from "../../src/accounts/api-keys.ts";
import { withResilience } from "../../src/store/resilient/store.ts";
import { openAt, recordingLog } from "../store/redis-support.ts";
import { unique } from "../store/support.ts";
import { describeRedis, startRedis } from "../support/redis.ts";

describeRedis("where the store is shared and its failure leaves known keys open", () => {
  test.each(["presume", "byKey"] as const)(
    "%s: a key that another process revoked right before the failure serves nobody",
    async (way) => {
      const server = await startRedis();
      onTestFinished(() => server.stop());
      const prefix = `${unique("open")}:`;
      const other = await openAt(server.url, { prefix });
      const store = withResilience(await openAt(server.url, { prefix }), {
        onFailure: () => "open",
        journal: null,
        log: recordingLog(),
        now: Date.now,
      });
      onTestFinished(() => store.close());
      const identities = createAuthentication({
        store,
        tokens: { verify: () => null },
        now: Date.now,
        onFailure: () => "open",
      });
      // The last uses of keys have nowhere to go by then.
      onTestFinished(() => identities.close().catch(() => {}));
      const heard: (string | null)[] = [];
      store.onChange((userId) => heard.push(userId));
      await expect.poll(() => heard, { timeout: 10_000 }).toEqual([null]);
      const keys = ["ann", "ben"].map(async (id) => {
        await other.addUser({ id, email: `${id}@example.com`, tier: "Free", credits: 0n });
        return (await createKey(other, { userId: id, name: "n" })).body;
      });
      const [revoked, kept] = (await Promise.all(keys)) as [Awaited<(typeof keys)[0]>, Awaited<(typeof keys)[0]>];
      for (const { key } of [revoked, kept]) expect(await identities.presume(key)).toMatchObject({ tier: "Free" });
      expect(await other.revokeKey(revoked.id)).toBe(true);
      await expect.poll(() => heard.at(-1), { timeout: 10_000 }).toBe("ann");
      await server.kill();
      await expect((async () => identities[way](revoked.key))()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(await identities[way](kept.key)).toMatchObject({ userId: "ben" });
    },
  );
});
