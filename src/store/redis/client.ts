import { Cluster, type ClusterOptions, Redis, type RedisOptions } from "ioredis";
import { storeUnavailable } from "../../kit/index.ts";

export type Client = Redis | Cluster;

/** Milliseconds for a connection to be made. */
const CONNECT_TIMEOUT_MS = 1_000;

/**
 * Milliseconds without a byte from a server that owes an answer, after which the connection is made afresh: for what
 * `RedisConnection` does not see. It runs also while this process is busy, so it is far longer than any turn should be.
 */
const SOCKET_TIMEOUT_MS = 5_000;

/** Milliseconds until the next attempt to connect: at most a second, never all processes at once. */
const backOff = (times: number) => Math.min(1_000, 50 * 2 ** Math.min(times, 5)) * (0.5 + Math.random() / 2);

/**
 * Nothing is queued while there is no connection, and nothing is sent a second time: whoever calls decides. Timeouts of
 * single calls are the connection's (connection.ts), because in a Cluster one call may be several commands.
 */
const OPTIONS = {
  lazyConnect: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  socketTimeout: SOCKET_TIMEOUT_MS,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // Its failure has nobody who hears of it and would end the process; the connection subscribes again by itself.
  autoResubscribe: false,
  // A replica since a failover: look for the primary again.
  reconnectOnError: (error) => error.message.startsWith("READONLY"),
} as const satisfies RedisOptions;

/** @param url `redis:` or `rediss:`; may hold a password. */
export function createClient(url: string): Redis {
  return new Redis(url, { ...OPTIONS, enableOfflineQueue: false, retryStrategy: backOff });
}

/** @param nodes `redis:` or `rediss:` addresses of some nodes; credentials and TLS are the first one's, for all. */
export function createCluster(nodes: readonly string[]): Cluster {
  const { protocol, username, password } = new URL(nodes[0] ?? "");
  const options: ClusterOptions = {
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: backOff,
    // A command whose connection was lost may have been executed.
    retryDelayOnFailover: 0,
    // Whoever asks hears at once that the Cluster is down, instead of waiting until the time is over.
    retryDelayOnClusterDown: 0,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    redisOptions: {
      ...OPTIONS,
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
      ...(protocol === "rediss:" && { tls: {} }),
    },
  };
  return new Cluster([...nodes], options);
}

/** First words of error replies with which the server cannot be used for now. */
const UNAVAILABLE: ReadonlySet<string> = new Set([
  "LOADING",
  "BUSY",
  "MASTERDOWN",
  "CLUSTERDOWN",
  "READONLY",
  "NOREPLICAS",
  "OOM",
  "MISCONF",
  "NOAUTH",
  "WRONGPASS",
  "NOPERM",
  "EXECABORT",
  "MOVED",
  "ASK",
  "TRYAGAIN",
  "UNKILLABLE",
]);

/** The first word of an error reply, such as `NOSCRIPT`, "" when it has none; null of an error that is no reply. */
export function replyCode(error: unknown): string | null {
  if (!(error instanceof Error) || error.name !== "ReplyError") return null;
  return /^[A-Z]*/.exec(error.message)?.[0] ?? "";
}

/** The cause of a failure after which the server may have executed the call all the same. */
export class Unanswered extends Error {
  /** Whether its connection still stands: what is sent on it from now on is executed after the call, or neither is. */
  readonly stands: boolean;

  constructor(message: string, stands = false) {
    super(message);
    this.stands = stands;
  }
}

/** Of a call that the server may have executed without an answer; null of any other error. */
export function unanswered(error: unknown): Unanswered | null {
  return error instanceof Error && error.cause instanceof Unanswered ? error.cause : null;
}

/** How the client says that it has sent nothing. */
const UNSENT = /^(?:Stream isn't writeable|Cluster isn't ready)/;

/**
 * What callers of the store get: STORE_UNAVAILABLE when the server cannot answer for now, else a plain error. Only
 * the message is kept: the client's errors carry the command, which may hold a password.
 */
export function storeError(error: unknown): Error {
  const message = `redis: ${error instanceof Error ? error.message || error.name : String(error)}`;
  const code = replyCode(error);
  if (code !== null) return UNAVAILABLE.has(code) ? storeUnavailable(new Error(message)) : new Error(message);
  return storeUnavailable(UNSENT.test(message.slice("redis: ".length)) ? new Error(message) : new Unanswered(message));
}

