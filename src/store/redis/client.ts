import { Cluster, Redis } from "ioredis";
import type { ClusterOptions, RedisOptions } from "ioredis";

export type Client = Redis | Cluster;

/** Milliseconds for a connection to be made. */
const CONNECT = 1_000;

/**
 * Milliseconds without a byte from a server that owes an answer, after which the connection is made afresh: for what
 * `RedisConnection` does not see. It runs also while this process is busy, so it is far longer than any turn should be.
 */
const SILENCE = 5_000;

/** Milliseconds until the next attempt to connect: at most a second, never all processes at once. */
const backOff = (times: number) => Math.min(1_000, 50 * 2 ** Math.min(times, 5)) * (0.5 + Math.random() / 2);

/**
 * Nothing is queued while there is no connection, and nothing is sent a second time: whoever calls decides. Timeouts of
 * single calls are the connection's (connection.ts), because in a Cluster one call may be several commands.
 */
const OPTIONS = {
  lazyConnect: true,
  connectTimeout: CONNECT,
  socketTimeout: SILENCE,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // Its failure has nobody who hears of it and would end the process; the connection subscribes again by itself.
  autoResubscribe: false,
  // A replica since a failover: look for the primary again.
  reconnectOnError: (error) => error.message.startsWith("READONLY"),
} as const satisfies RedisOptions;

/** @param url `redis:` or `rediss:`; may hold a password. */
export function createClient(url: string): Redis {
  // What is sent in one turn of the event loop is one write: the server spends a quarter less on each call.
  return new Redis(url, {
    ...OPTIONS,
    enableAutoPipelining: true,
    enableOfflineQueue: false,
    retryStrategy: backOff,
  });
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
    slotsRefreshTimeout: CONNECT,
    redisOptions: {
      ...OPTIONS,
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
      ...(protocol === "rediss:" && { tls: {} }),
    },
  };
  return new Cluster([...nodes], options);
}
