import { createHook } from "node:async_hooks";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { Redis } from "ioredis";
import type { Store } from "../../src/kit/index.ts";
import type { Work } from "./bounds.ts";

type Name = keyof Work;
type Method = (this: unknown, ...parameters: unknown[]) => unknown;

const RESOURCES: Readonly<Record<string, Name>> = { PROMISE: "promises", Timeout: "timers", Immediate: "immediates" };

/** Counts the work of this thread until it is ended. */
export class WorkCounter {
  readonly #counts: Record<Name, number> = {
    "store calls": 0,
    "SQL statements": 0,
    "Redis commands": 0,
    "JSON.parse": 0,
    "JSON.stringify": 0,
    promises: 0,
    timers: 0,
    immediates: 0,
    "abort controllers": 0,
  };
  readonly #undo: (() => void)[] = [];

  constructor(store: Store) {
    const calls = Object.entries(store).flatMap(([name, value]) => (typeof value === "function" ? [name] : []));
    for (const name of calls) this.#spy(store, name, "store calls");
    for (const name of ["run", "get", "all", "iterate"]) this.#spy(StatementSync.prototype, name, "SQL statements");
    this.#spy(DatabaseSync.prototype, "exec", "SQL statements");
    this.#spy(Redis.prototype, "sendCommand", "Redis commands");
    this.#spy(JSON, "parse", "JSON.parse");
    this.#spy(JSON, "stringify", "JSON.stringify");
    for (const name of ["any", "timeout"]) this.#spy(AbortSignal, name, "abort controllers");
    this.#countAbortControllers();
    const hook = createHook({
      init: (_id, type) => {
        const name = RESOURCES[type];
        if (name !== undefined) this.#counts[name]++;
      },
    }).enable();
    this.#undo.push(() => hook.disable());
  }

  read(): Work {
    return { ...this.#counts };
  }

  end(): void {
    for (const undo of this.#undo.splice(0).toReversed()) undo();
  }

  #spy(holder: object, method: string, name: Name): void {
    const own = Object.getOwnPropertyDescriptor(holder, method);
    const original = Reflect.get(holder, method) as Method;
    const counts = this.#counts;
    const value: Method = function (...parameters) {
      counts[name]++;
      return original.apply(this, parameters);
    };
    Object.defineProperty(holder, method, { value, configurable: true, writable: true });
    this.#undo.push(() => {
      if (own) Object.defineProperty(holder, method, own);
      else Reflect.deleteProperty(holder, method);
    });
  }

  #countAbortControllers(): void {
    const original = globalThis.AbortController;
    const counts = this.#counts;
    globalThis.AbortController = class extends original {
      constructor() {
        super();
        counts["abort controllers"]++;
      }
    };
    this.#undo.push(() => (globalThis.AbortController = original));
  }
}

/**
 * Of each count what a quarter of the requests do not exceed. What the process does now and then for all comes on top of
 * some requests, on a busy machine of many; it is not theirs.
 */
export function lowerQuartileOf(works: readonly Work[]): Work {
  const [first] = works;
  if (first === undefined) throw new RangeError("a quartile needs values");
  const place = Math.floor(works.length / 4);
  return byName(first, (name) => works.map((work) => work[name]).toSorted((a, b) => a - b)[place]!);
}

export function difference(after: Work, before: Work): Work {
  return byName(after, (name) => after[name] - before[name]);
}

/** The bounds, but what is measured where it is above one, or leaves more than 1 and more than a tenth of it unused. */
export function corrected(bounds: Work, measured: Work): Work {
  return byName(bounds, (name) => {
    const unused = bounds[name] - measured[name];
    return unused >= 0 && unused <= Math.max(1, bounds[name] / 10) ? bounds[name] : measured[name];
  });
}

function byName(work: Work, of: (name: Name) => number): Work {
  return Object.fromEntries((Object.keys(work) as Name[]).map((name) => [name, of(name)])) as Record<Name, number>;
}
