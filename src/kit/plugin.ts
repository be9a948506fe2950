import type { Json } from "./json.ts";
import type { KeepWish, OwnReply } from "./own-reply.ts";
import type { AttemptResult, Reply, StreamEvent } from "./reply.ts";
import type {
  Awaitable,
  BegunExchange,
  Bill,
  Call,
  ClientRequest,
  Ending,
  Exchange,
  Outcome,
  PluginHeaders,
  Principal,
} from "./request.ts";
import type { ChainStep, Snapshot, Target } from "./snapshot.ts";
import type { PluginStorage, Store, Windows } from "./store.ts";
import type { Tag } from "./tags.ts";

/** Stage names double as the pipeline's order; the linker refuses a configuration that reorders them. */
export const STAGES = ["identify", "admit", "guard", "transform", "relay", "account"] as const;
export type Stage = (typeof STAGES)[number];

/** Completes or undoes what a hook began. The runner calls it exactly once, however the exchange ended. */
export type Settle<Result> = (result: Result) => Awaitable<void>;

export interface Admitted {
  readonly settle?: Settle<Outcome>;
  /**
   * Frees what other requests may use as soon as the client has left. Called at most once, before `settle`, and only if the
   * charge has to wait for the upstream's count.
   */
  readonly release?: () => Awaitable<void>;
  /** Counters after this request, for the rate-limit headers. */
  readonly windows?: Windows;
  /** The user's stop token at admission: a stream ends when it is raised. */
  readonly stopToken?: number;
  /** Marks for log, metrics and ledger; 16 of a request at most. */
  readonly tags?: readonly Tag[];
  /** Of the answer, whatever it is. */
  readonly headers?: PluginHeaders;
  /** The principal's version was compared with the store's. */
  readonly confirmed?: boolean;
}

export interface Guarded {
  /** The upstream has begun to answer. */
  answered?(): void;
  /** Once per attempt, at its very end. Must not throw. */
  settle(result: AttemptResult): void;
}

/**
 * Tries one target, with every plugin's `attempt` hook around it, until a streamed reply was handed on: then the request
 * is gone. @throws AttemptError
 */
export type Open = (target: Target) => Promise<Reply>;

/** Changes the events of one stream. Synchronous: it runs inside back-pressure. */
export interface StreamChange {
  /**
   * What the client gets in an event's place: none, itself, others. Throw GatewayError to refuse the rest. Whatever has
   * been held back must come before the event with the finish reason: clients read nothing behind it.
   */
  event(event: StreamEvent): readonly StreamEvent[];
  /** What is held back still when the upstream has ended, broken off or not; not called when nobody reads any more. */
  end?(): readonly StreamEvent[];
}

export interface Hooks {
  /** identify: who is calling. Nothing means "not me"; nobody known is a 401. Throw GatewayError to refuse. */
  identify?(request: ClientRequest): Awaitable<Principal | null | undefined>;
  /** admit: throw GatewayError to refuse, StalePrincipal to begin afresh; return a settler to be called with how it ended. */
  admit?(exchange: Exchange): Awaitable<Admitted | void>;
  /** admit: the caller's counters, for answers refused before `admit` ran. */
  windows?(principal: Principal): Awaitable<Windows>;
  /** guard: before each upstream attempt. `false` skips this target. */
  attempt?(target: Target, exchange: Exchange): Guarded | false | void;
  /** transform: returns the call to send on; the argument is frozen. */
  transform?(call: Call, exchange: Exchange): Awaitable<Call>;
  /**
   * transform: asked in order once every `transform` has run, before any upstream. An own reply serves the call, and nobody
   * further is asked; a wish is granted when an upstream then serves it; nothing: no interest.
   */
  answer?(call: Call, exchange: Exchange): Awaitable<OwnReply | KeepWish | null | void>;
  /**
   * transform: begins to change one stream, at its first event, for what has to hold text back, drop or add events;
   * nothing leaves the stream as it is. State of a stream belongs into what is returned.
   */
  stream?(exchange: BegunExchange): StreamChange | null | void;
  /** transform: each stream event on its way to the client. Synchronous: it runs inside back-pressure. */
  event?(event: StreamEvent, exchange: BegunExchange): StreamEvent;
  /** transform: a complete answer in the canonical shape; not asked for bodies relayed as bytes. */
  response?(body: Json, exchange: Exchange): Awaitable<Json>;
  /** relay: walks the model's chain; one plugin per pipeline. @throws GatewayError with the verdict when nothing served. */
  relay?(exchange: Exchange, open: Open): Promise<Reply>;
  /** account: called once with how it ended; returns what it costs. */
  settle?(ending: Ending, exchange: BegunExchange): Awaitable<Bill>;
  /** After the last exchange of a retired generation has settled, and at a stop, which waits a few seconds for it. */
  dispose?(): Awaitable<void>;
}

export interface Plugin<Options = never> {
  /** kebab-case, as written under `pipeline:`. */
  readonly name: string;
  readonly stage: Stage;
  /** JSON Schema of the options: the linker checks them before `setup` sees them. */
  readonly schema: URL;
  /** Names of plugins that must stand in the same pipeline. */
  readonly needs?: readonly string[];
  /** Once per generation. */
  setup(options: Readonly<Options>, host: PluginHost): Awaitable<Hooks>;
}

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const MAX_NAME_CHARACTERS = 64;

export function isPluginName(name: unknown): boolean {
  return typeof name === "string" && NAME.test(name) && name.length <= MAX_NAME_CHARACTERS;
}

/** Identity with types: the default export of a plugin file. */
export function definePlugin<Options>(plugin: Plugin<Options>): Plugin<Options> {
  return plugin;
}

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
  /** Before anything else: its request is still whole. Left out: nobody needs to read it. */
  began?(exchange: Exchange): void;
  attempt(exchange: Exchange, target: Target, result: AttemptResult): void;
  /** A request refused before it became an exchange; `receivedAt` in Unix milliseconds. */
  refused(request: ClientRequest, error: unknown, receivedAt: number, known?: RefusedRequest): void;
  finished(exchange: Exchange, outcome: Outcome): void;
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

/** What plugins and the pipeline reach outside themselves: state, time, chance. */
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

/** The host of one plugin. */
export interface PluginHost extends Host {
  /** Of this plugin alone, in every generation. For hooks, not for `setup`. */
  readonly storage: PluginStorage;
}

/**
 * Lets work run that nobody waits for. Its failure is logged: a rejection that nobody handles would end the process.
 * @param what names the work in the log.
 */
export function inBackground(log: Pick<Log, "error">, what: string, work: Promise<unknown>): void {
  work.catch((err: unknown) => log.error({ err }, `${what} failed`));
}
