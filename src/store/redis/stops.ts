import type { OnStop } from "../../kit/index.ts";
import { inBatches } from "./batches.ts";
import { type Connection, loadScript } from "./connection.ts";
import type { Keys } from "./keys.ts";

const RAISE = loadScript("stop-raise", "clock");

/**
 * Stop tokens: what ends a user's streams.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
export function stopPart(connection: Connection, keys: Keys, now: () => number) {
  return {
    /** Counts each stream once, however often it is told to stop. A user who is not there has none. */
    async stopStreams(userId: string) {
      const own = [keys.user(userId), keys.streams(userId), keys.leases(userId)];
      const reply = await connection.run(RAISE, own, [now(), userId, keys.stops]);
      const [token, streams] = reply as [number, number];
      return { token, streams };
    },

    async stopTokens(userIds: readonly string[]): Promise<Map<string, number>> {
      const tokens = await inBatches(userIds, async (id) =>
        Number(await connection.call("HGET", keys.user(id), "stop")),
      );
      return new Map(userIds.map((id, index) => [id, tokens[index] ?? 0]));
    },

    onStop(listener: OnStop): () => void {
      return connection.subscribe(keys.stops, (message) => {
        const [, userId, token] = /^(.*) (\d+)$/su.exec(message) ?? [];
        if (userId !== undefined) listener(userId, Number(token));
      });
    },
  };
}
