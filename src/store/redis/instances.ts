import { type Connection, loadScript } from "./connection.ts";
import type { Keys } from "./keys.ts";

const ANNOUNCE = loadScript("instance-announce", "clock");
const ANNOUNCED = loadScript("instance-announced", "clock");

/**
 * What instances say of themselves.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
export function instancePart(connection: Connection, keys: Keys, now: () => number) {
  return {
    async announce(instance: string, state: string, ttl: number): Promise<void> {
      await connection.run(ANNOUNCE, [keys.fleet], [now(), instance, state, ttl]);
    },

    async announced(): Promise<Map<string, string>> {
      const flat = (await connection.run(ANNOUNCED, [keys.fleet], [now()])) as readonly string[];
      return new Map(flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ""]] : [])));
    },
  };
}
