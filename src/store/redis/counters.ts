import { hash } from "node:crypto";
import type { Counter } from "../../kit/index.ts";
import { type Connection, loadScript } from "./connection.ts";
import type { Keys } from "./keys.ts";

const THROTTLE = loadScript("throttle", "clock");

/**
 * Named counters. Names come from clients: of any length and content, so keys have their digests.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
export function counterPart(connection: Connection, keys: Keys, now: () => number) {
  return {
    async throttle(counters: readonly Counter[], window: number): Promise<number | null> {
      if (counters.length === 0) return null;
      const names = counters.map(({ name }) => keys.counter(hash("sha256", name), window));
      const limits = counters.map(({ limit }) => limit);
      return (await connection.run(THROTTLE, names, [now(), window, ...limits])) as number | null;
    },
  };
}
