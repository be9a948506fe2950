import type { Worker } from "node:cluster";
import { once } from "node:events";
import { Handover } from "./handover.ts";
import type { Answers, Question, ToSupervisor, ToWorker } from "./messages.ts";

export interface WorkerExit {
  readonly code: number | null;
  readonly signal: string | null;
}

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/** One worker, as its supervisor has it. */
export class Hand {
  readonly pid: number;
  readonly exited: Promise<WorkerExit>;
  /** Resolves when it serves; never when it ends before. */
  readonly served: Promise<void>;
  /** `performance.now()` of that moment. */
  servingSince: number | null = null;
  instance: string | null = null;
  /** Looks of the supervisor since the worker was last heard: its event loop stands still. */
  silent = 0;
  ended = false;
  readonly #worker: Worker;
  readonly #handover: Handover;
  readonly #pending = new Map<number, Pending>();
  #asked = 0;

  /**
   * @param hello what to tell a worker that has started to listen to its supervisor.
   * @param isLast see `Handover`.
   */
  constructor(worker: Worker, hello: () => ToWorker, isLast: () => boolean) {
    this.#worker = worker;
    this.pid = worker.process.pid ?? 0;
    this.#handover = new Handover(worker, isLast);
    const served = Promise.withResolvers<void>();
    this.served = served.promise;
    worker.on("message", (message: ToSupervisor) => {
      this.silent = 0;
      if (message.type === "hello") this.tell(hello());
      else if (message.type === "answer") this.#take(message.id)?.resolve(message.value as never);
      else if (message.type === "failed") this.#take(message.id)?.reject(new Error(message.message));
      else if (message.type === "serving") {
        this.instance = message.instance;
        this.servingSince = performance.now();
        served.resolve();
      }
    });
    // A message to a process that is ending: its end is heard of as well.
    worker.on("error", () => {});
    // The worker's own "exit" comes later while its addresses are held.
    this.exited = once(worker.process, "exit").then(([code, signal]) => {
      this.ended = true;
      for (const { reject } of this.#pending.values()) reject(new Error("the worker ended"));
      return { code: code as number | null, signal: signal as string | null };
    });
  }

  get serving(): boolean {
    return this.servingSince !== null;
  }

  /** Whether it serves as far as is known, and has not begun to end. */
  get listening(): boolean {
    return this.serving && !this.#handover.left;
  }

  /** Of a worker that was the last one: others listen now, or nobody is to. */
  releaseAddresses(): void {
    this.#handover.release();
  }

  tell(message: ToWorker): void {
    if (!this.ended && this.#worker.isConnected()) this.#worker.send(message, undefined, () => {});
  }

  /** @throws Error when the worker fails at it, ends, or has not answered after `patience` milliseconds. */
  async ask<Q extends Question>(question: Q, { about = "", patience = 2_000 } = {}): Promise<Answers[Q]> {
    const id = ++this.#asked;
    const answer = Promise.withResolvers<Answers[Q]>();
    this.#pending.set(id, answer);
    const timer = setTimeout(() => answer.reject(new Error(`worker ${this.pid} does not answer`)), patience);
    this.tell({ type: "ask", id, question, about });
    try {
      return await answer.promise;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
    }
  }

  kill(): void {
    this.#worker.process.kill("SIGKILL");
  }

  #take(id: number): Pending | undefined {
    return this.#pending.get(id);
  }
}
