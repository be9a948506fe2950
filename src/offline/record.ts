import {
  type Admission,
  AttemptError,
  type Awaitable,
  type BegunExchange,
  type Call,
  type ClientRequest,
  type Ending,
  type Exchange,
  type FailureClass,
  GatewayError,
  type Hooks,
  type Json,
  type Observer,
  type Open,
  type Outcome,
  type Plugin,
  type Refusal,
  type Stage,
  type Store,
  type Target,
} from "../kit/index.ts";
import { takeHooks, type TakenHooks } from "../kit/plugin-contract.ts";
import type { RouteObserver } from "../telemetry/observer.ts";
import type { VirtualClock } from "./clock.ts";

/** One call of one plugin's hook, other than for events of a stream. */
export interface Decision {
  /** Of the plugin's step in the pipeline, from 0. */
  readonly step: number;
  readonly stage: Stage;
  readonly plugin: string;
  readonly hook: "identify" | "admit" | "transform" | "answer" | "attempt" | "relay" | "response" | "settle";
  /**
   * passed: the request went on; changed: with another call or body; answered: in an upstream's stead; refused: by a
   * GatewayError; failed: it threw.
   */
  readonly result: "passed" | "changed" | "answered" | "skipped" | "refused" | "failed";
  /** Of a target's guard. */
  readonly upstream: string | null;
  /** What it threw. */
  readonly error: unknown;
}

/** One target that the chain came to. Times are Unix milliseconds. */
export interface Attempt {
  readonly upstream: string;
  readonly model: string;
  /** `skipped` by a guard, such as a breaker, or why it failed. */
  outcome: "served" | FailureClass;
  /** The upstream's status; 0 without one. */
  status: number;
  /** Why it failed, fit for clients; empty for one that served. */
  reason: string;
  readonly startedAt: number;
  endedAt: number;
}

/** What one request met on its way. */
export interface Trace {
  readonly decisions: Decision[];
  readonly attempts: Attempt[];
  /** null for one that was refused before it was an exchange. */
  exchange: Exchange | null;
  /** As the plugins leave it, also of a stream that has begun. */
  call: Call | null;
  /** As the plan's limits and credits were asked; null when nobody asked. */
  admission: Admission | null;
  /** What they refused. */
  refusal: Refusal | null;
  outcome: Outcome | null;
  /** What it was refused with before it was an exchange, or by a plugin that admits. */
  error: unknown;
  /** Answered and settled. */
  isOver: boolean;
}

type RecordedStep = Pick<Decision, "step" | "plugin" | "stage">;

/** Keeps, by request id, what plugins, upstreams and the store made of each request. */
export class Recorder implements Observer, RouteObserver {
  /** Plugins that failed, with what they threw. */
  readonly failures: { readonly plugin: string; readonly error: unknown }[] = [];
  readonly #traces = new Map<string, Trace>();
  /** By exchange id. */
  readonly #exchanges = new Map<string, Trace>();
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** Whether the request is under way. */
  has(requestId: string): boolean {
    return this.#traces.has(requestId);
  }

  begin(requestId: string): Trace {
    const trace: Trace = {
      decisions: [],
      attempts: [],
      exchange: null,
      call: null,
      admission: null,
      refusal: null,
      outcome: null,
      error: null,
      isOver: false,
    };
    this.#traces.set(requestId, trace);
    return trace;
  }

  /** Forgets the request. */
  end(requestId: string): void {
    const id = this.#traces.get(requestId)?.exchange?.id;
    if (id !== undefined) this.#exchanges.delete(id);
    this.#traces.delete(requestId);
  }

  attempt(exchange: Exchange, target: Target, result: Parameters<Observer["attempt"]>[2]): void {
    const attempt = this.#traces
      .get(exchange.requestId)
      ?.attempts.findLast(({ upstream, model }) => upstream === target.upstream && model === target.model);
    // A stream that had begun to serve, and broke off.
    if (attempt?.outcome === "served" && !result.ok) fail(attempt, result.error);
    if (attempt) attempt.endedAt = this.#clock.now();
  }

  refused({ requestId }: Parameters<Observer["refused"]>[0], error: unknown): void {
    this.#over(requestId, error);
  }

  finished(exchange: Exchange, outcome: Outcome): void {
    const trace = this.#traces.get(exchange.requestId);
    if (trace) trace.outcome = outcome;
    this.#over(exchange.requestId, null);
  }

  pluginFailed(plugin: string, error: unknown): void {
    this.failures.push({ plugin, error });
  }

  rejectedEarly({ requestId }: { readonly requestId: string }): void {
    this.#over(requestId, null);
  }

  routeServed({ requestId }: { readonly requestId: string }): void {
    this.#over(requestId, null);
  }

  /** The store as plugins see it, asked as before. */
  store<Kind extends Store>(store: Kind): Kind {
    const admit: Store["admit"] = async (admission) => {
      const result = await store.admit(admission);
      const trace = this.#exchanges.get(admission.id);
      if (trace) Object.assign(trace, { admission, refusal: result.ok ? null : result.refusal });
      return result;
    };
    return { ...store, admit };
  }

