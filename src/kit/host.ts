import type { Log } from "./plugin.ts";
import type { AttemptResult } from "./reply.ts";
import type { Awaitable, Call, ClientRequest, Exchange, Outcome, Principal } from "./request.ts";
import type { ChainStep, Snapshot, Target } from "./snapshot.ts";
import type { Store } from "./store.ts";

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
export interface StreamKills {
  /**
   * Calls `stop` once when the user's stop token is raised above `token`, pushed and within a second at the latest.
   * @returns lets go; `stop` is not called any more.
   */
  watch(userId: string, token: number, stop: () => void): () => void;
}

/** What is known of a request that was refused before it became an exchange. */
export interface RefusedRequest {
  readonly principal: Principal | null;
  readonly call: Call | null;
}

/** What metrics and logs are made of. */
export interface Observer {
  /** Before `began`: which request it is of. Left out: nobody needs to know. */
  arrived?(exchange: Exchange, request: ClientRequest): void;
  /** Before anything else: its request is still whole. Left out: nobody needs to read it. */
  began?(exchange: Exchange): void;
  attempt(exchange: Exchange, target: Target, result: AttemptResult): void;
  /** A request refused before it became an exchange; `receivedAt` in Unix milliseconds. */
  refused(request: ClientRequest, error: unknown, receivedAt: number, known?: RefusedRequest): void;
  finished(exchange: Exchange, outcome: Outcome): void;
  /** A request was given the answer of an earlier one, whose `X-Request-Id` is given. Left out: nobody counts. */
  replayed?(request: ClientRequest, first: string, receivedAt: number): void;
  pluginFailed(name: string, error: unknown): void;
  /** Asked once a pipeline for each hook of a plugin; called with the milliseconds of each call. Left out: nobody measures. */
  hookTimer?(plugin: string, hook: string): (milliseconds: number) => void;
  /** A synchronous hook has held up everything for longer than it may; told once a minute at most. */
  pluginSlow?(plugin: string, hook: string, milliseconds: number): void;
}

/** How many tokens models have thought lately, by model and effort. */
export interface ThoughtRecord {
  note(model: string, effort: string, tokens: number): void;
  /** Tokens that a request can be expected to think; null where none has been seen. */
  expected(model: string, effort: string): number | null;
}

/** Capabilities of the pipeline: state, time, chance. No plugin gets it: `pluginHost` makes each its own of it. */
export interface Host {
  readonly snapshot: Snapshot;
  readonly store: Store;
  readonly identities: Identities;
  readonly streamKills: StreamKills;
  /**
   * Outlives a reload. Every model of an upstream has the same one, unless its `breaker.scope` is target.
   * @param model the target's name at the upstream; by default the state of the upstream as a whole.
   */
  breaker(upstream: string, model?: string): Breaker;
  /** The targets of a step in the order in which to try them. */
  order(step: ChainStep, exchange: Exchange): readonly Target[];
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds with fractions, of a clock for durations; left out: `now`. */
  readonly elapsed?: () => number;
  /** Calls back about when `at` (Unix milliseconds) is reached, unless cancelled; resolution 50 ms. */
  readonly schedule: (at: number, callback: () => void) => () => void;
  readonly countTokens: (text: string) => Promise<number>;
  /** Outlives a reload; left out: nobody remembers. */
  readonly thoughts?: ThoughtRecord;
  readonly log: Log;
}
