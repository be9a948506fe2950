import type { Connection } from "./connection.ts";
import type { Keys } from "./keys.ts";

/** Small named values: the first one written stays. */
export function rememberPart(connection: Connection, keys: Keys) {
  return {
    async remember(name: string, value: string): Promise<string> {
      const before = (await connection.call("SET", keys.remembered(name), value, "NX", "GET")) as string | null;
      return before ?? value;
    },
  };
}
