import type { Awaitable, Call, ClientRequest, Principal } from "./call.ts";
import type { BegunExchange, Bill, Ending, Exchange, Outcome } from "./exchange.ts";
import type { Host } from "./host.ts";
import type { Json } from "./json.ts";
import type { AttemptResult, Reply, StreamEvent } from "./reply.ts";
import type { Target } from "./snapshot.ts";
import type { Windows } from "./store.ts";

/** Stage names double as the pipeline's order; the linker refuses a configuration that reorders them. */
export const STAGES = ["identify", "admit", "guard", "transform", "relay", "account"] as const;
export type Stage = (typeof STAGES)[number];

/** Completes or undoes what a hook began. The runner calls it exactly once, however the exchange ended. */
export type Settle<Result> = (result: Result) => Awaitable<void>;

export interface Admitted {
  readonly settle?: Settle<Outcome>;
  /** Counters after this request, for the rate-limit headers. */
  readonly windows?: Windows;
  /** The user's stop token at admission: a stream ends when it is raised. */
  readonly stopToken?: number;
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

export interface Hooks {
  /** identify: who is calling. Nothing means "not me"; nobody known is a 401. Throw GatewayError to refuse. */
  identify?(request: ClientRequest): Awaitable<Principal | null | undefined>;
  /** admit: throw GatewayError to refuse, StalePrincipal to begin afresh; return a settler to be told how it ended. */
  admit?(exchange: Exchange): Awaitable<Admitted | void>;
  /** admit: the caller's counters, for answers refused before `admit` ran. */
  windows?(principal: Principal): Awaitable<Windows>;
  /** guard: before each upstream attempt. `false` skips this target. */
  attempt?(target: Target, exchange: Exchange): Guarded | false | void;
  /** transform: returns the call to send on; the argument is frozen. */
  transform?(call: Call, exchange: Exchange): Awaitable<Call>;
  /** transform: each stream event on its way to the client. Synchronous: it runs inside back-pressure. */
  event?(event: StreamEvent, exchange: BegunExchange): StreamEvent;
  /** transform: a complete answer in the canonical shape; not asked for bodies relayed as bytes. */
  response?(body: Json, exchange: Exchange): Awaitable<Json>;
  /** relay: walks the model's chain; one plugin per pipeline. @throws GatewayError with the verdict when nothing served. */
  relay?(exchange: Exchange, open: Open): Promise<Reply>;
  /** account: told once how it ended; says what it costs. */
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
  setup(options: Readonly<Options>, host: Host): Awaitable<Hooks>;
}

/** Identity with types: the default export of a plugin file. */
export function definePlugin<Options>(plugin: Plugin<Options>): Plugin<Options> {
  return plugin;
}
