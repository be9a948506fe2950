import { hash, randomUUID } from "node:crypto";
import type { CountWindow, Log, OnStop, Settlement, Store, Uses } from "../../kit/index.ts";
import { LEDGER_RETENTION_MS, MAX_COUNTS_PER_WINDOW, MAX_SPACE_BYTES, VALUE_OVERHEAD_BYTES } from "../windows.ts";
import { accountMethods } from "./accounts.ts";
import { auditMethods } from "./audit.ts";
import type { Connection, RedisConnection } from "./connection.ts";
import { idempotencyMethods } from "./idempotency.ts";
import { LEASE_MS, Leases, RENEWAL_INTERVAL_MS, unlessUnavailable } from "./leases.ts";
import { ledgerMethods } from "./ledger-pages.ts";
import { Requests } from "./requests.ts";
import { createKeys, inBatches, type Keys, loadScript } from "./scripts.ts";
import { signInMethods } from "./sign-in.ts";
import { LedgerSweep } from "./sweep.ts";

interface RedisStoreOptions {
  /** In front of the name of every key. */
  readonly prefix: string;
  /** This process's name among those of the store, without blanks. */
  readonly instance: string;
  /** Milliseconds that a call waits for its answer: the connection's. */
  readonly timeout: number;
  readonly log?: Log;
  /** Unix milliseconds, for tests; without, time is the server's. */
  readonly clock?: () => number;
  /** Milliseconds for which what this process runs is kept without a renewal. */
  readonly lease?: number;
  /** Milliseconds for which entries of the ledger are kept. */
  readonly retention?: number;
  /** Milliseconds that other processes get to give back their unconfirmed admissions, before a request is refused. */
  readonly confirmationTimeout?: number;
}

export type RedisStore = ReturnType<typeof redisStore>;

/** The store on Redis or Valkey, alone or as a Cluster. Takes over `connection` and closes it. */
export function redisStore(connection: RedisConnection, options: RedisStoreOptions) {
  const { prefix, instance, log, timeout, clock } = options;
  const { lease = LEASE_MS, retention = LEDGER_RETENTION_MS, confirmationTimeout = timeout } = options;
  if (!/^\S+$/.test(instance)) throw new RangeError(`not a name for an instance: ${instance}`);
  const keys = createKeys(prefix);
  // To the scripts, 0 is the server's clock.
  const now = clock ?? (() => 0);
  const leases = new Leases(connection, keys, instance, lease, retention);
  const requests = new Requests(connection, keys, leases, {
    instance,
    lease,
    timeout,
    retention,
    confirmationTimeout,
    clock,
  });

  /** What has to be known of a server before it is used. */
  const catchUp = () => Promise.all([unlessUnavailable(requests.setClock()), leases.refreshDead()]);
  const renew = async (): Promise<void> => {
    await Promise.all([requests.renew(), leases.refreshDead()]);
  };
  const logged = (message: string) => (error: unknown) => log?.error({ reason: String(error) }, message);
  const sweep = new LedgerSweep(
    connection,
    keys,
    retention,
    logged("the ledger of all users was not brought up to date"),
  );
  requests.onAsked(logged("other processes do not know what runs here"));
  connection.onReady(() => {
    catchUp().catch(logged("the server's clock and its dead instances are not known"));
  });
  const renewal = setInterval(() => {
    renew().catch(logged("leases were not renewed"));
  }, RENEWAL_INTERVAL_MS).unref();

  const methods = {
    ...requests.methods,
    ...ledgerMethods(connection, keys, sweep, retention),
    ...stopMethods(connection, keys, now),
    ...accountMethods(connection, keys, now, () => requests.latest()),
    ...signInMethods(connection, keys, now),
    ...instanceMethods(connection, keys, now),
    ...auditMethods(connection, keys, now, retention),
    ...valueMethods(connection, keys, now),
    ...idempotencyMethods(connection, keys, now),
    markInstanceDead: (dead: string) => leases.markDead(dead, requests.time()),

    settle(settlement: Settlement): Promise<boolean> {
      if (settlement.record !== null) sweep.note(settlement.userId);
      return requests.settle(settlement);
    },

    async close(): Promise<void> {
      clearInterval(renewal);
      requests.close();
      await sweep.close();
      await connection.close();
    },
  } satisfies Store;

  return {
    ...methods,
    /** Prolongs the leases of what runs here; by itself every 15 seconds. */
    renew,
    /** Brings the ledger of all users up to date with what each one's has, by itself once an hour. */
    sweepAll: () => sweep.pass(0),
  };
}

/** Milliseconds between looks whether pushes still come, and for the answer: together less than a second. */
const CHECK_INTERVAL_MS = 400;

const RAISE_STOP_TOKEN = loadScript("stop-raise", "clock");

