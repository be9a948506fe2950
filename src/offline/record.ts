import {
  type Admission,
  AttemptError,
  type Exchange,
  type FailureClass,
  GatewayError,
  type Hooks,
  type Open,
  type Outcome,
  type Plugin,
  type Principal,
  type Refusal,
  type Stage,
  type Store,
  type Target,
} from "../kit/index.ts";
import type { GatewayObserver } from "../telemetry/observer.ts";

/** One call of one plugin's hook, other than for events of a stream. */
export interface Decision {
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

/** Keeps, by request id, what plugins, upstreams and the store made of each request. */
export class Recorder implements GatewayObserver {
  /** Plugins that failed, with what they threw. */
  readonly failures: { readonly plugin: string; readonly error: unknown }[] = [];
  readonly #traces = new Map<string, Trace>();
  /** By exchange id. */
  readonly #exchanges = new Map<string, Trace>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  begin(requestId: string): Trace {
    const trace: Trace = {
      decisions: [],
      attempts: [],
      exchange: null,
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

  attempt(exchange: Exchange, target: Target, result: Parameters<GatewayObserver["attempt"]>[2]): void {
    const attempt = this.#traceOf(exchange)?.attempts.findLast(
      ({ upstream, model }) => upstream === target.upstream && model === target.model,
    );
    // A stream that had begun to serve, and broke off.
    if (attempt?.outcome === "served" && !result.ok) this.#fail(attempt, result.error);
    if (attempt) attempt.endedAt = this.#now();
  }

  refused({ requestId }: Parameters<GatewayObserver["refused"]>[0], error: unknown): void {
    this.#over(requestId, error);
  }

  finished(exchange: Exchange, outcome: Outcome): void {
    const trace = this.#traceOf(exchange);
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
  plugin(plugin: Plugin): Plugin {
    return { ...plugin, setup: async (options, host) => this.#recorded(plugin, await plugin.setup(options, host)) };
  }

  #recorded(plugin: Plugin, hooks: Hooks): Hooks {
    const { identify, admit, transform, answer, attempt, relay, response, settle } = hooks;
    const recorded: Hooks = {
      ...(identify && {
        identify: async (head: Parameters<typeof identify>[0]): Promise<Principal | null | undefined> => {
          const kept = this.#keeper(plugin, "identify", this.#traces.get(head.requestId));
          return kept(
            () => identify.call(hooks, head),
            (principal) => (principal ? "passed" : "skipped"),
          );
        },
      }),
      ...(admit && {
        admit: (exchange: Exchange) => {
          const trace = this.#traces.get(exchange.requestId);
          if (trace) trace.exchange = exchange;
          if (trace) this.#exchanges.set(exchange.id, trace);
          return this.#keeper(plugin, "admit", trace)(() => admit.call(hooks, exchange));
        },
      }),
      ...(transform && {
        transform: (call: Parameters<typeof transform>[0], exchange: Exchange) =>
          this.#keeper(
            plugin,
            "transform",
            this.#traceOf(exchange),
          )(
            () => transform.call(hooks, call, exchange),
            (made) => (made === call ? "passed" : "changed"),
          ),
      }),
      ...(answer && {
        answer: (call: Parameters<typeof answer>[0], exchange: Exchange) =>
          this.#keeper(
            plugin,
            "answer",
            this.#traceOf(exchange),
          )(
            () => answer.call(hooks, call, exchange),
            (made) => (made && made.type !== "keep" ? "answered" : "passed"),
          ),
      }),
      ...(attempt && {
        attempt: (target: Target, exchange: Exchange) => {
          const guarded = attempt.call(hooks, target, exchange);
          const result = guarded === false ? "skipped" : "passed";
          this.#keep(plugin, "attempt", this.#traceOf(exchange), result, null, target.upstream);
          return guarded;
        },
      }),
      ...(relay && {
        relay: (exchange: Exchange, open: Open) =>
          this.#keeper(
            plugin,
            "relay",
            this.#traceOf(exchange),
          )(() => relay.call(hooks, exchange, this.#opened(exchange, open))),
      }),
      ...(response && {
        response: (body: Parameters<typeof response>[0], exchange: Exchange) =>
          this.#keeper(
            plugin,
            "response",
            this.#traceOf(exchange),
          )(
            () => response.call(hooks, body, exchange),
            (made) => (made === body ? "passed" : "changed"),
          ),
      }),
      ...(settle && {
        settle: (ending: Parameters<typeof settle>[0], exchange: Parameters<typeof settle>[1]) =>
          this.#keeper(
            plugin,
            "settle",
            this.#traces.get(exchange.requestId),
          )(() => settle.call(hooks, ending, exchange)),
      }),
    };
    // Every other hook is called as it is. A hook may read its own object, which may be frozen: this is another one.
    return new Proxy<Hooks>(recorded, {
      get(own, name) {
        const value: unknown = Reflect.get(own, name) ?? Reflect.get(hooks, name);
        return typeof value === "function" && !Reflect.has(own, name) ? value.bind(hooks) : value;
      },
    });
  }

  #opened(exchange: Exchange, open: Open): Open {
    return async (target) => {
      const trace = this.#traceOf(exchange);
      const startedAt = this.#now();
      const { upstream, model } = target;
      const attempt: Attempt = {
        upstream,
        model,
        outcome: "served",
        status: 200,
        reason: "",
        startedAt,
        endedAt: startedAt,
      };
      trace?.attempts.push(attempt);
      try {
        return await open(target);
      } catch (error) {
        if (error instanceof AttemptError) this.#fail(attempt, error);
        else trace?.attempts.pop();
        throw error;
      } finally {
        attempt.endedAt = this.#now();
      }
    };
  }

  #fail(attempt: Attempt, { failure, status, message }: AttemptError): void {
    Object.assign(attempt, { outcome: failure, status, reason: message });
  }

  #keeper(plugin: Plugin, hook: Decision["hook"], trace: Trace | undefined) {
    return async <Result>(
      call: () => Result | Promise<Result>,
      resultOf: (result: Result) => Decision["result"] = () => "passed",
    ): Promise<Result> => {
      try {
        const result = await call();
        this.#keep(plugin, hook, trace, resultOf(result), null);
        return result;
      } catch (error) {
        this.#keep(plugin, hook, trace, error instanceof GatewayError ? "refused" : "failed", error);
        if (trace) trace.error = error;
        throw error;
      }
    };
  }

  #keep(
    { name, stage }: Plugin,
    hook: Decision["hook"],
    trace: Trace | undefined,
    result: Decision["result"],
    error: unknown,
    upstream: string | null = null,
  ): void {
    trace?.decisions.push({ stage, plugin: name, hook, result, upstream, error });
  }

  #traceOf({ requestId }: Exchange): Trace | undefined {
    return this.#traces.get(requestId);
  }

  #over(requestId: string, error: unknown): void {
    const trace = this.#traces.get(requestId);
    if (!trace) return;
    trace.error ??= error;
    trace.isOver = true;
  }
}
