import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as turn } from "node:timers/promises";
import type * as fc from "fast-check";
import type { Store } from "../../src/kit/index.ts";
import type { Connection } from "../../src/store/redis/connection.ts";

/** What a call means to a model: done once, when the first of `commands` is executed. */
interface Effect {
  readonly commands: readonly string[];
  readonly apply: () => void;
  isDone: boolean;
}

/** What becomes of a command. */
export interface Fate {
  readonly executed: boolean;
  /** What its caller hears instead of an answer. */
  readonly failure: Error | null;
}

/** Does what concerns all, and never fails. */
const WORLD = "world";

const WELL: Fate = { executed: true, failure: null };

/** The two directions of one instance's way, each in order. */
interface Line {
  readonly name: string;
  readonly sends: (() => void)[];
  readonly hears: (() => void)[];
  isCut: boolean;
}

/**
 * The ways between a store and its instances, on which every command and every answer takes as long as the scheduler
 * likes. Those of one instance stay in order, as they do on one connection.
 */
export class Wire {
  /** Decides of each command when it is executed. */
  fate: (command: string) => Fate = () => WELL;
  /** Effects that commands have had. */
  effects = 0;
  readonly #scheduler: fc.Scheduler;
  readonly #context = new AsyncLocalStorage<Effect>();
  /** Commands that are being executed. */
  readonly #running = new Set<Promise<void>>();
  #alone: Promise<unknown> = Promise.resolve();

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler;
  }

  /** A call that has `effect` when the first of these commands is executed. */
  during<T>(commands: readonly string[], apply: () => void, call: () => T): T {
    return this.#context.run({ commands, apply, isDone: false }, call);
  }

  /** One instance's connection. `cut`: nothing that it sends arrives any more, and it hears nothing. */
  connection(name: string, inner: Connection): Connection & { cut(): void } {
    const line: Line = { name, sends: [], hears: [], isCut: false };
    return {
      call: (command, ...args) => this.#send(line, command, true, () => inner.call(command, ...args)),
      read: (command, ...args) => this.#send(line, command, true, () => inner.read(command, ...args)),
      run: (script, keys, args) => this.#send(line, script.name, true, () => inner.run(script, keys, args)),
      subscribe: (channel, listener) => inner.subscribe(channel, listener),
      close: async () => {},
      cut: () => {
        line.isCut = true;
      },
    };
  }

  /** A store, each of whose methods is one command. @param shared those that share commits. */
  store(name: string, inner: Store, shared: ReadonlySet<string>): Store {
    const line: Line = { name, sends: [], hears: [], isCut: false };
    return new Proxy(inner, {
      get: (target, method: keyof Store) => {
        const call = target[method] as (...args: unknown[]) => unknown;
        return (...args: unknown[]) =>
          this.#send(line, method, !shared.has(method), async () => call.apply(target, args));
      },
    });
  }

  /** Something that concerns all, between two commands. */
  act(what: string, work: () => void | Promise<void>): Promise<unknown> {
    return this.#send({ name: WORLD, sends: [], hears: [], isCut: false }, what, true, async () => work());
  }

  /** Lets one thing happen. @returns whether there was anything. */
  async step(): Promise<boolean> {
    const isBusy = this.#scheduler.count() > 0;
    if (isBusy) await this.#scheduler.waitNext(1);
    await this.#alone;
    await turn();
    return isBusy;
  }

  /** Nothing is being executed. */
  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** @param alone executed when all before it has been, and nothing else meanwhile. */
  #send(line: Line, what: string, alone: boolean, go: () => Promise<unknown>): Promise<unknown> {
    const effect = this.#context.getStore();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const hear = (tell: () => void): void => this.#deliver(line, line.hears, `${line.name} hears of ${what}`, tell);
    const execute = async (): Promise<void> => {
      const { executed, failure } = line.name === WORLD ? WELL : this.fate(what);
      if (executed && effect && !effect.isDone && effect.commands.includes(what)) {
        effect.isDone = true;
        this.effects++;
        effect.apply();
      }
      try {
        const answer = executed ? await go() : null;
        hear(() => (failure ? reject(failure) : resolve(answer)));
      } catch (error) {
        hear(() => reject(failure ?? error));
      }
    };
    const track = (running: Promise<void>): Promise<void> => {
      const tracked = running.finally(() => this.#running.delete(tracked));
      this.#running.add(tracked);
      return tracked;
    };
    this.#deliver(line, line.sends, `${line.name} sends ${what}`, () => {
      if (alone) this.#alone = Promise.all(this.#running).then(() => track(execute()));
      else void track(execute());
    });
    return promise;
  }

  /** One more message of this direction may arrive, whichever is the first. */
  #deliver(line: Line, queue: (() => void)[], what: string, work: () => void): void {
    queue.push(work);
    const arrive = (): void => {
      const first = queue.shift();
      if (!line.isCut) first?.();
    };
    void this.#scheduler.schedule(Promise.resolve(), what).then(arrive);
  }
}
