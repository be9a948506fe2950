import type { Connection } from "../../src/store/redis/connection.ts";
import { keyPart } from "../../src/store/redis/api-keys.ts";
import { changePart } from "../../src/store/redis/changes.ts";
import { codePart } from "../../src/store/redis/codes.ts";
import { counterPart } from "../../src/store/redis/counters.ts";
import { familyPart } from "../../src/store/redis/families.ts";
import { identityPart } from "../../src/store/redis/identities.ts";
import { instancePart } from "../../src/store/redis/instances.ts";
import { createKeys } from "../../src/store/redis/keys.ts";
import { rememberPart } from "../../src/store/redis/remember.ts";
import { stopPart } from "../../src/store/redis/stops.ts";
import { userPart } from "../../src/store/redis/users.ts";

export const KEYS = createKeys("test:");

export type Accounts = ReturnType<typeof accountsOn>;

/** The parts of the store that are about accounts, on any connection. `now` 0 is the server's clock. */
export function accountsOn(connection: Connection, now: () => number = () => 0) {
  const users = userPart(connection, KEYS, now, () => "0");
  return {
    ...users,
    ...keyPart(connection, KEYS, now),
    ...stopPart(connection, KEYS, now),
    ...changePart(connection, KEYS),
    ...counterPart(connection, KEYS, now),
    ...codePart(connection, KEYS, now),
    ...familyPart(connection, KEYS, now),
    ...identityPart(connection, KEYS, users.userById),
    ...rememberPart(connection, KEYS),
    ...instancePart(connection, KEYS, now),
  };
}

/** A connection through which a test sees or breaks what is sent. */
export function through(
  inner: Connection,
  send: (what: string, go: () => Promise<unknown>) => Promise<unknown>,
): Connection {
  return {
    call: (command, ...args) => send(command, () => inner.call(command, ...args)),
    read: (command, ...args) => send(command, () => inner.read(command, ...args)),
    run: (script, keys, args) => send(script.name, () => inner.run(script, keys, args)),
    subscribe: (...subscription) => inner.subscribe(...subscription),
    close: () => inner.close(),
  };
}
