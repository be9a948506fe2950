import { isJson, type Hooks, type Host, type Plugin, type PluginHost, type Settle } from "../kit/index.ts";
import { takeHooks, type TakenHooks } from "../kit/plugin-contract.ts";

/** How often something that is to happen once has happened. */
interface Once {
  readonly what: string;
  times: number;
}

/** What a plugin does in a gateway: what it begins and ends, and whether it changes what it is given. */
export class Watched {
  /** Every hooks object that `setup` has made. */
  readonly hooks: Hooks[] = [];
  /** Settlers of admissions and of attempts, and generations. */
  readonly #begun: Once[] = [];
  readonly #timers = new Set<object>();

  /** What was not ended once. */
  get unbalanced(): readonly string[] {
    return this.#begun.filter(({ times }) => times !== 1).map(({ what, times }) => `${what}: ${times} times`);
  }

  /** Callbacks of `host.schedule` that are neither called nor cancelled. */
  get timers(): number {
    return this.#timers.size;
  }

  /** The same plugin, watched. */
  readonly plugin = (plugin: Plugin): Plugin => ({
    ...plugin,
    setup: async (options, host) => {
      const hooks = await plugin.setup(frozen(options), this.#host(host));
      this.hooks.push(hooks);
      return this.#watch(takeHooks(plugin, hooks));
    },
  });

  #host(host: PluginHost): PluginHost {
    const schedule: Host["schedule"] = (at, callback) => {
      const timer = {};
      this.#timers.add(timer);
      const cancel = host.schedule(at, () => {
        this.#timers.delete(timer);
        callback();
      });
      return () => {
        this.#timers.delete(timer);
        cancel();
      };
    };
    return Object.freeze({ ...host, schedule });
  }

  #watch(own: TakenHooks): Hooks {
    const { admit, attempt, transform, answer, event, stream, response } = own;
    const disposal = this.#begin("dispose");
    return {
      ...own,
      dispose: async () => {
        disposal.times += 1;
        await own.dispose?.();
      },
      ...(admit && {
        admit: async (exchange) => {
          const admitted = await admit(exchange);
          return admitted && { ...admitted, ...(admitted.settle && { settle: this.#once("admit", admitted.settle) }) };
        },
      }),
      ...(attempt && {
        attempt: (target, exchange) => {
          const guarded = attempt(target, exchange);
          if (!guarded) return guarded;
          const begun = this.#begin("attempt");
          return {
            answered: () => guarded.answered?.(),
            settle: (result) => {
              begun.times += 1;
              guarded.settle(result);
            },
          };
        },
      }),
      ...(transform && { transform: (call, exchange) => transform(frozen(call), exchange) }),
      ...(answer && { answer: (call, exchange) => answer(frozen(call), exchange) }),
      ...(response && { response: (body, exchange) => response(frozen(body), exchange) }),
      ...(event && { event: (one, exchange) => event(frozen(one), exchange) }),
      ...(stream && {
        stream: (exchange) => {
          const change = stream(exchange);
          if (!change) return change;
          return { event: (one) => change.event(frozen(one)), end: () => change.end?.() ?? [] };
        },
      }),
    };
  }

  #begin(what: string): Once {
    const begun = { what, times: 0 };
    this.#begun.push(begun);
    return begun;
  }

  #once<Result>(what: string, settle: Settle<Result>): Settle<Result> {
    const begun = this.#begin(`settle of ${what}`);
    return (result) => {
      begun.times += 1;
      return settle(result);
    };
  }
}

/** All the way down: of what a gateway hands over only the outermost may be frozen. */
function frozen<Value>(value: Value): Value {
  if (Array.isArray(value)) for (const item of value) frozen(item);
  // Plain objects only: what has a class, such as a file, has a state of its own.
  else if (isJson(value) && isPlain(value)) for (const item of Object.values(value)) frozen(item);
  else return value;
  return Object.freeze(value);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
