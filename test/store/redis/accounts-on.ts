import { accountMethods } from "../../../src/store/redis/accounts.ts";
import type { Connection } from "../../../src/store/redis/connection.ts";
import { createKeys } from "../../../src/store/redis/scripts.ts";
import { signInMethods } from "../../../src/store/redis/sign-in.ts";
import { instanceMethods, stopMethods } from "../../../src/store/redis/store.ts";

export const KEYS = createKeys("test:");

export type Accounts = ReturnType<typeof accountsOn>;

/** The roles of the store that are about accounts, on any connection. `now` 0 is the server's clock. */
export function accountsOn(connection: Connection, now: () => number = () => 0) {
  return {
    ...accountMethods(connection, KEYS, now, () => 0),
    ...stopMethods(connection, KEYS, now),
    ...signInMethods(connection, KEYS, now),
    ...instanceMethods(connection, KEYS, now),
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