/**
 * Stop tokens: what ends a user's streams.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
export function stopMethods(connection: Connection, keys: Keys, now: () => number) {
  return {
    /** Counts each stream once, however often it is stopped. A user who is not there has none. */
    async stopStreams(userId: string) {
      const own = [keys.user(userId), keys.streams(userId), keys.leases(userId)];
      const reply = await connection.run(RAISE_STOP_TOKEN, own, [now(), userId, keys.stops]);
      const [token, streams] = reply as [number, number];
      return { token, streams };
    },

    async stopTokens(userIds: readonly string[]): Promise<Map<string, number>> {
      const tokens = await inBatches(userIds, async (id) =>
        Number(await connection.call("HGET", keys.user(id), "stop")),
      );
      return new Map(userIds.map((id, index) => [id, tokens[index] ?? 0]));
    },

    onStop(listener: OnStop, onCertain?: (is: boolean) => void): () => void {
      const echo = `echo ${randomUUID()}`;
      const receives = onCertain && connection.receives;
      let isCertain = false;
      const setCertain = (is: boolean): void => {
        if (is !== isCertain) onCertain?.((isCertain = is));
      };
      // Comes back only where this process may publish and receives: its own stops reach the others like this.
      const sendEcho = (): void => {
        if (receives) connection.call("PUBLISH", keys.stops, echo).catch(() => {});
      };
      const unsubscribe = connection.subscribe(
        keys.stops,
        (message) => {
          if (message === echo) return setCertain(true);
          const [, userId, token] = /^(.*) (\d+)$/su.exec(message) ?? [];
          if (userId !== undefined) listener(userId, Number(token));
        },
        // The connection was made afresh.
        () => {
          setCertain(false);
          sendEcho();
        },
      );
      if (!receives) return unsubscribe;
      const check = async (): Promise<void> => {
        if (!isCertain) sendEcho();
        else if (!(await receives(CHECK_INTERVAL_MS))) setCertain(false);
      };
      const timer = setInterval(() => {
        check().catch(() => setCertain(false));
      }, CHECK_INTERVAL_MS).unref();
      return () => {
        clearInterval(timer);
        unsubscribe();
      };
    },
  };
}

const ADD_COUNTS = loadScript("counts-add", "clock");
const PUBLISH_INSTANCE = loadScript("instance-publish", "clock");
const LIST_INSTANCES = loadScript("instances-list", "clock");

/**
 * The store's role of what processes share.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
export function instanceMethods(connection: Connection, keys: Keys, now: () => number) {
  return {
    async publishInstance(instance: string, state: string, ttl: number): Promise<void> {
      await connection.run(PUBLISH_INSTANCE, [keys.instances], [now(), instance, state, ttl]);
    },

    async listInstances(): Promise<Map<string, string>> {
      const flat = (await connection.run(LIST_INSTANCES, [keys.instances], [now()])) as readonly string[];
      return new Map(flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ""]] : [])));
    },

    async broadcast(text: string): Promise<void> {
      await connection.call("PUBLISH", keys.broadcasts, text);
    },

    onBroadcast: (listener: (text: string) => void) => connection.subscribe(keys.broadcasts, listener),

    async addCounts(window: CountWindow, uses: readonly Uses[]): Promise<(number | null)[]> {
      if (uses.length === 0) return [];
      const added = uses.flatMap((use) => [use.name, use.uses]);
      const args = [now(), window.endsAt, MAX_COUNTS_PER_WINDOW, ...added];
      return (await connection.run(ADD_COUNTS, [keys.counts(window)], args)) as (number | null)[];
    },

    async remember(name: string, value: string): Promise<string> {
      const before = (await connection.call("SET", keys.remembered(name), value, "NX", "GET")) as string | null;
      return before ?? value;
    },

    async ping(): Promise<void> {
      await connection.call("PING");
    },
  };
}

const GET_VALUE = loadScript("value-get", "clock", "values");
const SET_VALUE = loadScript("value-set", "clock", "values");
const ADD_TO_VALUE = loadScript("value-add", "clock", "values");
const DELETE_VALUE = loadScript("value-delete", "clock", "values");

/** Parts of a space, by the first character of a key's digest: so that they lie on several nodes of a Cluster. */
const SHARD_COUNT = 16;
const KEPT = [MAX_SPACE_BYTES / SHARD_COUNT, VALUE_OVERHEAD_BYTES] as const;

/**
 * The store's role of what plugins keep.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
function valueMethods(connection: Connection, keys: Keys, now: () => number) {
  const placeOf = (space: string, key: string) => {
    const digest = hash("sha256", key);
    return { digest, own: keys.values(space, digest.slice(0, 1)) };
  };

  return {
    async getValue(space: string, key: string): Promise<string | null> {
      const { own, digest } = placeOf(space, key);
      return (await connection.run(GET_VALUE, own, [now(), digest])) as string | null;
    },

    async setValue(space: string, key: string, value: string, ttl: number): Promise<void> {
      const { own, digest } = placeOf(space, key);
      await connection.run(SET_VALUE, own, [now(), digest, value, ttl, ...KEPT]);
    },

    async addToValue(space: string, key: string, amount: bigint, ttl: number): Promise<bigint> {
      const { own, digest } = placeOf(space, key);
      const sum = await connection.run(ADD_TO_VALUE, own, [now(), digest, String(amount), ttl, ...KEPT]);
      if (typeof sum !== "string")
        throw new RangeError("the value is no whole number, or would have more than 64 bits");
      return BigInt(sum);
    },

    async deleteValue(space: string, key: string): Promise<void> {
      const { own, digest } = placeOf(space, key);
      await connection.run(DELETE_VALUE, own, [digest, VALUE_OVERHEAD_BYTES]);
    },
  };
}