/** Milliseconds between two looks at what waits; shorter for a timeout that is itself short. */
const CHECK_INTERVAL_MS = 50;

/** One question that has been asked; in a list of all that wait. */
export interface PendingAnswer {
  /** Attended milliseconds at which it was asked; set by `begin`. */
  since: number;
  newer: PendingAnswer | null;
  older: PendingAnswer | null;
  /** Called when the timeout has passed, unless the wait has been ended. */
  giveUp(): void;
}

/**
 * Bounds how long questions wait for their answers, in time during which this process could have read them: a turn of
 * the event loop that takes seconds counts as two looks. A process short of CPU would otherwise take its own delay for
 * the server's, and all that it has asked for lost.
 */
export class PendingAnswers {
  readonly #timeout: number;
  readonly #every: number;
  /**
   * The ends of a list in the order in which they were asked. Not a Set: each table that it outgrows leads to the next one,
   * so that once one has become old, all that is added later outlives its use until the whole heap is collected.
   */
  #oldest: PendingAnswer | null = null;
  #newest: PendingAnswer | null = null;
  #timer: NodeJS.Timeout | null = null;
  #attended = 0;
  #checkedAt = 0;

  /** @param timeout milliseconds. */
  constructor(timeout: number) {
    this.#timeout = timeout;
    this.#every = Math.max(1, Math.min(CHECK_INTERVAL_MS, Math.floor(timeout / 5)));
  }

  /** Milliseconds in which answers could have been read; only differences mean anything, while something waits. */
  get attended(): number {
    const passed = this.#timer === null ? 0 : performance.now() - this.#checkedAt;
    return this.#attended + Math.min(passed, 2 * this.#every);
  }

  /** @param wait one that does not wait yet. */
  begin(wait: PendingAnswer): void {
    if (this.#timer === null) {
      this.#checkedAt = performance.now();
      this.#timer = setInterval(() => this.#check(), this.#every);
    }
    wait.since = this.attended;
    wait.older = this.#newest;
    if (this.#newest) this.#newest.newer = wait;
    else this.#oldest = wait;
    this.#newest = wait;
  }

  /** @returns whether it still waited. */
  end(wait: PendingAnswer): boolean {
    const { older, newer } = wait;
    if (!older && this.#oldest !== wait) return false;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
    wait.older = wait.newer = null;
    return true;
  }

  /** Nobody is given up any more. */
  close(): void {
    this.#oldest = this.#newest = null;
    this.#stop();
  }

  #stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  #check(): void {
    this.#attended = this.attended;
    this.#checkedAt = performance.now();
    if (this.#oldest === null) return this.#stop();
    for (let wait: PendingAnswer | null = this.#oldest; wait; wait = wait.newer) {
      if (this.#attended - wait.since < this.#timeout) return;
      const late = wait;
      // What lies in the socket is read between timers and immediates.
      setImmediate(() => {
        if (this.end(late)) late.giveUp();
      });
    }
  }
}

/** Milliseconds for which the largest estimate stands: the servers of a Cluster may differ. */
const ESTIMATE_TTL_MS = 30_000;

/**
 * What the servers' clock shows, estimated from their answers, never too low as long as they agree. It lets a
 * script see that it is executed when nobody waits for it any more: after a pause of the server.
 */
export class ServerClock {
  /** Server's milliseconds less the local monotonic ones. */
  #ahead: number | null = null;
  #since = 0;

  /** The server showed `time` at some moment after `sentAt` (local, monotonic). */
  learn(time: number, sentAt: number): void {
    const ahead = time - sentAt;
    if (this.#ahead !== null && ahead <= this.#ahead && sentAt - this.#since < ESTIMATE_TTL_MS) return;
    this.correct(time, sentAt);
  }

  /** As `learn`, also when it makes the estimate lower. */
  correct(time: number, sentAt: number): void {
    this.#ahead = time - sentAt;
    this.#since = sentAt;
  }

  /** Server's milliseconds when the local monotonic clock shows `at`; null before any answer. */
  at(at: number): number | null {
    return this.#ahead === null ? null : Math.ceil(this.#ahead + at);
  }
}