  /** A plugin that decides as before, and whose decisions are kept. */
  plugin(plugin: Plugin, step: number): Plugin {
    const of = { step, plugin: plugin.name, stage: plugin.stage };
    const setup: Plugin["setup"] = async (options, host) =>
      this.#recorded(of, takeHooks(plugin, await plugin.setup(options, host)));
    return { ...plugin, setup };
  }

  /** @param hooks taken. Those without a decision are called as they are. */
  #recorded(of: RecordedStep, hooks: TakenHooks): Hooks {
    const { identify, admit, transform, answer, attempt, relay, response, settle } = hooks;
    const trace = (exchange: Pick<Exchange, "requestId">): Trace | undefined => this.#traces.get(exchange.requestId);
    return {
      ...hooks,
      ...(identify && {
        identify: (head: ClientRequest) =>
          this.#kept(
            { ...of, hook: "identify" },
            trace(head),
            () => identify(head),
            (principal) => (principal ? "passed" : "skipped"),
          ),
      }),
      ...(admit && {
        admit: (exchange: Exchange) => {
          this.#began(exchange);
          return this.#kept({ ...of, hook: "admit" }, trace(exchange), () => admit(exchange));
        },
      }),
      ...(transform && {
        transform: async (call: Call, exchange: Exchange) => {
          const work = (): Awaitable<Call> => transform(call, exchange);
          const made = await this.#kept({ ...of, hook: "transform" }, trace(exchange), work, (changed) =>
            changed === call ? "passed" : "changed",
          );
          Object.assign(trace(exchange) ?? {}, { call: made });
          return made;
        },
      }),
      ...(answer && {
        answer: (call: Call, exchange: Exchange) =>
          this.#kept(
            { ...of, hook: "answer" },
            trace(exchange),
            () => answer(call, exchange),
            (made) => (made && made.type !== "keep" ? "answered" : "passed"),
          ),
      }),
      ...(attempt && {
        attempt: (target: Target, exchange: Exchange) => {
          const guarded = attempt(target, exchange);
          const result = guarded === false ? "skipped" : "passed";
          trace(exchange)?.decisions.push({ ...of, hook: "attempt", result, upstream: target.upstream, error: null });
          return guarded;
        },
      }),
      ...(relay && {
        relay: (exchange: Exchange, open: Open) => {
          this.#began(exchange);
          const recording = this.#opened(trace(exchange), open);
          return this.#kept({ ...of, hook: "relay" }, trace(exchange), () => relay(exchange, recording));
        },
      }),
      ...(response && {
        response: (body: Json, exchange: Exchange) =>
          this.#kept(
            { ...of, hook: "response" },
            trace(exchange),
            () => response(body, exchange),
            (made) => (made === body ? "passed" : "changed"),
          ),
      }),
      ...(settle && {
        settle: (ending: Ending, exchange: BegunExchange) =>
          this.#kept({ ...of, hook: "settle" }, trace(exchange), () => settle(ending, exchange)),
      }),
    };
  }

  #began(exchange: Exchange): void {
    const trace = this.#traces.get(exchange.requestId);
    if (trace === undefined || trace.exchange === exchange) return;
    trace.exchange = exchange;
    trace.call = exchange.call;
    this.#exchanges.set(exchange.id, trace);
  }

  #opened(trace: Trace | undefined, open: Open): Open {
    return async (target) => {
      const { upstream, model } = target;
      const startedAt = this.#clock.now();
      const times = { startedAt, endedAt: startedAt };
      const attempt: Attempt = { upstream, model, outcome: "served", status: 200, reason: "", ...times };
      trace?.attempts.push(attempt);
      try {
        return await open(target);
      } catch (error) {
        if (error instanceof AttemptError) fail(attempt, error);
        else trace?.attempts.pop();
        throw error;
      } finally {
        attempt.endedAt = this.#clock.now();
      }
    };
  }

  async #kept<Result>(
    decision: RecordedStep & Pick<Decision, "hook">,
    trace: Trace | undefined,
    call: () => Awaitable<Result>,
    resultOf: (result: Result) => Decision["result"] = () => "passed",
  ): Promise<Result> {
    try {
      // A relay waits for upstreams, which are part of the room.
      const result = await (decision.hook === "relay" ? call() : this.#clock.during(call));
      trace?.decisions.push({ ...decision, result: resultOf(result), upstream: null, error: null });
      return result;
    } catch (error) {
      const result = error instanceof GatewayError ? "refused" : "failed";
      trace?.decisions.push({ ...decision, result, upstream: null, error });
      if (trace) trace.error = error;
      throw error;
    }
  }

  #over(requestId: string, error: unknown): void {
    const trace = this.#traces.get(requestId);
    if (!trace) return;
    trace.error ??= error;
    trace.isOver = true;
  }
}

function fail(attempt: Attempt, { failure, status, message }: AttemptError): void {
  Object.assign(attempt, { outcome: failure, status, reason: message });
}
