import type { ChildProcess } from "node:child_process";
import type { Question, Reply } from "./protocol.ts";

/** Questions to the target, any number at a time. */
export class Asking {
  readonly #target: ChildProcess;
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>();
  #next = 1;

  constructor(target: ChildProcess) {
    this.#target = target;
    // What it says unasked: that it has started.
    this.#open.set(0, Promise.withResolvers());
    target.on("message", ({ id, value }: Reply) => {
      this.#open.get(id)?.resolve(value);
      this.#open.delete(id);
    });
    target.on("exit", (code) => {
      for (const { promise, reject } of this.#open.values()) {
        promise.catch(() => {});
        reject(new Error(`the target ended with ${code}`));
      }
    });
  }

  started<T>(): Promise<T> {
    return this.#open.get(0)!.promise as Promise<T>;
  }

  ask<T>(about: Question["about"]): Promise<T> {
    const id = this.#next++;
    const waiting = Promise.withResolvers<unknown>();
    this.#open.set(id, waiting);
    if (this.#target.connected) this.#target.send({ id, about } satisfies Question);
    else waiting.reject(new Error("the target has ended"));
    return waiting.promise as Promise<T>;
  }
}
