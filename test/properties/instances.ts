import { createHash } from "node:crypto";
import { Redis } from "ioredis";
import { createClient } from "../../src/store/redis/client.ts";
import type { Argument } from "../../src/store/redis/pipeline.ts";
import { type Connection, RedisConnection } from "../../src/store/redis/connection.ts";
import type { Script } from "../../src/store/redis/scripts.ts";
import { redisStore, type RedisStore } from "../../src/store/redis/store.ts";

/** Milliseconds: no call of a property is given up, and what a lost answer leaves waits for the end of its lease. */
const TIMEOUT = 1_000_000;

/** What instances say in place of the time: the server has its own clock, which shows what it shows on execution. */
const TIME = 2 ** 52 + 1;

/** A server whose clock is the test's. */
export function withClock(inner: Connection, now: () => number): Connection {
  return {
    call: (command, ...args) => inner.call(command, ...args),
    read: (command, ...args) => inner.read(command, ...args),
    run: (script, keys, args) =>
      inner.run(
        script,
        keys,
        args.map((argument) => (typeof argument !== "object" && Number(argument) === TIME ? now() : argument)),
      ),
    subscribe: (channel, listener) => inner.subscribe(channel, listener),
    close: () => inner.close(),
  };
}

export interface InstanceOptions {
  readonly prefix: string;
  readonly instance: string;
  readonly lease?: number;
  /** Whether it begins, as it does in life, by asking the server for its time and for the dead. */
  readonly asks?: boolean;
}

/** One process's store, at the end of a way to a server of `withClock`. To be closed, also as a dead one: it has a timer. */
export function instanceOn(way: Connection, { asks = false, ...options }: InstanceOptions): RedisStore {
  // Nobody hears what is published: nobody would answer.
  const common = { timeout: TIMEOUT, confirmationTimeout: 0, clock: () => TIME };
  return redisStore(new Shared(way, asks), { ...options, ...common });
}

/** One connection for all instances of a property: what is sent first is executed first, and what comes together goes together. */
export async function connect(url: string): Promise<RedisConnection> {
  const client = new Redis(url, { lazyConnect: true, enableAutoPipelining: true });
  const connection = new RedisConnection(client, { timeout: 30_000 });
  await connection.connect(10_000);
  return connection;
}

/** Looks like a connection of its own, though it is another's. */
class Shared extends RedisConnection {
  readonly #way: Connection;
  readonly #asks: boolean;

  constructor(way: Connection, asks: boolean) {
    // Never connected.
    super(createClient("redis://127.0.0.1:1"), { timeout: TIMEOUT });
    this.#way = way;
    this.#asks = asks;
  }

  override call(command: string, ...args: readonly Argument[]): Promise<unknown> {
    return this.#way.call(command, ...args);
  }

  override read(command: string, ...args: readonly Argument[]): Promise<unknown> {
    return this.#way.read(command, ...args);
  }

  override run(script: Script, keys: Parameters<Connection["run"]>[1], args: readonly Argument[]): Promise<unknown> {
    return this.#way.run(script, keys, args);
  }

  // What is published comes at no moment that could be repeated; renewals bring it too.
  override subscribe(): () => void {
    return () => {};
  }

  override onReady(listener: () => void): void {
    if (this.#asks) listener();
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }
}

export const digestOf = (keyId: string): Uint8Array => createHash("sha256").update(keyId).digest();
