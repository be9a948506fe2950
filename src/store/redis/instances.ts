import type { CountWindow, Uses } from "../../kit/index.ts";
import { MAX_COUNTS_PER_WINDOW } from "../limits.ts";
import type { Connection } from "./connection.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./script.ts";

const ADD_COUNTS = loadScript("counts-add", "clock");
const ANNOUNCE = loadScript("instance-announce", "clock");
const ANNOUNCED = loadScript("instance-announced", "clock");

/**
 * The store's role of what processes share.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
export function instanceMethods(connection: Connection, keys: Keys, now: () => number) {
  return {
    async publishInstance(instance: string, state: string, ttl: number): Promise<void> {
      await connection.run(ANNOUNCE, [keys.instances], [now(), instance, state, ttl]);
    },

    async listInstances(): Promise<Map<string, string>> {
      const flat = (await connection.run(ANNOUNCED, [keys.instances], [now()])) as readonly string[];
      return new Map(flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ""]] : [])));
    },

    async addCounts(window: CountWindow, uses: readonly Uses[]): Promise<(number | null)[]> {
      if (uses.length === 0) return [];
      const added = uses.flatMap((use) => [use.name, use.uses]);
      const args = [now(), window.endsAt, MAX_COUNTS_PER_WINDOW, ...added];
      return (await connection.run(ADD_COUNTS, [keys.counts(window)], args)) as (number | null)[];
    },

    async remember(name: string, value: string): Promise<string> {
      const before = (await connection.call("SET", keys.remembered(name), value, "NX", "GET")) as string | null;
      return before ?? value;
    },

    async ping(): Promise<void> {
      await connection.call("PING");
    },
  };
}
