import { hash } from "node:crypto";
import type { Counter, CountWindow, Uses } from "../../kit/index.ts";
import { type Connection, loadScript } from "./connection.ts";
import type { Keys } from "./keys.ts";
import { MOST_COUNTS } from "../sqlite/window-counts.ts";

const ADD = loadScript("counts-add", "clock");
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

    async addCounts(window: CountWindow, uses: readonly Uses[]): Promise<(number | null)[]> {
      if (uses.length === 0) return [];
      const added = uses.flatMap((use) => [use.name, use.uses]);
      const args = [now(), window.endsAt, MOST_COUNTS, ...added];
      return (await connection.run(ADD, [keys.counts(window)], args)) as (number | null)[];
    },
  };
}
