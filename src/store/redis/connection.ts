import { setTimeout as sleep } from "node:timers/promises";
import { Cluster, type Redis } from "ioredis";
import { type Log, storeUnavailable } from "../../kit/index.ts";
import { type Client, replyCode, storeError, Unanswered, type PendingAnswer, PendingAnswers } from "./client.ts";
import type { Script } from "./scripts.ts";

export type Argument = string | number | Buffer;

/** What the parts of the store need of a server or Cluster. */
export interface Connection {
  /** One command; rejects with STORE_UNAVAILABLE when the server cannot answer for now. */
  call(command: string, ...args: readonly Argument[]): Promise<unknown>;
  /** One command that changes nothing: asked once more as with `again` of `run`. */
  read(command: string, ...args: readonly Argument[]): Promise<unknown>;
  /**
   * One script by its SHA1, loaded again when the server has forgotten it.
   * @param again arguments with which it is asked once more when there is no answer in time and the connection stands: a
   * server that is slow is not away. Whichever answer comes first is taken, so both executions must have one effect.
   */
  run(
    script: Script,
    keys: readonly string[],
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

/** Calls that may wait for the server at once. */
const MAX_PENDING_CALLS = 10_000;

/** In place of a reply: the server does not know the script. */
const UNKNOWN_SCRIPT = Symbol("NOSCRIPT");

/** Milliseconds that a closing connection gives the calls that it has taken. */
const CLOSE_TIMEOUT_MS = 250;

export class RedisConnection implements Connection {
  readonly receives?: (within: number) => Promise<boolean>;
  readonly #client: Client;
  readonly #subscriber: Client;
  readonly #timeout: number;
  readonly #log: Log | undefined;
  readonly #answers: PendingAnswers;
  readonly #subscriptions = new Map<string, Set<Subscription>>();
  readonly #waiting = new Set<Promise<unknown>>();
  #closing: Promise<void> | null = null;
  #pending = 0;
  /** Of connections made so far. */
  #made = 0;
  /** The number of the last one that was dropped as silent. */
  #dropped = 0;
  /** As `PendingAnswers.attended` counts: when anything was last answered, if only to say no. */
  #answeredAt = 0;
  #readyAt = 0;
  #reachable = true;
  #subscribes = false;

  /** Takes over `client`, which has not connected yet, and closes it. */
  constructor(client: Client, { timeout, log }: ConnectionOptions) {
    this.#client = client;
    // A connection that subscribes can do little else; a Cluster keeps one for it by itself.
    this.#subscriber = client instanceof Cluster ? client : client.duplicate();
    if (!(client instanceof Cluster)) this.receives = (within) => this.#receives(within);
    this.#timeout = timeout;
    this.#answers = new PendingAnswers(timeout);
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
    return this.#timed(() => this.#client.call(command, [...args]));
  }

  read(command: string, ...args: readonly Argument[]): Promise<unknown> {
    const send = () => this.#client.call(command, [...args]);
    return this.#timed(send, send);
  }

  async run(
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
    again?: () => readonly Argument[],
  ): Promise<unknown> {
    const short = (args: readonly Argument[]) =>
      this.#client.call("EVALSHA", [script.sha1, keys.length, ...keys, ...args]).catch((error: unknown) => {
        if (replyCode(error) !== "NOSCRIPT") throw error;
        return UNKNOWN_SCRIPT;
      });
    const reply = await this.#timed(() => short(args), again && (() => short(again())));
    if (reply !== UNKNOWN_SCRIPT) return reply;
    // That was an answer: the next question has its own time, or a slow server would be away after each restart.
    const whole = (args: readonly Argument[]) => this.#client.call("EVAL", [script.lua, keys.length, ...keys, ...args]);
    return this.#timed(() => whole(again?.() ?? args), again && (() => whole(again())));
  }

  /** One command on every server that takes writes. */
  callEach(command: string, ...args: readonly Argument[]): Promise<unknown[]> {
    const servers: readonly Redis[] = this.#client instanceof Cluster ? this.#client.nodes("master") : [this.#client];
    return Promise.all(servers.map((server) => this.#timed(() => server.call(command, [...args]))));
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
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise((resolve) => {
      timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    });
    await Promise.race([Promise.allSettled(this.#waiting), enough]);
    clearTimeout(timer);
    this.#answers.close();
    for (const client of new Set([this.#client, this.#subscriber])) client.disconnect();
  }

  /** Calls that wait for the server. */
  get pending(): number {
    return this.#pending;
  }

  get #connected(): number | null {
    return this.#client.status === "ready" ? this.#made : null;
  }

  async #timed(send: () => Promise<unknown>, again?: () => Promise<unknown>): Promise<unknown> {
    if (this.#closing) throw storeUnavailable(new Error("redis: the store has been closed"));
    if (this.#pending >= MAX_PENDING_CALLS)
      throw storeUnavailable(new Error("redis: too many calls wait for the server"));
    const timed = this.#within(send, again);
    this.#waiting.add(timed);
    try {
      return await timed;
    } finally {
      this.#waiting.delete(timed);
    }
  }

  #within(send: () => Promise<unknown>, again?: () => Promise<unknown>): Promise<unknown> {
    const connection = this.#connected;
    return new Promise((resolve, reject) => {
      const ask = (send: () => Promise<unknown>, next?: () => Promise<unknown>): void => {
        this.#pending++;
        const wait = this.#answers.begin(() => {
          const stands = connection !== null && connection === this.#connected;
          if (next && stands) return ask(next);
          reject(storeUnavailable(new Unanswered(`redis: no answer within ${this.#timeout} ms`, stands)));
          this.#dropSilent();
        });
        const answer = send().then(
          (reply) => {
            this.#left(wait, true);
            return reply;
          },
          (error: unknown) => {
            this.#left(wait, replyCode(error) !== null);
            throw storeError(error);
          },
        );
        answer.then(resolve, reject);
      };
      ask(send, again);
    });
  }

  /** Nothing is to be expected any more: answered, if too late for who waited, or its connection is lost. */
  #left(wait: PendingAnswer, answered: boolean): void {
    this.#pending--;
    this.#answers.end(wait);
    if (answered) this.#answeredAt = this.#answers.attended;
  }

  /** A connection that answered nothing for two timeouts is made afresh: its other end may be gone. */
  #dropSilent(): void {
    if (this.#client instanceof Cluster || this.#connected === null || this.#dropped === this.#made) return;
    if (this.#answers.attended - Math.max(this.#answeredAt, this.#readyAt) < 2 * this.#timeout) return;
    this.#dropped = this.#made;
    this.#client.disconnect(true);
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
    this.#log?.warn({ reason: error.message || error.name }, "the store cannot be reached");
  }

  #onReachable(): void {
    this.#made++;
    this.#readyAt = this.#answers.attended;
    if (this.#reachable) return;
    this.#reachable = true;
    this.#log?.info({}, "the store can be reached again");
  }
}
