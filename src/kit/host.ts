import type { Awaitable, ClientRequest, Principal } from "./call.ts";
import type { Exchange, Outcome } from "./exchange.ts";
import type { AttemptResult } from "./reply.ts";
import type { ChainStep, Snapshot, Target } from "./snapshot.ts";
import type { Store } from "./store.ts";

/** Structured log; fields never hold secrets, headers or bodies. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export type BreakerState = "closed" | "open" | "half_open";

/** Leave to make one attempt. Exactly one `end`; a half-open probe that never ends would lock its upstream out. */
export interface Permit {
  /** The upstream has begun to answer: a probe has succeeded, whatever the rest of a long stream brings. */
  answered(): void;
  end(result: AttemptResult): void;
}

export interface Breaker {
  readonly state: BreakerState;
  /** Unix milliseconds at which an open breaker lets a probe through; 0 while closed. */
  readonly retryAt: number;
  acquire(): Permit | null;
}

export interface Identities {
  /** The live key's user; null for anything that is no known key. Believed for half a second. */
  byKey(secret: string): Awaitable<Principal | null>;
  /**
   * As `byKey`, perhaps out of date: the version of what it returns has to be confirmed before anything is served, by
   * an admission or by `confirm`.
   */
  presume(secret: string): Awaitable<Principal | null>;
  /** Whether the store still has the principal's version; always true of one without. */
  confirm(principal: Principal): Awaitable<boolean>;
  /** Of a principal that was found to be out of date: the next look-up asks the store. */
  forget(principal: Principal): void;
  /** A valid access token's user. */
  byToken(token: string): Awaitable<Principal | null>;
}

/** The streams that users can end with `POST /v1/user/streams/kill`. */
export interface StreamStops {
  /**
   * Calls `stop` once when the user's stop token is raised above `token`, pushed and within a second at the latest.
   * @returns lets go; `stop` is not called any more.
   */
  watch(userId: string, token: number, stop: () => void): () => void;
}

/** What is told to metrics and logs. */
export interface Observer {
  attempt(exchange: Exchange, target: Target, result: AttemptResult): void;
  /** A request refused before it became an exchange; `receivedAt` in Unix milliseconds. */
  refused(request: ClientRequest, error: unknown, receivedAt: number): void;
  finished(exchange: Exchange, outcome: Outcome): void;
  pluginFailed(name: string, error: unknown): void;
}

/** What plugins and the pipeline reach outside themselves: state, time, chance. */
export interface Host {
  readonly snapshot: Snapshot;
  readonly store: Store;
  readonly identities: Identities;
  readonly stops: StreamStops;
  /** By upstream name; outlives a reload. */
  breaker(upstream: string): Breaker;
  /** The targets of a step in the order in which to try them. */
  order(step: ChainStep, exchange: Exchange): readonly Target[];
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Calls back about when `at` (Unix milliseconds) is reached, unless cancelled; resolution 50 ms. */
  readonly schedule: (at: number, callback: () => void) => () => void;
  readonly countTokens: (text: string) => Promise<number>;
  readonly log: Log;
}
