import { hash } from "node:crypto";
import type { ApiKey, User } from "../../kit/index.ts";
import type { Connection } from "./connection.ts";
import { type Keys, loadScript, lowerCase } from "./scripts.ts";

const FREE_POINTER = loadScript("pointer-free");
const DELETE_USER = loadScript("user-delete", "clock");

/** What the deletion asks of the other roles. */
interface DeletionParts {
  readonly userById: (id: string) => Promise<User | null>;
  readonly setDisabled: (id: string, disabled: boolean) => Promise<User | null>;
  readonly listKeys: (userId: string) => Promise<readonly ApiKey[]>;
  readonly revokeKey: (keyId: string, userId: string) => Promise<boolean>;
}

/**
 * Deletion of a user. The address goes last, so that one that was broken off can be repeated.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
export function deletionMethods(connection: Connection, keys: Keys, now: () => number, parts: DeletionParts) {
  /** Only what is still this user's. */
  const free = (pointer: string, userId: string) => connection.run(FREE_POINTER, [pointer], [userId]);

  return {
    async deleteUser(id: string): Promise<boolean> {
      const user = await parts.userById(id);
      if (user === null) return false;
      await parts.setDisabled(id, true);
      for (const key of await parts.listKeys(id)) await parts.revokeKey(key.id, id);
      const email = lowerCase(user.email);
      const identities = (await connection.call("SMEMBERS", keys.identitiesOf(id))) as readonly string[];
      for (const identity of identities) await free(identity, id);
      await connection.call("DEL", keys.codes(hash("sha256", email)));
      await connection.call("ZREM", keys.addresses, `${email} ${id}`);
      await free(keys.address(email), id);
      const own = [keys.user(id), keys.apiKeys(id), keys.keyUses(id), keys.identitiesOf(id)];
      await connection.run(DELETE_USER, own, [now(), id, keys.changes]);
      return true;
    },
  };
}
