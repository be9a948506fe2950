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
import type { PublicSnapshot } from "./public-snapshot.ts";
import type { Target } from "./snapshot.ts";
import type { PluginStorage, Windows } from "./store.ts";
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

/** A hook by the name that `setup` returns it under. */
export type HookName = keyof Hooks;

/**
 * Which hooks a plugin of each stage may return. This is the only such table: the pipeline build, `check`, the
 * conformance kit and the documentation read it. `dispose` belongs to every stage.
 */
export const HOOKS_BY_STAGE = {
  identify: ["identify"],
  admit: ["admit", "windows"],
  guard: ["attempt"],
  transform: ["transform", "answer", "event", "stream", "response"],
  relay: ["relay"],
  account: ["settle"],
} as const satisfies Readonly<Record<Stage, readonly HookName[]>>;

/** The version of this contract. It rises when a plugin that was right would be wrong. */
export const PLUGIN_API_VERSION = 1;

/**
 * What a plugin file exports by default.
 * @example
 * export default definePlugin<Options>({
 *   name: "shout",
 *   apiVersion: 1,
 *   stage: "transform",
 *   schema: new URL("./shout.schema.json", import.meta.url),
 *   setup: () => ({ event: (event) => event }),
 * });
 */
export interface Plugin<Options = never> {
  /** kebab-case, as written under `pipeline:`. */
  readonly name: string;
  /** The version of the plugin API that it is written for; absent: 1. A gateway refuses a newer one than it has. */
  readonly apiVersion?: number;
  /** Decides where it may stand in the pipeline, and which hooks it may return. */
  readonly stage: Stage;
  /** Further stages whose hooks it may return. They run at the place where the plugin stands. */
  readonly also?: readonly Stage[];
  /** JSON Schema of the options: the linker checks them before `setup` sees them. */
  readonly schema: URL;
  /** Names of plugins that must stand in the same pipeline. */
  readonly needs?: readonly string[];
  /** Once per generation. */
  setup(options: Readonly<Options>, host: PluginHost): Awaitable<Hooks>;
}

/** The stages of a plugin, the main one first. */
export function stagesOf({ stage, also = [] }: Pick<Plugin, "stage" | "also">): readonly Stage[] {
  return [stage, ...also];
}

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const MAX_NAME_CHARACTERS = 64;

export function isPluginName(name: unknown): boolean {
  return typeof name === "string" && NAME.test(name) && name.length <= MAX_NAME_CHARACTERS;
}

/** Whether a step of the pipeline names a local plugin, by its path. */
export function isPluginPath(use: string): boolean {
  return /^(?:\.{1,2})?\//.test(use);
}

/** Identity with types: the default export of a plugin file. */
export function definePlugin<Options>(plugin: Plugin<Options>): Plugin<Options> {
  return plugin;
}

/**
 * The host of one plugin: all that it reaches outside itself. Frozen. Nothing here moves money, changes users or holds a
 * secret. Built-in plugins have more, by stage (`builtin.ts`).
 */
export interface PluginHost {
  /** The configuration in force, without addresses, credentials and other plugins' options. */
  readonly snapshot: PublicSnapshot;
  /** A part of the store that this plugin has to itself, in every generation. For hooks, not for `setup`. */
  readonly storage: PluginStorage;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Calls back about when `at` (Unix milliseconds) is reached, unless cancelled; resolution 50 ms. */
  readonly schedule: (at: number, callback: () => void) => () => void;
  /** Tokens of a text by the gateway's tokenizer. */
  readonly countTokens: (text: string) => Promise<number>;
  readonly log: Log;
}

/** Structured log; fields never hold secrets, headers or bodies. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Lets work run that nobody waits for. Its failure is logged: a rejection that nobody handles would end the process.
 * @param what names the work in the log.
 */
export function inBackground(log: Pick<Log, "error">, what: string, work: Promise<unknown>): void {
  work.catch((err: unknown) => log.error({ err }, `${what} failed`));
}
