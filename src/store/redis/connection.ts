import { setTimeout as sleep } from "node:timers/promises";
import { Cluster, type Redis } from "ioredis";
import type { Log } from "../../kit/index.ts";
import { Calls } from "./calls.ts";
import type { Client } from "./client.ts";
import { type Argument, EncodedWords } from "./pipeline.ts";
import type { Script } from "./scripts.ts";

/** What the parts of the store need of a server or Cluster. */
export interface Connection {
  /** One command; rejects with STORE_UNAVAILABLE when the server cannot answer for now. */
  call(command: string, ...args: readonly Argument[]): Promise<unknown>;
  /** One command that changes nothing: asked once more as with `again` of `run`. */
  read(command: string, ...args: readonly Argument[]): Promise<unknown>;
  /**
   * One script by its SHA1, loaded again when the server has forgotten it.
   * @param keys when they are encoded, behind their number.
   * @param again arguments with which it is asked once more when there is no answer in time and the connection stands: a
   * server that is slow is not away. Whichever answer comes first is taken, so both executions must have one effect.
   */
  run(
    script: Script,
    keys: readonly string[] | EncodedWords,
    args: readonly Argument[],
    again?: () => readonly Argument[],
  ): Promise<unknown>;
  /**
   * Subscribes to what is published, also after the connection was lost and made again. `missed` is called each time that
   * this has begun, but not when a Cluster's client has gone on to another node. @returns unsubscribes.
   */
  subscribe(channel: string, listener: (message: string) => void, missed?: () => void): () => void;
  /**
   * Whether what is published arrives: an answer on the subscribing connection within so many milliseconds. Left out
   * where that cannot be known, as with a Cluster.
   */
  readonly receives?: (within: number) => Promise<boolean>;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** Milliseconds after which a call without an answer fails. The server may execute it all the same, later. */
  readonly timeout: number;
  readonly log?: Log;
}

interface Subscription {
  readonly listener: (message: string) => void;
  readonly missed: (() => void) | undefined;
}

export class RedisConnection implements Connection {
  readonly receives?: (within: number) => Promise<boolean>;
  readonly #client: Client;
  readonly #subscriber: Client;
  readonly #log: Log | undefined;
  readonly #calls: Calls;
  readonly #subscriptions = new Map<string, Set<Subscription>>();
  #closing: Promise<void> | null = null;
  #reachable = true;
  #subscribes = false;

  /** Takes over `client`, which has not connected yet, and closes it. */
  constructor(client: Client, { timeout, log }: ConnectionOptions) {
    this.#client = client;
    // A connection that subscribes can do little else; a Cluster keeps one for it by itself.
    this.#subscriber = client instanceof Cluster ? client : client.duplicate();
    if (!(client instanceof Cluster)) this.receives = (within) => this.#receives(within);
    this.#calls = new Calls(client, timeout);
    this.#log = log;
    client.on("error", (error: Error) => this.#onUnreachable(error));
    client.on("ready", () => this.#onReachable());
    if (this.#subscriber !== client) this.#subscriber.on("error", () => {});
    this.#subscriber.on("ready", () => this.#subscribe(...this.#subscriptions.keys()));
    this.#subscriber.on("message", (channel: string, message: string) => {
      for (const { listener } of this.#subscriptions.get(channel) ?? []) listener(message);
    });
  }

  /** Begins to connect. @returns whether the server could be reached within `wait` milliseconds; if not, it goes on. */
  async connect(wait: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, wait, false);
    });
    try {
      return await Promise.race([this.#connect(), enough]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The first attempt; the next ones are the client's own. */
  async #connect(): Promise<boolean> {
    try {
      await this.#client.connect();
      return true;
    } catch (error) {
      this.#onUnreachable(error instanceof Error ? error : new Error(String(error)));
      return false;
    }
  }

  call(command: string, ...args: readonly Argument[]): Promise<unknown> {
    return this.#calls.ask({ head: [command], args });
  }

  read(command: string, ...args: readonly Argument[]): Promise<unknown> {
    return this.#calls.ask({ head: [command], args, again: () => args });
  }

  run(
    script: Script,
    keys: readonly string[] | EncodedWords,
    args: readonly Argument[],
    again?: () => readonly Argument[],
  ): Promise<unknown> {
    const { evalsha, lua } = script;
    const head = keys instanceof EncodedWords ? [evalsha, keys] : [evalsha, keys.length, ...keys];
    return this.#calls.ask({ head, args, again, lua });
  }

  /** One command on every server that takes writes. */
  callEach(command: string, ...args: readonly Argument[]): Promise<unknown[]> {
    const servers: readonly Redis[] = this.#client instanceof Cluster ? this.#client.nodes("master") : [this.#client];
    return Promise.all(servers.map((server) => this.#calls.ask({ head: [command], args, server })));
  }

  get isCluster(): boolean {
    return this.#client instanceof Cluster;
  }

  get database(): number {
    return this.#client instanceof Cluster ? 0 : (this.#client.options.db ?? 0);
  }

  /** Calls back once, when a connection has been made. */
  onceReady(listener: () => void): void {
    this.#client.once("ready", listener);
  }

  /** Calls back each time a connection has been made. */
  onReady(listener: () => void): void {
    this.#client.on("ready", listener);
    if (this.#client.status === "ready") listener();
  }

  subscribe(channel: string, listener: (message: string) => void, missed?: () => void): () => void {
    const subscriptions = this.#subscriptions.get(channel) ?? new Set();
    const subscription = { listener, missed };
    subscriptions.add(subscription);
    this.#subscriptions.set(channel, subscriptions);
    if (!this.#subscribes && this.#subscriber !== this.#client && !this.#closing) {
      this.#subscribes = true;
      this.#subscriber.connect().catch(() => {});
    } else if (subscriptions.size === 1) this.#subscribe(channel);
    return () => subscriptions.delete(subscription);
  }

  /** Calls that were taken before are answered first. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#calls.close();
    for (const client of new Set([this.#client, this.#subscriber])) client.disconnect();
  }

  /** Commands that wait for the server. */
  get pending(): number {
    return this.#calls.pending;
  }

  #subscribe(...channels: readonly string[]): void {
    if (this.#subscriber.status !== "ready") return;
    const begun = (channel: string) => {
      for (const { missed } of this.#subscriptions.get(channel) ?? []) missed?.();
    };
    // One that fails here is repeated when the connection is ready again. Each by itself: a user may have rights to some.
    for (const channel of channels)
      this.#subscriber.subscribe(channel).then(
        () => begun(channel),
        () => {},
      );
  }

  async #receives(within: number): Promise<boolean> {
    if (this.#subscriber.status !== "ready") return false;
    const timeout = new AbortController();
    const answered = this.#subscriber.ping().then(
      () => true,
      () => false,
    );
    const waited = sleep(within, false, { signal: timeout.signal, ref: false }).catch(() => false);
    return Promise.race([answered, waited]).finally(() => timeout.abort());
  }

  #onUnreachable(error: Error): void {
    if (!this.#reachable || this.#closing) return;
    this.#reachable = false;
    this.#log?.warn({ reason: error.message || error.name }, "store unreachable");
  }

  #onReachable(): void {
    this.#calls.onReady();
    if (this.#reachable) return;
    this.#reachable = true;
    this.#log?.info({}, "store reachable again");
  }
}
