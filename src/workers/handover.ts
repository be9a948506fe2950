import type { Worker } from "node:cluster";

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
