import { hash } from "node:crypto";
import type { OnChange, User } from "../../kit/index.ts";
import type { Connection } from "./connection.ts";
import { keyMethods } from "./keys.ts";
import type { Keys } from "./scripts.ts";
import { userMethods } from "./users.ts";

/**
 * The store's role of accounts.
 * @param now Unix milliseconds; 0 means the server's clock.
 * @param latest server's milliseconds after which nobody waits for what is sent now; 0 when they are not known.
 */
export function accountMethods(connection: Connection, keys: Keys, now: () => number, latest: () => number) {
  const { userById, ...users } = userMethods(connection, keys, now, latest);
  return {
    ...users,
    ...keyMethods(connection, keys, now),
    ...identityMethods(connection, keys, userById),

    /** Pushes what the scripts publish that change a user's tier or keys. */
    onChange: (listener: OnChange) => connection.subscribe(keys.changes, listener, () => listener(null)),
  };
}

/** Who an identity provider's subjects sign in as. `userById` is the users' (users.ts). */
function identityMethods(connection: Connection, keys: Keys, userById: (id: string) => Promise<User | null>) {
  const keyOf = (issuer: string, subject: string) => keys.identity(hash("sha256", JSON.stringify([issuer, subject])));

  async function findIdentity(issuer: string, subject: string): Promise<User | null> {
    const id = (await connection.call("GET", keyOf(issuer, subject))) as string | null;
    return id === null ? null : userById(id);
  }

  return {
    findIdentity,

    /** @returns null when there is no such user and the subject has none. */
    async linkIdentity(issuer: string, subject: string, userId: string): Promise<User | null> {
      const user = await userById(userId);
      if (!user) return findIdentity(issuer, subject);
      const before = (await connection.call("SET", keyOf(issuer, subject), userId, "NX", "GET")) as string | null;
      return before === null || before === userId ? user : userById(before);
    },
  };
}
