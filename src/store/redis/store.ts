import type { Log, Store } from "../../kit/index.ts";
import { LEDGER_RETENTION_MS } from "../limits.ts";
import { accountMethods } from "./accounts.ts";
import type { RedisConnection } from "./connection.ts";
import { instanceMethods } from "./instances.ts";
import { createKeys } from "./keys.ts";
import { LEASE_MS, Leases, RENEWAL_INTERVAL_MS, unlessUnavailable } from "./leases.ts";
import { Requests } from "./requests.ts";
import { signInMethods } from "./sign-in.ts";
import { stopMethods } from "./stops.ts";

export interface RedisStoreOptions {
  /** In front of the name of every key. */
  readonly prefix: string;
  /** This process's name among those of the store, without blanks. */
  readonly instance: string;
  /** Milliseconds that a call waits for its answer: the connection's. */
  readonly timeout: number;
  readonly log?: Log;
  /** Unix milliseconds, for tests; without, time is the server's. */
  readonly clock?: () => number;
  /** Milliseconds for which what this process runs is kept without a word from it. */
  readonly lease?: number;
  /** Milliseconds for which entries of the ledger are kept. */
  readonly retention?: number;
  /** Milliseconds that other processes get to give back their unconfirmed admissions, before a request is refused. */
  readonly patience?: number;
}

export type RedisStore = ReturnType<typeof redisStore>;

/** The store on Redis or Valkey, alone or as a Cluster. Takes over `connection` and closes it. */
export function redisStore(connection: RedisConnection, options: RedisStoreOptions) {
  const { prefix, instance, log, timeout, clock } = options;
  const { lease = LEASE_MS, retention = LEDGER_RETENTION_MS, patience = timeout } = options;
  if (!/^\S+$/.test(instance)) throw new RangeError(`not a name for an instance: ${instance}`);
  const keys = createKeys(prefix);
  // To the scripts, 0 is the server's clock.
  const now = clock ?? (() => 0);
  const leases = new Leases(connection, keys, instance, lease, retention);
  const requests = new Requests(connection, keys, leases, { instance, lease, timeout, retention, patience, clock });

  /** What has to be known of a server before it is used. */
  const catchUp = () => Promise.all([unlessUnavailable(requests.setClock()), leases.refreshDead()]);
  const renew = async (): Promise<void> => {
    await Promise.all([requests.renew(), leases.refreshDead()]);
  };
  const logged = (message: string) => (error: unknown) => log?.error({ reason: String(error) }, message);
  requests.onAsked(logged("other processes were not told what runs here"));
  connection.onReady(() => {
    catchUp().catch(logged("the server's clock and its dead instances are not known"));
  });
  const renewal = setInterval(() => {
    renew().catch(logged("leases were not renewed"));
  }, RENEWAL_INTERVAL_MS).unref();

  const methods = {
    ...requests.methods,
    ...stopMethods(connection, keys, now),
    ...accountMethods(connection, keys, now, () => requests.latest()),
    ...signInMethods(connection, keys, now),
    ...instanceMethods(connection, keys, now),
    markInstanceDead: (dead: string) => leases.markDead(dead, requests.time()),

    async close(): Promise<void> {
      clearInterval(renewal);
      requests.close();
      await connection.close();
    },
  } satisfies Store;

  return {
    ...methods,
    /** Prolongs the leases of what runs here; by itself every 15 seconds. */
    renew,
  };
}
