import { hash } from "node:crypto";
import type { User } from "../../kit/index.ts";
import type { Connection } from "./connection.ts";
import type { Keys } from "./keys.ts";

/** Who an identity provider's subjects sign in as. `userById` is the users' (users.ts). */
export function identityPart(connection: Connection, keys: Keys, userById: (id: string) => Promise<User | null>) {
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
