import { hash } from "node:crypto";
import type { ApiKey, OnChange, User } from "../../kit/index.ts";
import type { Connection } from "./connection.ts";
import { keyMethods } from "./keys.ts";
import { type Keys, loadScript, lowerCase } from "./scripts.ts";
import { userMethods } from "./users.ts";

/**
 * The store's role of accounts.
 * @param now Unix milliseconds; 0 means the server's clock.
 * @param latest server's milliseconds after which nobody waits for what is sent now; 0 when they are not known.
 */
export function accountMethods(connection: Connection, keys: Keys, now: () => number, latest: () => number) {
  const { userById, ...users } = userMethods(connection, keys, now, latest);
  const ofKeys = keyMethods(connection, keys, now);
  return {
    ...users,
    ...ofKeys,
    ...identityMethods(connection, keys, userById),
    ...deletionMethods(connection, keys, now, { ...users, ...ofKeys, userById }),

    /** Pushes what the scripts publish that change a user's tier or keys. */
    onChange: (listener: OnChange) => connection.subscribe(keys.changes, listener, () => listener(null)),
  };
}

/** Who an identity provider's subjects sign in as. `userById` is the users' (users.ts). */
function identityMethods(connection: Connection, keys: Keys, userById: (id: string) => Promise<User | null>) {
  const keyOf = (issuer: string, subject: string) => keys.identity(hash("sha256", JSON.stringify([issuer, subject])));

  /** For the deletion of the user; before the identity, so that a crash leaves nothing that is not found. */
  const note = (userId: string, key: string) => connection.call("SADD", keys.identitiesOf(userId), key);

  async function findIdentity(issuer: string, subject: string): Promise<User | null> {
    const key = keyOf(issuer, subject);
    const id = (await connection.call("GET", key)) as string | null;
    const user = id === null ? null : await userById(id);
    // Those of an earlier version are not noted yet.
    if (user !== null) await note(user.id, key);
    return user;
  }

  return {
    findIdentity,

    /** @returns null when there is no such user and the subject has none. */
    async linkIdentity(issuer: string, subject: string, userId: string): Promise<User | null> {
      const user = await userById(userId);
      if (!user) return findIdentity(issuer, subject);
      const key = keyOf(issuer, subject);
      await note(userId, key);
      const before = (await connection.call("SET", key, userId, "NX", "GET")) as string | null;
      if (before === null || before === userId) return user;
      const holder = await userById(before);
      if (holder !== null) return holder;
      // Its user was deleted.
      await connection.call("SET", key, userId);
      return user;
    },
  };
}

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
function deletionMethods(connection: Connection, keys: Keys, now: () => number, parts: DeletionParts) {
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
