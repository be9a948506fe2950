import type { OnChange } from "../../kit/index.ts";
import type { Connection } from "./connection.ts";
import type { Keys } from "./keys.ts";

/** What the scripts that change a user's tier or keys publish. */
export function changePart(connection: Connection, keys: Keys) {
  return {
    onChange(listener: OnChange): () => void {
      return connection.subscribe(keys.changes, listener, () => listener(null));
    },
  };
}
