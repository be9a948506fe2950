import type { Worker } from "node:cluster";
import { once } from "node:events";
import { GatewayError } from "../kit/index.ts";
import type { AdminAccessNow, Answers, Question, ToSupervisor, ToWorker } from "./messages.ts";

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
  /** Who may use the admin listener, and when (`performance.now()`) this worker has told so; null before. */
  adminAccess: (AdminAccessNow & { readonly toldAt: number }) | null = null;
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
      else if (message.type === "adminAccess") this.adminAccess = { ...message, toldAt: performance.now() };
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

  /** @throws GatewayError OVERLOADED when the worker does not answer in time, Error when it fails at it or ends. */
  async ask<Q extends Question>(question: Q, { about = "", timeoutMs = ANSWER_TIMEOUT_MS } = {}): Promise<Answers[Q]> {
    // Nothing would come, and nobody would say so.
    if (this.ended) throw new Error("the worker ended");
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = Promise.withResolvers<Answers[Q]>();
    this.#pending.set(id, answer);
    const timer = setTimeout(() => answer.reject(tooSlow(this.pid)), timeoutMs);
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

/** It may be done all the same: whoever asked is told so. */
const tooSlow = (pid: number): GatewayError =>
  new GatewayError("OVERLOADED", `Worker ${pid} does not answer in time: look whether it was done`);

/** A message of Node's cluster: a connection for a worker (`act`, `seq`), or the worker's acceptance of it (`ack`). */
interface InternalMessage {
  readonly cmd?: string;
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

interface Closable {
  close(): void;
}

type Send = (message: InternalMessage, handle?: Closable, ...more: unknown[]) => boolean;

/** The events by which Node's cluster learns that a worker has ended, in the order that it handles correctly. */
const ENDINGS = ["disconnect", "exit"] as const;

/**
 * Passes connections on when a worker dies. Node has no public way to them: this class listens to the messages of
 * `node:cluster`, and calls the listeners that Node has for the end of a worker.
 *
 * - Node keeps its own copy of each connection until the worker has accepted it. A dead worker never accepts, and the
 *   client would wait for ever. Such connections are closed.
 * - Node takes a worker off its list when the channel has closed. That can be later than the process's end, and never
 *   while a connection is on its way to it, because "disconnect" waits for the acceptance. Until then Node gives
 *   connections to a dead process. Here the end of the process counts for both.
 * - Node stops listening when the last worker of an address has ended: new clients would be refused until another one
 *   listens. The last one stays in Node's list instead, and connections given to it meanwhile go to the next worker.
 */
export class ConnectionHandover {
  /** Whether the worker has ended, or is about to end. */
  left = false;
  readonly #child: Worker["process"];
  readonly #isLast: () => boolean;
  /** Node's own, until they are called. */
  readonly #listeners = new Map<(typeof ENDINGS)[number], readonly unknown[]>();
  /** Given to the worker and not accepted yet; by sequence number. */
  readonly #unaccepted = new Map<number, Closable>();
  /** Sequence numbers of connections that were given to it after its end. */
  readonly #heldConnections: number[] = [];
  /** Node's listeners for the worker's end, to be called at the release; null while its addresses are not held. */
  #postponed: (() => void)[] | null = null;

  /**
   * @param worker just forked.
   * @param isLast asked when the worker has ended: whether to hold its addresses until `release`.
   */
  constructor({ process: child }: Pick<Worker, "process">, isLast: () => boolean = () => false) {
    this.#child = child;
    this.#isLast = isLast;
    const send = child.send.bind(child) as Send;
    Object.assign(child, { send: ((...args) => this.#send(send, args)) satisfies Send });
    child.on("internalMessage", ({ cmd, ack }: InternalMessage) => {
      if (cmd === "NODE_CLUSTER" && ack !== undefined) this.#unaccepted.delete(ack);
    });
    for (const ending of ENDINGS) {
      this.#listeners.set(ending, child.listeners(ending));
      child.removeAllListeners(ending);
    }
    child.once("disconnect", () => this.#end("disconnect"));
    child.once("exit", (...args) => {
      this.#end("disconnect");
      this.#end("exit", ...args);
      for (const connection of this.#unaccepted.values()) connection.close();
    });
  }

  /** Another worker listens now, or none is to: held connections are passed on. */
  release(): void {
    if (this.#postponed === null) return;
    const postponed = this.#postponed;
    this.#postponed = null;
    Object.defineProperty(this.#child, "connected", { value: false, writable: true });
    for (const end of postponed) end();
    for (const ack of this.#heldConnections)
      this.#child.emit("internalMessage", { cmd: "NODE_CLUSTER", ack, accepted: false });
  }

  #end(ending: (typeof ENDINGS)[number], ...args: unknown[]): void {
    const listeners = this.#listeners.get(ending) ?? [];
    this.#listeners.delete(ending);
    const end = (): void => {
      for (const listener of listeners) Reflect.apply(listener as () => void, this.#child, args);
    };
    if (!this.left && this.#isLast()) {
      this.#postponed = [];
      // Node drops a connection for a worker that is not connected.
      Object.defineProperty(this.#child, "connected", { get: () => true, set: () => {}, configurable: true });
    }
    this.left = true;
    if (this.#postponed === null) end();
    else this.#postponed.push(end);
  }

  #send(send: Send, args: Parameters<Send>): boolean {
    const [{ cmd, act, seq }, handle] = args;
    const isConnection = cmd === "NODE_CLUSTER" && act === "newconn" && seq !== undefined && handle !== undefined;
    if (this.#postponed !== null) {
      if (isConnection) this.#heldConnections.push(seq);
      return true;
    }
    if (isConnection) this.#unaccepted.set(seq, handle);
    return send(...args);
  }
}
