import type { Worker } from "node:cluster";
import { once } from "node:events";
import { ConnectionHandover } from "./handover.ts";
import type { Answers, Question, ToSupervisor, ToWorker } from "./messages.ts";

const ANSWER_TIMEOUT_MS = 2_000;

export interface WorkerExit {
  readonly code: number | null;
  readonly signal: string | null;
}

interface PendingAnswer {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/** One worker process, as its supervisor sees it. */
export class WorkerHandle {
  readonly pid: number;
  readonly exited: Promise<WorkerExit>;
  /** Resolves when it serves; never when it ends before. */
  readonly served: Promise<void>;
  /** `performance.now()` at that moment. */
  servingSince: number | null = null;
  instance: string | null = null;
  /** Heartbeat intervals since its last message; more than a few mean that its event loop is blocked. */
  missedHeartbeats = 0;
  ended = false;
  readonly #worker: Worker;
  readonly #handover: ConnectionHandover;
  readonly #pending = new Map<number, PendingAnswer>();
  #lastId = 0;

  /**
   * @param order the first message to a worker that has started: start or end.
   * @param isLast see `ConnectionHandover`.
   */
  constructor(worker: Worker, order: () => ToWorker, isLast: () => boolean) {
    this.#worker = worker;
    this.pid = worker.process.pid ?? 0;
    this.#handover = new ConnectionHandover(worker, isLast);
    const served = Promise.withResolvers<void>();
    this.served = served.promise;
    worker.on("message", (message: ToSupervisor) => {
      this.missedHeartbeats = 0;
      if (message.type === "started") this.send(order());
      else if (message.type === "answer") this.#pending.get(message.id)?.resolve(message.value as never);
      else if (message.type === "failed") this.#pending.get(message.id)?.reject(new Error(message.message));
      else if (message.type === "serving") {
        this.instance = message.instance;
        this.servingSince = performance.now();
        served.resolve();
      }
    });
    // A message to a process that is ending fails; its exit is reported as well.
    worker.on("error", () => {});
    // Not the "exit" of `node:cluster`: it comes later while the addresses are held.
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

  /** Ends the holding of addresses that `isLast` began: another worker listens now, or none is to. */
  releaseAddresses(): void {
    this.#handover.release();
  }

  send(message: ToWorker): void {
    if (!this.ended && this.#worker.isConnected()) this.#worker.send(message, undefined, () => {});
  }

  /** @throws Error when the worker fails at it, ends, or does not answer in time. */
  async ask<Q extends Question>(question: Q, { about = "", timeoutMs = ANSWER_TIMEOUT_MS } = {}): Promise<Answers[Q]> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = Promise.withResolvers<Answers[Q]>();
    this.#pending.set(id, answer);
    const timer = setTimeout(() => answer.reject(new Error(`worker ${this.pid} does not answer`)), timeoutMs);
    this.send({ type: "ask", id, question, about });
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
}
