import type { Store } from "../../kit/index.ts";
import type { StoreBreaker } from "./breaker.ts";

/** Methods that ask the store, whatever they ask. */
const ASKING = [
  "running",
  "principalByDigest",
  "principalOf",
  "touchKeys",
  "addUser",
  "findUser",
  "listUsers",
  "setTier",
  "grant",
  "addKey",
  "listKeys",
  "revokeKey",
  "ledger",
  "recorded",
  "stopStreams",
  "stopTokens",
  "throttle",
  "addCounts",
  "putCode",
  "takeCode",
  "addFamily",
  "rotate",
  "endFamily",
  "findIdentity",
  "linkIdentity",
  "remember",
  "publishInstance",
  "listInstances",
  "markInstanceDead",
  "ping",
] as const satisfies readonly (keyof Store)[];

type Asking = Pick<Store, (typeof ASKING)[number]>;

/** The store's methods, asked through the breaker. */
export function askedThrough(breaker: StoreBreaker, store: Store): Asking {
  const asked = ASKING.map((name) => {
    const ask = (...args: unknown[]) => breaker.ask(() => (store[name] as (...args: unknown[]) => unknown)(...args));
    return [name, ask] as const;
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each name has the arguments and the result of its method
  return Object.fromEntries(asked) as unknown as Asking;
}
