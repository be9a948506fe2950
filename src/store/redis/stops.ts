import { randomUUID } from "node:crypto";
import type { OnStop } from "../../kit/index.ts";
import { inBatches, loadScript } from "./script.ts";
import type { Connection } from "./connection.ts";
import type { Keys } from "./keys.ts";

/** Milliseconds between looks whether pushes still come, and for the answer: together less than a second. */
const CHECK_INTERVAL_MS = 400;

const RAISE_STOP_TOKEN = loadScript("stop-raise", "clock");

/**
 * Stop tokens: what ends a user's streams.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
export function stopMethods(connection: Connection, keys: Keys, now: () => number) {
  return {
    /** Counts each stream once, however often it is stopped. A user who is not there has none. */
    async stopStreams(userId: string) {
      const own = [keys.user(userId), keys.streams(userId), keys.leases(userId)];
      const reply = await connection.run(RAISE_STOP_TOKEN, own, [now(), userId, keys.stops]);
      const [token, streams] = reply as [number, number];
      return { token, streams };
    },

    async stopTokens(userIds: readonly string[]): Promise<Map<string, number>> {
      const tokens = await inBatches(userIds, async (id) =>
        Number(await connection.call("HGET", keys.user(id), "stop")),
      );
      return new Map(userIds.map((id, index) => [id, tokens[index] ?? 0]));
    },

    onStop(listener: OnStop, sure?: (is: boolean) => void): () => void {
      const echo = `echo ${randomUUID()}`;
      const receives = sure && connection.receives;
      let isSure = false;
      const setSure = (is: boolean): void => {
        if (is !== isSure) sure?.((isSure = is));
      };
      // Comes back only where this process may publish and receives: its own stops reach the others like this.
      const sendEcho = (): void => {
        if (receives) connection.call("PUBLISH", keys.stops, echo).catch(() => {});
      };
      const unsubscribe = connection.subscribe(
        keys.stops,
        (message) => {
          if (message === echo) return setSure(true);
          const [, userId, token] = /^(.*) (\d+)$/su.exec(message) ?? [];
          if (userId !== undefined) listener(userId, Number(token));
        },
        // The connection was made afresh.
        () => {
          setSure(false);
          sendEcho();
        },
      );
      if (!receives) return unsubscribe;
      const check = async (): Promise<void> => {
        if (!isSure) sendEcho();
        else if (!(await receives(CHECK_INTERVAL_MS))) setSure(false);
      };
      const timer = setInterval(() => {
        check().catch(() => setSure(false));
      }, CHECK_INTERVAL_MS).unref();
      return () => {
        clearInterval(timer);
        unsubscribe();
      };
    },
  };
}
